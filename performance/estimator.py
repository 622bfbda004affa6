"""The estimators NPTClassifier and NPTRegressor beside boosting libraries, all as they come.

Three quarters of the rows of each public table are fitted, the others predicted. No default was
chosen on these tables. Error: root mean squared error, or share of wrong classes; the negative
log-likelihood of classes is shown, too. Seconds are those of the fit.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from npt.estimator import NPTClassifier, NPTRegressor
from npt.metrics import score
from npt.table import Table
from performance.boosting import LIBRARIES, booster, predictions
from performance.machine import parser, start, write
from performance.public_tables import HELD_OUT, LARGE, public_table, random_split

NPT = {"compact NPT": "compact", "solved NPT": "solved"}


def main() -> None:
    """Command line of the benchmark."""
    options = parser(__doc__)
    options.add_argument("--tables", nargs="+", choices=[*HELD_OUT, *LARGE], default=list(HELD_OUT))
    options.add_argument("--fold", type=int, default=0)
    arguments = options.parse_args()
    start(arguments)
    rows = []
    for name in arguments.tables:
        for estimator in (*NPT, *LIBRARIES):
            row = measured(name, arguments.fold, estimator, arguments.threads)
            rows.append(row)
            print(row, flush=True)
    print(summary(pd.DataFrame(rows)).to_markdown())
    write(arguments, "estimator", rows)


def measured(name: str, fold: int, estimator: str, threads: int) -> dict[str, Any]:
    """Errors and seconds of an estimator on a table."""
    table = public_table(name)
    split = random_split(table, fold)
    fitted = np.concatenate([split.train, split.validation])
    model = build(estimator, table, threads)
    features = frame_of(table, text=estimator in NPT)
    target = target_of(table)
    started = time.perf_counter()
    with threadpool_limits(threads):
        model.fit(features.iloc[fitted], target[fitted])
    seconds = time.perf_counter() - started
    predicted = predictions(model, features.iloc[split.test], table)
    scores = score(table.task, table.truth[split.test], predicted)
    error = scores["rmse"] if table.task == "regression" else 1 - scores["accuracy"]
    return {
        "table": name,
        "rows": len(fitted),
        "columns": len(features.columns),
        "estimator": estimator,
        "error": error,
        "nll": scores.get("nll"),
        "seconds": seconds,
        "coverage": _coverage(model, features.iloc[split.test], target[split.test]),
    }


def _coverage(model: Any, features: pd.DataFrame, target: np.ndarray) -> float | None:
    """Share of targets in their intervals of 90 %, where an estimator has any."""
    if not isinstance(model, NPTRegressor) or model.architecture != "solved":
        return None
    lower, upper = model.predict_interval(features, 0.9).T
    return float(np.mean((lower <= target) & (target <= upper)))


def build(estimator: str, table: Table, threads: int) -> Any:
    """An estimator with its defaults."""
    regression = table.task == "regression"
    if estimator in NPT:
        kind = NPTRegressor if regression else NPTClassifier
        return kind(architecture=NPT[estimator], n_jobs=threads)
    return booster(estimator, regression=regression, threads=threads)


def frame_of(table: Table, *, text: bool) -> pd.DataFrame:
    """Features as a frame; categories as text or as the codes that the libraries take."""
    columns: dict[str, Any] = {}
    for j in table.features:
        column = table.columns[j]
        numbers = table.numbers(j)
        if text and column.kind == "categorical":
            levels = np.array([*column.levels, None], dtype=object)
            columns[column.name] = levels[np.nan_to_num(numbers, nan=-1).astype(int)]
        else:
            columns[column.name] = numbers
    return pd.DataFrame(columns)


def target_of(table: Table) -> np.ndarray:
    """Numbers, or codes of classes."""
    truth = table.truth
    return truth if table.task == "regression" else truth.astype(int)


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean ranks by error and by loss; median of losses, and mean of seconds, over CatBoost's.

    The loss is the root mean squared error, or the negative log-likelihood of classes.
    """
    rows = rows.assign(loss=rows["nll"].fillna(rows["error"]))
    losses = rows.pivot(index="table", columns="estimator", values="loss")
    errors = rows.pivot(index="table", columns="estimator", values="error")
    seconds = rows.pivot(index="table", columns="estimator", values="seconds")
    ratios = losses.div(losses["CatBoost"], axis=0)
    columns = {
        "mean rank by error": errors.rank(axis=1).mean(),
        "mean rank by RMSE or NLL": losses.rank(axis=1).mean(),
        "RMSE or NLL over CatBoost's": ratios.median(),
        "seconds": seconds.mean(),
        "intervals of 90 % hold": rows.groupby("estimator")["coverage"].mean(),
    }
    return pd.DataFrame(columns).round(3).sort_values("mean rank by RMSE or NLL")


if __name__ == "__main__":
    main()
