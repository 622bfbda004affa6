"""What tuned baselines are fitted to, where tables lack classes, targets or rows."""

from typing import Any

import numpy as np
import pytest

from baselines import baselines, methods, tabnet
from baselines.grids import BaselineSettings, single_point
from baselines.training_data import training_data
from baselines.tuned import TunedBaseline
from npt.data.encoding import statistics
from npt.errors import Infeasible, UserError
from npt.interface import Resources
from npt.table import Part, Split, Table, Task
from tests.conftest import first_split, make_table

CLASSIFIERS = [name for name in baselines() if not baselines()[name].supports("multiclass")]


def learner(name: str, **changes: Any) -> TunedBaseline:
    baseline = baselines()[name]
    settings = BaselineSettings(**{**baseline.test_settings, **changes})
    return TunedBaseline(baseline, settings, Resources())


def without_class(table: Table, split: Split, part: Part, code: int) -> Split:
    """The split with the rows of a class moved out of a part, into the other seen part."""
    rows = split.rows(part)
    kept = rows[table.truth[rows] != code]
    rest = np.setdiff1d(np.arange(table.rows), np.concatenate([kept, split.test]))
    return Split(0, *((kept, rest) if part == "train" else (rest, kept)), split.test)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_class_without_train_rows_has_probability_zero(name: str) -> None:
    table = make_table("multiclass")
    split = without_class(table, first_split(table), "train", 1)
    model = learner(name)
    model.fit(table.blind(split.test), split, 0)
    predicted = model.predict(split.test).values
    assert predicted.shape == (len(split.test), 3)
    assert (predicted[:, 1] == 0).all()
    assert predicted.sum(1) == pytest.approx(np.ones(len(split.test)))


def test_early_stopping_leaves_out_unseen_classes() -> None:
    table = make_table("multiclass")
    split = without_class(table, first_split(table), "train", 1)
    data = training_data(table, split, statistics(table, split), codes=False)
    features, labels = data.early_stopping
    kept = split.validation[table.truth[split.validation] != 1]
    assert np.array_equal(features, data.features[kept])
    assert np.array_equal(labels, table.truth[kept] // 2)


@pytest.mark.parametrize("codes", [True, False])
@pytest.mark.parametrize("transductive", [True, False])
def test_features_are_standardised_over_the_stated_rows(codes: bool, transductive: bool) -> None:
    table = make_table("regression", 100)
    split = first_split(table)
    known = statistics(table, split, transductive=transductive)
    data = training_data(table, split, known, codes=codes)
    rows = slice(None) if transductive else split.train
    complete = data.features[rows, :2]  # columns without missing numbers
    assert np.allclose(complete.mean(0), 0, atol=1e-12)
    assert np.allclose(complete.std(0), 1)


def test_tabnet_stops_early_where_validation_lacks_a_class() -> None:
    table = make_table("multiclass")
    split = without_class(table, first_split(table), "validation", 2)
    assert np.isfinite(learner("tabnet").fit(table, split, 0).validation_loss)


@pytest.mark.parametrize(
    ("train_rows", "batch", "virtual"), [(33, 32, 16), (20, 32, 16), (45, 32, 4)]
)
def test_tabnet_trains_whatever_its_batches_leave_over(
    train_rows: int, batch: int, virtual: int
) -> None:
    table = make_table("regression")
    split = Split(0, np.arange(train_rows), np.arange(train_rows, 50), np.arange(50, 60))
    grid = single_point({**tabnet.TUNED, "batch_size": batch, "virtual_batch_size": virtual})
    model = learner("tabnet", grid=grid, fixed={"max_epochs": 15, "patience": 15})
    model.fit(table, split, 0)
    assert model.predict(split.train).values.std() > 0.1 * table.truth.std()


def test_tabm_learns_beside_an_outlier_of_a_test_row() -> None:
    table = make_table("regression")
    split = first_split(table)
    numbers = table.numbers(0)
    numbers[split.test[0]] = 1e12  # all others are one number in single precision
    fit = learner("tabm").fit(table.with_numbers(0, numbers), split, 0)
    assert np.isfinite(fit.validation_loss)


@pytest.mark.parametrize("name", ["modern_nca", "tabr", "anp"])
def test_batches_of_one_row_would_train_nothing(name: str) -> None:
    table = make_table("regression")
    model = learner(name, grid="quick", fixed={"batch_size": 1})
    with pytest.raises(UserError, match="batch_size: 1; allowed: at least 2"):
        model.fit(table, first_split(table), 0)


@pytest.mark.parametrize("task", ["binary", "regression"])
def test_a_single_target_value_is_infeasible(task: Task) -> None:
    table = make_table(task)
    table = table.with_numbers(table.target, np.ones(table.rows))
    with pytest.raises(Infeasible, match="single target value"):
        learner("mlp").fit(table, first_split(table), 0)


def test_without_validation_targets_a_fit_is_infeasible() -> None:
    table = make_table("regression")
    split = first_split(table)
    with pytest.raises(Infeasible, match="no validation row"):
        learner("linear").fit(table.hide(split.validation, table.target), split, 0)


def test_too_few_rows_for_the_neighbours_is_a_reason() -> None:
    table = make_table("binary", 20)
    split = first_split(table)
    fit = learner("knn", grid="quick").fit(table, split, 0)
    failed = {trial.parameters["n_neighbors"] for trial in fit.trials if trial.reason}
    assert failed == {k for k in (2, 5, 10, 20, 40) if k > len(split.train)}
    with pytest.raises(Infeasible, match="n_neighbors 40"):
        learner("knn", grid={"n_neighbors": [40]}).fit(table, split, 0)


def test_tabnets_rate_decays_where_it_is_stated() -> None:
    table = make_table("regression")
    split = first_split(table)
    point = single_point({**tabnet.TUNED, "decay": 0.5, "decay_every": 1})
    losses = []
    for decays in (False, True):
        fixed = {"max_epochs": 3, "patience": 3, "decay_learning_rate": decays}
        losses.append(learner("tabnet", grid=point, fixed=fixed).fit(table, split, 0))
    assert losses[0].validation_loss != losses[1].validation_loss


def test_a_method_without_a_title_names_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("baselines.baselines", lambda: {"untitled": object()})
    with pytest.raises(UserError, match=r"baselines/untitled\.py: .* no attribute"):
        methods.__wrapped__()
