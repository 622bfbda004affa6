"""How often each method beats each other one."""

from __future__ import annotations

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.cells import MISSING, Cell, counted, percent
from workflow.report.rank_tests import rank_matrix, refusal
from workflow.report.sections import Section, Table
from workflow.report.statistics import framed
from workflow.report.titles import method_title
from workflow.studies.error_columns import texts

COLUMNS = ["method", "variant", "against_method", "against_variant", "win_rate", "datasets"]
NOTE = (
    "Share of the datasets on which the method of the line has a better rank than that of the "
    "column, by each task's metric. A tie counts half. The best methods come first."
)


def win_rates(study: pd.DataFrame, scoring: Scoring) -> Table:
    """Share of the datasets on which a method beats another; from five datasets on."""
    ranks = rank_matrix(study, scoring)
    if refusal(ranks):
        return Table(framed([], COLUMNS)[COLUMNS], ())
    order = list(ranks.mean().sort_values(kind="stable").index)
    rows = []
    columns: dict[str, list[Cell]] = {
        "Method": texts([method_title(*name) for name in order]),
    }
    for against in order:
        cells = []
        for name in order:
            rate = win_rate(ranks[name], ranks[against])
            if name == against:
                cells.append(MISSING)
                continue
            cells.append(percent(rate))
            rows.append([*name, *against, rate, len(ranks)])
        columns[method_title(*against)] = cells
    title = f"Win rates over {counted(len(ranks), 'dataset')}"
    section = Section(title, columns, (NOTE,), group="Which methods differ")
    return Table(pd.DataFrame(rows, columns=COLUMNS), (section,))


def win_rate(ranks: pd.Series, against: pd.Series) -> float:
    """Share of the datasets with a lower rank; equal ranks count half."""
    wins = (ranks < against).mean()
    ties = (ranks == against).mean()
    return float(wins + ties / 2)
