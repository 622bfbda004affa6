"""Files of weights: they predict the same, and damaged or other ones are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from npt.compact.learner import CompactLearner
from npt.errors import UserError
from npt.interface import Resources
from npt.nn.learner import NPTLearner
from npt.nn.settings import NPTSettings
from npt.table import TASKS, Split, Table, Task
from tests.conftest import first_split
from tests.npt.compact.tables import TINY, mixed_table

SMALL = NPTSettings(width=8, layers=2, heads=2, updates=5, target_mask=0.5)
LEARNERS: dict[str, tuple[Any, Any]] = {
    "npt": (NPTLearner, SMALL),
    "compact": (CompactLearner, TINY.changed(updates=5, context_rows=20)),
    "periodic": (CompactLearner, TINY.changed(updates=5, number_embedding="periodic")),
}
KINDS = pytest.mark.parametrize(("learner", "settings"), LEARNERS.values(), ids=LEARNERS)


def blind_table(task: Task = "binary") -> tuple[Table, Split]:
    table = mixed_table(task)
    split = first_split(table)
    return table.blind(split.test), split


@KINDS
@pytest.mark.parametrize("task", TASKS)
def test_saved_weights_predict_the_same(
    learner: Any, settings: Any, task: Task, tmp_path: Path
) -> None:
    table, split = blind_table(task)
    fitted = learner(settings, Resources())
    fit = fitted.fit(table, split, 1)
    path = tmp_path / "weights.pt"
    fitted.save(path)
    loaded = learner.load(settings, Resources(), path, table, split, 1)
    assert np.array_equal(loaded.predict(split.test).values, fitted.predict(split.test).values)
    assert loaded.parameters == fit.parameters


@KINDS
@pytest.mark.parametrize("damage", ["empty", "text", "half", "other model", "other tensors"])
def test_damaged_or_other_weights_are_refused(
    learner: Any, settings: Any, damage: str, tmp_path: Path
) -> None:
    path = tmp_path / "weights.pt"
    saved = settings.changed(width=16) if damage == "other model" else settings
    learner.network().untrained(saved, torch.device("cpu"), *blind_table(), 1).save(path)
    if damage == "other tensors":
        torch.save({"weight": torch.ones(2)}, path)
    whole = path.read_bytes()
    damaged = {"empty": b"", "text": b"weights", "half": whole[: len(whole) // 2]}
    path.write_bytes(damaged.get(damage, whole))
    with pytest.raises(UserError) as refused:
        learner.load(settings, Resources(), path, *blind_table(), 1)
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)
