"""Rows that are left out with their group: the closed forms against what the others predict."""

from collections.abc import Iterator

import numpy as np
import pytest
import torch

from npt.solved.cells import Context
from npt.solved.cross_fitted import CrossFitted
from npt.solved.landmarks import Landmarks, LandmarkSolution
from npt.solved.model import SolvedNPT, fit
from npt.solved.settings import SolvedSettings
from npt.solved.solve import Solution, solve

SERIES = np.repeat(np.arange(20), 6)
POINTS = np.random.default_rng(0).normal(size=(120, 3)).round(2)
POINTS[:, 1:] = POINTS[::6, 1:].repeat(6, axis=0)
TARGET = POINTS[:, 0] + 2 * np.random.default_rng(1).normal(size=20)[SERIES]
NEW = np.random.default_rng(2).normal(size=(9, 3))
NUMBERS = np.zeros(3, bool)


def fitted(groups: np.ndarray | None = SERIES, rows: int = 120, **settings: int) -> SolvedNPT:
    return fit(
        POINTS[:rows],
        TARGET[:rows],
        NUMBERS,
        groups=None if groups is None else groups[:rows],
        settings=SolvedSettings(**{"steps": 5, **settings}),
    )


def solutions() -> Iterator[tuple[Solution | LandmarkSolution, torch.Tensor, torch.Tensor]]:
    """Solutions of twelve rows in groups of one, four and seven, with kernel and weights."""
    generator = torch.Generator().manual_seed(0)
    points = torch.rand(12, 3, generator=generator, dtype=torch.float64)
    near = torch.exp(-torch.cdist(points, points))
    weights = points[:, 0] + 0.5
    groups = torch.tensor([0, 1, 2, 2, 1, 2, 1, 2, 2, 1, 2, 2])
    ridge = torch.tensor(0.3)
    yield solve(near, ridge, weights, groups), near, weights
    for count in (12, 3):  # more and fewer landmarks than rows of the largest group
        keys = near[:count, :count]
        through = near[:, :count] @ torch.linalg.solve(keys, near[:count])
        landmarks = Landmarks(near[:, :count], keys, weights, groups)
        yield landmarks.solve(ridge), through, weights


@pytest.mark.parametrize("case", range(3))
def test_left_out_is_what_the_other_groups_predict(case: int) -> None:
    solution, near, weights = list(solutions())[case]
    targets = torch.stack([near[:, 0] ** 2, near[:, 3]], 1)
    left_out = solution.leave_one_out(targets)
    ridge = torch.tensor(0.3)
    for group in ([0], [1, 4, 6, 9], [2, 3, 5, 7, 8, 10, 11]):
        kept = np.delete(np.arange(12), group)
        system = torch.ones(len(kept) + 1, len(kept) + 1).double()
        system[:-1, :-1] = near[kept][:, kept] + torch.diag(ridge / weights[kept])
        system[-1, -1] = 0
        right = torch.cat([near[kept][:, group], torch.ones(1, len(group)).double()])
        expected = torch.linalg.solve(system, right)[:-1].T @ targets[kept]
        assert torch.allclose(left_out[group], expected, atol=1e-8)
    if isinstance(solution, Solution):
        assert torch.allclose(solution.residuals(targets), targets - left_out)


def test_no_label_of_its_group_changes_a_bit() -> None:
    model = fitted()
    targets = model.targets.clone()
    in_group = model.groups == 3
    targets[in_group] += 100
    for solution in model._solutions():
        for one in solution:
            change = one.leave_one_out(targets) - one.leave_one_out(model.targets)
            assert (change[in_group] == 0).all() and (change[~in_group] != 0).any()


def test_equal_rows_of_a_group_are_one_that_is_left_out_whole() -> None:
    rows = np.array([0, 0, 1, 2, 3, 0, 1])
    groups = np.array([5, 5, 5, 7, 7, 9, 9])
    context = Context.from_labels(POINTS[rows], TARGET[rows], None, groups=groups)
    assert context.weights[context.places].tolist() == [2, 2, 1, 1, 1, 1, 1]
    assert context.units[context.places].tolist() == [0, 0, 0, 1, 1, 2, 2]
    repeated = np.concatenate([np.arange(120), np.arange(6, 12)])
    weights = np.ones(120)
    weights[6:12] = 2
    settings = SolvedSettings(steps=5)
    found, expected = (
        fit(POINTS[some], TARGET[some], NUMBERS, weights=v, groups=SERIES[some], settings=settings)
        for some, v in ((repeated, None), (np.arange(120), weights))
    )
    assert found.left_out() == pytest.approx(expected.left_out())
    assert found.predict(NEW) == pytest.approx(expected.predict(NEW))


