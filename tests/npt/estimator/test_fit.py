"""What `fit` does with its arguments, and the exact NPT as an architecture."""

import multiprocessing
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from joblib import cpu_count, parallel_backend
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score

from npt.compact.settings import CompactSettings
from npt.errors import UserError
from npt.estimator import NPTClassifier, NPTRegressor
from npt.estimator.arguments import threads_of
from npt.estimator.compact_model import CompactModel
from npt.estimator.hyperparameters import KEYS, LARGE_ROWS, NAMED, architecture_of, settings_of
from npt.estimator.solved_model import SolvedModel
from npt.table import Task
from tests.npt.estimator.small import (
    COMPACT,
    PAPER,
    SOLVED,
    classifier,
    paper_classifier,
    regressor,
    table,
)

FEW = {"max_updates": 4, "settings": {**COMPACT["settings"], "evaluate_every": 2}}


def weights_of(model: NPTClassifier | NPTRegressor) -> np.ndarray:
    """All weights of the network."""
    _, arrays = model.model_.state()
    return np.concatenate([arrays[name].ravel() for name in sorted(arrays) if "weights/" in name])


def test_refit_trains_on_all_rows_for_the_best_updates() -> None:
    frame, target = table("regression", 30)
    refitted = regressor(**FEW, refit=True).fit(frame, target)
    single = regressor(**FEW).fit(frame, target)
    assert refitted.best_updates_ == single.best_updates_
    assert refitted.validation_loss_ == single.validation_loss_
    assert not np.array_equal(weights_of(refitted), weights_of(single))


@pytest.mark.parametrize("refit", [False, True])
def test_repeated_rows_are_copied(refit: bool) -> None:
    target = np.tile(np.random.default_rng(0).normal(size=20), 10)
    features = pd.DataFrame({"name": np.tile(np.arange(20), 10).astype(str)})
    model = regressor(**FEW, refit=refit).fit(features, target)
    assert model.model_.trained.model.copies


def test_given_validation_rows_are_not_trained_on() -> None:
    frame, target = table("multiclass", 40)
    one_evaluation = {**FEW, "max_updates": 2, "refit": True}
    weights = []
    for labels in (target[30:], target[30:].sample(frac=1, random_state=0)):
        model = classifier(**one_evaluation)
        model.fit(frame[:30], target[:30], X_val=frame[30:], y_val=labels)
        weights.append(weights_of(model))
    assert np.array_equal(*weights)
    with pytest.raises(ValueError, match="y_val"):
        classifier(**FEW).fit(frame, target, X_val=frame)
    with pytest.raises(ValueError, match="sample_weight"):
        paper_classifier().fit(frame, target, sample_weight=np.arange(40))
    with pytest.raises(ValueError, match="y_val"):
        classifier(**FEW).fit(frame, target, X_val=frame[:1], y_val=[99])


def test_given_validation_rows_follow_in_explanations() -> None:
    frame, target = table("regression", 40)
    weights = np.ones(30)
    weights[0] = 0
    model = regressor(**FEW)
    model.fit(frame[:30], target[:30], frame[30:], target[30:], sample_weight=weights)
    explanation = model.explain(frame[:3], rows=38)
    assert sorted(explanation.context) == list(range(1, 40))
    lines = explanation.frame
    assert np.array_equal(lines["target"], target.to_numpy()[lines["fitted_row"]])
    other = model.with_rows(frame[:9], target[:9])
    assert sorted(other.explain(frame[:3]).context) == list(range(9))


def test_weight_zero_leaves_a_row_out() -> None:
    frame, target = table("regression", 40)
    weights = np.ones(40)
    weights[::4] = 0
    kept = weights > 0
    weighted = regressor(**FEW).fit(frame, target, sample_weight=weights)
    without = regressor(**FEW).fit(frame[kept], target[kept])
    assert np.array_equal(weighted.predict(frame), without.predict(frame))
    assert kept[weighted.explain(frame[:2]).frame["fitted_row"]].all()


def test_one_row_of_positive_weight_is_too_few() -> None:
    frame, target = table("regression", 40)
    with pytest.raises(ValueError, match="sample_weight: 1 row of positive weight, at least 2"):
        regressor().fit(frame, target, frame, target, sample_weight=np.eye(40)[0])


