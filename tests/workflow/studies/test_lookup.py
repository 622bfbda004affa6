"""The lookup task: what the duplicates show, that NPT reads it there, and that nothing else can."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from npt.data.declaration import SplitRule
from npt.data.encoding import statistics
from npt.data.splits import splits
from npt.interface import Mode, Resources, UserError
from npt.nn.inputs import EncodedTable
from npt.nn.learner import NPTLearner
from npt.nn.trained import TrainedNPT
from npt.nn.masking import mask
from npt.nn.settings import NPTSettings
from npt.perturbation import Perturbation
from npt.table import Column, Split, Table
from tests.conftest import make_table
from workflow.studies.lookup.probe import by_neighbours, intervened, looked_up

SETTINGS = NPTSettings(
    width=8, layers=2, heads=2, updates=700, batch_rows=32, evaluate_every=6, learning_rate=0.005, schedule_share=0.7,
    feature_mask=0.0, tradeoff_start=0.0, attention_dropout=0.0, hidden_dropout=0.0, lookup="original",
)  # fmt: skip
VARIANTS = ("original", "random_features", "add_one", "random_features_add_one")


RELEASED = ("released_random_features", "released_add_one", "released_random_features_add_one")


def unrelated(rows: int = 1500) -> tuple[Table, Split]:
    """A target that no feature tells: it can be looked up, and not predicted otherwise."""
    values = np.random.default_rng(0).normal(size=(rows, 7))
    table = Table.of(
        [Column(f"x{j}", "continuous") for j in range(6)] + [Column("y", "continuous")], values, 6
    )
    return table, splits(table, SplitRule(folds=5, used=1))[0]


@pytest.fixture(scope="module")
def trained() -> tuple[TrainedNPT, Table, Split]:
    table, split = unrelated()
    learner = NPTLearner(SETTINGS, Resources())
    learner.fit(table.blind(split.test), split, 0)
    learner = learner.trained
    return learner, table, split


def test_npt_reads_the_target_off_the_duplicate_and_only_there(
    trained: tuple[TrainedNPT, Table, Split],
) -> None:
    learner, table, split = trained
    truth = table.truth[split.test]
    assert np.corrcoef(looked_up(learner, table, split, split.test), truth)[0, 1] > 0.7
    assert (
        abs(
            np.corrcoef(looked_up(learner, table, split, split.test, duplicates=False), truth)[0, 1]
        )
        < 0.2
    )
    assert learner.settings.lookup == "original"


def test_a_prediction_follows_its_duplicate_s_target_and_others_hardly_move(
    trained: tuple[TrainedNPT, Table, Split],
) -> None:
    learner, table, split = trained
    rows = split.test[::40]
    found = intervened(learner, table, split, rows, sweep=5)
    assert found.predicted.shape == (len(rows), 5)
    own = [np.ptp(line) for line in found.predicted]
    assert np.median(own) > 1.5
    assert np.corrcoef(np.tile(found.values, len(rows)), found.predicted.ravel())[0, 1] > 0.6
    # One at a time, with the target changed in the table itself: the same predictions.
    for row, line in list(zip(rows, found.predicted, strict=True))[:2]:
        for value, predicted in zip(found.values, line, strict=True):
            truth = table.truth
            truth[row] = value
            plain = looked_up(
                learner, table.with_numbers(table.target, truth), split, np.array([row])
            )
            assert plain[0] == pytest.approx(predicted, abs=1e-4)
    assert learner.predict_perturbed(rows, Perturbation("shuffle", 1.0), 0).values.shape == (
        len(rows),
    )


def test_an_intervention_leaves_the_marks_of_the_released_code_as_they_were() -> None:
    table, split = unrelated(90)
    learner = NPTLearner(replace(SETTINGS, lookup="released_add_one", updates=1), Resources())
    learner.fit(table.blind(split.test), split, 0)
    learner = learner.trained
    row = split.test[:1]
    found = intervened(learner, table, split, row, sweep=3)
    shift = statistics(table, split).scale[table.target]
    for value, predicted in zip(found.values, found.predicted[0], strict=True):
        truth = table.truth
        truth[row] = value - shift  # the duplicate shows it larger by one deviation
        plain = looked_up(learner, table.with_numbers(table.target, truth), split, row)
        assert plain[0] == pytest.approx(predicted, abs=1e-4)


def test_validation_rows_are_predicted_beside_their_own_duplicates(
    trained: tuple[TrainedNPT, Table, Split],
) -> None:
    learner, table, split = trained
    learner = learner.with_table(table.blind(split.test), split)
    assert (
        np.corrcoef(learner.predict(split.validation).values, table.truth[split.validation])[0, 1]
        > 0.7
    )


def test_without_attention_between_datapoints_nothing_can_be_looked_up() -> None:
    table, split = unrelated(300)
    settings = replace(SETTINGS, between_datapoints=False, updates=20)
    learner = NPTLearner(settings, Resources())
    learner.fit(table.blind(split.test), split, 0)
    learner = learner.trained
    found = intervened(learner, table, split, split.test[:6], sweep=4)
    assert (np.ptp(found.predicted, axis=1) == 0).all()
    assert (found.others == 0).all()


@pytest.mark.parametrize("mode", ["train", "validation", "test"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_duplicates_show_the_targets_of_the_mode_s_own_rows_alone(mode: Mode, variant: str) -> None:
    table, split = unrelated(60)
    data = EncodedTable.of(table, split, statistics(table, split), torch.device("cpu"))
    settings = replace(SETTINGS, lookup=variant)  # type: ignore[arg-type]
    masked = mask(data, mode, settings, torch.Generator().manual_seed(0))
    cells, t = masked.cells, table.target
    own = torch.zeros(60, dtype=torch.bool)
    own[getattr(split, mode)] = True
    assert cells.codes.shape == (1, 120, 7)
    assert cells.mask[0, :60, t].eq(1).all()
    assert torch.equal(cells.mask[0, 60:, t] == 0, own)
    assert torch.equal(masked.labels, own)
    shift = 1.0 if "add_one" in variant else 0.0
    assert torch.allclose(cells.scale[0, 60:, t][own], data.numbers[own, t] + shift)
    assert cells.scale[0, 60:, t][~own].eq(0).all()
    kept = slice(0, 3 if "random_features" in variant else 6)
    for half in (slice(0, 60), slice(60, 120)):
        assert torch.equal(cells.scale[0, half, kept], data.numbers[:, kept])
    if "random_features" in variant:
        noise = cells.scale[0, :, 3:6]
        assert not torch.equal(noise[:60], noise[60:])
        assert noise.mean() == pytest.approx(1, abs=0.2)
        assert cells.mask[0, :, 3:6].eq(0).all()


@pytest.mark.parametrize("variant", RELEASED)
def test_the_released_code_s_variants_tell_which_cells_were_tampered_with(variant: str) -> None:
    table, split = unrelated(60)
    data = EncodedTable.of(table, split, statistics(table, split), torch.device("cpu"))
    settings = replace(SETTINGS, lookup=variant)  # type: ignore[arg-type]
    cells, t = mask(data, "test", settings, torch.Generator().manual_seed(0)).cells, table.target
    own = torch.zeros(60, dtype=torch.bool)
    own[split.test] = True
    assert torch.equal(
        cells.scale[0, :60, :t], data.numbers[:, :t]
    )  # the originals are as they were
    assert cells.mask[0, :60, :t].eq(0).all()
    noisy = "random_features" in variant
    assert torch.equal(cells.scale[0, 60:, :2], data.numbers[:, :2])
    assert torch.equal(cells.scale[0, 60:, 2:t], data.numbers[:, 2:t]) is not noisy
    assert cells.mask[0, 60:, 2:t].eq(float(noisy)).all()
    shift = float("add_one" in variant)
    assert torch.allclose(cells.scale[0, 60:, t][own], data.numbers[own, t] + shift)
    assert cells.mask[0, 60:, t][own].eq(shift).all()
    assert cells.mask[0, 60:, t][~own].eq(1).all()
    assert cells.scale[0, 60:, t][~own].eq(0).all()


def test_a_hidden_target_leaves_no_trace_in_the_input() -> None:
    table, split = unrelated(60)
    truth = table.truth
    truth[np.concatenate([split.validation, split.test])] += 100
    inputs = []
    for one in (table, table.with_numbers(table.target, truth)):
        data = EncodedTable.of(one, split, statistics(table, split), torch.device("cpu"))
        inputs.append(mask(data, "train", SETTINGS, torch.Generator().manual_seed(0)).cells)
    assert torch.equal(inputs[0].scale, inputs[1].scale)


def test_the_nearest_neighbour_is_exact_and_off_by_exactly_one_deviation_with_add_one() -> None:
    table, split = unrelated(300)
    truth, known = table.truth[split.test], statistics(table, split)
    errors = {}
    for variant in (*VARIANTS, *RELEASED):
        learner = NPTLearner(replace(SETTINGS, lookup=variant, updates=1), Resources())  # type: ignore[arg-type]
        learner.fit(table.blind(split.test), split, 0)
        learner = learner.trained
        found = by_neighbours(learner, table, split.test, range(1, 11), 0)
        assert found.shape == (10, len(truth))
        errors[variant] = np.sqrt(((found - truth) ** 2).mean(1))
    assert errors["original"][0] == 0
    assert errors["add_one"][0] == pytest.approx(known.scale[table.target])
    assert errors["random_features"][0] > 0.5
    assert errors["random_features_add_one"][0] > 0.5
    assert errors["released_add_one"][0] == pytest.approx(known.scale[table.target])
    assert errors["released_random_features"][0] > errors["random_features"][0] / 2


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(UserError, match=r"target_mask: 0.5 with lookup"):
        replace(SETTINGS, target_mask=0.5)
    with pytest.raises(UserError, match="lookup: 'duplicate' is unknown; allowed: off, original"):
        replace(SETTINGS, lookup="duplicate")  # type: ignore[arg-type]
    for task, variant in (("binary", "add_one"), ("regression", "random_features")):
        table = make_table(task)  # type: ignore[arg-type]
        split = splits(table, SplitRule(folds=5, used=1))[0]
        learner = NPTLearner(
            replace(SETTINGS, lookup=variant, batch_rows=None, updates=1), Resources()
        )  # type: ignore[arg-type]
        with pytest.raises(UserError, match="lookup: "):
            learner.fit(table.blind(split.test), split, 0)
            learner = learner.trained
