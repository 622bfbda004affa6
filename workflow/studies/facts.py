"""Nested facts that probes have stored in a column of a study, as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd

from workflow.report.statistics import MODEL, TRAINING, with_columns, without_failures


def facts_of(study: pd.DataFrame, column: str, names: Iterable[str] = ()) -> pd.DataFrame:
    """Facts of the models without failures, a row for each model, fold, seed and entry.

    Args:
        names: Facts that the frame has even if it is empty.
    """
    frames = [pd.DataFrame(columns=[*TRAINING, *names], dtype=float)]
    for row in _known(study, column).to_dict("records"):
        facts = pd.json_normalize(json.loads(row[column]), max_level=0)
        entries = facts.explode(list(facts.columns))
        frames.append(entries.assign(**{name: row[name] for name in TRAINING}))
    return pd.concat(frames[1:] or frames, ignore_index=True).infer_objects()


def first_facts(study: pd.DataFrame, column: str) -> Iterator[tuple[dict[Any, Any], Any]]:
    """The first row of each model without failures, and its facts."""
    for row in _known(study, column).drop_duplicates(MODEL).to_dict("records"):
        yield row, json.loads(row[column])


def _known(study: pd.DataFrame, column: str) -> pd.DataFrame:
    return with_columns(without_failures(study), [column]).dropna(subset=column)
