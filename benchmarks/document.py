"""The tables of docs/performance.md, from the figures under benchmarks/results."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
DOCUMENT = Path(__file__).parents[1] / "docs" / "performance.md"
Rows = list[dict[str, Any]]


def step(rows: Rows) -> str:
    """Steps and evaluations of every implementation."""
    head = ["configuration", "implementation", "step, ms", "evaluation, ms", "share of the matrix rate", "peak, MB"]
    cells = [
        [row["configuration"], row["implementation"], f"{row['step_ms']:.0f}", f"{row['evaluation_ms']:.0f}",
         f"{row['share_of_rate']:.0%} of {1000 * row['rate_teraflops']:.0f} GFLOP/s", f"{row['peak_mb']:,.0f}",
         f"{row['step_speedup']:.2f} ×", f"{row['training_speedup']:.2f} ×"]
        for row in rows
    ]  # fmt: skip
    return _markdown([*head, "step against reference", "with evaluation"], cells)


def training(rows: Rows) -> str:
    """Whole runs."""
    cells = [
        [row["implementation"], f"{row['seconds']:.0f}", f"{row['speedup']:.2f} ×", f"{row['best_validation_loss']:.4f}",
         f"{row['last_validation_loss']:.4f}"]
        for row in rows
    ]  # fmt: skip
    return _markdown(["implementation", "seconds", "against reference", "best validation loss", "last"], cells)


def memory(rows: Rows) -> str:
    """Memory as the rows grow."""
    kinds = [key for key in rows[0] if key != "rows"]
    cells = [[f"{row['rows']:,}", *("not run" if row[k] is None else f"{row[k]:,.0f}" for k in kinds)] for row in rows]
    return _markdown(["rows", *(f"{kind}, MB" for kind in kinds)], cells)


def shares(rows: Rows) -> str:
    """Where the time of a step goes."""
    kinds = list(rows[0]["shares"])
    cells = [[row["configuration"], row["implementation"], *(f"{row['shares'][k]:.0%}" for k in kinds)] for row in rows]
    return _markdown(["configuration", "implementation", *kinds], cells)


TABLES: dict[str, Callable[[Rows], str]] = {
    "npt_step.cpu": step,
    "npt_training.cpu": training,
    "npt_profile.cpu": shares,
    "npt_memory.cpu": memory,
}


def table(name: str) -> str:
    """One table as Markdown."""
    return TABLES[name](json.loads((RESULTS / f"{name}.json").read_text())["rows"])


def _markdown(head: list[str], cells: list[list[str]]) -> str:
    rule = ["---" if column < 2 and not cells[0][column][:1].isdigit() else "---:" for column in range(len(head))]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, rule, *cells])


def main() -> None:
    """Put the tables into the document, each after the comment that names it and up to the next blank line."""
    text = DOCUMENT.read_text()
    for name in TABLES:
        before, mark, after = text.partition(f"<!-- {name} -->\n\n")
        assert mark, f"{DOCUMENT}: has no place for {name}"
        rest = after.partition("\n\n")[2]
        text = before + mark + table(name) + "\n\n" + rest
    DOCUMENT.write_text(text)


if __name__ == "__main__":
    main()
