"""The exact NPT as an architecture: new rows are predicted together, or each alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from npt.estimator import NPTClassifier
from tests.npt.estimator.small import PAPER, paper_classifier, table

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
    return paper_classifier(**changes).fit(frame, target), new_rows(frame)


@pytest.mark.parametrize("changes", [{}, {"batch_rows": 27, "class_balanced": True}])
def test_rows_predicted_alone_equal_one_row_a_call(changes: dict[str, Any]) -> None:
    model, new = fitted(settings={**PAPER["settings"], **changes}, predict_together=False)
    alone = model.predict_proba(new)
    model.set_params(predict_together=None)
    calls = [model.predict_proba(new.iloc[[row]]) for row in range(len(new))]
    assert np.allclose(alone, np.concatenate(calls), rtol=0, atol=ROUNDING)
    together = model.predict_proba(new)
    assert not np.allclose(alone, together, rtol=0, atol=10 * ROUNDING)


def test_one_new_row_is_the_same_to_the_last_bit() -> None:
    model, new = fitted()
    joint = model.predict_proba(new[:1])
    model.set_params(predict_together=False)
    assert np.array_equal(model.predict_proba(new[:1]), joint)


def test_rows_are_not_predicted_alone_in_the_lookup_task() -> None:
    settings = {**PAPER["settings"], "lookup": "original", "target_mask": 1}
    model, new = fitted(settings=settings, max_updates=2, predict_together=False)
    with pytest.raises(ValueError, match="lookup"):
        model.predict(new)


def test_weights_of_rows_are_refused() -> None:
    frame, target = table("multiclass", 30)
    with pytest.raises(ValueError, match="sample_weight"):
        paper_classifier().fit(frame, target, sample_weight=np.arange(30))


def test_given_validation_rows_select_the_weights() -> None:
    frame, target = table("multiclass", 40)
    model = paper_classifier(max_updates=3)
    model.fit(frame[:30], target[:30], X_val=frame[30:], y_val=target[30:])
    assert model.model_.split.validation.tolist() == list(range(30, 40))
    assert model.predict_proba(frame).shape == (40, 3)
