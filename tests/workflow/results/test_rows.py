from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from npt.interface import Trial
from workflow.results.rows import write_scores


def test_scores_keep_every_parameter_value_and_reason(tmp_path: Path) -> None:
    tried = [
        Trial({"layers": [50, 50], "features": 1.0, "rate": 0.1}, 0.5, "", 1, 2.5),
        Trial(
            {"layers": [25], "features": "sqrt", "rate": 0.2},
            float("nan"),
            "ValueError: no luck",
            2,
            0.5,
        ),
    ]
    tried[1].parameters["cap"], tried[0].parameters["cap"] = "low", None  # type: ignore[index]
    write_scores(tmp_path / "scores.parquet", {0: tried, 3: tried[:1]})
    found = pd.read_parquet(tmp_path / "scores.parquet")
    assert list(found["fold"]) == [0, 0, 3]
    assert [json.loads(text) for text in found["layers"]] == [[50, 50], [25], [50, 50]]
    assert [json.loads(text) for text in found["features"]] == [1.0, "sqrt", 1.0]
    assert [json.loads(text) for text in found["cap"]] == [None, "low", None]
    assert list(found["rate"]) == [0.1, 0.2, 0.1]
    assert found["validation_loss"].isna().tolist() == [False, True, False]
    assert list(found["reason"]) == ["", "ValueError: no luck", ""]


@pytest.mark.parametrize("trials", [{}, {0: ()}])
def test_a_search_that_tried_nothing_leaves_an_empty_table(
    tmp_path: Path, trials: dict[int, tuple[Trial, ...]]
) -> None:
    write_scores(tmp_path / "scores.parquet", trials)
    found = pd.read_parquet(tmp_path / "scores.parquet")
    assert found.empty
    assert {"fold", "validation_loss", "reason"} <= set(found.columns)
