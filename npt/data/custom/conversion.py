"""Read, check and split a custom dataset."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from npt.data.assembly import encode
from npt.data.custom.checks import (
    check_copies,
    check_known_targets,
    check_roles,
    check_target,
)
from npt.data.custom.dataset import CustomDataset
from npt.data.custom.delimited import Form
from npt.data.custom.description import described
from npt.data.custom.doubts import doubts
from npt.data.custom.formats import Content, read_file, read_openml
from npt.data.custom.inference import infer
from npt.data.custom.times import are_dates, feature_seconds, seconds
from npt.data.splits import splits
from npt.interface import UserError
from npt.table import Split, Table

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class CustomTable:
    """A custom dataset that was read.

    Attributes:
        table: Features and target.
        groups: Group of every row (N,), where a column declares them.
        times: Time of every row (N,), where a column declares them.
        description: Lines that describe how the columns were read.
        sha256: Digest of the file.
    """

    table: Table
    groups: np.ndarray | None
    times: np.ndarray | None
    description: tuple[str, ...]
    sha256: str


def read_custom(dataset: CustomDataset, downloads: Path) -> CustomTable:
    """Read and check a custom dataset.

    Raises:
        UserError: The file, and what is wrong with it.
    """
    with _errors_at(dataset):
        content = _read(dataset, downloads)
        check_roles(dataset, list(content.frame.columns))
        return _custom_table(dataset, content)


def folds_of(dataset: CustomDataset, custom: CustomTable) -> dict[int, Split]:
    """Folds with known targets in each part.

    Raises:
        UserError: There are too few rows, groups, times or known targets.
    """
    with _errors_at(dataset):
        folds = splits(custom.table, dataset.split_rule, custom.groups, custom.times)
        for split in folds:
            check_known_targets(custom.table, split)
    return {split.fold: split for split in folds}


@contextmanager
def _errors_at(dataset: CustomDataset) -> Generator[None]:
    """Errors inside the block name the file."""
    try:
        yield
    except UserError as error:
        raise UserError(f"{dataset.location}: {error}") from None


def _read(dataset: CustomDataset, downloads: Path) -> Content:
    as_text = set(dataset.categorical)
    if dataset.group:
        as_text.add(dataset.group)
    if dataset.task != "regression":
        as_text.add(dataset.target)
    if dataset.openml is not None:
        return read_openml(dataset.openml, downloads, missing=dataset.missing, as_text=as_text)
    form = Form(
        separator=dataset.separator,
        decimal=dataset.decimal,
        names=dataset.names,
        missing=dataset.missing,
        as_text=as_text,
    )
    return read_file(dataset.path, form)


def _custom_table(dataset: CustomDataset, content: Content) -> CustomTable:
    frame = content.frame.drop(columns=list(dataset.drop))
    groups = times = None
    if dataset.group:
        groups = _groups(frame.pop(dataset.group), dataset.group)
    if dataset.time:
        times = seconds(frame.pop(dataset.time), dataset.time)
    if "" in frame.columns:
        raise UserError("column '' has no name; put '' under `drop` (a saved index?), or name it")
    if frame.shape[1] < 2:
        raise UserError(f"has no feature, only the target {dataset.target!r}")
    frame, written_dates = _with_dates(dataset, content, frame)
    content = replace(content, dates=(*content.dates, *written_dates))
    table = _encoded(dataset, content, frame)
    check_target(table, dataset.task)
    check_copies(table)
    if dataset.test_rows >= table.rows:
        raise UserError(f"test_rows: {dataset.test_rows} leaves none of the {table.rows} rows")
    description = (*described(dataset, table, content), *doubts(table, content))
    return CustomTable(table, groups, times, description, content.sha256)


def _with_dates(
    dataset: CustomDataset, content: Content, frame: pd.DataFrame
) -> tuple[pd.DataFrame, list[str]]:
    """The frame with features of written dates as seconds, and their names."""
    names = []
    for name in frame.columns:
        is_declared = name in (*dataset.categorical, *content.categories, dataset.target)
        if not is_declared and frame[name].dtype.kind == "O" and are_dates(frame[name]):
            names.append(name)
    columns = {name: feature_seconds(frame[name], name) for name in names}
    return frame.assign(**columns), names


def _encoded(dataset: CustomDataset, content: Content, frame: pd.DataFrame) -> Table:
    categorical = {*content.categories, *dataset.categorical} - set(dataset.continuous)
    continuous = set(dataset.continuous)
    if dataset.task == "regression":
        categorical.discard(dataset.target)
        continuous.add(dataset.target)
    else:
        categorical.add(dataset.target)
    inferred = infer(frame, categorical, continuous)
    return encode(inferred.frame, inferred.categorical, dataset.target, dataset.name)


def _groups(series: pd.Series, name: str) -> np.ndarray:
    import pandas as pd

    codes, _ = pd.factorize(series)
    missing = codes < 0
    if missing.any():
        first = missing.argmax() + 1
        raise UserError(f"group: {name!r} is missing in {missing.sum()} rows, first in row {first}")
    return codes