def test_heavy_rows_draw_predictions_to_their_targets() -> None:
    features = np.zeros((60, 1))
    target = np.repeat([0.0, 1.0], 30)
    heavy = np.where(target == 1, 9.0, 1.0)
    even = regressor().fit(features, target).predict(features[:1])
    weighted = regressor().fit(features, target, sample_weight=heavy).predict(features[:1])
    assert weighted[0] > even[0] + 0.1


def test_threads_are_those_of_before_even_after_an_error() -> None:
    frame, target = table("regression", 30)
    assert threads_of(10**6) == cpu_count()
    before = torch.get_num_threads()
    other = 1 if before > 1 else 2
    model = regressor(**FEW, n_jobs=other).fit(frame, target)
    assert torch.get_num_threads() == before
    model.predict(frame)
    model.explain(frame[:1])
    assert torch.get_num_threads() == before
    for device in ("gpu", "meta", "cuda:99"):
        with pytest.raises(ValueError, match=f"device: {device}: .* finds none here"):
            regressor(**FEW, n_jobs=other, device=device).fit(frame, target)
    assert torch.get_num_threads() == before


@pytest.mark.parametrize(
    ("arguments", "key"),
    [
        ({"width": 30, "settings": {"heads": 4}}, "width"),
        ({"max_updates": 0}, "max_updates"),
        ({"batch_size": True}, "batch_rows"),
        ({"settings": {"widht": 8}}, "widht"),
        ({"settings": {"width": 8}}, "width"),
        ({"architecture": "papr"}, "architecture"),
        ({"architecture": "paper", "members": 2}, "members"),
        ({"architecture": "paper", "refit": True}, "refit"),
        ({"architecture": "solved", "width": 8}, "width"),
        ({"architecture": "solved", "settings": {"seed": 1}}, "settings.seed"),
        ({"architecture": "solved", "predict_together": True}, "predict_together"),
        ({"device": "gpu"}, "device"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"random_state": 2**32}, "random_state.* 4294967296"),
        ({"categorical": [7]}, "categorical"),
    ],
)
def test_unusable_argument_is_named(arguments: dict[str, Any], key: str) -> None:
    base = {"compact": COMPACT, "paper": PAPER, "solved": SOLVED}
    changed = {**base.get(arguments.get("architecture", ""), COMPACT), **arguments}
    with pytest.raises(ValueError, match=key):
        NPTRegressor(**changed).fit(np.ones((20, 2)), np.arange(20.0))


def test_bar_is_shown_only_when_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    frame, target = table("regression", 20)
    for verbose in ("auto", 0):
        regressor(**FEW, verbose=verbose).fit(frame, target)
        assert capsys.readouterr() == ("", "")
    regressor(**FEW, verbose=1).fit(frame, target)
    assert "4/4" in capsys.readouterr().err


@pytest.mark.parametrize("classes", [[0, 0, 1], [0, 1, 2, 3], [0, 1, 1, 1, 1, 1, 1]])
def test_classes_of_one_row_are_learned(classes: list[int]) -> None:
    features = np.arange(float(len(classes)))[:, None]
    model = classifier(**FEW, validation_fraction=0.9).fit(features, classes)
    assert set(model.predict(features)) <= set(classes)


