"""A table of the user's own, told by a few words instead of a declaration: how it is read, checked and split."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from npt.data.assembly import encode
from npt.data.declaration import SplitRule
from npt.data.formats import Content, read_file, read_openml
from npt.data.inference import FEW_LEVELS, infer
from npt.data.moments import moments
from npt.data.splits import splits
from npt.interface import UserError, unknown
from npt.table import Column, Split, Table, Task

if TYPE_CHECKING:
    import pandas as pd

Wanted = Literal["regression", "classification", "binary", "multiclass"]
SHOWN_NAMES = 20
SOURCES = ("custom", "formats", "inference", "moments", "splits")
FEW_ROWS = 10


@dataclass(frozen=True)
class CustomDataset:
    """A file or an OpenML dataset with its target, and what is to be done otherwise than by default.

    `path` is a .csv, .tsv (also gzipped), .parquet or .arff file. Numbers and dates are continuous, text and booleans
    categorical, unless named under `categorical` or `continuous`; columns under `drop` are left out, cells in `missing` are
    missing beside the usual ones. `group` names a column whose rows of one value are never parted by a fold, `time` one by
    which the last rows are tested; neither is a feature. `folds` of the rows, or the last `test_rows` as the only test set;
    `validation_share` is a share of all rows with folds, of the rows before the test set without.
    """

    name: str
    target: str
    task: Wanted
    path: str = ""
    openml: int | None = None
    categorical: tuple[str, ...] = ()
    continuous: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    separator: str = ""
    group: str = ""
    time: str = ""
    folds: int = 10
    validation_share: float = 0.2
    test_rows: int = 0

    def __post_init__(self) -> None:
        if bool(self.path) == (self.openml is not None):
            raise UserError("path: give a file, or an OpenML number under `openml`; one of the two")
        if self.folds < 2:
            raise UserError(f"folds: {self.folds} is fewer than two")
        if not 0 < self.validation_share < (1 if self.test_rows else 1 - 1 / self.folds):
            raise UserError(
                f"validation_share: {self.validation_share} leaves no train or no validation rows beside the test rows"
            )
        if self.test_rows < 0:
            raise UserError(f"test_rows: {self.test_rows} is not a number of rows")
        if sum(map(bool, (self.group, self.time, self.test_rows))) > 1:
            raise UserError(
                "group: cannot be combined with `time` or `test_rows`, nor these with each other"
            )
        if self.separator and (
            len(self.separator) > 1 or not self.separator.isascii() or self.separator in '"\n\r'
        ):
            raise UserError(
                f"separator: {self.separator!r} is not a single character such as , or ;"
            )
        if not self.target:
            raise UserError("target: is empty")
        if self.openml is not None and self.openml < 1:
            raise UserError(f"openml: {self.openml} is not a number of a dataset")
        if not self.path.isprintable() or set(self.path) & set("{}"):
            raise UserError(
                f"path: {self.path!r} has a character that no path here may have (braces, line breaks)"
            )
        if self.target in (*self.categorical, *self.continuous):
            raise UserError(
                f"target: {self.target!r} has its kind from the task; take it from `categorical` and `continuous`"
            )

    @property
    def where(self) -> str:
        """What messages call it."""
        return self.path or f"OpenML {self.openml}"

    @property
    def title(self) -> str:
        """The name that readers see."""
        return self.name

    @property
    def in_paper(self) -> bool:
        """Whether it is one of the paper's ten."""
        return False

    @property
    def licence(self) -> str:
        """Whose it is."""
        return "your own" if self.path else "see OpenML"

    @property
    def expected_task(self) -> Task:
        """What methods are asked to support before the table is read, which tells the number of classes."""
        return "multiclass" if self.task == "classification" else self.task

    @property
    def split_rule(self) -> SplitRule:
        """How its rows become folds."""
        single = bool(self.test_rows or self.time)
        return SplitRule(
            self.folds,
            1 if single else self.folds,
            self.validation_share,
            self.test_rows,
            by_time=bool(self.time),
        )

    def fingerprint(self) -> str:
        """Sixteen hex digits that change when the block in the configuration changes; the file's time tells of its content."""
        code = b"".join(Path(__file__).with_name(f"{name}.py").read_bytes() for name in SOURCES)
        return hashlib.sha256(repr(self).encode() + code).hexdigest()[:16]


