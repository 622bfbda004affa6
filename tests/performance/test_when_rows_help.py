"""Effects of other rows against facts of tables."""

import numpy as np
import pandas as pd
import pytest

from performance.when_rows_help import correlations, facts_of


def test_correlation_of_an_effect_with_its_cause() -> None:
    names = [f"table_{number}" for number in range(10)]
    draws = np.random.default_rng(0)
    facts = pd.DataFrame({"cause": np.arange(10.0), "chance": draws.normal(size=10)}, index=names)
    effects = pd.DataFrame({"dataset": names, "effect": np.arange(10.0) ** 3})
    effects = effects.assign(task="regression", method="knn", kind="depends")
    cause, chance = correlations(effects, facts)
    assert (cause["correlation"], cause["low"]) == pytest.approx((1.0, 1.0))
    assert chance["low"] < 0 < chance["high"]


def test_repeated_rows_are_counted() -> None:
    facts = facts_of("yacht")
    assert (facts["rows"], facts["features"], facts["repeated rows"]) == (308, 6, 0)
