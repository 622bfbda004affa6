"""Corruption of selected cells: scores of the probe, bootstrap intervals, table and answer."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from baselines import methods
from npt.nn.probe import NPTProbe
from npt.perturbation import Perturbation
from npt.probing import Probe
from npt.table import Column, Split, Table
from tests.workflow.studies.frames import SCORING, corruption_study, ratios_study, selections_study
from tests.workflow.studies.models import small_npt
from workflow.presentation.sections import Table as ReportTable
from workflow.presentation.statistics import fold_test
from workflow.report.summary import reference_study
from workflow.studies import kinds
from workflow.studies.corruption import CorruptionOptions
from workflow.studies.corruption.probe import bootstrap, movements, probe, shift
from workflow.studies.query import ProbeQuery

KIND = kinds()["corruption"]
NO_MODEL: Any = None


def query(probe: Probe, table: Table, split: Split, **options: Any) -> ProbeQuery:
    validated = CorruptionOptions.model_validate(options)
    return ProbeQuery(probe, table, split, split.test, seed=3, options=validated)


def of_truth(truth: list[float], classes: int = 0) -> ProbeQuery:
    """A query without a model, whose test rows have these targets."""
    values = np.array(truth)[:, None]
    levels = tuple("abc"[:classes])
    column = Column("y", "categorical", levels) if classes else Column("y", "continuous")
    table = Table.from_values([column], values, 0)
    none = np.arange(0)
    split = Split(0, none, none, np.arange(len(truth)))
    return query(Probe(NO_MODEL), table, split)


def samples(changes: np.ndarray | None) -> np.ndarray:
    assert changes is not None
    assert len(changes) == 1000
    return changes


def table(study: pd.DataFrame) -> ReportTable:
    return KIND.view.table("corruption", study, SCORING)


@pytest.mark.parametrize(
    ("errors", "factors", "change"),
    [
        ([1.0, 5.0, 2.0, 3.0], [1], 0),
        ([0.1, 1.0, 10.0, -3.0], [2], -100),  # of every sample, however its rows are drawn
        ([0.1, 1.0, 10.0, -3.0], [2, 5], -250),  # the mean over permutations
        ([0.0, 0.0, 0.0, 0.0], [1], np.nan),  # relative to an error of zero
    ],
)
def test_samples_pair_the_predictions_of_a_row(
    errors: list[float], factors: list[int], change: float
) -> None:
    clean = 2.0 + np.array(errors)
    corrupted = [2.0 + factor * np.array(errors) for factor in factors]
    changes = bootstrap(of_truth([2.0] * 4), clean, corrupted)
    assert samples(changes) == pytest.approx(change, nan_ok=True)


def test_samples_are_of_accuracies_and_of_rows_with_a_target() -> None:
    right = np.array([[0.9, 0.1], [0.9, 0.1]])
    half = np.array([[0.9, 0.1], [0.1, 0.9]])
    changes = samples(bootstrap(of_truth([0.0, 0.0], classes=2), right, [half]))
    values, counts = np.unique(changes, return_counts=True)
    assert values.tolist() == [-100, -50, 0]
    assert counts == pytest.approx([250, 500, 250], abs=60)
    clean = np.array([1.0, 1.0, 1.0])
    corrupted = np.array([2.0, 2.0, 50.0])
    changes = bootstrap(of_truth([0.0, 0.0, np.nan]), clean, [corrupted])
    assert samples(changes) == pytest.approx(-100)
    assert bootstrap(of_truth([0.0, np.nan]), clean[:2], [clean[:2]]) is None


def test_predictions_shift_by_their_root_mean_square() -> None:
    before = np.array([0.0, 0.0])
    distances = movements("regression", before, np.array([3.0, -4.0]))
    assert distances.tolist() == [3.0, 4.0]
    assert shift("regression", distances) == pytest.approx(np.sqrt(12.5))
    right = np.array([[0.9, 0.1], [0.6, 0.4]])
    moved = np.array([[0.9, 0.1], [0.4, 0.6]])
    assert shift("binary", movements("binary", right, moved)) == pytest.approx(0.1)


def test_default_probe_is_the_papers() -> None:
    model, whole, split = small_npt("regression")
    facts, arrays = probe(query(NPTProbe(model), whole, split))
    corrupted = NPTProbe(model).predict_perturbed(split.test, Perturbation("shuffle", 1.0), 3)
    rmse = np.sqrt(np.mean((corrupted - whole.truth[split.test]) ** 2))
    assert facts["corrupted_rmse"] == rmse
    assert np.array_equal(arrays["corrupted"], corrupted)
    assert facts["target_deviation"] == pytest.approx(np.std(whole.truth[split.train]))
    assert set(arrays) == {"clean", "corrupted", "control_rows", "control"}


def test_scores_are_means_over_different_permutations() -> None:
    model, whole, split = small_npt("multiclass")
    options = {"columns": ["features"], "rows": ["train"], "permutations": 3}
    asked = query(NPTProbe(model), whole, split, **options)
    facts, arrays = probe(asked)
    losses = []
    for draw in range(3):
        perturbation = Perturbation("shuffle", 1.0, "features", "train", draw)
        predicted = NPTProbe(model).predict_perturbed(split.test, perturbation, 3)
        suffix = f"_{draw}" if draw else ""
        assert np.array_equal(arrays[f"corrupted_features_train{suffix}"], predicted)
        losses.append(asked.score(predicted)["nll"])
    assert len(set(losses)) == 3
    assert facts["corrupted_features_train_nll"] == pytest.approx(np.mean(losses))


def test_movement_is_in_deviations_of_the_train_targets() -> None:
    """Not of the model's own RMSE, by which a bad model would look still."""
    good, bad = ratios_study({"npt": [3.0] * 3}), ratios_study({"knn": [1.0] * 3}, clean_rmse=99.0)
    tidy = table(pd.concat([good, bad], ignore_index=True)).tidy
    assert tidy["movement"].tolist() == [0.5, 0.5]
    classes = corruption_study().assign(corrupted_shift=0.5)
    section, _ = table(classes).sections
    assert section.columns["Predictions move"][0].text == "0.500"


