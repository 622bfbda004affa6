"""Collect the rows of a study; a missing result is an unfinished row with the reason."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from baselines import methods
from npt.data.datasets import datasets as declared_datasets
from npt.data.store import Prepared
from npt.interface import UserError
from npt.metrics import METRICS, METRICS_VERSION
from workflow.planning.external_runs import is_csv
from workflow.planning.plan import Plan
from workflow.planning.planned_study import Expected, PlannedStudy
from workflow.results.best_trials import Trial, best_trials
from workflow.results.external import (
    complete_methods,
    read_csv,
    require_free_name,
    require_metrics,
)
from workflow.results.missing import why_unfinished
from workflow.results.predictions import read_predictions
from workflow.results.prepared import PreparedDatasets
from workflow.results.requirements import (
    require_data,
    require_probe_version,
    require_query,
    require_settings,
)
from workflow.results.row import UNFINISHED, Key, Row, recorded_settings, sizes
from workflow.results.row_file import read_rows
from workflow.results.scores import fold_scores
from workflow.results.sources import (
    Source,
    Sources,
    external_csvs,
    external_folders,
    external_sources,
    folder_sources,
    own_sources,
)
from workflow.results.study_file import read_collected

KEPT = 100  # files in memory; the rows of a file follow each other
Content = TypeVar("Content")
DatasetFold = tuple[str, int]


@dataclass(frozen=True)
class Collected:
    """Rows of a study in the configuration's order.

    Attributes:
        problems: Errors in external results, which are left out.
    """

    rows: tuple[Row, ...]
    problems: tuple[str, ...] = ()

    @property
    def unfinished(self) -> list[Row]:
        """Rows that represent missing results."""
        return [row for row in self.rows if row.status == UNFINISHED]

    @property
    def begun(self) -> bool:
        """Whether there is any result, if only that of a method that failed."""
        return len(self.unfinished) < len(self.rows)

    def require_complete(self) -> None:
        """Raise `UserError` for missing results and wrong external results."""
        for row in self.unfinished:
            raise UserError(f"{row.run_key} fold {row.fold}: {row.reason}")
        for problem in self.problems:
            raise UserError(problem)


class Collector:
    """Collects the studies of a plan; each dataset is read once, and a file for all its rows."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.prepared = PreparedDatasets(plan)
        self._recorded: dict[str, dict[str, Any]] = {}
        for run in plan.runs.values():
            self._recorded[run.key] = recorded_settings(run.settings)
        self._rows = _Files(_read)
        self._predictions = _Files(read_predictions)

    def collect(self, study: PlannedStudy) -> Collected:
        """Rows of a study: of its runs or probes, external ones, and unfinished ones."""
        problems: list[str] = []
        external: list[Row] = []
        sources = own_sources(self.plan, study)
        try:
            sources = {**external_sources(study), **sources}
            external = self._external_methods(study)
        except (UserError, OSError) as error:
            problems.append(str(error))
        trials = []
        for expected in study.expected:
            row = self._row(study, expected, sources)
            trials.append(Trial(expected, row))
        rows = [*best_trials(trials), *external]
        return Collected(
            rows=tuple(map(self._sized, rows)),
            problems=tuple(problems),
        )

    def _row(self, study: PlannedStudy, expected: Expected, sources: Sources) -> Row:
        """An expected row, unfinished with the reason if there is none."""
        source = sources.get((expected.key, expected.seed, expected.fold))
        if source is None:
            return self._unfinished(expected, "in no file of the external results")
        if expected.dataset in self.prepared.problems:
            return self._unfinished(expected, self.prepared.problems[expected.dataset])
        try:
            return self._finished(study, expected, source)
        except FileNotFoundError:
            reason = f"{source.rows}: missing"
            if source.stem is not None:
                probing_study = (
                    study.name if study.is_probed(expected.method, expected.variant) else None
                )
                reason = why_unfinished(source.stem, probing_study)
        except UserError as error:
            reason = f"{error}; {source.remedy}"
        except OSError as error:
            reason = str(error)
        return self._unfinished(expected, reason)

    def _finished(self, study: PlannedStudy, expected: Expected, source: Source) -> Row:
        prepared = self.prepared.get(expected.dataset)
        row = self._only_row(source, expected)
        if not source.is_collected:  # the settings of those were compared when they were planned
            require_settings(row, expected, source.rows)
        require_data(row, prepared, source.rows)
        if study.is_probed(expected.method, expected.variant):
            require_query(row, study, prepared, source.rows)
            if not source.is_collected:
                require_probe_version(row, study, source.rows)
            return row
        return self._scored(row, source, prepared)

    def _only_row(self, source: Source, expected: Expected) -> Row:
        key = (expected.key, expected.seed, expected.fold)
        rows = self._rows.read(source.rows).get(key, [])
        if len(rows) != 1:
            identity = f"{expected.key} fold {expected.fold}"
            raise UserError(f"{source.rows}: {len(rows)} rows of {identity}")
        row = rows[0]
        if source.folder:
            return row.changed({"source": source.folder})
        return row

    def _scored(self, row: Row, source: Source, prepared: Prepared) -> Row:
        """The row with its metrics, computed again if they are external or of other code.

        External rows may come with metrics instead of predictions.
        """
        if row.status != "ok":
            return row
        has_predictions = source.predictions.exists()
        if has_predictions and not row.source and _has_metrics(row):
            return row
        if row.source and not has_predictions:
            require_metrics(row, str(source.rows))
            return row
        arrays = self._predictions.read(source.predictions)
        try:
            scores = fold_scores(prepared, row.fold, arrays)
        except UserError as error:
            raise UserError(f"{source.predictions}: {error}") from None
        return row.changed(scores)

    def _sized(self, row: Row) -> Row:
        """The row with the sizes of its fold, which external rows may lack."""
        if row.train_rows or row.status == UNFINISHED:
            return row
        split = self.prepared.get(row.dataset).splits[row.fold]
        return row.changed(sizes(split))

    def _external_methods(self, study: PlannedStudy) -> list[Row]:
        """Rows of methods that are unknown here, on the study's prepared datasets and folds."""
        rows: list[Row] = []
        known_datasets = sorted({*declared_datasets(), *self.plan.datasets})
        for name in external_csvs(study):
            for row in read_csv(Path(name), self.prepared.available, known_datasets):
                rows.append(row.changed({"source": name}))
        folds: dict[DatasetFold, None] = {}  # an ordered set
        for expected in study.expected:
            if expected.dataset in self.prepared.available:
                folds[expected.dataset, expected.fold] = None
        for folder in external_folders(study):
            rows += self._unknown_methods(folder, study, folds)
        return complete_methods(rows, folds)

    def _unknown_methods(
        self, folder: str, study: PlannedStudy, folds: Collection[DatasetFold]
    ) -> Iterable[Row]:
        for key, source in folder_sources(folder, study).items():
            run_key, _, fold = key
            dataset, method, _ = run_key.split("/")
            if method in methods() or (dataset, fold) not in folds:
                continue
            try:
                yield from self._rows_of_unknown_method(key, source, self.prepared.get(dataset))
            except UserError as error:
                raise UserError(f"{error}; {source.remedy}") from None

    def _rows_of_unknown_method(
        self, key: Key, source: Source, prepared: Prepared
    ) -> Iterable[Row]:
        for row in self._rows.read(source.rows).get(key, []):
            require_free_name(row, str(source.rows))
            require_data(row, prepared, source.rows)
            external_row = row.changed({"source": source.folder})
            yield self._scored(external_row, source, prepared)

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
            **self._recorded.get(expected.key, {}),
        )


def _has_metrics(row: Row) -> bool:
    """Whether a row has all metrics of its task, in the version of today."""
    if row.metrics != METRICS_VERSION:
        return False
    facts = row.model_extra or {}
    for metric in METRICS.values():
        if row.task in metric.tasks and f"test_{metric.name}" not in facts:
            return False
    return True


def _read(path: Path) -> dict[Key, list[Row]]:
    """Rows of a run, or of a collected study."""
    rows = read_collected(path) if is_csv(str(path)) else read_rows(path)
    by_key: dict[Key, list[Row]] = {}
    for row in rows:
        by_key.setdefault(row.key, []).append(row)
    return by_key


class _Files(Generic[Content]):
    """Contents of the files that were read last."""

    def __init__(self, read: Callable[[Path], Content]) -> None:
        self._read = read
        self._contents: dict[Path, Content] = {}

    def read(self, path: Path) -> Content:
        if path in self._contents:
            content = self._contents.pop(path)
        else:
            content = self._read(path)
        self._contents[path] = content  # the last in order
        if len(self._contents) > KEPT:
            oldest = next(iter(self._contents))
            del self._contents[oldest]
        return content
