"""Writes results/reference/REPRODUCTION.md: every cell of the paper's tables, with its state."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Mapping
from math import isnan
from string import ascii_lowercase

import pandas as pd

from workflow.presentation.cells import formatted, number
from workflow.presentation.statistics import t_quantile
from workflow.presentation.titles import dataset_title, method_title
from workflow.report.summary import REFERENCE
from workflow.reproduction.values import REASONS, STATES, Reproduced, reproduced_cells

PATH = REFERENCE / "REPRODUCTION.md"
TITLES = {
    1: "average rank ± standard error over datasets",
    2: "change after all other rows are corrupted (accuracy in points, RMSE in percent of itself)",
    3: "test RMSE on the lookup tasks of Protein",
    4: "ablation, test RMSE",
    5: "ablation of attention between attributes and of feature masking",
    6: "cost on Protein (baselines: whole search, NPT: one training)",
    7: "cost on Higgs (baselines: whole search, NPT: one training)",
    8: "test accuracy, percent",
    9: "test NLL, nats",
    10: "test AUROC",
    11: "test RMSE",
    12: "test MSE",
    13: "average rank, from 0, of NPT's eight configurations by validation loss",
}
HEAD = (
    "How to read a cell: [docs/reproduction.md](../../docs/reproduction.md). "
    "`python -m workflow.reproduction.page` writes this page from the paper's printed numbers "
    "(`workflow/presentation/published.json`), the rows beside it, and the plans of the "
    "configurations."
)
ARITHMETIC = (
    "Recomputed from the paper's own Tables 8, 10 and 11, 27 of 27 cells are equal to the last "
    "digit ([ranks](../../docs/tables.md#ranks)). This checks the arithmetic and regenerates no "
    "result."
)
SMALLER = "smaller than in the paper"
TIMES = (25, 50, 75, 100)  # percent of the updates
NUMERIC_START = tuple("0123456789−+")


def page() -> str:
    """All tables."""
    parts = ["# Cells of the paper's tables", HEAD, counts(), agreement()]
    parts += [paper_table(table) for table in TITLES]
    parts += ["## What is smaller", reductions()]
    parts += ["## Learning curves of NPT", curves()]
    parts += ["## Studies that plan cells", plans()]
    return "\n\n".join(parts) + "\n"


def counts() -> str:
    """Number of cells by table and state."""
    rows = []
    for title, tables in (("1 to 13", tuple(TITLES)), *((str(n), (n,)) for n in TITLES)):
        states = [cell.state for cell in reproduced_cells() if cell.cell.table in tables]
        rows.append([title, len(states), *map(states.count, STATES)])
    columns = ["Table", "cells", *map(" ".join, STATES.items())]
    return markdown(pd.DataFrame(rows, columns=columns))


def agreement() -> str:
    """How far the values from here are from the paper's, by folds."""
    values = value_frame().dropna().sort_values(["Folds", "state"], ascending=[False, True])
    sizes = values["difference"]
    counted = {
        "values": sizes.notna(),
        "within 1": sizes <= 1,
        "within 2": sizes <= 2,
        "beyond": sizes > 2,
    }
    groups = values.assign(**counted).groupby(["Folds", "state"], sort=False)
    frame = groups[list(counted)].sum()
    frame["largest"] = groups["difference"].max().map("{:.1f}".format)
    return markdown(frame.reset_index())


def value_frame() -> pd.DataFrame:
    """All values: their models, what is smaller, and sizes of differences in standard errors."""
    rows = []
    for cell in reproduced_cells():
        for value in cell.values:
            model = value.model
            is_released = model.dataset.endswith("_legacy")
            row = {
                "Rows": f"`{model.source}`",
                "dataset": dataset_title(model.dataset),
                "method": method_title(model.method, model.variant),
                SMALLER: ", ".join(value.reductions),
                "planned at full size by": f"`{cell.planned}`",
                "Folds": "those of the released code" if is_released else "cross-validation",
                "state": STATES[value.state],
                "difference": abs(value.difference),
            }
            rows.append(row)
    return pd.DataFrame(rows)