@dataclass(frozen=True)
class OwnContent:
    """What was read: the table, the groups or times of its rows (N,) if they part them, and lines that describe it."""

    table: Table
    groups: np.ndarray | None
    times: np.ndarray | None
    description: tuple[str, ...]
    sha256: str


def read_custom(own: CustomDataset, downloads: Path) -> OwnContent:
    """Read and check a table.

    Raises:
        UserError: one line that names the file and what is wrong with it.
    """
    try:
        as_text = (
            *own.categorical,
            *filter(None, [own.group]),
            *[own.target] * (own.task != "regression"),
        )
        if own.openml is None:
            content = read_file(own.path, own.separator, own.missing, as_text)
        else:
            content = read_openml(own.openml, downloads)
        _check_names(own, [str(name) for name in content.frame.columns])
        return _content(own, content)
    except UserError as error:
        raise UserError(f"{own.where}: {error}") from None


def folds_of(own: CustomDataset, content: OwnContent) -> dict[int, Split]:
    """The folds of a table, each of which has something to learn, to choose by and to test.

    Raises:
        UserError: there are too few rows, groups, times or known targets.
    """
    try:
        found = {
            split.fold: split
            for split in splits(content.table, own.split_rule, content.groups, content.times)
        }
        for fold, split in found.items():
            for part in ("train", "validation", "test"):
                _check_known(content.table, own, fold, part, getattr(split, part))
    except UserError as error:
        raise UserError(f"{own.where}: {error}") from None
    return found


def _check_known(table: Table, own: CustomDataset, fold: int, part: str, rows: np.ndarray) -> None:
    known = table.truth[rows]
    values = len(np.unique(known[~np.isnan(known)]))
    wanted = 2 if part == "train" else 1
    if values < wanted:
        raise UserError(
            f"target {own.target!r}: the {part} rows of fold {fold} have {values} different known values, {wanted} are "
            "needed; leave out rows without a target, or choose other folds"
        )


def _content(own: CustomDataset, content: Content) -> OwnContent:
    frame = content.frame.drop(columns=list(own.drop))
    groups = _codes(frame.pop(own.group), own.group) if own.group else None
    times = moments(frame.pop(own.time), own.time) if own.time else None
    if "" in frame.columns:
        raise UserError(
            "a column has no name, an index that was saved with the table perhaps; put '' under `drop`, or name it"
        )
    if frame.shape[1] < 2:
        raise UserError(f"has no feature beside the target {own.target!r}")
    regression = own.task == "regression"
    explicit = [
        name
        for name in content.categories
        if name not in own.continuous and not (regression and name == own.target)
    ]
    found = infer(
        frame,
        (*own.categorical, *explicit, *[own.target] * (not regression)),
        (*own.continuous, *[own.target] * regression),
    )
    table = encode(found.frame, found.categorical, own.target, own.name)
    _check_target(table, own)
    _check_copies(table)
    if own.test_rows >= table.rows:
        raise UserError(
            f"test_rows: {own.test_rows} leaves none of the {table.rows} rows for training"
        )
    return OwnContent(table, groups, times, _description(own, table, content), content.sha256)


def _check_names(own: CustomDataset, names: list[str]) -> None:
    """Every column that is named exists, and is named for one purpose."""
    roles: dict[str, str] = {}
    for role, given in {
        "target": (own.target,), "group": (own.group,), "time": (own.time,), "drop": own.drop,
    }.items():  # fmt: skip
        for name in given:
            if name in roles and name:
                raise UserError(f"{role}: {name!r} is the {roles[name]} already")
            roles[name] = role
    kinds = {"categorical": own.categorical, "continuous": own.continuous}
    for role, given in {**kinds, **{role: (name,) for name, role in roles.items() if name}}.items():
        for name in given:
            if name not in names:
                shown = [*names[:SHOWN_NAMES], *(["..."] if len(names) > SHOWN_NAMES else [])]
                near = unknown(name, names).partition("allowed:")[0]
                raise UserError(f"{role}: column {near}it has {', '.join(shown)}")
    if both := sorted(set(own.categorical) & set(own.continuous)):
        raise UserError(f"continuous: {both[0]!r} is under `categorical` already")