def test_groups_of_one_row_are_rows() -> None:
    alone, expected = fitted(np.arange(120)), fitted(None)
    assert alone.predict(NEW) == pytest.approx(expected.predict(NEW), abs=1e-3)
    left_out = expected.left_out()[expected.context.places]
    assert alone.left_out()[alone.context.places] == pytest.approx(left_out, abs=1e-3)
    single = fitted(np.zeros(120))
    assert np.array_equal(single.predict(NEW), expected.predict(NEW))


def test_loss_is_that_of_new_groups() -> None:
    """A number of each group is in the target, which a row of it tells."""
    assert fitted(None).loss < 0.1
    assert fitted().loss > 0.5


def test_tuning_lowers_the_loss_of_new_groups() -> None:
    assert fitted().loss < 0.97 * fitted(steps=0).loss


@pytest.mark.parametrize("classes", [None, 2])
def test_all_rows_as_landmarks_are_the_exact_solution(classes: int | None) -> None:
    labels = TARGET if classes is None else (TARGET > 0).astype(int)
    exact, through = (
        fit(POINTS, labels, NUMBERS, classes=classes, groups=SERIES, settings=SolvedSettings(**s))
        for s in ({"steps": 5}, {"steps": 5, "exact_rows": 50, "landmarks": 120})
    )
    assert through.left_out() == pytest.approx(exact.left_out(), abs=1e-5)
    assert through.loss == pytest.approx(exact.loss, abs=1e-4)


def test_left_out_classes_have_the_shares_of_the_other_groups() -> None:
    """Other labels of a group, with what was mixed as it is, leave its predictions equal."""
    labels = (TARGET > 0).astype(int)
    settings = SolvedSettings(steps=1)
    model = fit(POINTS, labels, NUMBERS, classes=2, groups=SERIES, settings=settings)
    in_group = model.context.groups == 3
    expected = model.left_out()[in_group]
    model.context.targets[in_group] = model.context.targets[in_group][:, ::-1]
    model._standardise()
    predictions = [one.leave_one_out(model.targets) for part in model._solutions() for one in part]
    model.left_out_scores = model.mixture.mixed(torch.stack(predictions))
    assert model.left_out()[in_group] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("settings", [{}, {"exact_rows": 50, "landmarks": 40}])
def test_without_each_leaves_out_a_group(settings: dict[str, int]) -> None:
    model = fit(
        POINTS,
        TARGET,
        NUMBERS,
        weights=1.0 + np.arange(120) % 3,
        groups=SERIES,
        settings=SolvedSettings(steps=5, **settings),
    )
    without = model.without_each(NEW)
    assert without.shape == (9, 20)
    places = np.flatnonzero(model.context.groups == 3)
    (expected,) = model.without(NEW, np.tile(places, (9, 1)))
    assert without[:, 3] == pytest.approx(expected, rel=1e-6)


def test_cross_fitting_keeps_groups_together() -> None:
    model = fitted(rows=90)
    cross_fitted = CrossFitted(model)
    fold = cross_fitted.folds[0]
    is_in_fold = np.isin(SERIES[:90], fold)
    assert (len(cross_fitted.folds), is_in_fold.sum()) == (10, 12)
    others = fit(
        POINTS[:90][~is_in_fold],
        TARGET[:90][~is_in_fold],
        NUMBERS,
        groups=SERIES[:90][~is_in_fold],
        settings=SolvedSettings(steps=5),
    )
    left_out = cross_fitted.left_out()[model.context.places]
    assert left_out[is_in_fold] == pytest.approx(others.predict(POINTS[:90][is_in_fold]))
    assert cross_fitted.without_each(NEW)[:, fold[0]] == pytest.approx(others.predict(NEW))
