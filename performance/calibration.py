"""How often the tests of effects are right, on models whose answer is known.

Two random forests that differ by their seed are equally good: a test that finds one better is
false. A forest that lacks half of the train rows is worse: a test that finds this is true. The
tests are those of the reports, over the folds of each public table and over the tables.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from baselines import methods
from npt.data.datasets import datasets
from npt.data.preparation import prepare_declared
from npt.data.public import public_tables
from npt.evaluation import evaluate
from npt.interface import Resources
from npt.metrics import scores
from npt.train_rows import TrainRows
from performance.machine import parser, start, write
from workflow.report.fold_tests import fold_test
from workflow.report.rank_tests import sign_flip_p_value
from workflow.report.statistics import LEVEL
from workflow.studies.errors import effect, losses

FOREST = {"grid": {"n_estimators": [100]}}
COMPARED = {"false": (1.0, 1), "true": (0.5, 1)}  # share of train rows and seed, against (1, 0)
FOLDS = (3, 5, 10)


def main() -> None:
    """Command line of the analysis."""
    options = parser(__doc__)
    options.add_argument("--tables", nargs="+", default=list(public_tables()))
    arguments = options.parse_args()
    start(arguments)
    effects = pd.concat([effects_on(name, arguments.threads) for name in arguments.tables])
    rows = [over_folds(effects, folds) for folds in FOLDS]
    rows += [over_tables(part, str(task)) for task, part in effects.groupby("task")]
    print(pd.DataFrame(rows).to_markdown(index=False, floatfmt=".3f"))
    write(arguments, "calibration", rows)


def effects_on(name: str, threads: int) -> pd.DataFrame:
    """Effects of a seed (`false`) and of half the train rows (`true`) on each fold of a table."""
    with tempfile.TemporaryDirectory() as downloads:
        prepared = prepare_declared(datasets()[name], Path(downloads))
    table = prepared.table
    method = methods()["random_forest"]
    learner = method.build(method.settings(**FOREST), Resources(threads))
    rows = []
    for fold, split in prepared.splits.items():
        for comparison, (share, seed) in {"base": (1.0, 0), **COMPARED}.items():
            its_table, its_split = TrainRows(share=share).of_fold(table, split)
            evaluation = evaluate(learner, its_table, its_split, seed)
            rows.append(
                {
                    "dataset": name,
                    "task": "regression" if table.task == "regression" else "classification",
                    "fold": fold,
                    "fraction": len(split.test) / len(split.train),
                    "comparison": comparison,
                    **scores(evaluation.predictions, table, split),
                }
            )
    measured = pd.DataFrame(rows)
    keys = ["dataset", "task", "fold", "fraction"]
    loss = measured.assign(loss=losses(measured, "test_")).pivot_table("loss", keys, "comparison")
    effects = {column: effect(loss["base"], loss[column]) for column in COMPARED}
    return pd.DataFrame(effects).reset_index()


def over_folds(effects: pd.DataFrame, folds: int) -> dict[str, Any]:
    """Verdicts of the test over folds, on disjoint sets of so many folds of each table."""
    sets = effects.groupby(["dataset", effects["fold"] // folds])
    complete = sets.filter(lambda part: len(part) == folds)
    return rates(
        f"{folds} folds of a table",
        complete.groupby(["dataset", complete["fold"] // folds]),
        lambda part, column: fold_test(part[column], part["fraction"].mean())[0],
    )


def over_tables(effects: pd.DataFrame, task: str) -> dict[str, Any]:
    """Verdicts of the test over tables, on each fold."""
    return rates(
        f"{effects['dataset'].nunique()} {task}s, one fold of each",
        effects.groupby("fold"),
        lambda part, column: sign_flip_p_value(part[column]),
    )


def rates(test: str, parts: Any, p_value: Callable[[pd.DataFrame, str], float]) -> dict[str, Any]:
    """Share of parts with a verdict: of equal forests, and that fewer rows are worse or better."""
    verdicts = []
    for _, part in parts:
        signs = {name: np.sign(part[name].mean()) for name in COMPARED}
        shown = {name: p_value(part, name) < LEVEL for name in COMPARED}
        verdicts.append({name: signs[name] * shown[name] for name in COMPARED})
    table = pd.DataFrame(verdicts)
    return {
        "test": test,
        "tests": len(table),
        "false: other seed": float((table["false"] != 0).mean()),
        "true: half the rows are worse": float((table["true"] > 0).mean()),
        "false: half the rows are better": float((table["true"] < 0).mean()),
    }


if __name__ == "__main__":
    main()