def paper_table(table: int) -> str:
    """A table of the paper, each cell with its state, values and sources."""
    cells = [cell for cell in reproduced_cells() if cell.cell.table == table]
    marks = source_marks(cells)
    texts = {(cell.cell.row, cell.cell.column): cell_text(cell, marks) for cell in cells}
    wide = pd.Series(texts).unstack(fill_value="", sort=False)
    text = markdown(wide.rename_axis(index="").reset_index())
    parts = [f"## Table {table}", f"The paper's {TITLES[table]}.", text]
    if marks:
        sources = [f"{mark} `{source}`" for source, mark in marks.items()]
        parts.append(f"Sources: {', '.join(sources)}")
    parts += [f"✕ {reason}" for (number, _), reason in REASONS.items() if number == table]
    if table == 1:
        parts.append(ARITHMETIC)
    return "\n\n".join(parts)


def source_marks(cells: Iterable[Reproduced]) -> dict[str, str]:
    """A letter for every source of values, and for every study that plans a cell without them."""
    sources: list[str] = []
    for cell in cells:
        planned = [cell.planned] if cell.planned else []
        sources += [value.model.source for value in cell.values] or planned
    marks = zip(dict.fromkeys(sources), ascii_lowercase, strict=False)
    return {source: f"<sup>{letter}</sup>" for source, letter in marks}


def cell_text(reproduced: Reproduced, marks: Mapping[str, str]) -> str:
    """The symbol and the paper's value, then values from here with their symbols and sources."""
    cell = reproduced.cell
    printed = f"{reproduced.state} {cell.printed.replace('±', ' ± ')}"
    if not reproduced.values:
        return f"{printed} {marks.get(reproduced.planned, '')}".rstrip()
    unit = " %" if printed.endswith("%") else ""
    lines = [printed]
    for value in reproduced.values:
        text = number(value.mean, cell.digits, error=value.error).text + unit
        if not isnan(value.difference):
            bound = t_quantile(pd.Series([len(value.model.rows)])).item()
            bold = "**" if abs(value.difference) > bound else ""
            text += f" ({bold}{formatted(value.difference, 1, sign=True)}{bold})"
        lines.append(f"{value.state} {text} {marks[value.model.source]}")
    return "<br>".join(lines)


def reductions() -> str:
    """What is smaller than in the paper, for each dataset and method."""
    values = value_frame().loc[:, :"planned at full size by"]
    return markdown(values[values[SMALLER] != ""].drop_duplicates())


def curves() -> str:
    """Validation loss at some times of every training, and the lowest one."""
    rows = []
    for path in sorted(REFERENCE.glob("*/learning_curves/*.csv")):
        dataset, rest = path.stem.split(".", 1)
        variant, _, fold = rest.rpartition(".folds_")
        losses = pd.read_csv(path).set_index("update")["validation_loss"]
        updates = losses.index[-1]
        row = {
            "Dataset": dataset_title(dataset),
            "method": method_title("npt", variant),
            "fold": fold,
            "updates": f"{updates:,}",
        }
        for time in TIMES:
            before = losses[100 * losses.index <= time * updates]
            row[f"after {time} %"] = f"{before.iloc[-1]:.4f}"
        row |= {"lowest": f"{losses.min():.4f}", "at update": f"{losses.idxmin():,}"}
        rows.append(row)
    return markdown(pd.DataFrame(rows))


def plans() -> str:
    """Studies that plan cells of the paper."""
    cells = Counter(f"`{cell.planned}`" for cell in reproduced_cells() if cell.planned)
    return markdown(pd.DataFrame(list(cells.items()), columns=["Study", "cells"]))


def markdown(frame: pd.DataFrame) -> str:
    """A table without padding; columns of numbers are aligned to the right."""
    rows = frame.astype(str).to_numpy().tolist()
    alignments = ["---:" if text.startswith(NUMERIC_START) else "---" for text in rows[0]]
    return "\n".join(f"| {' | '.join(texts)} |" for texts in (frame.columns, alignments, *rows))


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    PATH.write_text(page(), encoding="utf-8")
    print(PATH)
