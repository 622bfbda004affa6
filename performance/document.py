"""The tables of the documents under docs/, from the figures under performance/results and the rows under results/reference."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
MEASURED, REFERENCE = ROOT / "performance" / "results", ROOT / "results" / "reference"
Rows = list[dict[str, Any]]


def step(rows: Rows) -> str:
    """Steps and evaluations of every implementation."""
    head = [
        "configuration",
        "implementation",
        "step, ms",
        "evaluation, ms",
        "share of the matrix rate",
        "peak, MB",
    ]
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
    return _markdown(
        ["implementation", "seconds", "against reference", "best validation loss", "last"], cells
    )


def memory(rows: Rows) -> str:
    """Memory as the rows grow."""
    kinds = [key for key in rows[0] if key != "rows"]
    cells = [
        [f"{row['rows']:,}", *("not run" if row[k] is None else f"{row[k]:,.0f}" for k in kinds)]
        for row in rows
    ]
    return _markdown(["rows", *(f"{kind}, MB" for kind in kinds)], cells)


def shares(rows: Rows) -> str:
    """Where the time of a step goes."""
    kinds = list(rows[0]["shares"])
    cells = [
        [row["configuration"], row["implementation"], *(f"{row['shares'][k]:.0%}" for k in kinds)]
        for row in rows
    ]
    return _markdown(["configuration", "implementation", *kinds], cells)


def search(rows: Rows) -> str:
    """Shared searches beside scikit-learn's."""
    head = [
        "table",
        "method",
        "configurations",
        "models fitted",
        "shared, s",
        "GridSearchCV, s",
        "ratio",
        "largest difference",
    ]
    cells = [
        [
            row["dataset"],
            row["method"],
            f"{row['configurations']:,}",
            f"{row['fits']:,}",
            f"{row['shared_seconds']:.2f}",
            f"{row['naive_seconds']:.1f}",
            f"{row['ratio']:.1f} ×",
            f"{row['largest_difference']:.0e}" if row["largest_difference"] else "0",
            "same"
            if row["same_winner"]
            else f"loss {row['validation_loss']:.6g}, there {row['naive_validation_loss']:.6g}",
        ]
        for row in rows
    ]
    return _markdown([*head, "winner"], cells)


def preparing(rows: Rows) -> str:
    """What a table costs once, and each job after that, beside reading and encoding its text each time."""
    by_way = {(row["table"], row["way"]): row for row in rows}
    cells = []
    for name in dict.fromkeys(row["table"] for row in rows):
        once, job, plain, idle = (
            by_way.get((name, way)) for way in ("prepare", "job", "plain", "idle")
        )
        assert once and idle
        cells.append([
            name, f"{once['text_mb']:,.0f}", f"{once['disk_mb']:,.1f}", *_costs(once),
            *_costs(job), *_costs(plain), f"{idle['peak_mb']:,.0f}",
        ])  # fmt: skip
    head = [
        "table",
        "file, MB",
        "prepared, MB",
        "prepare, once",
        "peak, MB",
        "each job",
        "peak, MB",
    ]
    return _markdown(
        [*head, "read_csv + scikit-learn, each job", "peak, MB", "idle peak, MB"], cells
    )


def _costs(row: dict[str, Any] | None) -> tuple[str, str]:
    """Seconds and peak memory, where they were measured."""
    return (f"{row['seconds']:.1f} s", f"{row['peak_mb']:,.0f}") if row else ("-", "-")


def stored_forms(rows: Rows) -> str:
    """Size and seconds of the forms in which a table could be stored."""
    cells = [
        [row["table"], *(f"{row[f'{form}_{what}']:.{digits}f}" for form in ("arrow", "parquet", "npz")
                         for what, digits in (("disk_mb", 1), ("write", 2), ("open", 3)))]
        for row in rows if row["way"] == "forms"
    ]  # fmt: skip
    titles = ("Arrow, mapped", "Parquet, zstd", "compressed .npz")
    return _markdown(
        [
            "table",
            *(f"{title}: {what}" for title in titles for what in ("MB", "write, s", "read, s")),
        ],
        cells,
    )


def study_table(study: str, kind: str) -> str:
    """A table of a study under results/reference."""
    from npt.metrics import PAPER_METRICS
    from workflow.config.scoring import Scoring
    from workflow.report.tables import TABLES
    from workflow.results.study_file import read_study

    return _sections(
        TABLES[kind](read_study(REFERENCE / f"{study}.csv"), Scoring(PAPER_METRICS)).sections
    )


