"""Estimators fitted to rows that belong together."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from npt.estimator import NPTClassifier, NPTRegressor
from tests.npt.estimator.small import COMPACT, PAPER, SOLVED

ROWS_OF_PERSON = 6


def people(count: int, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Rows of people who differ in their target by more than their features tell, and names."""
    generator = np.random.default_rng(seed)
    person = np.repeat(np.arange(count), ROWS_OF_PERSON)
    frame = pd.DataFrame({"dose": generator.normal(size=len(person))})
    for name in ("height", "age"):
        frame[name] = generator.normal(size=count)[person]
    target = frame["dose"] + frame["age"] + generator.normal(size=count)[person]
    return frame, target.to_numpy(), np.array([f"person {number}" for number in person])


@pytest.mark.parametrize(
    ("count", "settings"), [(20, {}), (110, {}), (110, {"exact_rows": 60, "landmarks": 50})]
)
def test_intervals_hold_targets_of_new_groups(count: int, settings: dict[str, int]) -> None:
    frame, target, names = people(count, seed=20)
    new, truth, _ = people(100, seed=10)
    covered = {}
    for groups in (None, names):
        model = NPTRegressor(settings=settings).fit(frame, target, groups=groups)
        lower, upper = model.predict_interval(new, 0.9).T
        covered[groups is None] = np.mean((lower <= truth) & (truth <= upper))
    assert covered[False] == pytest.approx(0.9, abs=0.12)
    assert covered[True] < 0.8


def test_probabilities_of_new_groups_are_less_certain() -> None:
    frame, target, names = people(110, seed=20)
    new, truth, _ = people(100, seed=10)
    losses = {}
    for groups in (None, names):
        model = NPTClassifier().fit(frame, target > 0, groups=groups)
        likelihood = model.predict_proba(new)[np.arange(len(new)), (truth > 0).astype(int)]
        losses[groups is None] = -np.log(likelihood).mean()
        if groups is not None:
            assert model.validation_loss_ == pytest.approx(losses[False], rel=0.2)
        else:
            assert model.validation_loss_ < 0.5 * losses[True]
    assert losses[False] < 0.8 * losses[True]


@pytest.mark.parametrize("architecture", [COMPACT, PAPER])
def test_no_group_is_in_training_and_validation(
    architecture: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    frame, target, names = people(20)
    chosen = []
    original = NPTRegressor._validation_rows

    def recorded(*arguments: Any) -> np.ndarray:
        chosen.append(original(*arguments))
        return chosen[-1]

    monkeypatch.setattr(NPTRegressor, "_validation_rows", recorded)
    for state in (0, 1):
        model = NPTRegressor(**{**architecture, "max_updates": 1, "random_state": state})
        model.fit(frame, target, groups=names)
    for rows in chosen:
        assert len(rows) == 24
        assert not set(names[rows]) & set(np.delete(names, rows))
    assert set(chosen[0]) != set(chosen[1])


def test_rows_of_weight_zero_have_no_group() -> None:
    frame, target, names = people(10)
    weights = np.ones(60)
    weights[:9] = 0
    model, other = NPTRegressor(**SOLVED), NPTRegressor(**SOLVED)
    model.fit(frame, target, sample_weight=weights, groups=names)
    other.fit(frame[9:], target[9:], groups=names[9:])
    assert np.array_equal(model.predict_interval(frame), other.predict_interval(frame))


def test_copies_keep_groups(tmp_path: Path) -> None:
    frame, target, names = people(20)
    model = NPTRegressor(**SOLVED).fit(frame, target, groups=names)
    model.save(tmp_path / "model.safetensors")
    other = model.with_rows(frame[:60], target[:60])
    for of, copy in (
        (model, NPTRegressor.load(tmp_path / "model.safetensors")),
        (model, pickle.loads(pickle.dumps(model))),
        (other, pickle.loads(pickle.dumps(other))),
    ):
        expected = of.predict_interval(frame[:5], 0.8)
        assert np.array_equal(copy.predict_interval(frame[:5], 0.8), expected)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (["a"] * 30, "groups: 1 group, at least 2 required"),
        ([1, 2] * 14, "groups: shape"),
        ([None, *range(29)], "groups: the value of row 0 is missing"),
        ([*"ab" * 14, "a", np.nan], "groups: the value of row 29 is missing"),
        (np.ones((30, 2)), "groups: shape"),
    ],
)
def test_unusable_groups_are_refused(groups: Any, message: str) -> None:
    frame, target, _ = people(5)
    with pytest.raises(ValueError, match=message):
        NPTRegressor(**SOLVED).fit(frame, target, groups=groups)


@pytest.mark.parametrize("architecture", [COMPACT, SOLVED])
def test_rows_of_one_group_with_weight_are_refused(architecture: dict[str, Any]) -> None:
    frame, target, names = people(5)
    weights = names == names[0]
    with pytest.raises(ValueError, match="groups: 1 group"):
        NPTRegressor(**architecture).fit(frame, target, sample_weight=weights, groups=names)


def test_groups_are_not_of_given_validation_rows() -> None:
    frame, target, names = people(5)
    with pytest.raises(ValueError, match="groups: not with X_val"):
        NPTRegressor(**COMPACT).fit(frame, target, X_val=frame, y_val=target, groups=names)


def test_one_train_row_is_too_few() -> None:
    frame, target, _ = people(5)
    groups = np.array([0, 0, 1])
    with pytest.raises(ValueError, match="groups: one train row is left"):
        NPTRegressor(**COMPACT, validation_fraction=0.9).fit(frame[:3], target[:3], groups=groups)