def _codes(series: pd.Series, name: str) -> np.ndarray:
    import pandas as pd

    codes, _ = pd.factorize(series)
    if (codes < 0).any():
        raise UserError(
            f"group: {name!r} is missing in {(codes < 0).sum()} rows, first in row {int((codes < 0).argmax()) + 1}"
        )
    return codes


def _check_target(table: Table, own: CustomDataset) -> None:
    column, truth = table.columns[table.target], table.truth
    known = truth[~np.isnan(truth)]
    values, counts = np.unique(known, return_counts=True)
    if not len(values):
        raise UserError(f"target {column.name!r} has no known value")
    if len(values) == 1:
        only = column.levels[int(values[0])] if column.levels else f"{values[0]:g}"
        raise UserError(
            f"target {column.name!r} has a single value, {only}, in all rows that have one; there is nothing to learn"
        )
    if own.task == "regression":
        return
    if len(values) > FEW_LEVELS and len(values) > len(known) / 3:
        raise UserError(
            f"target {column.name!r} has {len(values)} classes in {len(known)} rows; is the task regression?"
        )
    if counts.min() < 2:
        rare = column.levels[int(values[counts.argmin()])]
        raise UserError(
            f"target {column.name!r}: class {rare!r} has one row; two are needed, to train and to test"
        )
    if own.task in ("binary", "multiclass") and table.task != own.task:
        raise UserError(
            f"target {column.name!r} has {len(values)} classes, which is not {own.task}"
        )


def _check_copies(table: Table) -> None:
    """No feature is the target under another name, or its classes under others, in the rows that have both."""
    target, truth = table.columns[table.target], table.truth
    for j, column in enumerate(table.columns):
        numbers = table.numbers(j)
        both = ~np.isnan(numbers) & ~np.isnan(truth)
        if j == table.target or both.sum() < FEW_ROWS:
            continue
        if target.kind == "continuous":
            same = column.kind == "continuous" and np.array_equal(numbers[both], truth[both])
        else:
            pairs = len(np.unique(np.stack([numbers[both], truth[both]]), axis=1).T)
            same = pairs == len(np.unique(numbers[both])) == len(np.unique(truth[both])) > 1
        if same:
            raise UserError(
                f"column {column.name!r} tells the target {target.name!r} in every row; put it under `drop`"
            )


def _description(own: CustomDataset, table: Table, content: Content) -> tuple[str, ...]:
    features = [j for j in range(len(table.columns)) if j != table.target]
    kinds = {
        kind: [table.columns[j] for j in features if table.columns[j].kind == kind]
        for kind in ("continuous", "categorical")
    }
    missing = {
        table.columns[j].name: int(np.isnan(table.numbers(j)).sum())
        for j in range(len(table.columns))
    }
    holes = {name: count for name, count in missing.items() if count}
    target = table.columns[table.target]
    classes = f" ({target.size} classes: {_listed(target.levels)})" if target.levels else ""
    left_out = [*own.drop, *filter(None, (own.group, own.time)), *content.index]
    dates = [name for name in content.dates if name not in left_out]
    lines = [
        f"{own.name}: {table.rows:,} rows, {len(features):,} features, {table.task} of {target.name}{classes}",
        f"continuous: {_listed(column.name for column in kinds['continuous'])}",
        f"categorical: {_listed(_with_levels(column) for column in kinds['categorical'])}",
        f"missing cells: {_listed(f'{name} {count:,}' for name, count in holes.items())}",
    ]
    if dates:
        lines.append(f"dates, as seconds: {_listed(dates)}")
    if left_out:
        lines.append(f"left out: {_listed(left_out)}")
    return tuple(lines)


def _with_levels(column: Column) -> str:
    return f"{column.name} ({column.size})"


def _listed(names: Iterable[Any]) -> str:
    names = [str(name) for name in names]
    more = [f"and {len(names) - SHOWN_NAMES} more"] if len(names) > SHOWN_NAMES else []
    return ", ".join([*names[:SHOWN_NAMES], *more]) or "none"


assert set(get_args(Wanted)) >= set(get_args(Task))
