"""Run files of other machines or groups, which stand in a study's tables without being made here."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from npt.interface import UserError
from workflow.config.folds import parse_folds
from workflow.planning.paths import RESULTS, ROWS

Model = tuple[str, str, str]  # dataset, method and variant


def run_files(folders: Iterable[str], where: str) -> dict[Model, dict[int, str]]:
    """The file of every fold of every run under `FOLDER/runs/DATASET/METHOD/VARIANT/SEEDS.jsonl`.

    Raises:
        UserError: a folder has no runs, a name is not one of folds, or two files have the same fold of a run.
    """
    found: dict[Model, dict[int, str]] = {}
    for folder in folders:
        if Path(folder).expanduser().resolve() == Path(RESULTS).resolve():
            raise UserError(
                f"{where}: {folder} are the results of this run itself; name those of another"
            )
        paths = sorted(Path(folder).expanduser().glob(f"runs/*/*/*/*{ROWS}"))
        if not paths:
            raise UserError(f"{where}: {folder} has no runs/DATASET/METHOD/VARIANT/SEEDS{ROWS}")
        for path in paths:
            dataset, method, variant = path.parts[-4:-1]
            folds = found.setdefault((dataset, method, variant), {})
            for fold in parse_folds(path.name.removesuffix(ROWS)):
                if fold in folds:
                    raise UserError(
                        f"{where}: fold {fold} of {dataset}/{method}/{variant} is in {folds[fold]} and in {path}"
                    )
                folds[fold] = str(path)
    return found
