"""External results: rows of methods that are unknown here, and plain csv files of them."""

from __future__ import annotations

import csv
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from baselines import methods
from npt.data.store import Prepared
from npt.interface import UserError, unknown
from npt.metrics import METRICS, Metric
from npt.validation import Strict, validated
from workflow.results.row import Key, Row

NAME = r"^[A-Za-z0-9][A-Za-z0-9_.+ -]{0,63}$"
RESERVED = ("study", "method", "variant", "dataset")  # columns of tables


class CsvLine(Strict, strict=False):
    """Identity of a line of a csv file; the other columns are metrics of the test rows."""

    dataset: str
    method: str = Field(pattern=NAME)
    variant: str = Field("base", pattern=NAME)
    fold: int = Field(ge=0)
    seed: int = Field(0, ge=0)


def read_csv(
    path: Path, prepared: Mapping[str, Prepared], known_datasets: Collection[str]
) -> list[Row]:
    """Rows of a plain csv file: dataset, method, fold, and a column per metric of the test rows.

    Lines of known datasets that are not prepared are left out.

    Raises:
        UserError: names the file, the line and the column.
    """
    rows = []
    for number, cells in _lines(path).items():
        where = f"{path}:{number}"
        names = [name for name in CsvLine.model_fields if cells.get(name)]
        line = validated(CsvLine, {name: cells[name] for name in names}, where)
        scores = _scores(cells, where)
        if line.dataset not in known_datasets:
            raise UserError(f"{where}.dataset: {unknown(line.dataset, known_datasets)}")
        if line.dataset not in prepared:
            continue
        task = prepared[line.dataset].table.task
        identity = {**line.model_dump(), "task": task}
        row = Row.model_validate({**identity, "status": "ok", "reason": "", **scores})
        require_free_name(row, where)
        require_metrics(row, where)
        rows.append(row)
    return rows


def _lines(path: Path) -> dict[int, dict[str, str]]:
    """Cells by line number and column."""
    try:
        with path.expanduser().open(encoding="utf-8-sig", newline="") as stream:
            cells_by_line = dict(_numbered_cells(stream))
    except UnicodeDecodeError:
        raise UserError(f"{path}: not UTF-8 text") from None
    except csv.Error as error:
        raise UserError(f"{path}: not a csv file ({error})") from None
    if len(cells_by_line) < 2:
        raise UserError(f"{path}: has no results")
    header, *others = cells_by_line
    columns = cells_by_line[header]
    for name, count in Counter(columns).items():
        if count > 1:
            raise UserError(f"{path}:{header}.{name}: {count} columns of this name")
    lines = {}
    for number in others:
        cells = cells_by_line[number]
        if len(cells) != len(columns):
            raise UserError(f"{path}:{number}: not as many cells as columns")
        lines[number] = dict(zip(columns, cells, strict=True))
    return lines


def _numbered_cells(stream: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Line number and cells of the lines that are not blank."""
    reader = csv.reader(stream)
    for cells in reader:
        if cells:
            yield reader.line_num, [cell.strip() for cell in cells]


def _scores(cells: Mapping[str, str], where: str) -> dict[str, float]:
    """Metrics of a line; empty cells are left out."""
    scores = {}
    for name, cell in cells.items():
        if name in CsvLine.model_fields:
            continue
        if name not in METRICS:
            raise UserError(f"{where}: {unknown(name, [*CsvLine.model_fields, *METRICS])}")
        if not cell:
            continue
        try:
            scores[f"test_{name}"] = float(cell)
        except ValueError:
            raise UserError(f"{where}.{name}: {cell!r} is not a number") from None
    return scores


def require_free_name(row: Row, where: str) -> None:
    """Raise `UserError` for a method with the name or the title of one of this project."""
    taken = {*RESERVED, *methods()}
    for method in methods().values():
        taken.add(method.title.casefold())
    if row.method.casefold() in taken:
        raise UserError(f"{where}.method: {row.method!r} is taken; choose another name")


def require_metrics(row: Row, where: str) -> None:
    """Raise `UserError` for a finished row without a finite metric, or with one out of range."""
    if row.status != "ok":
        return
    metrics = [metric for metric in METRICS.values() if row.task in metric.tasks]
    finite = False
    for metric in metrics:
        value = row.facts.get(f"test_{metric.name}")
        if value is not None:
            _require_in_range(metric, value, f"{where}.test_{metric.name}")
            finite |= math.isfinite(value)
    if not finite:
        names = ", ".join(f"test_{metric.name}" for metric in metrics)
        raise UserError(f"{where}: fold {row.fold} has none of {names}")


def _require_in_range(metric: Metric, value: Any, where: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UserError(f"{where}: {value!r} is not a number")
    if value < 0 or value > metric.maximum:
        raise UserError(f"{where}: {value!r} is outside 0 to {metric.maximum:g}")


def complete_methods(rows: Iterable[Row], folds: Iterable[tuple[str, int]]) -> list[Row]:
    """The rows of methods that have all datasets and folds of a study.

    Args:
        rows: Rows of methods that are unknown here.
        folds: Dataset and fold of every row that the study needs.

    Raises:
        UserError: a method lacks a dataset or a fold with one of its seeds, or has it twice.
    """
    needed = list(dict.fromkeys(folds))
    rows_by_variant: dict[tuple[str, str], dict[Key, Row]] = defaultdict(dict)
    for row in rows:
        if (row.dataset, row.fold) not in needed:
            continue
        variant_rows = rows_by_variant[row.method, row.variant]
        if row.key in variant_rows:
            raise UserError(f"{row.source}: {row.run_key} has fold {row.fold} twice")
        variant_rows[row.key] = row
    complete: list[Row] = []
    for variant_rows in rows_by_variant.values():
        _require_folds(list(variant_rows.values()), needed)
        complete += variant_rows.values()
    return complete


def _require_folds(rows: list[Row], needed: list[tuple[str, int]]) -> None:
    """Raise `UserError` where a seed of a variant lacks a dataset or a fold."""
    present = {(row.seed, row.dataset, row.fold) for row in rows}
    first = rows[0]
    variant = f"{first.source}: {first.method} ({first.variant})"
    for seed in sorted({row.seed for row in rows}):
        for dataset, fold in needed:
            if (seed, dataset, fold) not in present:
                raise UserError(
                    f"{variant} lacks fold {fold} of {dataset} with seed {seed}; "
                    "external methods need all datasets and folds of a study"
                )
