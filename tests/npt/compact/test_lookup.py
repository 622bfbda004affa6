"""The lookup task of compact NPT: a row reads its target off its duplicate."""

from functools import cache
from typing import Any

import numpy as np
import pytest
import torch

from npt.compact.probe import CompactProbe
from npt.compact.settings import CompactSettings
from npt.compact.training import draw_visibility
from npt.errors import UserError
from npt.perturbation import Perturbation
from npt.table import PARTS, Split, Table
from npt.validation import validated
from tests.conftest import first_split, make_table
from tests.npt.compact.tables import CPU, TINY, fitted
from tests.workflow.studies.models import unrelated

LOOKUP = TINY.changed(
    width=16,
    bins=8,
    members=1,
    dropout=[0.0],
    feature_mask=[0.0],
    updates=200,
    evaluate_every=50,
    batch_rows=64,
    lookup="original",
)


@cache
def lookup_compact(rows: int = 600, **changes: Any) -> tuple[CompactProbe, Table, Split]:
    """A network that was trained on the blind table of a target unrelated to the features.

    It is probed on the whole table.
    """
    table, split = unrelated(rows)
    trained = fitted(LOOKUP.changed(**changes), table, split, seed=0)
    return CompactProbe(trained).with_table(table, split), table, split


def correlation(predictions: np.ndarray, truth: np.ndarray) -> float:
    return float(np.corrcoef(predictions, truth)[0, 1])


def test_targets_are_read_off_the_duplicates_only() -> None:
    probe, table, split = lookup_compact()
    truth = table.truth[split.test]
    assert correlation(probe.predict(split.test), truth) > 0.9
    alone = probe.without_duplicates().predict(split.test)
    assert abs(correlation(alone, truth)) < 0.3
    blind = probe.with_table(table.blind(split.test), split)
    assert np.array_equal(blind.predict(split.test), alone)
    validation = blind.predict(split.validation)
    assert correlation(validation, table.truth[split.validation]) > 0.9


def test_shifted_targets_are_shifted_back() -> None:
    probe, table, split = lookup_compact(lookup="add_one")
    deviation = probe.trained.statistics.scale[table.target]
    errors = probe.predict(split.test) - table.truth[split.test]
    assert abs(errors.mean()) < 0.2 * deviation
    assert np.sqrt((errors**2).mean()) < 0.5 * deviation


def test_a_prediction_follows_the_target_of_its_duplicate() -> None:
    probe, table, split = lookup_compact()
    rows = split.test[:3]
    sweep = probe.intervention(table, split, rows, sweep=4)
    assert sweep.values[0] == table.truth.max()
    assert sweep.values[-1] == table.truth.min()
    for place, row in enumerate(rows):
        by_value = []
        for value in sweep.values:
            truth = table.truth
            truth[row] = value
            changed = table.with_numbers(table.target, truth)
            by_value.append(probe.with_table(changed, split).predict(split.test))
        swept = np.array(by_value)[:, place]
        assert sweep.predictions[place] == pytest.approx(swept, abs=1e-5)
        changes = np.ptp(by_value, axis=0)
        assert sweep.others[place] == pytest.approx(np.delete(changes, place).max(), abs=1e-5)
        assert np.ptp(swept) > 2 * sweep.others[place]


@pytest.mark.parametrize("changes", [{"between_datapoints": False}, {"labels_of_others": False}])
def test_a_blind_twin_cannot_look_up(changes: dict[str, bool]) -> None:
    probe, table, split = lookup_compact(90, updates=5, **changes)
    sweep = probe.intervention(table, split, split.test[:3], sweep=3)
    assert (np.ptp(sweep.predictions, axis=1) == 0).all()
    assert (sweep.others == 0).all()


def test_rows_attend_to_their_duplicates_in_training() -> None:
    torch.manual_seed(0)
    scored, invisible = draw_visibility(20, LOOKUP.changed(context_dropout=0.5), CPU)
    assert scored.tolist() == list(range(20))
    assert not invisible.diagonal().any()
    assert set(invisible.sum(0).tolist()) == {0, 19}


def test_contexts_have_the_duplicates_of_their_rows() -> None:
    probe, table, split = lookup_compact(90, updates=1)
    rows = np.concatenate([split.test[::2], split.validation[:3]])
    parts = split.part()
    for indices, model in probe.trained.in_contexts(rows):
        (part,) = np.unique(parts[rows[indices]])
        assert model.context_rows.tolist() == np.flatnonzero(parts == part).tolist()
    for attention in probe.attention(rows):
        assert table.rows + attention.row in attention.context
    perturbed = probe.predict_perturbed(rows, Perturbation("shuffle", 0.0), 0)
    assert perturbed == pytest.approx(probe.predict(rows), abs=1e-5)


def test_only_rows_of_the_part_can_be_permuted() -> None:
    probe, _, split = lookup_compact(90, updates=1)
    plain = probe.predict(split.test)
    for part in PARTS:
        perturbation = Perturbation("shuffle", 1.0, rows=part)
        values = probe.predict_perturbed(split.test, perturbation, 0)
        assert (part != "test") == np.allclose(values, plain, rtol=1e-9)


def test_unfit_variants_are_refused() -> None:
    with pytest.raises(UserError, match=r"lookup.*add_one"):
        validated(CompactSettings, {"lookup": "random_features"}, "npt_compact")
    with pytest.raises(UserError, match="target_mask"):
        validated(CompactSettings, {"lookup": "original", "target_mask": 0.5}, "npt_compact")
    table = make_table("binary")
    with pytest.raises(UserError, match="lookup: add_one"):
        fitted(LOOKUP.changed(lookup="add_one"), table, first_split(table))
