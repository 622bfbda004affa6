"""Shared tables: small, generated, one for each task."""

from __future__ import annotations

import os
import sys

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from dataclasses import replace

import pytest

from npt.data.assembly import assemble
from npt.data.datasets import synthetic
from npt.data.declaration import SplitRule
from npt.data.splits import splits
from npt.nn.learner import METHOD
from npt.nn.settings import NPTSettings
from npt.table import Split, Table, Task

# Without bytecode, each process that a test starts would compile all that it imports.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

SMALL_NPT = NPTSettings(**METHOD.test_settings)


def make_table(task: Task, rows: int = 60, seed: int = 0) -> Table:
    frame = synthetic.frame(task, rows, seed)
    categorical = ("color", "shape") if task == "regression" else ("color", "shape", "y")
    declared = replace(
        synthetic.DATASET, task=task, rows=rows, categorical=categorical, class_counts=()
    )
    return assemble(frame, declared)


def first_split(table: Table) -> Split:
    return splits(table, SplitRule(folds=5, used=1))[0]


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name cases of bytes by their argument, since packed content may hold the time."""
    return argname if isinstance(val, bytes) else None


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> None:
    import torch

    torch.set_num_threads(1)
