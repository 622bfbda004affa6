"""How the defaults of compact NPT were chosen: candidates on tables that no result shows.

Every candidate is trained on the first random split of each table of `CHOSEN_ON`. The loss of its
test rows is a squared error in units of their variance, or a negative log-likelihood. CatBoost and
LightGBM as they come are beside them; they are fitted to train and validation rows.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from npt.compact.learner import CompactLearner
from npt.compact.settings import CompactSettings
from npt.evaluation import evaluate
from npt.interface import Resources
from npt.likelihood import negative_log_likelihood
from npt.table import Split, Table
from performance.boosting import boosted
from performance.public_tables import CHOSEN_ON, public_table, random_split

REFERENCE = Path(__file__).parents[1] / "results" / "reference" / "defaults"
ROWS = REFERENCE / "defaults.csv"
CANDIDATES = REFERENCE / "candidates.yaml"
KEY = ["table", "fold", "candidate"]
LIBRARIES = ["CatBoost", "LightGBM"]
LEAST_PROBABILITY = 1e-7


def main() -> None:
    """Command line: candidates that have no row yet are run, one row after another."""
    candidates = yaml.safe_load(CANDIDATES.read_text())
    names = [*candidates, *LIBRARIES]
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--tables", nargs="+", choices=CHOSEN_ON, default=list(CHOSEN_ON))
    options.add_argument("--candidates", nargs="+", choices=names, default=names)
    options.add_argument("--fold", type=int, default=0)
    options.add_argument("--rows", type=Path, default=ROWS, help="csv (default: %(default)s)")
    arguments = options.parse_args()
    path = arguments.rows
    for name in arguments.tables:
        table = public_table(name)
        split = random_split(table, arguments.fold)
        for candidate in arguments.candidates:
            key = (name, arguments.fold, candidate)
            if key in finished(path):
                continue
            started = time.process_time()
            if candidate in LIBRARIES:
                losses = library_losses(candidate, table, split)
            else:
                losses = compact_losses(candidates[candidate], table, split)
            seconds = time.process_time() - started
            losses["cpu_seconds"] = round(seconds, 1)
            add(path, key, losses)
    if path.exists():
        print(summary(pd.read_csv(path)).to_markdown())


def finished(path: Path) -> set[tuple[Any, ...]]:
    """Keys of the rows of a file."""
    if not path.exists():
        return set()
    rows = pd.read_csv(path)
    return set(rows[KEY].itertuples(index=False, name=None))


def add(path: Path, key: tuple[Any, ...], figures: dict[str, float]) -> None:
    """Add a row to a file."""
    row = dict(zip(KEY, key, strict=True)) | figures
    rows = pd.DataFrame([row])
    if path.exists():
        rows = pd.concat([pd.read_csv(path), rows])
    path.parent.mkdir(parents=True, exist_ok=True)
    rows.to_csv(path, index=False)


def compact_losses(changes: dict[str, Any], table: Table, split: Split) -> dict[str, float]:
    """Losses of validation and test rows by compact NPT with changed settings."""
    settings = CompactSettings().changed(batch_rows=32, **changes)
    learner = CompactLearner(settings, Resources(device="cpu"))
    evaluation = evaluate(learner, table, split, 0)
    validated = evaluation.predictions["validation"]
    tested = evaluation.predictions["test"]
    return {
        "validation_loss": loss(table, split.validation, validated.values),
        "test_loss": loss(table, split.test, tested.values),
    }


def library_losses(library: str, table: Table, split: Split) -> dict[str, float]:
    """Loss of the test rows by a boosting library."""
    predicted = boosted(library, table, split)
    return {"test_loss": loss(table, split.test, predicted)}


def loss(table: Table, rows: np.ndarray, predicted: np.ndarray) -> float:
    """Squared error in units of the variance, or negative log-likelihood."""
    truth = table.truth[rows]
    if table.task == "regression":
        errors = (predicted - truth) ** 2
        return float(errors.mean() / truth.var())
    clipped = np.clip(predicted, LEAST_PROBABILITY, 1)
    return negative_log_likelihood(truth, clipped)


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Of each candidate: loss relative to CatBoost's, with its error, and seconds of one thread.

    The first is a geometric mean over the splits that a candidate has rows of.
    """
    losses = rows.pivot_table(index=["table", "fold"], columns="candidate", values="test_loss")
    ratios = losses.div(losses["CatBoost"], axis=0)
    relative = ratios.map(np.log)
    seconds = rows.groupby("candidate")["cpu_seconds"].mean()
    columns = {
        "splits": relative.count(),
        "loss relative to CatBoost": np.exp(relative.mean()).round(3),
        "standard error": relative.sem().round(3),
        "seconds": seconds.round(1),
    }
    return pd.DataFrame(columns).sort_values("loss relative to CatBoost")


if __name__ == "__main__":
    main()
