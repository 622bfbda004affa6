"""Runs in the results folders of other machines, which are not made here."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from npt.interface import UserError
from workflow.config.folds import parse_folds
from workflow.planning.paths import RESULTS, ROWS

Folds = dict[tuple[int, int], Path]  # by seed and fold
CSV = ".csv"


def external_runs(sources: Iterable[str], where: str) -> dict[str, Folds]:
    """Files of rows by dataset/method/variant; csv files are left out.

    A csv holds methods that are unknown here alone, so that it never replaces a run.

    Raises:
        UserError: A source does not exist, a folder has no runs, a file name is malformed, or
            two files have the same fold of a run.
    """
    runs: dict[str, Folds] = {}
    for source in sources:
        for path in _row_files(source, where):
            dataset, method, variant = path.parts[-5:-2]
            folds = runs.setdefault(f"{dataset}/{method}/{variant}", {})
            for key in _seeds_and_folds(path, where):
                if key in folds:
                    raise UserError(f"{where}: {folds[key]} and {path} have the same fold")
                folds[key] = path
    return runs


def _row_files(source: str, where: str) -> list[Path]:
    path = Path(source).expanduser()
    if not path.exists():
        raise UserError(f"{where}: {source}: no such file or folder")
    if path.suffix == CSV:
        return []
    if path.resolve() == Path(RESULTS).resolve():
        raise UserError(f"{where}: {source}: the results of this run itself")
    files = sorted(path.glob(f"runs/*/*/*/seed_*/folds_*{ROWS}"))
    if not files:
        pattern = f"runs/DATASET/METHOD/VARIANT/seed_0/folds_0{ROWS}"
        raise UserError(f"{where}: {source}: has no {pattern}")
    return files


def _seeds_and_folds(path: Path, where: str) -> list[tuple[int, int]]:
    seed = path.parent.name.removeprefix("seed_")
    folds = path.name.removeprefix("folds_").removesuffix(ROWS)
    try:
        return [(int(seed), fold) for fold in parse_folds(folds)]
    except ValueError:
        raise UserError(f"{where}: {path}: not a file name of a run") from None
