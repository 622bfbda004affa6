"""Whether training with a source of information helps: a test whose unit is the table."""

from __future__ import annotations

import numpy as np
import pandas as pd

from workflow.report.cells import Cell, emphasised, p_value, times
from workflow.report.fold_tests import with_holm
from workflow.report.rank_tests import sign_flip_p_value
from workflow.report.sections import Section
from workflow.report.statistics import LEVEL
from workflow.report.titles import method_titles
from workflow.studies.error_columns import texts

FEWEST_TABLES = 6
MODEL = ["method", "variant", "source"]
RESULTS = ["tables", "tables_ratio", "tables_p_holm"]
NOTE = (
    "`Twin's error` is the geometric mean over datasets of the twin's RMSE or NLL over the "
    "model's. `p, Holm` is of a two-sided sign-flip permutation test of its logarithm over "
    "datasets, with Holm's correction for the models of each source."
)


def with_tests(tidy: pd.DataFrame) -> pd.DataFrame:
    """Fill `RESULTS` for each model and source that has twins on at least six datasets."""
    known = tidy.dropna(subset="log_ratio")
    counts = known.groupby(MODEL)["log_ratio"].transform("count")
    groups = known[counts >= FEWEST_TABLES].groupby(MODEL, sort=False)["log_ratio"]
    if not groups.ngroups:
        return tidy
    tests = groups.agg(tables="count", mean="mean", p_value=sign_flip_p_value).reset_index()
    tests["tables_ratio"] = np.exp(tests["mean"])
    corrected = pd.concat(with_holm(part) for _, part in tests.groupby("source", sort=False))
    results = corrected.rename(columns={"p_holm": "tables_p_holm"})[[*MODEL, *RESULTS]]
    return tidy.drop(columns=RESULTS).merge(results, on=MODEL, how="left")


def section(tidy: pd.DataFrame) -> list[Section]:
    """The tests as cells; nothing where there are none."""
    tests = tidy.dropna(subset="tables").drop_duplicates(MODEL)
    if tests.empty:
        return []
    columns = {
        "Method": texts(method_titles(tests)),
        "Source": texts(tests["source"]),
        "Datasets": texts(str(int(count)) for count in tests["tables"]),
        "Twin's error": [Cell(times(ratio), ratio) for ratio in tests["tables_ratio"]],
        "p, Holm": [emphasised(p_value(p), p < LEVEL) for p in tests["tables_p_holm"]],
    }
    return [Section("What training without a source costs over all datasets", columns, (NOTE,))]
