"""A row of results, one fold of a run or of a probe, computed here or external; and its files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from npt.atomic import write_text
from npt.checksum import json_line, without_checksum
from npt.errors import UserError
from npt.table import Split, Task
from npt.validation import user_error

Status = Literal["ok", "failed", "skipped"]
Amount = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=0)]
Key = tuple[str, int, int]  # run key, seed and fold
LINEAR = "linear"  # the encoder of linear patches
RECORDED_SETTINGS = ("transductive", "encoder", "updates")


class Row(BaseModel):
    """Schema of a row; the order of the fields is that of the columns of a collected study.

    Extra columns are the facts of a probe, and metrics (`validation_<metric>`, `test_<metric>`).
    `collect` computes those again from the saved predictions if they are of another version.
    """

    model_config = ConfigDict(frozen=True, extra="allow", strict=True)

    dataset: str
    task: Task
    method: str
    variant: str
    fold: Count
    seed: Count = 0
    preset: str = ""
    fingerprint: str = ""
    data: str = ""
    splits: str = ""
    transductive: bool = True  # see `recorded_settings`, as of the next two
    encoder: str = LINEAR
    updates: Count | None = None  # of a training, at most
    revision: str = ""
    versions: dict[str, str] | None = None  # of libraries, by name
    machine: str = ""  # its processor, and how many of its cores a job may use
    date: str = ""  # on which the fold was begun, in UTC
    train_rows: Count | None = None
    validation_rows: Count | None = None
    test_rows: Count | None = None
    status: Status
    reason: str = ""
    validation_loss: float | None = None
    chosen: dict[str, Any] | None = None
    grid: Count | None = None
    configurations: Count | None = None
    models: Count | None = None
    failed_configurations: Count | None = None
    fits: Count | None = None
    parameters: Count | None = None
    fit_seconds: Amount | None = None
    predict_seconds: Amount | None = None
    peak_memory_mb: Amount | None = None
    peak_gpu_memory_mb: Amount | None = None
    threads: Count | None = None
    device: str | None = None
    metrics: str = ""  # version of the metrics, `METRICS_VERSION`
    source: str = ""  # csv file of external results; empty for rows computed here

    @property
    def run_key(self) -> str:
        """dataset/method/variant."""
        return f"{self.dataset}/{self.method}/{self.variant}"

    @property
    def key(self) -> Key:
        """Run key, seed and fold, which identify a row in a study."""
        return self.run_key, self.seed, self.fold

    @property
    def facts(self) -> dict[str, Any]:
        """Extra columns: facts of a probe and metrics."""
        return dict(self.model_extra or {})

    def values(self) -> dict[str, Any]:
        """The columns that were set, in the order of the fields, then the extra ones."""
        return self.model_dump(exclude_unset=True)

    def require(self, planned: Mapping[str, Any], where: Path | str) -> None:
        """Raise `UserError` for another value than planned, and for a failure without a reason."""
        for column, value in planned.items():
            recorded = getattr(self, column, None)
            if recorded != value:
                raise UserError(f"{where}: {column}: {recorded}, planned {value}")
        if self.status != "ok" and not self.reason:
            raise UserError(f"{where}: reason: fold {self.fold} is {self.status} without a reason")

    def changed(self, changes: Mapping[str, Any]) -> Row:
        """The same row with other values; unknown names become extra columns."""
        return Row.model_validate({**self.values(), **changes})


def sizes(split: Split) -> dict[str, int]:
    """Columns with the numbers of rows of a fold's parts."""
    return {
        "train_rows": len(split.train),
        "validation_rows": len(split.validation),
        "test_rows": len(split.test),
    }


def recorded_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Columns for settings that tables need to know, where they differ from a row's default."""
    recorded = {}
    for name in RECORDED_SETTINGS:
        default = Row.model_fields[name].default
        value = settings.get(name, default)
        if value != default:
            recorded[name] = value
    return recorded


def remedy(path: Path | str) -> str:
    """Part of an error message about a file of rows, or about the predictions next to it."""
    return f"remove {path} and run again"


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write one JSON object per row, with the columns that were set."""
    write_text(path, "".join(json_line(row.values()) for row in rows))


def read_rows(path: Path) -> list[Row]:
    """Read the rows of a file.

    Raises:
        UserError: a line is damaged or not a row; names the file, the line and the column.
        OSError: the file cannot be read.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise UserError(f"{path}: not UTF-8 text") from None
    return [_row(line, f"{path}:{number}") for number, line in enumerate(lines, 1)]


def _row(line: str, where: str) -> Row:
    try:
        return Row.model_validate_json(without_checksum(line))
    except ValidationError as error:
        raise user_error(error, Row, where) from None
    except ValueError as error:
        raise UserError(f"{where}: {error}") from None
