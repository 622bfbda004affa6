"""Saved, pickled and copied estimators."""

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load_file, save_file

from npt.estimator import NPTClassifier, NPTRegressor
from npt.estimator.base import NPTEstimator
from tests.npt.estimator.small import COMPACT, PAPER, SOLVED, classifier, regressor, table


def with_all_types() -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers, text, booleans, dates and numeric categories, and classes of text."""
    frame, target = table("multiclass", 40)
    frame["flag"] = np.arange(40) % 3 == 0
    frame["day"] = pd.date_range("2020-01-01", periods=40)
    frame["level"] = pd.Categorical(np.arange(40) % 4)
    names = np.array(["one", "two", "three"], dtype=object)
    return frame, names[target.to_numpy().astype(int)]


def outputs(model: NPTEstimator, frame: pd.DataFrame) -> np.ndarray:
    if isinstance(model, NPTClassifier):
        return model.predict_proba(frame)
    assert isinstance(model, NPTRegressor)
    return model.predict(frame)


@pytest.mark.parametrize(
    "architecture", [COMPACT, PAPER, SOLVED], ids=["compact", "paper", "solved"]
)
@pytest.mark.parametrize("kind", [NPTClassifier, NPTRegressor])
def test_every_copy_predicts_the_same_bits(
    kind: type[Any], architecture: dict[str, Any], tmp_path: Path
) -> None:
    frame, names = with_all_types()
    target = names if kind is NPTClassifier else np.arange(40.0)
    model = kind(**{**architecture, "max_updates": 3}).fit(frame, target)
    model.save(tmp_path / "model.safetensors")
    joblib.dump(model, tmp_path / "model.joblib")
    copies = [
        kind.load(tmp_path / "model.safetensors"),
        joblib.load(tmp_path / "model.joblib"),
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model),
    ]
    new = frame[::-1][:7]
    for same in copies:
        assert np.array_equal(outputs(same, new), outputs(model, new))
        assert same.get_params() == model.get_params()
        assert list(same.feature_names_in_) == list(frame.columns)
        assert same.best_updates_ == model.best_updates_
        if architecture is COMPACT:
            pd.testing.assert_frame_equal(same.explain(new).frame, model.explain(new).frame)
    if kind is NPTClassifier:
        assert np.array_equal(copies[0].classes_, model.classes_)
        assert set(copies[0].predict(new)) <= set(names)


def test_saved_arguments_may_be_of_numpy(tmp_path: Path) -> None:
    frame, target = table("regression", 20)
    model = regressor(
        width=np.int64(8),
        max_updates=2,
        categorical=np.array([0]),
        random_state=np.random.RandomState(0),
    ).fit(frame, target)
    model.save(tmp_path / "model")
    loaded = NPTRegressor.load(tmp_path / "model")
    assert loaded.width == 8
    assert loaded.categorical == [0]
    assert isinstance(loaded.random_state, int)
    assert np.array_equal(loaded.predict(frame), model.predict(frame))


def test_damaged_or_foreign_file_gives_one_line(tmp_path: Path) -> None:
    fitted = classifier(max_updates=3).fit(*with_all_types())
    path = tmp_path / "model"
    fitted.save(path)
    content = path.read_bytes()
    flipped = bytearray(content)
    flipped[-1000] ^= 1
    save_file({"a": np.zeros(3)}, tmp_path / "foreign")
    other = {"npt_estimator": json.dumps({"format": 99})}
    save_file(load_file(path), tmp_path / "version", metadata=other)
    foreign = [(tmp_path / name).read_bytes() for name in ("foreign", "version")]
    for damaged in (b"", b"not a model", content[:-100], flipped, *foreign):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="not a saved estimator") as raised:
            NPTClassifier.load(path)
        assert str(path) in str(raised.value)
        assert "\n" not in str(raised.value)
    fitted.save(path)
    with pytest.raises(ValueError, match="classifier"):
        NPTRegressor.load(path)
    with pytest.raises(FileNotFoundError):
        NPTClassifier.load(tmp_path / "absent")


def test_pickle_holds_no_rows_beyond_the_context() -> None:
    frame, target = table("regression", 200)
    small = regressor(max_updates=2, context_size=3).fit(frame, target)
    small.predict(frame)
    whole = regressor(max_updates=2).fit(frame, target)
    assert small.model_.trained.table.rows == 3
    assert len(pickle.dumps(small)) < len(pickle.dumps(whole))


@pytest.mark.parametrize("unit", ["s", "ns"])
def test_classes_that_are_dates_are_saved(tmp_path: Path, unit: str) -> None:
    frame, target = table("binary", 30)
    days = np.array(["2020-01-01", "2021-01-01"], dtype=f"datetime64[{unit}]")
    model = NPTClassifier(**SOLVED).fit(frame, days[target.to_numpy().astype(int)])
    model.save(tmp_path / "model")
    loaded = NPTClassifier.load(tmp_path / "model")
    assert loaded.classes_.dtype == days.dtype
    assert np.array_equal(loaded.classes_, days)
