"""Solved attention: what a prediction depends on, its exact sums, and tables that break others."""

import warnings
from itertools import chain
from typing import Any

import numpy as np
import pytest
import torch

from npt.metrics import negative_log_likelihood
from npt.solved.cells import Context, Encoder
from npt.solved.cross_fitted import CrossFitted
from npt.solved.kernels import PRODUCTS, initial_parameters
from npt.solved.landmarks import Landmarks
from npt.solved.mix import stacked
from npt.solved.model import SolvedNPT, fit
from npt.solved.settings import SolvedSettings
from npt.solved.solve import Solution, solve
from npt.solved.tune import head_parameters, ordered, ridges

ROWS = 120
CATEGORICAL = np.array([False, False, False, True, False])


def table(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Numbers, a category and missing cells; a target of an interaction."""
    generator = np.random.default_rng(seed)
    features = generator.normal(size=(ROWS + 30, 5)).round(2)
    features[:, 3] = generator.integers(0, 4, len(features))
    features[generator.random(features.shape) < 0.05] = np.nan
    known = np.nan_to_num(features)
    target = np.sin(known[:, 0]) + known[:, 1] * (known[:, 3] == 1)
    return features, target + 0.05 * generator.normal(size=len(features))


FEATURES, TARGET = table()
CLASSES = (TARGET > 0).astype(int) + (TARGET > 1)
QUERIES = FEATURES[ROWS:]


def fitted(
    classes: int | None = None,
    rows: np.ndarray | slice = slice(ROWS),
    columns: np.ndarray | slice = slice(5),
    device: str = "cpu",
    weights: np.ndarray | None = None,
    **settings: Any,
) -> SolvedNPT:
    """The model of the first rows, or of others."""
    labels = TARGET if classes is None else CLASSES
    return fit(
        FEATURES[rows][:, columns],
        labels[rows],
        CATEGORICAL[columns],
        classes=classes,
        weights=weights,
        settings=SolvedSettings(**{"steps": 5, **settings}),
        device=torch.device(device),
    )


@pytest.mark.parametrize(("rows", "factor"), [(50, 4), (ROWS, 1)])
def test_classifications_of_few_rows_are_pulled_more(
    rows: int, factor: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = fitted(3, slice(rows), pull=0.02).parameters
    monkeypatch.setattr("npt.solved.tune.FEW_ROWS", 0)
    expected = fitted(3, slice(rows), pull=0.02 * factor).parameters
    assert all(torch.equal(found[name], values) for name, values in expected.items())


def test_regressions_of_many_rows_are_pulled_less() -> None:
    found = fitted(pull_rows=30).parameters
    expected = fitted(pull=0.02 * 30 / ROWS).parameters
    assert all(torch.equal(found[name], values) for name, values in expected.items())


@pytest.mark.parametrize("classes", [None, 3])
def test_queries_and_order_of_rows_and_columns_do_not_matter(classes: int | None) -> None:
    model = fitted(classes, tuned_rows=60)
    expected = model.predict(QUERIES)
    alone = [model.predict(QUERIES[[row]]) for row in range(len(QUERIES))]
    assert np.concatenate(alone) == pytest.approx(expected, abs=1e-9)
    rows = np.random.default_rng(1).permutation(ROWS)
    assert np.array_equal(fitted(classes, rows, tuned_rows=60).predict(QUERIES), expected)
    columns = np.array([3, 1, 4, 0, 2])
    turned = fitted(classes, columns=columns, tuned_rows=60)
    assert turned.predict(QUERIES[:, columns]) == pytest.approx(expected, abs=1e-4)


def test_a_prediction_is_a_weighted_sum_of_the_labels() -> None:
    rows = np.append(np.arange(ROWS), 7)  # one of them twice
    model = fitted(rows=rows)
    weights = model.attention_weights(QUERIES)
    assert weights.sum(1) == pytest.approx(np.ones(len(QUERIES)), abs=1e-9)
    assert weights @ TARGET[rows] == pytest.approx(model.predict(QUERIES), abs=1e-7)


@pytest.mark.parametrize(("exact_rows", "bound"), [(ROWS, 0.0), (50, 1e-10)])
def test_own_label_does_not_matter(exact_rows: int, bound: float) -> None:
    """Not a bit of it where the system is solved directly."""
    model = fitted(exact_rows=exact_rows, landmarks=40)
    targets = model.targets.clone()
    targets[7] += 100
    for solution in chain.from_iterable(model._solutions()):
        change = solution.leave_one_out(targets) - solution.leave_one_out(model.targets)
        assert abs(float(change[7])) <= bound < abs(float(change[8]))


def test_without_is_what_the_others_predict() -> None:
    """The closed forms, against the system of the rows that are left."""
    generator = torch.Generator().manual_seed(0)
    points = torch.rand(12, 3, generator=generator, dtype=torch.float64)
    near = torch.exp(-torch.cdist(points, points))
    weights = points[:, 0]
    targets = points[:, 1:] ** 2
    ridge = torch.tensor(0.3)
    solution = solve(near, ridge, weights)
    leave_one_out = solution.leave_one_out(targets)
    left_out = torch.tensor([[2, 5, 7]]).expand(12, -1)
    predicted = solution.without(near, solution.weights(near), targets, left_out)
    for row in range(12):
        for places, value in (([row], leave_one_out[row]), ([2, 5, 7], predicted[row])):
            kept = np.delete(np.arange(12), places)
            others = solve(near[kept][:, kept], ridge, weights[kept])
            slopes, intercept = others.coefficients(targets[kept])
            assert torch.allclose(value, near[row, kept] @ slopes + intercept, atol=1e-8)


def test_own_class_is_not_in_the_shares_of_the_others() -> None:
    """Another label of a row, with what was mixed as it is, leaves its prediction equal."""
    model = fitted(3)
    labels = CLASSES[:ROWS].copy()
    labels[7] = (labels[7] + 1) % 3
    other = model.among(FEATURES[:ROWS], labels)
    place = model.context.places[7]
    assert model.left_out()[place] == pytest.approx(other.left_out()[place], abs=1e-9)


@pytest.mark.parametrize("is_exact", [True, False])
def test_one_of_equal_rows_is_left_out(is_exact: bool) -> None:
    """As in the system of all rows."""
    generator = torch.Generator().manual_seed(0)
    points = torch.rand(12, 3, generator=generator, dtype=torch.float64)
    near = torch.exp(-torch.cdist(points, points))
    repeats = torch.arange(12) % 3 + 1
    weights = repeats.double()
    targets = points[:, 1:] ** 2
    ridge = torch.tensor(0.3)
    merged = (
        solve(near, ridge, weights) if is_exact else Landmarks(near, near, weights).solve(ridge)
    )
    rows = torch.arange(12).repeat_interleave(repeats)
    every = solve(near[rows][:, rows], ridge, torch.ones(len(rows)).double())
    expected = every.leave_one_out(targets[rows])
    assert torch.allclose(merged.leave_one_out(targets)[rows], expected, atol=1e-8)
    if isinstance(merged, Solution):
        residuals = targets[rows] - expected
        assert torch.allclose(merged.residuals(targets)[rows], residuals, atol=1e-8)


def test_probabilities_of_levels_are_their_shares() -> None:
    """Each of eight levels has a hundred rows."""
    levels = np.repeat(np.arange(8.0), 100)[:, None]
    labels = (np.arange(800) % 100 < 10 * levels[:, 0]).astype(int)
    model = fit(levels, labels, np.ones(1, bool), classes=2)
    predicted = model.predict(np.arange(8.0)[:, None])[:, 1]
    assert predicted == pytest.approx(np.arange(8) / 10, abs=0.08)
    assert len(model.context.rows) == 15  # level 0 has one class


def test_loss_of_rows_with_equal_features_is_that_of_their_labels() -> None:
    """Nothing can tell the rows apart, so the loss is that of a mean of others."""
    generator = np.random.default_rng(0)
    features = np.repeat(generator.normal(size=(20, 2)), 10, axis=0)
    target = generator.normal(size=200)
    model = fit(features, target, np.zeros(2, bool))
    residuals = target - model.left_out()[model.context.places]
    assert model.loss == pytest.approx(np.mean(residuals**2) / target.var())
    assert model.loss > 0.95


def test_loss_of_classes_is_that_of_left_out_probabilities() -> None:
    rows = np.append(np.arange(ROWS), 7)  # one of them twice
    model = fitted(3, rows)
    left_out = model.left_out()[model.context.places]
    assert model.loss == pytest.approx(negative_log_likelihood(CLASSES[rows], left_out))


def test_tuning_is_on_at_most_so_many_rows() -> None:
    expected = fitted(tuned_rows=ROWS).predict(QUERIES)
    assert np.array_equal(fitted(tuned_rows=ROWS + 1).predict(QUERIES), expected)
    assert not np.allclose(fitted(tuned_rows=ROWS // 2).predict(QUERIES), expected)


def test_landmarks_do_not_depend_on_labels() -> None:
    settings = {"steps": 1, "exact_rows": 50, "landmarks": 40}
    assert torch.equal(fitted(**settings).keys.scores, fitted(3, **settings).keys.scores)


def test_order_of_columns_does_not_draw_other_landmarks() -> None:
    settings = {"steps": 1, "exact_rows": 50, "landmarks": 40}
    columns = np.array([3, 1, 4, 0, 2])
    expected = fitted(**settings).predict(QUERIES)
    turned = fitted(columns=columns, **settings)
    assert turned.predict(QUERIES[:, columns]) == pytest.approx(expected, abs=1e-4)


def test_landmarks_are_fewer_where_memory_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("npt.solved.model.MOST_CELLS", 30 * ROWS)
    model = fitted(steps=1, exact_rows=50, landmarks=40)
    assert len(model.keys.scores) == 30


@pytest.mark.parametrize("classes", [None, 3])
def test_rows_of_hardly_any_weight_hardly_count(classes: int | None) -> None:
    """With features far from the others', or with those of rows that have another label."""
    others = np.concatenate([FEATURES[:10], FEATURES[10:20] + 9 * ~CATEGORICAL])
    features = np.concatenate([FEATURES[:ROWS], others])
    labels = TARGET if classes is None else CLASSES
    labels = np.concatenate([labels[:ROWS], 2 - labels[:20]])
    weights = np.repeat([1, 1e-7], [ROWS, 20])
    settings = SolvedSettings(steps=5)
    model = fit(features, labels, CATEGORICAL, classes=classes, weights=weights, settings=settings)
    assert model.predict(QUERIES) == pytest.approx(fitted(classes).predict(QUERIES), abs=1e-3)


@pytest.mark.parametrize("classes", [None, 3])
def test_all_rows_as_landmarks_are_the_exact_solution(classes: int | None) -> None:
    weights = np.linspace(0.5, 3, ROWS)
    exact = fitted(classes, weights=weights)
    through = fitted(classes, weights=weights, exact_rows=50, landmarks=ROWS)
    assert through.predict(QUERIES) == pytest.approx(exact.predict(QUERIES), abs=1e-5)
    assert through.left_out() == pytest.approx(exact.left_out(), abs=1e-5)
    attention = through.attention_weights(QUERIES)
    assert attention == pytest.approx(exact.attention_weights(QUERIES), abs=1e-4)
    places = np.tile([3, 40], (len(QUERIES), 1))
    (without,) = through.without(QUERIES, places)
    assert without == pytest.approx(exact.without(QUERIES, places)[0], abs=1e-5)


def test_gap_in_a_constant_column_is_a_value() -> None:
    features = np.array([[np.nan], [1.0]])
    model = fit(features, np.array([0.0, 1.0]), np.zeros(1, bool))
    missing, known = model.predict(features)
    assert missing < known


def test_permuted_labels_predict_no_better_than_a_constant() -> None:
    errors = []
    for seed in range(2):
        labels = np.random.default_rng(seed).permutation(TARGET)
        model = fit(FEATURES[:ROWS], labels[:ROWS], CATEGORICAL)
        predicted = model.predict(QUERIES)
        constant = np.mean((labels[:ROWS].mean() - labels[ROWS:]) ** 2)
        errors.append(np.mean((predicted - labels[ROWS:]) ** 2) / constant)
    assert np.mean(errors) > 0.97


def hostile() -> dict[str, tuple[np.ndarray, np.ndarray, int | None]]:
    """Features, labels and number of classes of tables that break other methods."""
    generator = np.random.default_rng(0)
    features = generator.normal(size=(50, 4))
    target = 2 * features[:, 0]
    missing = features.copy()
    missing[:, 1] = np.nan
    missing[:10, 2] = np.nan
    return {
        "one row": (features[:1], target[:1], None),
        "two rows": (features[:2], target[:2], None),
        "constant features": (np.ones((10, 4)), target[:10], None),
        "classes of constant features": (np.ones((10, 4)), np.arange(10) % 2, 2),
        "constant target": (features, np.ones(50), None),
        "one class": (features, np.zeros(50, int), 1),
        "a class without rows": (features, np.arange(50) % 2, 3),
        "forty classes": (features, np.arange(50) % 40, 40),
        "many columns": (generator.normal(size=(40, 100)), generator.normal(size=40), None),
        "no columns": (np.empty((20, 0)), target[:20], None),
        "huge numbers": (features * 1e200, target * 1e60, None),
        "tiny numbers": (features * 1e-200, target * 1e-60, None),
        "missing columns": (missing, target, None),
        "repeated columns": (np.repeat(features, 3, axis=1), target, None),
        "repeated rows": (np.repeat(features[:5], 10, axis=0), target, None),
        "an outlier": (np.vstack([features, np.full((1, 4), 1e9)]), np.append(target, -1e9), None),
    }


@pytest.mark.parametrize("name", hostile())
def test_hostile_tables(name: str) -> None:
    features, labels, classes = hostile()[name]
    categorical = np.zeros(features.shape[1], bool)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fit(features, labels, categorical, classes=classes)
        predicted = model.predict(features[:5])
    assert np.isfinite([model.loss, *predicted.ravel()]).all()
    assert model.predict(features[:0]).shape == (0, *predicted.shape[1:])
    if classes is not None:
        assert predicted.sum(1) == pytest.approx(np.ones(len(predicted)))


def test_numbers_far_beyond_all_others_are_bounded() -> None:
    features = np.random.default_rng(0).normal(size=(40, 3))
    context = Context.from_labels(features, features[:, 0], None)
    cells = Encoder.from_context(context, np.zeros(3, bool))(np.full((2, 3), [[-1e9], [1e9]]))
    assert cells.scores.numpy() == pytest.approx(np.full((2, 3), [[-4.0], [4.0]]))
    assert cells.ranks.numpy() == pytest.approx(np.full((2, 3), [[-1.7], [1.7]]))


def test_products_of_many_columns_do_not_vanish() -> None:
    features = np.random.default_rng(0).normal(size=(40, 100))
    context = Context.from_labels(features, features[:, 0], None)
    cells = Encoder.from_context(context, np.zeros(100, bool))(features)
    parameters = head_parameters(initial_parameters(1, cells), 0)
    for kernel in PRODUCTS:
        assert kernel(parameters, cells, cells).min() > 0.01


def test_unseen_and_missing_categories_have_finite_predictions() -> None:
    queries = QUERIES.copy()
    queries[:, 3] = 17
    queries[:5, 3] = np.nan
    assert np.isfinite(fitted().predict(queries)).all()


def test_missing_category_is_a_level_of_its_own() -> None:
    queries = np.repeat(QUERIES[:1], 5, axis=0)
    queries[:, 3] = [np.nan, 0, 1, 2, 3]
    assert len(np.unique(fitted().predict(queries).round(6))) == 5


def test_number_that_is_missing_in_a_query_alone_is_the_median() -> None:
    features = np.random.default_rng(0).normal(size=(40, 2)) ** 3
    model = fit(features, features[:, 0], np.zeros(2, bool), settings=SolvedSettings(steps=1))
    queries = np.repeat(features[:1], 2, axis=0)
    queries[:, 0] = [np.nan, np.median(features[:, 0])]
    missing, median = model.predict(queries)
    assert missing == pytest.approx(median)


@pytest.mark.parametrize("classes", [None, 3])
def test_other_rows_are_given_to_the_same_tuning_and_mixture(classes: int | None) -> None:
    model = fitted(classes)
    labels = (TARGET if classes is None else CLASSES)[:ROWS]
    same = model.among(FEATURES[:ROWS], labels)
    assert same.predict(QUERIES) == pytest.approx(model.predict(QUERIES), abs=1e-9)
    fewer = model.among(FEATURES[: ROWS - 2], labels[:-2])
    assert fewer.mixture is model.mixture
    places = np.tile(model.context.places[-2:], (len(QUERIES), 1))
    (without,) = model.without(QUERIES, places)
    tolerance = 0.01 * TARGET.std() if classes is None else 1e-9
    assert fewer.predict(QUERIES) == pytest.approx(without, abs=tolerance)


def test_one_row_leaves_probability_to_other_classes() -> None:
    """That of half a row, which is of three classes alike."""
    model = fit(FEATURES[:1], np.array([1]), CATEGORICAL, classes=3)
    assert model.predict(QUERIES[:1])[0] == pytest.approx([1 / 9, 7 / 9, 1 / 9], abs=1e-5)
    twice = fit(FEATURES[:1], np.array([1]), CATEGORICAL, classes=3, weights=np.array([2.0]))
    assert twice.predict(QUERIES[:1])[0, 1] == pytest.approx(13 / 15, abs=1e-5)


def test_a_class_without_rows_has_its_part_of_half_a_row() -> None:
    labels = np.array([2, *[0, 1] * 10])
    model = fit(FEATURES[:21], labels, CATEGORICAL, classes=3)
    (without,) = model.without(QUERIES, np.full((len(QUERIES), 1), model.context.places[0]))
    assert without[:, 2] == pytest.approx(0.5 / 3 / 20.5, abs=1e-5)
    assert np.allclose(without.sum(1), 1)


def test_ridges_are_bounded() -> None:
    settings = SolvedSettings(ridges=[0.02, 0.4])
    for factor, expected in ((-20.0, [3e-3, 3e-3]), (0.0, [0.02, 0.4]), (20.0, [0.4, 8.0])):
        assert ridges(torch.tensor(factor), settings) == pytest.approx(expected)


def test_cross_fitting_is_a_fit_of_the_other_folds() -> None:
    weights = np.linspace(1, 3, 40)
    settings = SolvedSettings(steps=1)

    def weighted(rows: np.ndarray) -> SolvedNPT:
        some = weights[rows]
        return fit(FEATURES[rows], TARGET[rows], CATEGORICAL, weights=some, settings=settings)

    model = weighted(np.arange(40))
    rows = model.context.rows
    cross_fitted = CrossFitted(model)
    left_out = cross_fitted.left_out()
    in_order = ordered(model.cells).argsort().numpy()
    assert len(cross_fitted.folds) == 10
    assert any(np.ptp(in_order[fold]) >= 8 for fold in cross_fitted.folds)
    for fold in cross_fitted.folds[:2]:
        others = weighted(np.delete(rows, fold))
        assert others.predict(FEATURES[rows[fold]]) == pytest.approx(left_out[fold])


def test_weights_of_a_mixture_are_repeated_rows() -> None:
    generator = torch.Generator().manual_seed(0)
    residuals = 2 + torch.randn(4, 6, 2, generator=generator, dtype=torch.float64)
    repeats = torch.tensor([1, 4, 1, 2, 7, 1])
    repeated = stacked(residuals.repeat_interleave(repeats, 1), torch.ones(16).double())
    assert torch.allclose(stacked(residuals, repeats.double()), repeated)


def test_units_of_the_target_do_not_matter() -> None:
    tiny = fit(FEATURES[:ROWS], 1e-200 * TARGET[:ROWS], CATEGORICAL)
    expected = fit(FEATURES[:ROWS], TARGET[:ROWS], CATEGORICAL)
    assert 1e200 * tiny.predict(QUERIES) == pytest.approx(expected.predict(QUERIES))
    assert tiny.loss == pytest.approx(expected.loss)
