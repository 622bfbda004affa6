"""Effects of other rows against facts of tables."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from performance.when_rows_help import correlations, facts_of
from workflow.studies.row_effects import row_effects


def test_effects_are_logarithms_of_rmse_and_nats_of_classes(tmp_path: Path) -> None:
    numbers = {"task": "regression", "clean_rmse": 1.0, "corrupted_rmse": np.e}
    classes = {"task": "binary", "clean_nll": 0.25, "corrupted_nll": 1.0}
    runs = []
    for name, losses in (("first", numbers), ("second", classes)):
        runs.append({"dataset": name, "method": "knn", "fold": 0, "variant": "base", **losses})
    pd.DataFrame(runs).to_csv(tmp_path / "corruption.csv", index=False)
    base = pd.DataFrame(runs).assign(test_rmse=[2.0, None], test_nll=[None, 0.5])
    twin = base.assign(variant="without_datapoints", test_rmse=[1.0, None], test_nll=[None, 0.75])
    pd.concat([base, twin]).to_csv(tmp_path / "benefit.csv", index=False)
    effects = row_effects(tmp_path).set_index(["kind", "dataset"])["effect"]
    assert effects["depends"].to_dict() == pytest.approx({"first": 1.0, "second": 0.75})
    assert effects["benefits"].to_dict() == pytest.approx({"first": -np.log(2), "second": 0.25})


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
