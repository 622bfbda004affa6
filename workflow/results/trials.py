"""Validation scores of all configurations of a search, as Parquet."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from npt.atomic import replacing
from npt.interface import Trial

Trials = Mapping[int, Sequence[Trial]]  # by fold
FACTS = ("validation_loss", "reason", "fit", "seconds")  # attributes of a trial that are columns


def write_trials(path: Path, trials: Trials) -> None:
    """Write one line per fold and configuration, in the grid's order.

    Every tuned hyper-parameter has a column. Values that are not all numbers, all text or all
    truth values are written as JSON.
    """
    frame = trials_frame(trials)
    with replacing(path) as partial:
        frame.to_parquet(
            partial,
            engine="pyarrow",
            index=False,
            write_page_checksum=True,
        )


def trials_frame(trials: Trials) -> pd.DataFrame:
    """The content of the file."""
    lines: list[dict[str, Any]] = []
    tuned: dict[str, None] = {}  # an ordered set
    for fold, fold_trials in trials.items():
        for trial in fold_trials:
            lines.append({"fold": fold, **_values(trial)})
            tuned.update(dict.fromkeys(trial.parameters))
    names = ["fold", *tuned, *FACTS]
    columns = {name: [line.get(name) for line in lines] for name in names}
    for name in tuned:
        values = columns[name]
        if not _has_one_type(values):
            columns[name] = [json.dumps(value) for value in values]
    return pd.DataFrame(columns)


def _values(trial: Trial) -> dict[str, Any]:
    return {
        **trial.parameters,
        "validation_loss": trial.validation_loss,
        "reason": trial.reason,
        "fit": trial.fit,
        "seconds": trial.seconds,
    }


def _has_one_type(values: list[Any]) -> bool:
    if all(isinstance(value, int | float) for value in values):
        return True
    return all(isinstance(value, str) for value in values)
