"""Validation scores of all configurations of a search, as Parquet."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from npt.atomic import replacing
from npt.interface import Trial


def write_trials(path: Path, trials: Mapping[int, Sequence[Trial]]) -> None:
    """Write one line per configuration, in the grid's order.

    Every tuned hyper-parameter has a column. Values that are not all numbers, all text or all
    truth values are written as JSON.

    Args:
        trials: By fold.
    """
    lines: list[dict[str, Any]] = []
    for fold, fold_trials in trials.items():
        for trial in fold_trials:
            lines.append({"fold": fold, **vars(trial), **trial.parameters})
    frame = pd.DataFrame(lines).drop(columns="parameters", errors="ignore")
    for name, values in frame.items():
        if values.dtype == object and not values.map(lambda value: isinstance(value, str)).all():
            frame[name] = values.map(json.dumps, na_action="ignore")
    with replacing(path) as partial:
        frame.to_parquet(partial, engine="pyarrow", index=False, write_page_checksum=True)
