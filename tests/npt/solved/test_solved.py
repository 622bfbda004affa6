"""Solved attention: what a prediction depends on, its exact sums, and tables that break others."""

import warnings
from itertools import chain
from typing import Any

import numpy as np
import pytest
import torch

from npt.solved.model import SolvedNPT, fit
from npt.solved.settings import SolvedSettings
from npt.solved.solve import solve

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
    **settings: Any,
) -> SolvedNPT:
    """The model of the first rows, or of others."""
    labels = TARGET if classes is None else CLASSES
    return fit(
        FEATURES[rows][:, columns],
        labels[rows],
        CATEGORICAL[columns],
        classes=classes,
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


@pytest.mark.parametrize("classes", [None, 3])
def test_queries_and_order_of_rows_and_columns_do_not_matter(classes: int | None) -> None:
    model = fitted(classes)
    expected = model.predict(QUERIES)
    alone = [model.predict(QUERIES[[row]]) for row in range(len(QUERIES))]
    assert np.concatenate(alone) == pytest.approx(expected, abs=1e-9)
    rows = np.random.default_rng(1).permutation(ROWS)
    assert np.array_equal(fitted(classes, rows).predict(QUERIES), expected)
    columns = np.array([3, 1, 4, 0, 2])
    turned = fitted(classes, columns=columns)
    assert turned.predict(QUERIES[:, columns]) == pytest.approx(expected, abs=1e-4)


def test_a_prediction_is_a_weighted_sum_of_the_labels() -> None:
    model = fitted()
    weights = model.attention_weights(QUERIES)
    assert weights.sum(1) == pytest.approx(np.ones(len(QUERIES)), abs=1e-9)
    assert weights @ TARGET[:ROWS] == pytest.approx(model.predict(QUERIES), abs=1e-7)


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
    weights = points[:, 0] + 1
    targets = points[:, 1:] ** 2
    ridge = torch.tensor(0.3)
    solution = solve(near, ridge, weights)
    leave_one_out = solution.leave_one_out(targets)
    left_out = torch.tensor([[2, 5, 7]]).expand(12, -1)
    predicted = solution.without(near, targets, left_out)
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
    place = model.context.groups[7]
    assert model.left_out()[place] == pytest.approx(other.left_out()[place], abs=1e-9)


def test_loss_of_rows_with_equal_features_is_that_of_their_labels() -> None:
    """Nothing can tell the rows apart, so the loss is that of a mean of others."""
    generator = np.random.default_rng(0)
    features = np.repeat(generator.normal(size=(20, 2)), 10, axis=0)
    target = generator.normal(size=200)
    model = fit(features, target, np.zeros(2, bool))
    residuals = target - model.left_out()[model.context.groups]
    assert model.loss == pytest.approx(np.mean(residuals**2) / target.var())
    assert model.loss > 0.95


def test_landmarks_do_not_depend_on_labels() -> None:
    settings = {"steps": 1, "exact_rows": 50, "landmarks": 40}
    assert torch.equal(fitted(**settings).keys.scores, fitted(3, **settings).keys.scores)


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
    exact = fitted(classes)
    through = fitted(classes, exact_rows=50, landmarks=ROWS)
    assert through.predict(QUERIES) == pytest.approx(exact.predict(QUERIES), abs=1e-5)
    assert through.left_out() == pytest.approx(exact.left_out(), abs=1e-5)
    weights = through.attention_weights(QUERIES)
    assert weights == pytest.approx(exact.attention_weights(QUERIES), abs=1e-4)


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
        "constant target": (features, np.ones(50), None),
        "one class": (features, np.zeros(50, int), 1),
        "a class without rows": (features, np.arange(50) % 2, 3),
        "forty classes": (features, np.arange(50) % 40, 40),
        "many columns": (generator.normal(size=(40, 100)), generator.normal(size=40), None),
        "no columns": (np.empty((20, 0)), target[:20], None),
        "huge numbers": (features * 1e100, target * 1e60, None),
        "tiny numbers": (features * 1e-100, target * 1e-60, None),
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
    assert np.isfinite(predicted).all()
    assert model.predict(features[:0]).shape == (0, *predicted.shape[1:])
    if classes is not None:
        assert predicted.sum(1) == pytest.approx(np.ones(len(predicted)))


def test_unseen_and_missing_categories_have_finite_predictions() -> None:
    queries = QUERIES.copy()
    queries[:, 3] = 17
    queries[:5, 3] = np.nan
    assert np.isfinite(fitted().predict(queries)).all()


@pytest.mark.parametrize("classes", [None, 3])
def test_other_rows_are_given_to_the_same_tuning_and_mixture(classes: int | None) -> None:
    model = fitted(classes)
    labels = (TARGET if classes is None else CLASSES)[:ROWS]
    same = model.among(FEATURES[:ROWS], labels)
    assert same.predict(QUERIES) == pytest.approx(model.predict(QUERIES), abs=1e-9)
    fewer = model.among(FEATURES[: ROWS - 1], labels[:-1])
    assert fewer.mixture is model.mixture
    (without,) = model.without(QUERIES, np.full((len(QUERIES), 1), model.context.groups[-1]))
    tolerance = 0.01 * TARGET.std() if classes is None else 1e-9
    assert fewer.predict(QUERIES) == pytest.approx(without, abs=tolerance)


def test_a_class_without_rows_has_no_probability() -> None:
    labels = np.array([2, *[0, 1] * 10])
    model = fit(FEATURES[:21], labels, CATEGORICAL, classes=3)
    (without,) = model.without(QUERIES, np.full((len(QUERIES), 1), model.context.groups[0]))
    assert (without[:, 2] < 1e-5).all()
    assert np.allclose(without.sum(1), 1)


def test_units_of_the_target_do_not_matter() -> None:
    tiny = fit(FEATURES[:ROWS], 1e-200 * TARGET[:ROWS], CATEGORICAL)
    expected = fit(FEATURES[:ROWS], TARGET[:ROWS], CATEGORICAL)
    assert 1e200 * tiny.predict(QUERIES) == pytest.approx(expected.predict(QUERIES))
    assert tiny.loss == pytest.approx(expected.loss)
