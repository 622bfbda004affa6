import json
from pathlib import Path

import pandas as pd

from npt.interface import Trial
from workflow.results.fitting import write_trials


def written(folder: Path, trials: dict[int, list[Trial]]) -> pd.DataFrame:
    write_trials(folder / "trials.parquet", trials)
    return pd.read_parquet(folder / "trials.parquet")


def test_trials_keep_hyper_parameters_and_reasons(tmp_path: Path) -> None:
    wide = {"layers": [50, 50], "features": 1.0, "rate": 0.1, "cap": None}
    deep = {"layers": [25], "features": "sqrt", "rate": 0.2, "cap": "low"}
    succeeded = Trial(wide, 0.5, "", 1, 2.5)
    failed = Trial(deep, float("nan"), "ValueError: singular", 2, 0.5)
    frame = written(tmp_path, {0: [succeeded, failed], 3: [succeeded]})
    assert list(frame["fold"]) == [0, 0, 3]
    assert [json.loads(text) for text in frame["layers"]] == [[50, 50], [25], [50, 50]]
    assert [json.loads(text) for text in frame["features"]] == [1.0, "sqrt", 1.0]
    assert frame["cap"].dropna().to_dict() == {1: "low"}
    assert list(frame["rate"]) == [0.1, 0.2, 0.1]
    assert frame["validation_loss"].isna().tolist() == [False, True, False]
    assert list(frame["reason"]) == ["", "ValueError: singular", ""]


def test_search_without_trials_gives_an_empty_table(tmp_path: Path) -> None:
    assert written(tmp_path, {0: []}).empty
