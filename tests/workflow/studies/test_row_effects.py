"""Effects of other rows on the models of a study."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

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
