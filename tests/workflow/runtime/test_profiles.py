"""Commands of the profiles."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import yaml

PROFILES = Path(__file__).parents[3] / "profiles"


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ("JobId=7 JobState=COMPLETED Reason=None", "success"),
        ("JobId=7 JobState=RUNNING Reason=None", "running"),
        ("JobId=7 JobState=PREEMPTED Reason=None", "running"),
        ("JobId=7 JobState=OUT_OF_MEMORY Reason=None", "failed"),
        ("slurm_load_jobs error: Invalid job id specified", "failed"),
        ("slurm_load_jobs error: Unable to contact slurm controller", "running"),
        ("", "running"),
    ],
)
def test_an_unknown_job_is_not_failed(answer: str, status: str, tmp_path: Path) -> None:
    scontrol = tmp_path / "scontrol"
    scontrol.write_text(f"#!/bin/sh\necho '{answer}' >&2\n")
    scontrol.chmod(0o755)
    profile = yaml.safe_load((PROFILES / "generic" / "config.yaml").read_text())
    command = profile["cluster-generic-status-cmd"] + " 7"
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    asked = subprocess.run(
        command, shell=True, env=environment, capture_output=True, text=True, check=True
    )
    assert asked.stdout.strip() == status
