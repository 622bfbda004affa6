"""Commands of the profiles."""

import os
import subprocess
from pathlib import Path

import pytest
import yaml
from snakemake.profiles import ProfileConfigFileParser

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
    command = [str(PROFILES / "generic" / profile["cluster-generic-status-cmd"]), "7"]
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    asked = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert asked.stdout.strip() == status


@pytest.mark.parametrize(
    "profile", sorted(PROFILES.glob("*/config.yaml")), ids=lambda path: path.parent.name
)
def test_snakemake_reads_every_profile(profile: Path) -> None:
    """It looks for a file named as each value, and fails where that is too long for a name."""
    with profile.open() as stream:
        assert ProfileConfigFileParser().parse(stream)
