"""Types of a dataset's declaration."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from npt.table import Image, Task

if TYPE_CHECKING:
    import pandas as pd

PREPARATION = 1
"""Version of the code between the files of a dataset and its prepared table, raised by hand when
tables change."""

Paths = Mapping[str, Path]  # of files, by their names
Frame: TypeAlias = "pd.DataFrame"
Read = Callable[[Paths], "Frame | Iterable[Frame]"]
UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"


@dataclass(frozen=True)
class File:
    """A file of a dataset.

    Attributes:
        name: Name in mirrors and downloads.
        sha256: Digest of the file under `name`; of an archive, as it is served.
        urls: Addresses. One that ends in .gz while `name` does not is decompressed on arrival.
        package: An installed distribution, and the end of the path of the same file inside it.
        size: Bytes of the file under `name`.
        archive: Tar archive that contains the file, instead of `urls`.
        member: Path inside the archive.
    """

    name: str
    sha256: str
    urls: tuple[str, ...] = ()
    package: tuple[str, str] | None = None
    size: int | None = None
    archive: File | None = None
    member: str = ""


@dataclass(frozen=True)
class Reading:
    """One way to read a dataset.

    Attributes:
        files: Files that it reads.
        read: Returns all rows, or parts of them in order, from the paths of the files by name.
    """

    files: tuple[File, ...]
    read: Read


@dataclass(frozen=True)
class SplitRule:
    """How rows become folds.

    Attributes:
        folds: Number of cross-validation folds.
        used: Largest number of folds that `folds: all` runs, from the first.
        validation_share: Fraction of all rows; with `fixed_test_rows`, of the rows before them.
        fixed_test_rows: Number of last rows that are the only test set, instead of folds.
        fixed_validation_rows: Number of rows before these that are the validation set, instead of
            a random draw.
        legacy: Whether folds overlap as in the paper's released code, see `npt/data/splits.py`.
        by_time: Of custom datasets alone: whether the latest rows are tested, one in `folds`, in a
            single fold.
        from_source: Of custom datasets alone: whether the test rows of each fold are those of a
            task of OpenML. `validation_share` is then of the rows that are not tested.
    """

    folds: int = 10
    used: int = 10
    validation_share: float = 0.2
    fixed_test_rows: int = 0
    fixed_validation_rows: int = 0
    legacy: bool = False
    by_time: bool = False
    from_source: bool = False


@dataclass(frozen=True)
class Dataset:
    """A dataset. Its declared facts are checked when it is read, so that a change is an error.

    Attributes:
        name: Identifier; that of its module, of its module with a suffix, or of public.csv.
        title: Name in tables and figures.
        task: Prediction task.
        rows: Number of rows.
        columns: Number of columns, the target included.
        target: Name of the target column.
        categorical: Names of the categorical columns.
        readings: Alternatives that give the same table, the preferred one first.
        licence: Licence of the data.
        split_rule: How rows become folds.
        class_counts: Rows of each class in ascending order, for classification.
        target_sigma: Population standard deviation of the target over all rows, for regression.
        in_paper: Whether it is one of the paper's ten datasets.
        folder: Folder of its files in mirrors and downloads, if that is not its name.
        image: Layout of the features of a dataset of images.
        realisations: Whether it is of many tables, see `npt/processes/realisations.py`.
        groups: Names of columns that are equal in rows that belong together: new rows are of other
            groups. They are features, a single column is not: it names the group.
        tuned_on: Whether defaults of compact or solved NPT were chosen on its rows.
        version: Raised by hand when what `readings` give changes.
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
    in_paper: bool = False
    folder: str = ""
    image: Image | None = None
    realisations: bool = False
    groups: tuple[str, ...] = ()
    tuned_on: bool = False
    version: int = 1

    @property
    def expected_task(self) -> Task:
        """Task that methods must support."""
        return self.task

    @property
    def place(self) -> str:
        """Folder of its files in mirrors and downloads."""
        return self.folder or self.name

    def as_alternative(self, suffix: str, title: str, **changes: Any) -> Dataset:
        """A dataset of the same files that is read in another way than in the paper."""
        changes = {"in_paper": False, "title": title, "folder": self.place, **changes}
        return replace(self, name=f"{self.name}_{suffix}", **changes)

    def with_legacy_splits(self) -> Dataset:
        """The same table with the folds of the paper's released code.

        Its results are comparable with the published ones.
        """
        rule = replace(self.split_rule, legacy=True)
        title = f"{self.title} (legacy splits)"
        return self.as_alternative("legacy", title, split_rule=rule, in_paper=self.in_paper)

    def fingerprint(self) -> str:
        """Sixteen hex digits of all that determines the prepared table."""
        facts = (
            self.name,
            self.task,
            self.rows,
            self.columns,
            self.target,
            self.categorical,
            self.split_rule,
            self.class_counts,
            self.target_sigma,
            self.image,
            [[file.sha256 for file in reading.files] for reading in self.readings],
            PREPARATION,
            self.version,
            *self.groups,
        )
        return hashlib.sha256(repr(facts).encode()).hexdigest()[:16]
