"""What a dataset file declares."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from npt.table import Image, Task

if TYPE_CHECKING:
    import pandas as pd

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"


@dataclass(frozen=True)
class Archive:
    """An upstream tar archive, as it is served."""

    name: str
    sha256: str
    urls: tuple[str, ...]


@dataclass(frozen=True)
class File:
    """One upstream file: its name, the sha256 and size in bytes of its (decompressed) content, and where it is served.

    `package` names an installed distribution and the end of the path of the same bytes inside it. A URL that ends in
    `.gz` while `name` does not is decompressed on arrival. One that comes in an `archive` is its `member`.
    """

    name: str
    sha256: str
    urls: tuple[str, ...] = ()
    package: tuple[str, str] | None = None
    size: int | None = None
    archive: Archive | None = None
    member: str = ""

    @property
    def addresses(self) -> tuple[str, ...]:
        """Where it is served, by itself or in its archive."""
        return self.archive.urls if self.archive else self.urls


@dataclass(frozen=True)
class Reading:
    """One way to the table: its files, and `read`, which turns their paths (by file name) into a frame, or frames of rows."""

    files: tuple[File, ...]
    read: Callable[[Mapping[str, Path]], pd.DataFrame | Iterable[pd.DataFrame]]


@dataclass(frozen=True)
class SplitRule:
    """How rows become folds.

    `folds` cross-validation folds, or the last `fixed_test_rows` rows as the only test set; `used` folds are run;
    `validation_share` is a share of all rows with folds, of the rows before the fixed test set without. `legacy` folds are
    those of the paper's released code, which overlap (see `npt/data/splits.py`). `by_time`, the last rows are tested, one
    part in `folds` of all.
    """

    folds: int = 10
    used: int = 10
    validation_share: float = 0.2
    fixed_test_rows: int = 0
    legacy: bool = False
    by_time: bool = False


@dataclass(frozen=True)
class Dataset:
    """A dataset, with facts that are asserted when it is read so that a changed source fails loudly.

    `class_counts` (classification, classes in ascending order) or `target_sigma` (regression, population standard
    deviation over all rows) describe the target. `readings` are alternatives for the same table, best first. `folder` is where
    mirrors and downloads keep the files, if not under the name. The features of an `image` are its intensities.
    """

    name: str
    title: str
    task: Task
    rows: int
    columns: int
    target: str
    categorical: tuple[str, ...]
    readings: tuple[Reading, ...]
    licence: str
    split_rule: SplitRule = SplitRule()
    class_counts: tuple[int, ...] = ()
    target_sigma: float | None = None
    in_paper: bool = True
    folder: str = ""
    image: Image | None = None

    @property
    def expected_task(self) -> Task:
        """What methods are asked to support before the table is read."""
        return self.task

    @property
    def place(self) -> str:
        """The folder of its files in a mirror and among downloads."""
        return self.folder or self.name

    def as_alternative(self, reading: str, title: str, **changes: Any) -> Dataset:
        """The same rows read otherwise than the paper does, under a name of its own."""
        return replace(
            self,
            name=f"{self.name}_{reading}",
            title=title,
            folder=self.place,
            in_paper=False,
            **changes,
        )

    def with_legacy_splits(self) -> Dataset:
        """The same table with the folds of the paper's released code, to set beside the published numbers."""
        rule, title = replace(self.split_rule, legacy=True), f"{self.title} (legacy splits)"
        return replace(
            self, name=f"{self.name}_legacy", title=title, split_rule=rule, folder=self.place
        )

    def fingerprint(self) -> str:
        """Sixteen hex digits that change when anything that determines the prepared table changes."""
        readers = [
            hashlib.sha256(Path(inspect.getfile(r.read)).read_bytes()).hexdigest()
            for r in self.readings
        ]
        facts = (
            self.name, self.task, self.rows, self.columns, self.target, self.categorical, self.split_rule,
            self.class_counts, self.target_sigma, self.image, [[file.sha256 for file in r.files] for r in self.readings],
            readers,
        )  # fmt: skip
        return hashlib.sha256(repr(facts).encode()).hexdigest()[:16]
