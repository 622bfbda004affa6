"""Collect the rows of a study; a missing result is an unfinished row with the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from baselines import methods
from npt.data.store import Prepared
from npt.interface import UserError
from workflow.planning import paths
from workflow.planning.external_runs import external_runs
from workflow.planning.plan import Plan
from workflow.planning.planned_study import Expected, PlannedStudy
from workflow.results.external import (
    complete_methods,
    read_csv,
    require_metrics,
    require_own_name,
)
from workflow.results.job import data_hashes
from workflow.results.missing import why_unfinished
from workflow.results.predictions import read_predictions
from workflow.results.prepared import PreparedDatasets
from workflow.results.revisions import mixed_revisions
from workflow.results.row import UNFINISHED, Key, Row
from workflow.results.row_file import read_rows
from workflow.results.scores import fold_scores
from workflow.results.selection import best_trials

Content = TypeVar("Content")
PREDICTIONS = ".predictions.npz"
REMEDY = "remove it and run again"


@dataclass(frozen=True)
class Collected:
    """Rows of a study in the configuration's order.

    Attributes:
        problems: Errors in external results, which are left out.
        mixtures: Methods whose rows are of several revisions of the code.
    """

    rows: tuple[Row, ...]
    problems: tuple[str, ...] = ()
    mixtures: tuple[str, ...] = ()

    @property
    def unfinished(self) -> list[Row]:
        """Rows that stand for missing results."""
        return [row for row in self.rows if row.status == UNFINISHED]

    @property
    def begun(self) -> bool:
        """Whether there is any result, if only that of a method that failed."""
        return len(self.unfinished) < len(self.rows)

    def require_complete(self, *, allow_mixed_revisions: bool = False) -> None:
        """Raise `UserError` for missing results, wrong external results and mixed revisions."""
        for row in self.unfinished:
            raise UserError(f"{row.run_key} fold {row.fold}: {row.reason}")
        mixtures = () if allow_mixed_revisions else self.mixtures
        for problem in (*self.problems, *mixtures):
            raise UserError(problem)


@dataclass(frozen=True)
class Source:
    """Where a row of a study comes from.

    Attributes:
        stem: Stem of the run made here; None for external results.
        folder: External results folder; empty for a run made here.
    """

    rows: Path
    predictions: Path
    stem: str | None = None
    folder: str = ""


class Collector:
    """Collects the studies of a plan; each dataset and each file is read once."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.prepared = PreparedDatasets(plan)
        self._rows = _Files(read_rows)
        self._predictions = _Files(read_predictions)

    def collect(self, study: PlannedStudy) -> Collected:
        """Rows of a study: of runs or probes made here, external ones, and unfinished ones."""
        problems: list[str] = []
        external: list[Row] = []
        sources = self._own_sources(study)
        try:
            for key, source in _external_sources(study).items():
                sources.setdefault(key, source)
            external = self._external_methods(study)
        except (UserError, OSError) as error:
            problems.append(str(error))
        pairs = [(expected, self._row(study, expected, sources)) for expected in study.expected]
        rows = [*(row for _, row in pairs), *external]
        selected = [*best_trials(pairs), *external]
        return Collected(tuple(selected), tuple(problems), tuple(mixed_revisions(rows)))

    def _own_sources(self, study: PlannedStudy) -> dict[Key, Source]:
        sources = {}
        for stem, folds in study.runs.items():
            run = self.plan.runs[stem]
            rows = paths.probe_rows(study.name, stem) if study.probes else paths.run_rows(stem)
            source = Source(Path(rows), Path(paths.run_predictions(stem)), stem)
            for fold in folds:
                sources[run.key, run.seed, fold] = source
        return sources

    def _row(self, study: PlannedStudy, expected: Expected, sources: dict[Key, Source]) -> Row:
        """An expected row, unfinished with the reason if there is none."""
        source = sources.get((expected.key, expected.seed, expected.fold))
        if source is None:
            return self._unfinished(expected, "in no file of the external results")
        try:
            prepared = self.prepared.get(expected.dataset)
            row = self._only_row(source, expected)
            _require_planned(row, expected, prepared, source.rows)
            if study.probes:
                _require_query(row, study, prepared, source.rows)
                return row
            return self._scored(row, source, prepared)
        except FileNotFoundError:
            reason = f"{source.rows}: missing"
            if source.stem is not None:
                reason = why_unfinished(source.stem, study.name if study.probes else None)
        except (UserError, OSError) as error:
            reason = str(error)
        return self._unfinished(expected, reason)

    def _only_row(self, source: Source, expected: Expected) -> Row:
        key = (expected.key, expected.seed, expected.fold)
        rows = [row for row in self._rows.read(source.rows) if row.key == key]
        if len(rows) != 1:
            where = f"{source.rows}: {len(rows)} rows of {expected.key} fold {expected.fold}"
            raise UserError(f"{where}; exactly one is allowed; {REMEDY}")
        return rows[0].changed({"source": source.folder}) if source.folder else rows[0]

    def _scored(self, row: Row, source: Source, prepared: Prepared) -> Row:
        """The row with its metrics; external rows may come with metrics instead of predictions."""
        if row.status != "ok":
            return row
        if row.source and not source.predictions.exists():
            require_metrics(row, str(source.rows))
            return row
        try:
            scores = fold_scores(prepared, row.fold, self._predictions.read(source.predictions))
        except UserError as error:
            where = "" if str(error).startswith(str(source.predictions)) else source.predictions
            raise UserError(f"{where}: {error}" if where else str(error)) from None
        return row.changed(scores)

    def _external_methods(self, study: PlannedStudy) -> list[Row]:
        """Rows of methods that are unknown here, on the study's datasets and folds."""
        rows: list[Row] = []
        for name in study.external_results:
            if name.endswith(".csv"):
                lines = read_csv(Path(name), self.prepared.available)
                rows += [line.changed({"source": name}) for line in lines]
            else:
                rows += self._unknown_methods(name, study)
        folds = [(expected.dataset, expected.fold) for expected in study.expected]
        return complete_methods(rows, folds)

    def _unknown_methods(self, folder: str, study: PlannedStudy) -> Iterable[Row]:
        datasets = {expected.dataset for expected in study.expected}
        for (key, _, fold), source in _folder_sources(folder, study).items():
            dataset, method, _ = key.split("/")
            if method in methods() or dataset not in datasets:
                continue
            for row in self._rows.read(source.rows):
                if row.fold != fold or row.run_key != key:
                    continue
                prepared = self.prepared.get(dataset)
                require_own_name(row, str(source.rows))
                _require_data(row, prepared, source.rows)
                yield self._scored(row.changed({"source": folder}), source, prepared)

    def _unfinished(self, expected: Expected, reason: str) -> Row:
        return Row(
            dataset=expected.dataset,
            task=self.prepared.task(expected.dataset),
            method=expected.method,
            variant=expected.variant,
            fold=expected.fold,
            seed=expected.seed,
            preset=self.plan.preset,
            fingerprint=expected.fingerprint,
            status=UNFINISHED,
            reason=reason,
        )


