"""Corruption of selected cells: scores of the probe, bootstrap intervals, table and sentences."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from npt.interface import ContextModel, Prediction
from npt.perturbation import Perturbation
from npt.table import Column, Split, Table
from tests.workflow.report.toy import evidence
from tests.workflow.studies.frames import (
    SCORING,
    corruption_study,
    selections_study,
    with_second_seed,
)
from tests.workflow.studies.models import small_npt
from workflow.report.published import DIFFERENCE_NOTE
from workflow.report.sections import Table as ReportTable
from workflow.studies import kinds
from workflow.studies.corruption import CorruptionOptions
from workflow.studies.corruption.changes import bootstrap, flipped, shift
from workflow.studies.corruption.probe import probe
from workflow.studies.corruption.tables import ENCODINGS_NOTE, PAPER_NOTE
from workflow.studies.query import ProbeQuery

KIND = kinds()["corruption"]


def query(model: ContextModel, table: Table, split: Split, **options: Any) -> ProbeQuery:
    return ProbeQuery(
        model=model,
        table=table,
        split=split,
        rows=split.test,
        seed=3,
        options=CorruptionOptions.model_validate(options),
    )


def of_truth(truth: list[float], classes: int = 0) -> ProbeQuery:
    """A query without a model, whose test rows have these targets."""
    values = np.array(truth)[:, None]
    levels = tuple("abc"[:classes])
    column = Column("y", "categorical", levels) if classes else Column("y", "continuous")
    table = Table.of([column], values, 0)
    none = np.arange(0)
    split = Split(0, none, none, np.arange(len(truth)))
    return query(NoModel(), table, split)


class NoModel:
    """A model that is never asked."""

    def predict(self, rows: np.ndarray) -> Prediction:
        raise NotImplementedError

    def predict_perturbed(
        self, rows: np.ndarray, perturbation: Perturbation, seed: int
    ) -> Prediction:
        raise NotImplementedError


def samples(changes: np.ndarray | None) -> np.ndarray:
    assert changes is not None
    assert len(changes) == 1000
    return changes


def table(study: pd.DataFrame) -> ReportTable:
    return KIND.table("corruption", study, SCORING)


def test_equal_predictions_have_an_interval_of_zero() -> None:
    predictions = np.array([1.0, 5.0, 2.0])
    changes = bootstrap(of_truth([0.0, 1.0, 2.5]), predictions, [predictions])
    assert (samples(changes) == 0).all()


def test_samples_pair_the_predictions_of_a_row() -> None:
    """Twice the error of every row is twice the RMSE of every sample, however they are drawn."""
    errors = np.array([0.1, 1.0, 10.0, -3.0])
    changes = bootstrap(of_truth([0.0] * 4), errors, [2 * errors])
    assert samples(changes) == pytest.approx(-100)


def test_accuracy_of_two_rows_has_three_changes() -> None:
    right = np.array([[0.9, 0.1], [0.9, 0.1]])
    half = np.array([[0.9, 0.1], [0.1, 0.9]])
    changes = samples(bootstrap(of_truth([0.0, 0.0], classes=2), right, [half]))
    values, counts = np.unique(changes, return_counts=True)
    assert values.tolist() == [-100, -50, 0]
    assert counts == pytest.approx([250, 500, 250], abs=60)


def test_scores_of_a_sample_are_means_over_permutations() -> None:
    errors = np.array([0.1, 1.0, 10.0, -3.0])
    changes = bootstrap(of_truth([0.0] * 4), errors, [2 * errors, 5 * errors])
    assert samples(changes) == pytest.approx(-250)


def test_rows_without_a_target_are_not_sampled() -> None:
    clean = np.array([1.0, 1.0, 1.0])
    corrupted = np.array([2.0, 2.0, 50.0])
    changes = bootstrap(of_truth([0.0, 0.0, np.nan]), clean, [corrupted])
    assert samples(changes) == pytest.approx(-100)
    assert bootstrap(of_truth([0.0, np.nan]), clean[:2], [clean[:2]]) is None


def test_a_perfect_model_has_no_relative_change() -> None:
    zeros = np.zeros(3)
    changes = bootstrap(of_truth([0.0] * 3), zeros, [zeros + 1])
    assert np.isnan(samples(changes)).all()


def test_predictions_shift_by_their_root_mean_square() -> None:
    before = np.array([0.0, 0.0])
    assert shift("regression", before, np.array([3.0, 4.0])) == pytest.approx(np.sqrt(12.5))
    right = np.array([[0.9, 0.1], [0.6, 0.4]])
    moved = np.array([[0.9, 0.1], [0.4, 0.6]])
    assert shift("binary", right, moved) == pytest.approx(0.1)
    assert flipped(right, moved) == 0.5


def test_default_probe_is_the_papers() -> None:
    model, whole, split = small_npt("regression")
    facts, arrays = probe(query(model, whole, split))
    corrupted = model.predict_perturbed(split.test, Perturbation("shuffle", 1.0), 3).values
    rmse = np.sqrt(np.mean((corrupted - whole.truth[split.test]) ** 2))
    assert facts["corrupted_rmse"] == rmse
    assert np.array_equal(arrays["corrupted"], corrupted)
    names = ["clean", "corrupted", "control_clean", "control"]
    expected = {f"{name}_{metric}" for name in names for metric in ("rmse", "mse")}
    assert set(facts) == {*expected, "corrupted_bootstrap", "corrupted_shift"}
    clean = model.predict(split.test).values
    assert facts["corrupted_shift"] == np.sqrt(np.mean((corrupted - clean) ** 2))
    assert set(arrays) == {"clean", "corrupted", "control_rows", "control"}


@pytest.mark.parametrize(("encoder", "count"), [("resnet18", 1), ("linear", 0)])
def test_a_note_says_that_encodings_are_permuted(encoder: str, count: int) -> None:
    study = corruption_study().assign(encoder=encoder)
    (*_, section) = KIND.table("corruption", study, SCORING).sections
    assert section.notes.count(ENCODINGS_NOTE.format(encoder)) == count


@pytest.mark.parametrize(("folds", "count"), [(2, 1), (1, 0)])
def test_the_difference_from_the_paper_is_explained_where_it_is_shown(
    folds: int, count: int
) -> None:
    study = corruption_study().query("dataset == 'breast_cancer' and method == 'npt'")
    images = study[study["fold"] < folds].assign(dataset="mnist", encoder="linear")
    (section,) = KIND.table("corruption", images, SCORING).sections
    assert section.notes.count(PAPER_NOTE) == 1
    assert section.notes.count(DIFFERENCE_NOTE) == count


def test_scores_are_means_over_different_permutations() -> None:
    model, whole, split = small_npt("multiclass")
    asked = query(model, whole, split, columns=["features"], rows=["train"], permutations=3)
    facts, arrays = probe(asked)
    losses = []
    for draw in range(3):
        perturbation = Perturbation("shuffle", 1.0, "features", "train", draw)
        predicted = model.predict_perturbed(split.test, perturbation, 3).values
        suffix = f"_{draw}" if draw else ""
        assert np.array_equal(arrays[f"corrupted_features_train{suffix}"], predicted)
        losses.append(asked.score(predicted)["nll"])
    assert len(set(losses)) == 3
    assert facts["corrupted_features_train_nll"] == pytest.approx(np.mean(losses))
    assert facts["corrupted_features_train_nll_deviation"] == pytest.approx(np.std(losses, ddof=1))


def test_hidden_labels_cost_exactly_nothing() -> None:
    model, whole, split = small_npt("regression", target_mask=1.0)
    facts, _ = probe(query(model, whole, split, columns=["target", "features"]))
    assert facts["corrupted_target_all_rmse"] == facts["clean_rmse"]
    assert set(facts["corrupted_target_all_bootstrap"]["changes"]) == {0.0}
    assert facts["corrupted_features_all_rmse"] != facts["clean_rmse"]
    assert np.ptp(facts["corrupted_features_all_bootstrap"]["changes"]) > 0


def test_default_table_has_no_columns_of_selections() -> None:
    accuracy, _ = table(corruption_study()).sections
    assert accuracy.title.startswith("Change of accuracy when all other rows are corrupted")
    titles = ["Dataset", "Method", "Clean accuracy, %", "Corrupted accuracy, %", "Change"]
    assert list(accuracy.columns)[:5] == titles
    assert "Rows" not in accuracy.columns
    assert "95 % interval" not in accuracy.columns


def test_table_shows_how_far_predictions_move() -> None:
    shifted = corruption_study().assign(corrupted_shift=0.5, corrupted_flipped=0.25)
    accuracy, rmse = table(shifted).sections
    moved = accuracy.columns["Predictions move, %"][0].text, rmse.columns["Predictions move, %"]
    assert (moved[0], moved[1][0].text) == ("50.0", "50.0")  # of a clean RMSE of 1
    assert accuracy.columns["Flipped, %"][0].text == "25.0"
    assert "Flipped, %" not in rmse.columns
    text = KIND.finding(shifted, SCORING)
    assert "Yacht RMSE +100.0 % (root mean square change of predictions 50 % of the RMSE)" in text


@pytest.mark.parametrize(
    ("shift", "extent"),
    [(0.005, "hardly"), (0.05, "slightly"), (0.5, "strongly")],
)
def test_cards_ask_what_is_read_and_what_scores_depend_on(shift: float, extent: str) -> None:
    (reads,) = KIND.cards(corruption_study().assign(corrupted_shift=shift), SCORING)
    assert reads.verdict == f"NPT: {extent}"
    clear = KIND.cards(selections_study(9), SCORING)[-1]
    assert clear.verdict == "NPT: on 1 of 1 dataset"


def test_table_has_a_row_for_each_selection() -> None:
    (section,) = table(selections_study()).sections
    texts = [[cell.text for cell in row] for row in section.rows]
    train = ["target", "train", "2.00", "3.50", "+75.0 ± 25.0", "22.5 to 117.5", "10.0", "0.0"]
    test = ["target", "test", "2.00", "2.00", "0.0 ± 0.0", "0.0 to 0.0", "0.0", "0.0"]
    assert texts == [["Yacht", "NPT", *train], ["Yacht", "NPT", *test]]
    assert any("2 permutations" in note for note in section.notes)


def test_interval_is_of_the_mean_over_folds() -> None:
    tidy = table(selections_study()).tidy
    assert tidy["low"].tolist() == pytest.approx([22.5, 0])
    assert tidy["high"].tolist() == pytest.approx([117.5, 0])
    single = table(selections_study(folds=1)).tidy
    assert single["standard_error"].isna().all()
    assert single["high"].tolist() == pytest.approx([97.5, 0])


def test_seeds_are_averaged_within_a_fold() -> None:
    study = selections_study(folds=1)
    other = study.assign(seed=1)
    column = "corrupted_target_train_bootstrap"
    shifted = [change - 10 for change in json.loads(study[column].item())["changes"]]
    other[column] = json.dumps({"changes": shifted})
    tidy = table(pd.concat([study, other], ignore_index=True)).tidy
    assert tidy["high"].tolist() == pytest.approx([102.5, 0])
    twice = table(with_second_seed(selections_study())).tidy
    pd.testing.assert_frame_equal(twice, table(selections_study()).tidy)


def test_an_undefined_sample_leaves_no_interval() -> None:
    study = selections_study(folds=1)
    study["corrupted_target_train_bootstrap"] = json.dumps({"changes": [-1.0, None]})
    assert table(study).tidy["low"].isna().tolist() == [True, False]


def test_selections_in_sentences() -> None:
    text = KIND.finding(selections_study(), SCORING)
    assert "Yacht (target of train rows) RMSE +75.0 ± 25.0 %" in text
    assert "Yacht (target of test rows) RMSE 0.0 ± 0.0 %" in text


@pytest.mark.parametrize(("folds", "is_shown"), [(2, False), (9, True)])
def test_a_loss_is_judged_by_the_folds_there_are(folds: int, is_shown: bool) -> None:
    study = selections_study(folds)  # RMSE rises from 50 % on the first fold by 50 on each further
    headline = evidence(KIND, study)
    by_folds, _, by_rows = headline.partition("By the whole 95 % interval over test rows")
    assert ("worse scores by the corrected t-test over folds" in by_folds) == is_shown
    assert ("1 of 1 (target of train rows)" in by_folds) == is_shown
    assert "1 of 1 (target of train rows)" in by_rows
    assert "target of test rows" not in headline


def test_one_fold_is_judged_by_its_interval() -> None:
    text = KIND.finding(selections_study(folds=1), SCORING)
    assert "(target of train rows) RMSE +50.0 (95 % interval 2.5 to 97.5) %" in text
    headline = evidence(KIND, selections_study(folds=1))
    assert "standard errors" not in headline
    assert "of these models alone: NPT 1 of 1 (target of train rows)" in headline


def test_figure_names_every_selection() -> None:
    figure = KIND.figure("corruption", selections_study(), SCORING)
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == ["Yacht: target, test", "Yacht: target, train"]