def test_effects_are_tested_on_log_ratios() -> None:
    tidy = table(ratios_study({"npt": [2.0, 4.0, 8.0]})).tidy
    expected = fold_test(pd.Series(np.log([2.0, 4.0, 8.0])), 1 / 7)[0]
    assert np.exp(tidy["effect"].item()) == pytest.approx(4)
    assert tidy["p_value"].item() == pytest.approx(expected)
    assert tidy["worse_folds"].item() == 3


def test_a_fold_without_a_loss_leaves_no_mean() -> None:
    study = ratios_study({"npt": [2.0, 4.0, 8.0]})
    study.loc[0, "clean_rmse"] = 0.0  # its ratio is infinite
    tidy = table(study).tidy
    missing = ["effect", "largest_effect", "p_value", "change", "standard_error"]
    assert tidy[missing].isna().all(axis=None)
    assert KIND.view.answer(tidy) == ""


def test_the_answer_and_the_control_are_about_the_cells_that_were_shuffled() -> None:
    tidy = table(selections_study().assign(method="knn")).tidy
    assert KIND.view.answer(tidy).startswith("Shuffling labels of the other train rows multi")
    assert [row["Control"].text for row in KIND.view.controls(tidy)] == [
        "identity permutation, 1 model"
    ]
    (_, *others) = KIND.view.controls(tidy.assign(permuted_columns="all", permuted_rows="test"))
    assert others == []
    whole = table(ratios_study({"knn": [2.0, 0.5, 8.0]})).tidy
    assert KIND.view.answer(whole).startswith("Shuffling the other rows multiplies")
    (_, neighbours) = KIND.view.controls(whole)
    assert neighbours["Measured"].text == "2 of 3"


def test_an_answer_says_that_a_method_has_fewer_datasets() -> None:
    study = pd.concat([ratios_study({"npt": [2.0], "knn": [2.0]}), ratios_study({"npt": [8.0]})])
    study["dataset"] = ["yacht", "yacht", "concrete"]
    tidy = KIND.view.table("corruption", study, SCORING).tidy
    assert KIND.view.answer(tidy) == (
        "Shuffling the other rows multiplies the RMSE by 4.0 (NPT) and 2.0 (k-NN, 1 dataset); "
        "2 datasets × 1 fold."
    )


def test_controls_of_the_committed_rows_pass() -> None:
    """Permuting all cells costs who predicts from other rows alone, and nobody who ignores them."""
    for name in ("quick", "row_models", "paper_tenth"):
        study = reference_study(f"{name}/corruption")
        tidy = table(study.loc[:, ~study.columns.str.endswith("_bootstrap")]).tidy
        tidy = tidy.dropna(subset="effect")
        assert (tidy["control"].fillna(0) <= 1e-4).all(), name
        everything = tidy.query("permuted_columns == 'all' and permuted_rows == 'all'")
        certain = everything.query("method in ('knn', 'gaussian_process', 'modern_nca', 'xrfm')")
        assert (certain["worse_folds"] == certain["folds"]).all(), name
        reads = everything["method"].map(lambda method: methods()[method].reads_rows)
        assert (everything[~reads]["largest_effect"] <= 1e-4).all(), name


def test_interval_is_of_the_geometric_mean_over_folds() -> None:
    tidy = table(selections_study()).tidy
    ends = np.sqrt(np.multiply([1.025, 1.975], [1.425, 2.375]))
    assert np.exp(tidy[["low", "high"]].iloc[0]).tolist() == pytest.approx(ends)
    assert tidy[["low", "high"]].iloc[1].tolist() == [0, 0]
    single = table(selections_study(folds=1)).tidy
    assert np.exp(single["high"]).tolist() == pytest.approx([1.975, 1])


@pytest.mark.parametrize("is_known", [True, False])
def test_seeds_of_a_fold_share_an_interval(is_known: bool) -> None:
    study = selections_study(folds=1)
    column = "corrupted_target_train_bootstrap"
    changes = np.array(json.loads(study[column].item())["changes"])
    quadrupled = (100 - 4 * (100 - changes)).tolist()
    if not is_known:
        quadrupled[-1] = None
    other = study.assign(**{"seed": 1, column: json.dumps({"changes": quadrupled})})
    tidy = table(pd.concat([study, other], ignore_index=True)).tidy
    high = 2 * 1.975 if is_known else np.nan
    assert np.exp(tidy["high"]).tolist() == pytest.approx([high, 1], nan_ok=True)
