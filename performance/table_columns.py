"""Columns of the benchmarks' tables, for the terminal and for Markdown documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Row = Mapping[str, Any]
Columns = dict[str, str]
"""Format string over the fields of a row, by column title."""

STEP: Columns = {
    "configuration": "{configuration}",
    "implementation": "{implementation}",
    "step, ms": "{step_ms:.0f}",
    "evaluation, ms": "{evaluation_ms:.0f}",
    "share of the matrix rate": "{share_of_rate:.0%} of {rate_teraflops:.3f} TFLOP/s",
    "peak, MB": "{peak_mb:,.0f}",
    "speed-up of a step": "{step_speedup:.2f} ×",
    "with evaluation": "{training_speedup:.2f} ×",
}
TRAINING: Columns = {
    "implementation": "{implementation}",
    "seconds": "{seconds:.0f}",
    "speed-up": "{speedup:.2f} ×",
    "best validation loss": "{best_validation_loss:.4f}",
    "last": "{last_validation_loss:.4f}",
}
GRID_SEARCH: Columns = {
    "dataset": "{dataset}",
    "method": "{method}",
    "configurations": "{configurations:,}",
    "models fitted": "{fits:,}",
    "shared, s": "{shared_seconds:.2f}",
    "GridSearchCV, s": "{naive_seconds:.1f}",
    "ratio": "{ratio:.1f} ×",
    "largest difference": "{largest_difference:.0e}",
    "winner": "{winner_text}",
}
PROBES: Columns = {
    "table": "{table}",
    "rows × columns": "{rows:,} × {columns}",
    "probe": "{probe}",
    "batched, ms a row": "{batched_ms:,.0f}",
    "plain, ms a row": "{plain_ms:,.0f}",
    "ratio": "{ratio:.2f} ×",
    "batched, MB": "{batched_mb:.0f}",
    "plain, MB": "{plain_mb:.0f}",
}
SOLVED: Columns = {
    "rows": "{rows:,}",
    "system": "{system}",
    "fit, s": "{fit_seconds:.2f}",
    "1,000 predictions, s": "{predict_seconds:.2f}",
    "peak, MB": "{peak_mb:,.0f}",
    "RMSE (noise 1)": "{rmse:.3f}",
}
PRODUCTS: Columns = {
    "configuration": "{configuration}",
    "rows": "{rows:,}",
    "h": "{width:,}",
    "weight": "{product}",
    "GFLOP/s": "{gigaflops:.0f}",
    "square product": "{square_gigaflops:.0f}",
    "ratio": "{ratio:.2f}",
}
MANY_RESULTS: Columns = {
    "results": "{results:,}",
    "files": "{files:,}",
    "step": "{step}",
    "seconds": "{seconds:.1f}",
    "peak, MB": "{peak_mb:,.0f}",
}
ATTENTION: Columns = {
    "head width": "{head_width}",
    "length": "{length}",
    "sequences": "{sequences:,}",
    "fused, ms": "{training_fused_ms:.1f}",
    "explicit / fused": "{training_explicit_ratio:.2f}",
    "without gradients": "{forward_explicit_ratio:.2f}",
    "elementwise / fused": "{training_elementwise_ratio:.2f}",
    "elementwise without gradients": "{forward_elementwise_ratio:.2f}",
}
KERNELS: Columns = {
    "kernel": "{kernel}",
    "rows": "{rows:,}",
    "step, ms": "{step_ms:,.0f}",
    "of dot products": "{ratio:.2f} ×",
}
PROCESSES: Columns = {
    "process": "{process}",
    "weights": "{weights:,}",
    "step, ms": "{step_ms:,.1f}",
    "of NP": "{ratio:.2f} ×",
    "1,000 points, ms": "{few_points_ms:,.0f}",
    "8,000 points, ms": "{many_points_ms:,.0f}",
    "growth": "{growth:.1f} ×",
}
IMAGE_STEPS: Columns = {
    "encoder": "{encoder}",
    "precision": "{precision}",
    "activations": "{layout}",
    "images": "{images}",
    "step, ms": "{step_ms:,.0f}",
    "images a second": "{per_second:,.0f}",
    "share of data": "{data_share:.1%}",
    "speed-up": "{speedup:.2f} ×",
}
IMAGE_BYTES: Columns = {
    "table": "{table}",
    "intensities": "{intensities:,}",
    "bytes an image": "{kept:,.0f}",
    "encoded": "{encoded:,.0f}",
}
SPANS: Columns = {
    "rows": "{rows:,}",
    "sigma": "{sigma}",
    "near": "{near:.1%}",
    "pairs": "{pairs:.1%}",
    "ms": "{milliseconds:,.0f}",
    "speed-up": "{speedup:.2f} ×",
}
STORED_FORMS: Columns = {
    "table": "{table}",
    "Arrow, mapped: MB": "{arrow_disk_mb:.1f}",
    "Arrow, mapped: write, s": "{arrow_write:.2f}",
    "Arrow, mapped: read, s": "{arrow_open:.3f}",
    "Parquet, zstd: MB": "{parquet_disk_mb:.1f}",
    "Parquet, zstd: write, s": "{parquet_write:.2f}",
    "Parquet, zstd: read, s": "{parquet_open:.3f}",
    "compressed .npz: MB": "{npz_disk_mb:.1f}",
    "compressed .npz: write, s": "{npz_write:.2f}",
    "compressed .npz: read, s": "{npz_open:.3f}",
}
PREPARATION: Columns = {
    "table": "{table}",
    "file, MB": "{text_mb:,.0f}",
    "prepared, MB": "{disk_mb:,.1f}",
    "prepare, once": "{prepare_seconds:.1f} s",
    "peak, MB (prepare)": "{prepare_peak_mb:,.0f}",
    "each job": "{job_seconds:.1f} s",
    "peak, MB (job)": "{job_peak_mb:,.0f}",
    "read_csv + scikit-learn, each job": "{plain_seconds:.1f} s",
    "peak, MB (read_csv)": "{plain_peak_mb:,.0f}",
    "idle peak, MB": "{idle_peak_mb:,.0f}",
}
NUMERIC_START = tuple("0123456789−+")


def by_field(fields: Iterable[str], template: str) -> Columns:
    """A column for every field, with the field in place of FIELD in the format string."""
    return {field: template.replace("FIELD", field) for field in fields}


def cells(row: Row, columns: Columns) -> list[str]:
    """A row as text; a field that is missing or None gives a dash."""
    return [_cell(row, template) for template in columns.values()]


def print_titles(columns: Columns) -> None:
    """Print the titles of columns."""
    print(_line(columns, columns), flush=True)


def print_row(row: Row, columns: Columns) -> None:
    """Print a row below its titles."""
    print(_line(cells(row, columns), columns), flush=True)


def _line(texts: Iterable[str], titles: Iterable[str]) -> str:
    """Texts padded to the width of their titles, or to that of the longest names."""
    padded = []
    for text, title in zip(texts, titles, strict=True):
        width = max(18, len(title))
        padded.append(text.ljust(width))
    return " ".join(padded).rstrip()


def markdown(rows: Iterable[Row], columns: Columns) -> str:
    """Rows as a Markdown table; columns whose first cell is a number are right-aligned."""
    texts = [cells(row, columns) for row in rows]
    return markdown_of_cells(list(columns), texts)


def markdown_of_cells(titles: list[str], rows: list[list[str]]) -> str:
    """Texts as a Markdown table."""
    alignments = [_alignment(text) for text in rows[0]]
    lines = [titles, alignments, *rows]
    return "\n".join(f"| {' | '.join(texts)} |" for texts in lines)


def _cell(row: Row, template: str) -> str:
    try:
        return template.format_map(row)
    except (KeyError, TypeError):
        return "–"


def _alignment(text: str) -> str:
    return "---:" if text.startswith(NUMERIC_START) else "---"
