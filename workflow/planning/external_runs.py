"""Runs of other machines or earlier times, which this run does not repeat.

They are in a results folder, or in the csv of a collected study with the configuration that made
its rows next to it (`config.yaml`). A plain csv holds methods that are unknown here alone, so that
it never replaces a run.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path

from npt.interface import UserError
from workflow.config.folds import parse_folds
from workflow.planning.paths import PREDICTIONS, RESULTS, ROWS, run_key

Folds = dict[tuple[int, int], Path]  # by seed and fold
CSV = ".csv"
CONFIG = "config.yaml"
FINGERPRINT = "fingerprint"  # column of collected rows


def external_runs(sources: Iterable[str], where: str) -> dict[str, Folds]:
    """Files of rows by dataset/method/variant; plain csv files are left out.

    Raises:
        UserError: A source does not exist, a folder has no runs, a file name is malformed, or
            two files have the same fold of a run.
    """
    runs: dict[str, Folds] = {}
    for source in sources:
        if is_collected(source):
            for key, fold in _collected_folds(Path(source)):
                _add(runs, key, fold, Path(source), where)
        for path in _row_files(source, where):
            dataset, method, variant = path.parts[-5:-2]
            for fold in _seeds_and_folds(path, where):
                _add(runs, run_key(dataset, method, variant), fold, path, where)
    return runs


def is_csv(source: str) -> bool:
    """Whether a source is a csv file rather than a results folder."""
    return Path(source).suffix == CSV


def is_collected(source: str) -> bool:
    """Whether a source is the csv of a collected study, whose rows have fingerprints."""
    path = Path(source)
    if not is_csv(source) or not path.is_file():
        return False
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as lines:
        header = next(csv.reader(lines), [])
    return FINGERPRINT in header


def config_of(source: str) -> Path:
    """The configuration that made the rows of a collected study."""
    return Path(source).with_name(CONFIG)


def predictions_of(rows: Path) -> Path:
    """File of predictions of a file of rows."""
    stem = rows.name.removesuffix(ROWS)
    return rows.with_name(stem + PREDICTIONS)


def external_files(sources: Iterable[str], where: str) -> list[Path]:
    """Files that determine the external rows: csv files, rows of runs, and their predictions."""
    files: list[Path] = []
    for source in sources:
        if is_csv(source):
            files.append(_existing(source, where))
            continue
        for rows in _row_files(source, where):
            files.append(rows)
            predictions = predictions_of(rows)
            if predictions.exists():
                files.append(predictions)
    return files


def _collected_folds(path: Path) -> Iterator[tuple[str, tuple[int, int]]]:
    """Run key, seed and fold of the rows of a collected study that are not external themselves."""
    with path.open(encoding="utf-8-sig", newline="") as lines:
        for row in csv.DictReader(lines):
            if not row.get("source"):
                key = run_key(row["dataset"], row["method"], row["variant"])
                yield key, (int(row["seed"]), int(row["fold"]))


def _add(
    runs: dict[str, Folds],
    key: str,
    fold: tuple[int, int],
    path: Path,
    where: str,
) -> None:
    folds = runs.setdefault(key, {})
    if fold in folds:
        raise UserError(f"{where}: {folds[fold]} and {path} have the same fold")
    folds[fold] = path


def _existing(source: str, where: str) -> Path:
    try:
        path = Path(source).expanduser()
        exists = path.exists()
    except (RuntimeError, ValueError) as error:  # no such user, or a NUL character
        raise UserError(f"{where}: {source!r}: {error}") from None
    if not exists:
        raise UserError(f"{where}: {source}: no such file or folder")
    return path


def _row_files(source: str, where: str) -> list[Path]:
    path = _existing(source, where)
    if is_csv(source):
        return []
    if path.resolve() == Path(RESULTS).resolve():
        raise UserError(f"{where}: {source}: is the results folder of this run")
    files = sorted(path.glob(f"runs/*/*/*/seed_*/folds_*{ROWS}"))
    if not files:
        pattern = f"runs/DATASET/METHOD/VARIANT/seed_0/folds_0{ROWS}"
        raise UserError(f"{where}: {source}: has no {pattern}")
    return _without_parts(files, where)


def _without_parts(files: Iterable[Path], where: str) -> list[Path]:
    """Files but those whose folds another one of the same run has, and more.

    A run that was repeated with more folds leaves the file of the fewer.
    """
    folds = {path: set(_seeds_and_folds(path, where)) for path in files}
    kept: list[Path] = []
    for path, its_folds in folds.items():
        others = [folds[other] for other in folds if other.parent == path.parent]
        if not any(its_folds < more for more in others):
            kept.append(path)
    return kept


def _seeds_and_folds(path: Path, where: str) -> list[tuple[int, int]]:
    seed = path.parent.name.removeprefix("seed_")
    folds = path.name.removeprefix("folds_").removesuffix(ROWS)
    try:
        return [(int(seed), fold) for fold in parse_folds(folds)]
    except ValueError:
        raise UserError(f"{where}: {path}: not a file name of a run") from None
