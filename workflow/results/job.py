"""A planned run with its method, settings and prepared dataset, as its rows record them."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable
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
from npt.table import Split
from workflow.config.resolution import typed_settings
from workflow.planning import paths
from workflow.planning.plan import Plan
from workflow.planning.run import Run
from workflow.report.cells import counted
from workflow.results.row import recorded_settings

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
        settings = typed_settings(run.method, run.settings, f"{paths.PLAN}: {stem}")
        prepared = plan.prepared(run.dataset)
        return cls(
            run=run,
            preset=plan.preset,
            method=methods()[run.method],
            settings=settings,
            prepared=prepared,
            realisations=plan.dataset(run.dataset).realisations,
        )

    def trial(self, name: str) -> Job:
        """A configuration of a search, as a job of its own."""
        run = self.run.trial(name)
        settings = typed_settings(run.method, run.settings, f"{paths.PLAN}: {self.run.stem}")
        return replace(self, run=run, settings=settings)

    def split(self, fold: int) -> Split:
        """Train, validation and test rows of a fold.

        Raises:
            UserError: the dataset has no such fold.
        """
        splits = self.prepared.splits
        if fold not in splits:
            allowed = ", ".join(str(number) for number in sorted(splits))
            raise UserError(f"folds: {self.run.dataset} has no fold {fold}; allowed: {allowed}")
        return splits[fold]

    def identity(self, fold: int) -> dict[str, Any]:
        """Columns of a row that name its run, data, code and versions."""
        return {
            "dataset": self.run.dataset,
            "method": self.run.method,
            "variant": self.run.variant,
            "fold": fold,
            "seed": self.run.seed,
            "preset": self.preset,
            "fingerprint": self.run.fingerprint,
            **data_columns(self.prepared),
            "revision": str(self.method.version),
            "versions": versions(self.method.libraries),
            "machine": machine(),
            "date": datetime.now(UTC).date().isoformat(),
            **recorded_settings(self.run.settings),
        }


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
    return f"{processor}, {counted(cpu_count(), 'core')}"


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
