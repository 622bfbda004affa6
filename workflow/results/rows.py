"""Rows of run and probe files: what every row says of itself, and how rows and predictions are written."""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import npt
from npt.atomic import replacing
from npt.data import store
from npt.interface import Learner, Method, Resources, Trial, UserError
from npt.table import Split
from workflow.config.old_settings import typed_settings
from workflow.planning.revision import revision
from workflow.results.collection import CHECKSUM, checksum
from workflow.runtime.command import limit_threads

SCORE_COLUMNS = ("validation_loss", "reason", "fit", "seconds")
LIBRARIES = (
    "torch",
    "scikit-learn",
    "xgboost",
    "xgboost-cpu",
    "lightgbm",
    "catboost",
    "pytorch-tabnet",
    "gpytorch",
    "numpy",
    "pandas",
)


def identity(
    given: argparse.Namespace,
    method: Method,
    prepared: store.Prepared,
    fold: int,
    sources: Sequence[str] = (),
) -> dict[str, Any]:
    """What determines a row: run, settings, data, code and versions."""
    return {
        "dataset": given.dataset,
        "task": prepared.table.task,
        "method": given.method,
        "variant": given.variant,
        "fold": fold,
        "preset": given.preset,
        "fingerprint": given.fingerprint,
        "data": prepared.facts["content"][:16],
        "splits": prepared.facts["splits"][:16],
        "revision": revision(method, sources),
        "versions": {"python": platform.python_version(), "npt": npt.__version__, **_versions()},
    }


@dataclass(frozen=True)
class Fold:
    """One fold of a run: its fold and split, a fresh learner, and what its row says of its identity."""

    fold: int
    split: Split
    learner: Learner
    identity: dict[str, Any]


def folds(
    given: argparse.Namespace,
    method: Method,
    prepared: store.Prepared,
    resources: Resources | None = None,
    sources: Sequence[str] = (),
) -> Iterator[Fold]:
    """The folds that a step's command line names; `sources` determine its rows beside those of the method."""
    limit_threads(given.threads)
    settings = typed_settings(given.method, given.settings, "--settings")
    for fold in given.folds:
        split = split_of(prepared, fold)
        learner = method.build(settings, resources or Resources(given.threads, given.device))
        yield Fold(fold, split, learner, identity(given, method, prepared, fold, sources))


def split_of(prepared: store.Prepared, fold: int) -> Split:
    """The fold of a fold.

    Raises:
        UserError: the dataset has no such fold.
    """
    if fold not in prepared.splits:
        folds = ", ".join(map(str, sorted(prepared.splits)))
        raise UserError(
            f"--folds: {fold} is not a fold of {prepared.facts['name']}; allowed: {folds}"
        )
    return prepared.splits[fold]


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """One JSON object a line, with a checksum of its other columns last."""
    with replacing(path) as partial:
        partial.write_text(
            "".join(json.dumps({**row, CHECKSUM: checksum(row)}) + "\n" for row in rows)
        )


def write_predictions(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Named arrays in one .npz."""
    with replacing(path) as partial, partial.open("wb") as stream:
        np.savez_compressed(stream, allow_pickle=False, **dict(arrays))


def write_scores(path: Path, trials: Mapping[int, Sequence[Trial]]) -> None:
    """One line for each fold and configuration tried, in the grid's order, as Parquet.

    Every tuned parameter has a column; where its values are not all numbers or all text, they are written as JSON.
    """
    import pandas as pd

    lines = [
        {"fold": fold, **trial.parameters, **{name: getattr(trial, name) for name in SCORE_COLUMNS}}
        for fold, tried in trials.items()
        for trial in tried
    ]
    tuned = list(
        dict.fromkeys(
            name for tried in trials.values() for trial in tried for name in trial.parameters
        )
    )
    columns = {
        name: [line.get(name) for line in lines] for name in ("fold", *tuned, *SCORE_COLUMNS)
    }
    for name in tuned:
        if not any(
            all(isinstance(value, kind) for value in columns[name])
            for kind in (str, bool, int | float)
        ):
            columns[name] = [json.dumps(value) for value in columns[name]]
    frame = pd.DataFrame(columns)
    with replacing(path) as partial:
        frame.to_parquet(partial, engine="pyarrow", index=False)


def _versions() -> dict[str, str]:
    found = {}
    for name in LIBRARIES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
