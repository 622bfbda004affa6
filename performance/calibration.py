"""How often the tests of effects are right, on models whose answer is known.

Two random forests that differ by their seed are equally good: a test that finds one better is
false. A forest that lacks half of the train rows is worse: a test that finds this is true. The
tests are those of the reports, over the folds of each public table and over the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from baselines import methods
from npt.data.public import public_tables
from npt.evaluation import evaluate
from npt.interface import Resources
from npt.metrics import scores
from npt.train_rows import TrainRows
from performance.machine import parser, prepared, report, start
from workflow.presentation.ranks import sign_flip_p_value
from workflow.presentation.statistics import LEVEL, fold_test
from workflow.studies.errors import effect, kinds_of_tables, losses

FOREST = {"grid": {"n_estimators": [100]}}
FORESTS = {"base": (1.0, 0), "false": (1.0, 1), "true": (0.5, 1)}  # share of train rows and seed
COMPARED = ["false", "true"]  # with the base
FOLDS = (3, 5, 10)
KEYS = ["dataset", "task", "fold", "fraction"]


def main() -> None:
    """Command line of the analysis."""
    arguments = start(parser(__doc__))
    measured = []
    for name in public_tables():
        measured += scored_forests(name, arguments.threads)
    frame = pd.DataFrame(measured)
    loss = frame.assign(loss=losses(frame, "test_")).pivot_table("loss", KEYS, "forest")
    effects = loss[COMPARED].apply(lambda column: effect(loss["base"], column)).reset_index()
    report(arguments, verdicts(effects))


def scored_forests(name: str, threads: int) -> Iterator[dict[str, Any]]:
    """Test scores of each forest on each fold of a table."""
    data = prepared(name)
    table = data.table
    method = methods()["random_forest"]
    learner = method.build(method.settings(**FOREST), Resources(threads))
    for fold, split in data.splits.items():
        for forest, (share, seed) in FORESTS.items():
            evaluation = evaluate(learner, *TrainRows(share=share).of_fold(table, split), seed)
            yield {
                "dataset": name,
                "task": table.task,
                "fold": fold,
                "fraction": len(split.test) / len(split.train),
                "forest": forest,
                **scores(evaluation.predictions, table, split),
            }


def verdicts(effects: pd.DataFrame) -> list[dict[str, Any]]:
    """How often each test is right: over disjoint sets of folds, and over tables on each fold."""
    fractions = effects["fraction"]
    count = effects["fold"].nunique()

    def over_folds(differences: pd.Series) -> float:
        return fold_test(differences, fractions[differences.index].mean())[0]

    rows = []
    for folds in FOLDS:
        complete = effects[effects["fold"] < count - count % folds]
        sets = complete.groupby(["dataset", complete["fold"] // folds])
        rows.append(rates(f"{folds} folds of a table", sets, over_folds))
    for tables, part in effects.groupby(kinds_of_tables(effects)):
        test = f"{part['dataset'].nunique()} {tables}, one fold of each"
        rows.append(rates(test, part.groupby("fold"), sign_flip_p_value))
    return rows


def rates(test: str, parts: Any, p_value: Callable[[pd.Series], float]) -> dict[str, Any]:
    """Share of parts with a verdict: of equal forests, and that fewer rows are worse or better."""
    effects = parts[COMPARED]
    signs = np.sign(effects.mean()) * (effects.agg(p_value) < LEVEL)
    return {
        "test": test,
        "tests": len(signs),
        "false: other seed": (signs["false"] != 0).mean(),
        "true: half the rows are worse": (signs["true"] > 0).mean(),
        "false: half the rows are better": (signs["true"] < 0).mean(),
    }


if __name__ == "__main__":
    main()