class _Files(Generic[Content]):
    """Contents of files, each read once."""

    def __init__(self, read: Callable[[Path], Content]) -> None:
        self._read = read
        self._contents: dict[Path, Content] = {}

    def read(self, path: Path) -> Content:
        if path not in self._contents:
            self._contents[path] = self._read(path)
        return self._contents[path]


def _external_sources(study: PlannedStudy) -> dict[Key, Source]:
    sources: dict[Key, Source] = {}
    for name in study.external_results:
        if not name.endswith(".csv"):
            sources |= _folder_sources(name, study)
    return sources


def _folder_sources(folder: str, study: PlannedStudy) -> dict[Key, Source]:
    sources = {}
    runs = external_runs([folder], f"studies.{study.name}.external_results")
    for key, files in runs.items():
        for (seed, fold), file in files.items():
            rows = Path(file)
            predictions = rows.with_name(rows.name.removesuffix(paths.ROWS) + PREDICTIONS)
            sources[key, seed, fold] = Source(rows, predictions, folder=folder)
    return sources


def _require_planned(row: Row, expected: Expected, prepared: Prepared, path: Path) -> None:
    """Raise `UserError` for a row of other settings or data, or a failure without a reason."""
    if row.fingerprint != expected.fingerprint:
        made = f"{row.fingerprint}, here {expected.fingerprint}"
        raise UserError(f"{path}: fingerprint: of other settings or data ({made}); {REMEDY}")
    _require_data(row, prepared, path)


def _require_data(row: Row, prepared: Prepared, path: Path) -> None:
    here = {"task": prepared.table.task, **data_hashes(prepared)}
    for column, value in here.items():
        if getattr(row, column) != value:
            made = f"{getattr(row, column)}, here {value}"
            raise UserError(f"{path}: {column}: of another table ({made}); {REMEDY}")
    if row.status != "ok" and not row.reason:
        raise UserError(f"{path}: reason: fold {row.fold} is {row.status} without one")


def _require_query(row: Row, study: PlannedStudy, prepared: Prepared, path: Path) -> None:
    """Raise `UserError` for a row of a probe with other options or another number of rows."""
    if row.status != "ok":
        return
    test_rows = len(prepared.splits[row.fold].test)
    planned = {
        "options": study.options,
        "rows": min(test_rows, study.max_test_rows or test_rows),
    }
    for column, value in planned.items():
        if row.facts.get(column) != value:
            raise UserError(f"{path}: {column}: of an earlier probe; {REMEDY}")
