"""Writes results/reference/REPRODUCTION.md: every cell of the paper's tables, with its state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from math import isnan
from string import ascii_lowercase

import pandas as pd

from performance.reproduction.values import REASONS, Reproduced, reproduced_cells
from workflow.report.cells import formatted, number
from workflow.report.published import published, published_ranks
from workflow.report.statistics import t_quantile
from workflow.report.summary import REFERENCE
from workflow.report.titles import dataset_title, method_title

PATH = REFERENCE / "REPRODUCTION.md"
STATES = {
    "●": "regenerated",
    "◐": "regenerated, reduced",
    "○": "planned",
    "✕": "not possible",
    "△": "not planned",
}
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
    "`python -m performance.reproduction.page` writes this page from the paper's printed numbers "
    "(`workflow/report/published.json`), the rows beside it, and the plans of the configurations."
)
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
        amounts = [len(states), *map(states.count, STATES)]
        rows.append([title, *map(str, amounts)])
    return markdown(["Table", "cells", *map(" ".join, STATES.items())], rows)


def agreement() -> str:
    """How far the values from here are from the paper's, by folds."""
    differences = []
    for cell in reproduced_cells():
        for value in cell.values:
            is_own = not value.model.dataset.endswith("_legacy")
            differences.append((is_own, value.state, abs(value.difference)))
    frame = pd.DataFrame(differences, columns=["is_own", "state", "size"]).dropna()
    rows = []
    for (is_own, state), sizes in frame.groupby(["is_own", "state"])["size"]:
        folds = "cross-validation" if is_own else "those of the released code"
        amounts = [len(sizes), sum(sizes <= 1), sum(sizes <= 2), sum(sizes > 2)]
        rows.append([folds, STATES[state], *map(str, amounts), formatted(sizes.max(), 1)])
    titles = ["Folds", "state", "values", "within 1", "within 2", "beyond", "largest"]
    return markdown(titles, rows)


def paper_table(table: int) -> str:
    """A table of the paper, each cell with its state, values and sources."""
    cells = [cell for cell in reproduced_cells() if cell.cell.table == table]
    marks = source_marks(cells)
    texts = [(cell.cell.row, cell.cell.column, cell_text(cell, marks)) for cell in cells]
    long = pd.DataFrame(texts, columns=["row", "column", "text"]).set_index(["row", "column"])
    wide = long["text"].unstack(fill_value="", sort=False)
    rows = wide.reset_index().to_numpy().tolist()
    parts = [f"## Table {table}", f"The paper's {TITLES[table]}."]
    parts.append(markdown(["", *wide.columns], rows))
    if marks:
        sources = [f"{mark} `{source}`" for source, mark in marks.items()]
        parts.append(f"Sources: {', '.join(sources)}")
    parts += [f"✕ {reason}" for (number, _), reason in REASONS.items() if number == table]
    if table == 1:
        parts.append(arithmetic())
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


def arithmetic() -> str:
    """How many cells of Table 1 follow from the paper's own Tables 8, 10 and 11."""
    is_equal = []
    for metric in ("auroc", "accuracy", "rmse"):
        group = published()["table_1_average_rank"][metric]
        ranks = published_ranks(metric, group["datasets"], list(group["rank"]), "paper")
        assert ranks is not None
        for row in ranks.to_dict("records"):
            rank = number(row["mean_rank"], 2, error=row["standard_error"]).text
            is_equal.append(rank.replace(" ", "") == group["rank"][row["method"]]["printed"])
    return (
        f"Recomputed from the paper's own Tables 8, 10 and 11, {sum(is_equal)} of {len(is_equal)} "
        "cells are equal to the last digit ([ranks](../../docs/tables.md#ranks)). This checks the "
        "arithmetic and regenerates no result."
    )


def reductions() -> str:
    """What is smaller than in the paper, for each dataset and method."""
    rows = {}
    for cell in reproduced_cells():
        for value in cell.values:
            if value.reductions:
                dataset = dataset_title(value.model.dataset)
                method = method_title(value.model.method, value.model.variant)
                smaller = ", ".join(value.reductions)
                names = (f"`{value.model.source}`", dataset, method)
                rows[names] = [*names, smaller, f"`{cell.planned}`"]
    titles = ["Rows", "dataset", "method", "smaller than in the paper", "planned at full size by"]
    return markdown(titles, list(rows.values()))


def curves() -> str:
    """Validation loss at some times of every training, and the lowest one."""
    rows = []
    for path in sorted(REFERENCE.glob("*/learning_curves/*.csv")):
        dataset, rest = path.stem.split(".", 1)
        variant, _, fold = rest.rpartition(".folds_")
        losses = pd.read_csv(path).set_index("update")["validation_loss"]
        updates = losses.index[-1]
        by_time = [losses[100 * losses.index <= time * updates].iloc[-1] for time in TIMES]
        names = [dataset_title(dataset), method_title("npt", variant), fold, f"{updates:,}"]
        texts = [f"{loss:.4f}" for loss in (*by_time, losses.min())]
        rows.append([*names, *texts, f"{losses.idxmin():,}"])
    titles = ["Dataset", "method", "fold", "updates"]
    titles += [f"after {time} %" for time in TIMES]
    return markdown([*titles, "lowest", "at update"], rows)


def plans() -> str:
    """Studies that plan cells of the paper."""
    cells = Counter(cell.planned for cell in reproduced_cells() if cell.planned)
    rows = [[f"`{title}`", str(count)] for title, count in cells.items()]
    return markdown(["Study", "cells"], rows)


def markdown(titles: list[str], rows: list[list[str]]) -> str:
    """Texts as a Markdown table without padding; columns of numbers are aligned to the right."""
    alignments = ["---:" if text.startswith(NUMERIC_START) else "---" for text in rows[0]]
    return "\n".join(f"| {' | '.join(texts)} |" for texts in (titles, alignments, *rows))


if __name__ == "__main__":
    PATH.write_text(page(), encoding="utf-8")
    print(PATH)