def paper_ranks() -> str:
    """The paper's Table 1 from its Tables 8, 10 and 11, with its conventions and with shared ranks."""
    from npt.metrics import METRICS, PAPER_METRICS
    from workflow.config.scoring import Scoring
    from workflow.report.published import published, published_study
    from workflow.report.section import TASK_TITLES, plus_minus
    from workflow.report.summary import method_title
    from workflow.report.tables import TABLES

    ranked = [
        TABLES["ranks"](published_study(), Scoring(PAPER_METRICS, how)).tidy
        for how in ("paper", "shared")
    ]
    head, columns = ["method"], []
    for task, metric in PAPER_METRICS.items():
        head += [
            f"{TASK_TITLES[task]} ({METRICS[metric].title}), printed",
            "its conventions",
            "shared ranks",
        ]
        columns.append(
            {
                method: cell["printed"]
                for method, cell in published()["table_1_average_rank"][metric]["rank"].items()
            }
        )
        for tidy in ranked:
            part = tidy[tidy["task"] == task]
            shown = zip(part["method"], part["mean_rank"], part["standard_error"], strict=True)
            columns.append(
                {
                    method: plus_minus(mean, error, 2).replace(" ", "")
                    for method, mean, error in shown
                }
            )
    cells = [
        [method_title(method, "base"), *(column[method] for column in columns)]
        for method in columns[0]
    ]
    return _markdown(head, cells)


def paper_tests() -> str:
    """Friedman's and Nemenyi's tests of the paper's printed results."""
    from npt.metrics import PAPER_METRICS
    from workflow.config.scoring import Scoring
    from workflow.report.published import published_study
    from workflow.report.tables import TABLES

    return _sections(TABLES["rank_tests"](published_study(), Scoring(PAPER_METRICS)).sections)


def probes(rows: Rows) -> str:
    """Probes beside the plain loop."""
    head = [
        "table",
        "rows × columns",
        "probe",
        "batched, ms a row",
        "plain, ms a row",
        "ratio",
        "batched, MB",
        "plain, MB",
    ]
    cells = [
        [row["table"], f"{row['rows']:,} × {row['columns']}", row["probe"],
         f"{row['batched_ms']:,.0f}", f"{row['plain_ms']:,.0f}", f"{row['ratio']:.2f} ×", f"{row['batched_mb']:.0f}",
         f"{row['plain_mb']:.0f}"]
        for row in rows
    ]  # fmt: skip
    return _markdown(head, cells)


MEASUREMENTS: dict[str, Callable[[Rows], str]] = {
    "npt_step.cpu": step,
    "npt_training.cpu": training,
    "npt_profile.cpu": shares,
    "npt_memory.cpu": memory,
    "grid_search.cpu": search,
    "probes.cpu": probes,
    "prepare.cpu": preparing,
    "prepare.cpu forms": stored_forms,
}
PAPER: dict[str, Callable[[], str]] = {"paper ranks": paper_ranks, "paper tests": paper_tests}
DOCUMENTS = {
    "performance.md": ("npt_step.cpu", "npt_training.cpu", "npt_profile.cpu", "npt_memory.cpu"),
    "baselines.md": (
        "grid_search.cpu",
        "baselines/main published",
        "baselines/legacy published",
        "baselines/legacy_mlp published",
        "baselines/main cost",
    ),
    "studies.md": ("probes.cpu",),
    "tables.md": ("paper ranks", "paper tests"),
    "data.md": ("prepare.cpu", "prepare.cpu forms"),
}


def table(name: str) -> str:
    """One table as Markdown: of a measurement, of the paper, or `STUDY TABLE` of a study under results/reference."""
    if name in MEASUREMENTS:
        return MEASUREMENTS[name](
            json.loads((MEASURED / f"{name.partition(' ')[0]}.json").read_text())["rows"]
        )
    if name in PAPER:
        return PAPER[name]()
    study, _, kind = name.partition(" ")
    return study_table(study, kind)


def filled(document: str) -> str:
    """A document with its tables as they are now, each between the comment that names it and the one that ends it."""
    text = (ROOT / "docs" / document).read_text()
    for name in DOCUMENTS[document]:
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        assert text.count(begin) == text.count(end) == 1, (
            f"docs/{document}: has no place for {name}"
        )
        text = (
            text.partition(begin)[0] + f"{begin}\n{table(name)}\n\n" + end + text.partition(end)[2]
        )
    return text


def _sections(sections: Iterable[Any]) -> str:
    return "\n\n".join(
        part for one in sections for part in (f"**{one.title}**", one.markdown(), *one.notes)
    )


def _markdown(head: list[str], cells: list[list[str]]) -> str:
    rule = [
        "---" if column < 2 and not cells[0][column][:1].isdigit() else "---:"
        for column in range(len(head))
    ]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, rule, *cells])


def main() -> None:
    """Write all documents anew."""
    for document in DOCUMENTS:
        (ROOT / "docs" / document).write_text(filled(document))


if __name__ == "__main__":
    main()
