"""Runs of Snakemake on one table, within a time limit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from baselines import methods
from npt.atomic import write_text
from npt.data.custom.dataset import CustomDataset
from npt.errors import UserError
from workflow.config.reading import as_yaml, parse
from workflow.planning import paths

SNAKEFILE = Path(__file__).parents[1] / "Snakefile"
PRESET = "one table"
GROWTH = 4  # how many times as long as the stage before it a stage may take
QUICK_GRIDS = ("gaussian_process", "random_forest", "catboost", "knn")
SETTINGS = {
    **{name: {"grid": "quick"} for name in QUICK_GRIDS},
    "npt_compact": {"members": 4, "updates": 200, "rate_scale": [1]},
}
PROBED_ROWS = 40
STOP_SECONDS = 30.0
LOG = "log.txt"


@dataclass(frozen=True)
class Benchmark:
    """Runs of Snakemake in the output folder, within a time limit."""

    output: Path
    dataset: CustomDataset
    folds: int
    cores: int

    @property
    def config(self) -> Path:
        """Configuration of the runs."""
        return self.output / "config.yaml"

    def require_own_folder(self) -> None:
        """Spare the folder of another run.

        Raises:
            UserError: It has the configuration of another run, table or target.
        """
        if not self.config.exists():
            return
        kept = parse(self.config)
        try:
            table = kept["custom_datasets"][self.dataset.name]
            facts = [kept["preset"], table["path"], table["target"]]
        except (LookupError, TypeError):  # of another table, or of another form
            facts = []
        if facts != [PRESET, self.dataset.path, self.dataset.target]:
            text = "is of another run, table or target; choose another folder"
            raise UserError(f"--output: {self.config} {text}")

    def run(self, stages: Sequence[Sequence[str]], minutes: float) -> None:
        """Run stage after stage while the time lasts, and write the report of those that ended.

        Raises:
            UserError: A run failed, or not even the first stage ended.
        """
        deadline = time.monotonic() + 60 * minutes
        finished: list[str] = []
        seconds = 0.0
        for stage in stages:
            left = deadline - time.monotonic()
            if finished and GROWTH * seconds > left:
                break
            began = time.monotonic()
            print(f"running {', '.join(stage)}", flush=True)
            studies = self._write([*finished, *stage])
            if not self._snakemake(left, [paths.collected(study) for study in studies]):
                break
            finished += stage
            seconds = time.monotonic() - began
        if not finished:
            text = f"--minutes: {minutes:g}, too few for {', '.join(stages[0])}"
            raise UserError(f"{text}; a run with more goes on where this one stopped")
        left_out = [name for stage in stages for name in stage if name not in finished]
        if left_out:
            print(f"left out: {', '.join(left_out)}; more --minutes, or --methods, include them")
        self._write(finished)
        self._snakemake(None, [paths.REPORT])

    def _write(self, names: Sequence[str]) -> list[str]:
        """Write the configuration of some methods; the names of its studies."""
        probed = {
            "corruption": [name for name in names if methods()[name].reads_rows],
            "benefit": [name for name in names if methods()[name].twins],
        }
        studies: dict[str, Any] = {"main": {}}
        for kind, models in probed.items():
            if models:
                studies[kind] = {"kind": kind, "methods": models, "max_test_rows": PROBED_ROWS}
        block = self.dataset.model_dump(exclude_defaults=True, exclude={"name"}, mode="json")
        config = {
            "preset": PRESET,
            "folds": f"0-{self.folds - 1}",
            "custom_datasets": {self.dataset.name: block},
            "datasets": [self.dataset.name],
            "methods": list(names),
            "settings": {name: SETTINGS[name] for name in names if name in SETTINGS},
            "studies": studies,
        }
        write_text(self.config, as_yaml(config))
        return list(studies)

    def _snakemake(self, seconds: float | None, targets: Sequence[Path]) -> bool:
        """Make some files; whether that ended within a time.

        Raises:
            UserError: It failed.
        """
        command = [sys.executable, "-m", "snakemake", "--snakefile", str(SNAKEFILE)]
        command += ["--workflow-profile", "none", "--nolock", "--rerun-incomplete"]
        command += ["--scheduler", "greedy"]
        command += ["--directory", str(self.output), "--configfile", str(self.config)]
        command += ["--cores", str(self.cores), *map(str, targets)]
        with (self.output / LOG).open("ab") as log:
            begin = log.tell()
            process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
            try:
                code = process.wait(seconds)
            except subprocess.TimeoutExpired:
                return False
            finally:
                if process.poll() is None:
                    _stop(process)
        if code:
            lines = (self.output / LOG).read_bytes()[begin:].decode(errors="replace").splitlines()
            errors = [line for line in lines if line.startswith("error: ")]
            reason = f" ({errors[0].removeprefix('error: ')})" if errors else ""
            raise UserError(f"the run failed{reason}; see {self.output / LOG}")
        return True


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End Snakemake and its jobs, for which it would wait."""
    os.killpg(process.pid, signal.SIGINT)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        pass
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
