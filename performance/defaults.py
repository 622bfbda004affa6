"""How the defaults of compact NPT were chosen: candidates on tables that no result shows.

Every candidate is trained on the first random split of each table of `CHOSEN_ON`. The loss of its
test rows is a squared error in units of their variance, or a negative log-likelihood. CatBoost and
LightGBM as they come are beside them; they are fitted to train and validation rows.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from npt.compact.learner import CompactLearner
from npt.compact.settings import CompactSettings
from npt.evaluation import evaluate
from npt.interface import Resources
from npt.likelihood import negative_log_likelihood
from npt.table import Split, Table
from performance.public_tables import CHOSEN_ON, public_table, random_split

ROWS = Path(__file__).parents[1] / "results" / "reference" / "defaults" / "defaults.csv"
KEY = ["table", "fold", "candidate"]
REGULARISED = {
    "bin_scale": [0.15, 0.05],
    "dropout": [0.1],
    "feature_mask": [0.03],
    "rate_scale": [1.0],
    "average": "mean",
    "members": 4,
    "copies": False,
}
MIXED = {
    **REGULARISED,
    "bin_scale": [0.15, 0.05, 0.15, 0.02],
    "dropout": [0.1, 0.1, 0.0, 0.3],
    "feature_mask": [0.03, 0.03, 0.0, 0.15],
    "members": 8,
}
KINDS = {
    **MIXED,
    "bin_scale": [0.15, 0.05, 0.15, 0.05],
    "rate_scale": [1.0, 0.25, 1.0, 0.25],
    "updates": 600,
    "patience": 300,
}
CANDIDATES: Mapping[str, Mapping[str, Any]] = {
    "long": {**REGULARISED, "updates": 1800, "patience": 500},
    "half": {**REGULARISED, "updates": 900, "patience": 300},
    "short": {**REGULARISED, "updates": 300, "patience": 300},
    "slow": {**REGULARISED, "updates": 600, "patience": 300, "learning_rate": 5e-4},
    "mixed": {**MIXED, "updates": 450, "patience": 250},
    "kinds": KINDS,
    "best kinds": {**KINDS, "average": "kinds"},
    "smooth labels": {**KINDS, "label_smoothing": 0.05},
    "kinds, copying": {**KINDS, "copies": True},
}


def main() -> None:
    """Command line: candidates that have no row yet are run, one row after another."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--tables", nargs="+", choices=CHOSEN_ON, default=list(CHOSEN_ON))
    options.add_argument("--candidates", nargs="+", default=[*CANDIDATES, "CatBoost", "LightGBM"])
    options.add_argument("--fold", type=int, default=0)
    options.add_argument("--rows", type=Path, default=ROWS, help="csv (default: %(default)s)")
    arguments = options.parse_args()
    for name in arguments.tables:
        for candidate in arguments.candidates:
            run(arguments.rows, name, arguments.fold, candidate)
    if arguments.rows.exists():
        print(summary(pd.read_csv(arguments.rows)).to_markdown())


def run(path: Path, name: str, fold: int, candidate: str) -> None:
    """Add the row of a candidate, unless there is one."""
    rows = pd.read_csv(path) if path.exists() else pd.DataFrame(columns=KEY)
    key = (name, fold, candidate)
    if key in set(rows[KEY].itertuples(index=False, name=None)):
        return
    table = public_table(name)
    split = random_split(table, fold)
    started = time.process_time()
    losses = _losses(table, split, candidate)
    seconds = time.process_time() - started
    row = dict(zip(KEY, key, strict=True)) | losses | {"cpu_seconds": round(seconds, 1)}
    path.parent.mkdir(parents=True, exist_ok=True)
    pd.concat([rows, pd.DataFrame([row])]).to_csv(path, index=False)


def _losses(table: Table, split: Split, candidate: str) -> dict[str, float]:
    if candidate in CANDIDATES:
        settings = CompactSettings().changed(batch_rows=32, **CANDIDATES[candidate])
        learner = CompactLearner(settings, Resources(device="cpu"))
        evaluation = evaluate(learner, table, split, 0)
        return {
            "validation_loss": _loss(
                table, split.validation, evaluation.predictions["validation"].values
            ),
            "test_loss": _loss(table, split.test, evaluation.predictions["test"].values),
        }
    return {"test_loss": _loss(table, split.test, boosted(table, split, candidate))}


def boosted(table: Table, split: Split, library: str) -> np.ndarray:
    """Predictions for the test rows by a library as it comes."""
    rows = np.concatenate([split.train, split.validation])
    model = booster(library, table.task == "regression")
    features = table.values[:, table.features]
    model.fit(features[rows], table.truth[rows])
    return predictions(model, features[split.test], table)


def predictions(model: Any, features: Any, table: Table) -> np.ndarray:
    """Numbers (n,), or probabilities (n, C) of all classes of a table, by a fitted estimator."""
    if table.task == "regression":
        return np.asarray(model.predict(features))
    probabilities = np.zeros((len(features), table.columns[table.target].size))
    fitted = np.asarray(model.classes_, int)
    probabilities[:, fitted] = model.predict_proba(features)
    return probabilities


def booster(library: str, regression: bool) -> Any:
    """An estimator of a library with its defaults, on one thread."""
    if library == "CatBoost":
        from catboost import CatBoostClassifier, CatBoostRegressor

        kind = CatBoostRegressor if regression else CatBoostClassifier
        return kind(verbose=0, thread_count=1, allow_writing_files=False, random_seed=0)
    from lightgbm import LGBMClassifier, LGBMRegressor

    kind = LGBMRegressor if regression else LGBMClassifier
    return kind(verbose=-1, n_jobs=1, random_state=0)


def _loss(table: Table, rows: np.ndarray, predicted: np.ndarray) -> float:
    truth = table.truth[rows]
    if table.task == "regression":
        return float(np.mean((predicted - truth) ** 2) / truth.var())
    clipped = np.clip(predicted, 1e-7, 1)
    return negative_log_likelihood(truth, clipped)


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Of each candidate: loss relative to CatBoost's, mean rank, and seconds of one thread.

    The first is a geometric mean over the tables that all candidates have.
    """
    losses = rows.pivot_table(index=["table", "fold"], columns="candidate", values="test_loss")
    losses = losses.dropna()
    relative = np.exp(np.log(losses.div(losses["CatBoost"], axis=0)).mean())
    seconds = rows.groupby("candidate")["cpu_seconds"].mean()
    columns = {
        "tables": len(losses),
        "loss relative to CatBoost": relative.round(3),
        "mean rank": losses.rank(axis=1).mean().round(2),
        "seconds": seconds.round(1),
    }
    return pd.DataFrame(columns).sort_values("loss relative to CatBoost")


if __name__ == "__main__":
    main()
