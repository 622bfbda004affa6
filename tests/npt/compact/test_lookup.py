"""The lookup task of compact NPT: a row reads its target off its duplicate."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import torch

from npt.compact.probe import CompactProbe
from npt.compact.settings import CompactSettings
from npt.compact.trained import TrainedCompactNPT
from npt.compact.training import draw_visibility
from npt.errors import UserError
from npt.perturbation import Perturbation
from npt.table import PARTS, Split, Table
from npt.validation import validated
from tests.conftest import first_split, make_table
from tests.npt.compact.tables import (
    CPU,
    fitted,
)
from tests.workflow.studies.models import unrelated

LOOKUP = CompactSettings(
    token_width=8,
    width=16,
    heads=2,
    bins=8,
    members=1,
    dropout=[0.0],
    feature_mask=[0.0],
    rate_scale=[1.0],
    bin_scale=[0.15],
    updates=200,
    evaluate_every=50,
    batch_rows=64,
    learning_rate=0.01,
    lookup="original",
)
Model = tuple[TrainedCompactNPT, Table, Split]


@cache
def lookup_compact(rows: int = 600, **changes: Any) -> Model:
    """A network of the lookup task on the blind table of a target unrelated to the features."""
    table, split = unrelated(rows)
    return fitted(LOOKUP.changed(**changes), table, split, seed=0), table, split


def correlation(predictions: np.ndarray, truth: np.ndarray) -> float:
    return float(np.corrcoef(predictions, truth)[0, 1])


def with_truth(table: Table, rows: np.ndarray, values: np.ndarray) -> Table:
    truth = table.truth
    truth[rows] = values
    return table.with_numbers(table.target, truth)


def test_targets_are_read_off_the_duplicates_only() -> None:
    trained, table, split = lookup_compact()
    truth = table.truth[split.test]
    shown = CompactProbe(trained).with_table(table, split)
    assert correlation(shown.predict(split.test), truth) > 0.9
    alone = shown.without_duplicates().predict(split.test)
    assert abs(correlation(alone, truth)) < 0.3
    assert np.array_equal(trained.predict(split.test).values, alone)
    validation = trained.predict(split.validation).values
    assert correlation(validation, table.truth[split.validation]) > 0.9


def test_shifted_targets_are_shifted_back() -> None:
    trained, table, split = lookup_compact(lookup="add_one")
    shown = CompactProbe(trained).with_table(table, split)
    deviation = trained.statistics.scale[table.target]
    errors = shown.predict(split.test) - table.truth[split.test]
    assert abs(errors.mean()) < 0.2 * deviation
    assert np.sqrt((errors**2).mean()) < 0.5 * deviation


def test_a_prediction_follows_the_target_of_its_duplicate() -> None:
    trained, table, split = lookup_compact()
    shown = CompactProbe(trained).with_table(table, split)
    rows = split.test[:3]
    sweep = shown.intervention(table, split, rows, sweep=4)
    assert sweep.values[0] == table.truth.max()
    assert sweep.values[-1] == table.truth.min()
    for place, row in enumerate(rows):
        by_value = []
        for value in sweep.values:
            changed = shown.with_table(with_truth(table, row, value), split)
            by_value.append(changed.predict(split.test))
        of_own = np.array(by_value)[:, place]
        assert sweep.predictions[place] == pytest.approx(of_own, abs=1e-5)
        changes = np.ptp(by_value, axis=0)
        assert sweep.others[place] == pytest.approx(np.delete(changes, place).max(), abs=1e-5)
        assert np.ptp(of_own) > 2 * sweep.others[place]


@pytest.mark.parametrize("changes", [{"between_datapoints": False}, {"labels_of_others": False}])
def test_a_blind_twin_cannot_look_up(changes: dict[str, bool]) -> None:
    trained, table, split = lookup_compact(90, updates=5, **changes)
    shown = CompactProbe(trained).with_table(table, split)
    sweep = shown.intervention(table, split, split.test[:3], sweep=3)
    assert (np.ptp(sweep.predictions, axis=1) == 0).all()
    assert (sweep.others == 0).all()


def test_rows_attend_to_their_duplicates_in_training() -> None:
    torch.manual_seed(0)
    settings = LOOKUP.changed(context_dropout=0.5)
    scored, invisible = draw_visibility(20, settings, CPU)
    assert scored.tolist() == list(range(20))
    assert not invisible.diagonal().any()
    assert set(invisible.sum(0).tolist()) == {0, 19}


def test_contexts_have_the_duplicates_of_their_rows() -> None:
    trained, table, split = lookup_compact(90, updates=1)
    rows = np.concatenate([split.test[::2], split.validation[:3]])
    parts = split.part()
    for indices, model in trained.in_contexts(rows):
        (part,) = np.unique(parts[rows[indices]])
        assert model.context_rows.tolist() == np.flatnonzero(parts == part).tolist()
    shown = CompactProbe(trained).with_table(table, split)
    for attention in shown.attention(rows):
        assert table.rows + attention.row in attention.context
    perturbed = shown.predict_perturbed(rows, Perturbation("shuffle", 0.0), 0)
    assert perturbed == pytest.approx(shown.predict(rows), abs=1e-5)


def test_only_rows_of_the_part_can_be_permuted() -> None:
    trained, table, split = lookup_compact(90, updates=1)
    shown = CompactProbe(trained).with_table(table, split)
    plain = shown.predict(split.test)
    for part in PARTS:
        perturbation = Perturbation("shuffle", 1.0, rows=part)
        values = shown.predict_perturbed(split.test, perturbation, 0)
        assert (part != "test") == np.allclose(values, plain, rtol=1e-9)


def test_unfit_variants_are_refused() -> None:
    with pytest.raises(UserError, match=r"lookup.*add_one"):
        validated(CompactSettings, {"lookup": "random_features"}, "npt_compact")
    with pytest.raises(UserError, match="target_mask"):
        validated(CompactSettings, {"lookup": "original", "target_mask": 0.5}, "npt_compact")
    table = make_table("binary")
    with pytest.raises(UserError, match="lookup: add_one"):
        fitted(LOOKUP.changed(lookup="add_one"), table, first_split(table))