@pytest.mark.parametrize(
    "target",
    [
        *(np.array([*range(19), cell], dtype=object) for cell in (np.inf, np.nan, 1e200, "a", 1j)),
        pd.date_range("2020-01-01", periods=20),
        np.ma.masked_less(np.arange(20.0), 1),
        sparse.csr_matrix(np.arange(20.0)[:, None]),
    ],
)
def test_target_without_numbers_is_refused(target: Any) -> None:
    with pytest.raises((ValueError, TypeError), match=r"\by\b"):
        regressor(**FEW).fit(np.ones((20, 2)), target)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (np.ones(4), "class"),
        (np.array([0.5, 1.2, 0.1, 0.7]), "Unknown label type"),
        (np.array([1j, 2, 1, 2]), "[Cc]omplex"),
        (np.array(["a", 1, "a", 1], dtype=object), "text alone"),
        (np.array([2, "a", 1, "a"], dtype=object), "text alone"),
        (np.array([b"a", b"b", b"a", b"b"]), "text alone"),
        (np.array(["a", None, "a", "b"], dtype=object), "NaN"),
        (np.array(["2020", "NaT", "2021", "2020"], dtype="M8[D]"), "NaN"),
        (np.array([0, 1, np.inf, 1]), "infinity"),
        (np.arange(3), "inconsistent"),
    ],
)
def test_unusable_classes_are_refused(target: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        classifier(**FEW).fit(np.ones((4, 2)), target)


def test_a_trend_is_warned_of() -> None:
    frame = pd.DataFrame({"day": np.arange(60.0), "kind": ["a", "b"] * 30})
    frame["constant"] = np.repeat([0.0, 1.0], [40, 20])
    model = NPTRegressor(architecture="solved").fit(frame[:40], frame["day"][:40])
    with warnings.catch_warnings(action="error"):
        model.predict(frame[:44])  # some of these are beyond
        model.predict(frame[43:47])  # four may be by chance
    earlier = frame[40:].assign(day=-frame["day"])
    for new, beyond in ((frame[40:], 17), (earlier, 20)):
        message = f"column 'day' has {beyond} of 20 numbers far beyond"
        with pytest.warns(UserWarning, match=message) as warned:
            model.predict(new)
        assert len(warned) == 1


def test_half_precision_numbers_are_classes() -> None:
    target = np.array([0.0, 1.0] * 10, np.float16)
    model = NPTClassifier(architecture="solved").fit(np.arange(20.0)[:, None], target)
    assert set(model.predict([[1.0], [9.0]])) <= {0.0, 1.0}


def test_series_of_text_and_nullable_types_are_classes() -> None:
    for values, kind in ((["no", "yes"], "str"), ([1, 2], "Int64"), ([True, False], "category")):
        target = pd.Series(values * 10, dtype=kind)
        model = classifier(**FEW).fit(np.arange(20.0)[:, None], target)
        assert set(model.predict([[1.0], [9.0]])) <= set(target)


def test_auto_is_solved_but_for_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    frame, target = table("regression", 40)
    model = NPTRegressor(max_updates=2).fit(frame, target)
    assert isinstance(model.model_, SolvedModel)
    monkeypatch.setattr("npt.estimator.hyperparameters.MOST_SOLVED_ROWS", 39)
    small = {"architecture": "auto", "max_updates": 2}
    weighted = NPTRegressor(**small).fit(frame, target, sample_weight=np.arange(41)[1:])
    assert isinstance(weighted.model_, CompactModel)
    with_validation = {"X_val": frame[30:], "y_val": target[30:]}
    more = NPTRegressor(**small).fit(frame[:30], target[:30], **with_validation)
    assert isinstance(more.model_, CompactModel)
    fewer = NPTRegressor(max_updates=2).fit(frame, target, sample_weight=np.arange(40))
    assert isinstance(fewer.model_, SolvedModel)


def test_failed_fit_leaves_no_model() -> None:
    frame, target = table("regression", 30)
    model = regressor(**FEW).fit(frame, target)
    with pytest.raises(ValueError, match="y"):
        model.fit(frame, target.mask(target.index == 0))
    with pytest.raises(NotFittedError):
        model.predict(frame)


@pytest.mark.parametrize("architecture", [COMPACT, SOLVED], ids=["compact", "solved"])
def test_folds_in_threads_are_those_in_turn(architecture: dict[str, Any]) -> None:
    frame, target = table("regression", 40)
    model = NPTRegressor(**{**architecture, "max_updates": 4})
    in_turn = cross_val_score(model, frame, target, cv=3)
    with parallel_backend("threading"):
        in_threads = cross_val_score(model, frame, target, cv=3, n_jobs=3)
    assert np.array_equal(in_threads, in_turn)


def test_forked_process_predicts_after_threads() -> None:
    frame, target = table("regression", 30)
    model = regressor(**FEW, n_jobs=2).fit(frame, target)
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=lambda: sender.send(model.predict(frame)))
    process.start()
    answers = receiver.poll(60)
    process.kill()
    assert answers


