from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from npt.interface import Resources, Task
from npt.learner import NPTLearner
from npt.probes import corruption
from npt.probes.corruption import corrupted_predictions
from npt.settings import NPTSettings
from tests.conftest import SMALL_NPT, first_split, make_table


def trained(task: Task, settings: NPTSettings = SMALL_NPT) -> tuple[NPTLearner, np.ndarray]:
    table = make_table(task)
    split = first_split(table)
    learner = NPTLearner(settings, Resources())
    learner.fit(table.blind(split.test), split, 0)
    return learner, split.test


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_intact_copies_give_the_clean_prediction(task: Task) -> None:
    learner, rows = trained(task)
    clean = learner.predict(rows).values
    assert np.allclose(corrupted_predictions(learner, rows, seed=0, shuffle=False).values, clean, atol=1e-5)
    assert not np.allclose(corrupted_predictions(learner, rows, seed=0).values, clean, atol=1e-5)


def test_without_attention_between_datapoints_corruption_changes_nothing() -> None:
    learner, rows = trained("binary", replace(SMALL_NPT, between_datapoints=False))
    clean = corrupted_predictions(learner, rows, seed=0, shuffle=False).values
    assert np.allclose(corrupted_predictions(learner, rows, seed=0).values, clean, atol=1e-6)


def test_many_copies_at_once_equal_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    learner, rows = trained("regression")
    together = corrupted_predictions(learner, rows, seed=0, shuffle=False).values
    monkeypatch.setattr(corruption, "BATCH_CELLS", 1)
    assert np.allclose(corrupted_predictions(learner, rows, seed=0, shuffle=False).values, together, atol=1e-5)


def test_every_column_is_permuted_over_all_rows_but_the_active_one() -> None:
    learner, _ = trained("multiclass")
    cells = learner.data.visible()
    active = torch.tensor([0, 5, 59])
    copies = corruption._permuted(cells, active, torch.Generator().manual_seed(0))
    original = torch.stack([cells.codes.double(), cells.scale.double(), cells.mask.double()], -1)[0]
    for copy, row in enumerate(active.tolist()):
        moved = torch.stack([x[copy].double() for x in (copies.codes, copies.scale, copies.mask)], -1)
        assert torch.equal(moved[row], original[row])
        for j in range(original.shape[1]):
            assert sorted(moved[:, j].tolist()) == sorted(original[:, j].tolist())
            assert not torch.equal(moved[:, j], original[:, j])
    assert not torch.equal(copies.codes[0], copies.codes[1])


def test_minibatched_tables_are_probed_within_their_batches() -> None:
    learner, rows = trained("binary", replace(SMALL_NPT, batch_rows=20))
    clean = corrupted_predictions(learner, rows, seed=0, shuffle=False).values
    assert np.allclose(clean, learner.predict(rows).values, atol=1e-5)
