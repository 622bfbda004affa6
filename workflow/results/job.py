"""A planned run with its method, settings and prepared dataset, as its rows record them."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from joblib import cpu_count

import npt
from baselines import methods
from npt.data import store
from npt.errors import UserError, require_known
from npt.method import Method
from npt.provenance import installed_version
from npt.validation import validated
from workflow.planning import paths
from workflow.planning.plan import Plan
from workflow.planning.run import Run
from workflow.results.row import Row, read_rows, recorded_settings

COMMON_LIBRARIES = ("numpy", "pandas", "scikit-learn")  # splits, encoding and metrics use them
HASH_LENGTH = 16  # digits of a hash in a row


@dataclass(frozen=True)
class Job:
    """A run that is ready to be trained or probed.

    Attributes:
        preset: Name of the configuration.
        settings: Instance of the method's settings class.
        realisations: Whether the dataset is of many tables.
    """

    run: Run
    preset: str
    method: Method
    settings: Any
    prepared: store.Prepared
    realisations: bool = False

    @classmethod
    def from_plan(cls, plan: Plan, stem: str) -> Job:
        """The run of a stem.

        Raises:
            UserError: the plan has no such run, or its dataset is not prepared or damaged.
        """
        require_known(stem, plan.runs, "--run")
        run = plan.runs[stem]
        method = methods()[run.method]
        return cls(
            run=run,
            preset=plan.preset,
            method=method,
            settings=validated(method.settings, run.settings, f"{paths.PLAN}: {stem}"),
            prepared=plan.prepared(run.dataset),
            realisations=plan.dataset(run.dataset).realisations,
        )

    def trial(self, name: str) -> Job:
        """A configuration of a search, as a job of its own."""
        run = self.run.trial(name)
        where = f"{paths.PLAN}: {self.run.stem}"
        settings = validated(self.method.settings, run.settings, where)
        return replace(self, run=run, settings=settings)

    @property
    def code(self) -> dict[str, Any]:
        """Columns of a row that name its configuration and what computed it."""
        return {
            "preset": self.preset,
            "revision": str(self.method.version),
            "versions": versions(self.method.libraries),
        }

    def identity(self, fold: int) -> dict[str, Any]:
        """Columns of a row that name its run, data, code and versions."""
        return {
            "dataset": self.run.dataset,
            "method": self.run.method,
            "variant": self.run.variant,
            "fold": fold,
            "seed": self.run.seed,
            "fingerprint": self.run.fingerprint,
            **data_columns(self.prepared),
            **self.code,
            "machine": machine(),
            "date": datetime.now(UTC).date().isoformat(),
            **recorded_settings(self.run.settings),
        }


def planned_rows(
    run: Run, folds: Iterable[int], prepared: store.Prepared, path: Path
) -> Iterator[Row]:
    """The row of each fold of a run in a file, which has one of the planned settings and data.

    Raises:
        UserError: The file is damaged, or has no such row of a fold, or several.
        OSError: The file cannot be read.
    """
    planned = {"fingerprint": run.fingerprint, **data_columns(prepared)}
    saved = read_rows(path)
    for fold in folds:
        rows = [row for row in saved if row.key == (run.key, run.seed, fold)]
        if len(rows) != 1:
            raise UserError(f"{path}: {len(rows)} rows of {run.key} seed {run.seed} fold {fold}")
        rows[0].require(planned, path)
        yield rows[0]


def data_columns(prepared: store.Prepared) -> dict[str, str]:
    """Columns of the rows of a dataset: its task, and hashes of its cells and folds."""
    return {
        "task": prepared.table.task,
        "data": prepared.facts["content"][:HASH_LENGTH],
        "splits": prepared.facts["splits"][:HASH_LENGTH],
    }


@cache
def machine() -> str:
    """The processor and the cores that this process may use."""
    processor = platform.processor() or platform.machine()
    described = Path("/proc/cpuinfo")
    if described.exists():
        model = re.search(r"^model name\s*:(.*)", described.read_text(errors="replace"), re.M)
        if model is not None:
            processor = " ".join(model[1].split())
    cores = cpu_count()
    return f"{processor}, {cores} core{'' if cores == 1 else 's'}"


def device_title(device: object) -> str:
    """A torch device by name, with the model of a GPU."""
    device = str(device)
    if not device.startswith("cuda"):
        return device
    import torch

    return f"{device}, {torch.cuda.get_device_name(device)}"


def versions(libraries: Iterable[str]) -> dict[str, str]:
    """Versions of Python, of this project and of the distributions that are installed."""
    installed = {"python": platform.python_version(), "npt": npt.__version__}
    for name in dict.fromkeys((*COMMON_LIBRARIES, *libraries)):
        version = installed_version(name)
        if version is not None:
            installed[name] = version
    return installed