@pytest.mark.parametrize(
    ("task", "rows", "expected"),
    [
        ("regression", LARGE_ROWS, {}),
        ("binary", LARGE_ROWS, {"members": 4, "rate_scale": [1.0], "patience": 200}),
        ("regression", LARGE_ROWS + 1, {"members": 4, "updates": 900}),
    ],
)
def test_defaults_depend_on_task_and_rows(task: Task, rows: int, expected: dict[str, Any]) -> None:
    defaults = settings_of("compact", {}, None, task, rows)
    assert defaults == CompactSettings(evaluate_every=50, **expected)


def test_exact_npt_is_small_by_default() -> None:
    settings = settings_of("paper", {}, None, "regression", 100).model_dump()
    assert [settings[name] for name in ("layers", "width", "updates")] == [4, 16, 500]


def test_what_is_given_comes_before_defaults() -> None:
    named = {"members": 2, "max_updates": 7}
    settings = settings_of("compact", named, {"rate_scale": [0.5]}, "binary", LARGE_ROWS + 1)
    expected = {"members": 2, "updates": 7, "rate_scale": [0.5], "patience": 200}
    assert settings == CompactSettings(evaluate_every=50, **expected)
    with pytest.raises(UserError, match="members: 2 is also under settings"):
        settings_of("compact", named, {"members": 3}, "binary", 100)


def test_auto_has_the_named_hyperparameters() -> None:
    for name in NAMED:
        named = {**dict.fromkeys(NAMED), name: 3}
        expected = "solved" if name in KEYS["solved"] else "compact"
        assert architecture_of("auto", named, 10, of_classes=True) == expected


@pytest.mark.parametrize(("of_classes", "most"), [(True, 1500), (False, 4000)])
def test_auto_is_solved_up_to_a_number_of_rows(of_classes: bool, most: int) -> None:
    named = dict.fromkeys(NAMED)
    for rows, expected in ((most, "solved"), (most + 1, "compact")):
        assert architecture_of("auto", named, rows, of_classes=of_classes) == expected


ROUNDING = 1e-5


def new_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Twelve rows, with categories that `fit` has not seen and missing cells."""
    new = frame.iloc[:12] * 1
    new["x0"] += 3.0
    new.loc[new.index[:3], "color"] = "violet"
    new.loc[new.index[2:5], "x1"] = np.nan
    return new


def fitted(**changes: Any) -> tuple[NPTClassifier, pd.DataFrame]:
    frame, target = table("multiclass")
    return paper_classifier(**{"max_updates": 20, **changes}).fit(frame, target), new_rows(frame)


@pytest.mark.parametrize("changes", [{}, {"batch_rows": 27, "class_balanced": True}])
def test_rows_predicted_alone_equal_one_row_a_call(changes: dict[str, Any]) -> None:
    model, new = fitted(settings={**PAPER["settings"], **changes}, predict_together=False)
    alone = model.predict_proba(new)
    first = model.predict_proba(new[:1])
    model.set_params(predict_together=None)
    calls = [model.predict_proba(new.iloc[[row]]) for row in range(len(new))]
    assert np.array_equal(first, calls[0])
    assert np.allclose(alone, np.concatenate(calls), rtol=0, atol=ROUNDING)
    together = model.predict_proba(new)
    assert not np.allclose(alone, together, rtol=0, atol=10 * ROUNDING)
    model.set_params(architecture="auto")  # of the next fit
    assert np.array_equal(model.predict_proba(new), together)


def test_rows_are_not_predicted_alone_in_the_lookup_task() -> None:
    settings = {**PAPER["settings"], "lookup": "original", "target_mask": 1}
    model, new = fitted(settings=settings, max_updates=2, predict_together=False)
    with pytest.raises(ValueError, match="lookup"):
        model.predict(new)


def test_validation_rows_are_the_stated_fraction() -> None:
    model = paper_classifier(max_updates=1, validation_fraction=0.25)
    model.fit(*table("multiclass", 40))
    assert len(model.model_.split.validation) == 10


def test_given_validation_rows_select_the_weights() -> None:
    frame, target = table("multiclass", 40)
    model = paper_classifier(max_updates=3)
    model.fit(frame[:30], target[:30], X_val=frame[30:], y_val=target[30:])
    assert model.model_.split.validation.tolist() == list(range(30, 40))
    assert model.predict_proba(frame).shape == (40, 3)
