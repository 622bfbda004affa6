"""Files that hold the rows of a study."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from workflow.planning import paths
from workflow.planning.external_runs import external_runs, is_collected, is_csv, predictions_of
from workflow.planning.plan import Plan
from workflow.planning.planned_study import PlannedStudy
from workflow.results.row import Key
from workflow.results.row_file import remedy


@dataclass(frozen=True)
class Source:
    """Files of a row.

    Attributes:
        stem: Stem of a run of this plan; None for external results.
        folder: External results folder or csv; empty for a run of this plan.
    """

    rows: Path
    predictions: Path
    stem: str | None = None
    folder: str = ""

    @property
    def is_collected(self) -> bool:
        """Whether the rows are those of a collected study."""
        return self.folder != "" and is_csv(self.folder)

    @property
    def remedy(self) -> str:
        """Part of an error message about the row."""
        if self.folder:
            return f"take {self.rows} out of {self.folder}"
        return remedy(self.rows)


Sources = dict[Key, Source]


def own_sources(plan: Plan, study: PlannedStudy) -> Sources:
    """Files of the runs of a study that are of this plan, or of its probes of them."""
    sources: Sources = {}
    for stem, folds in study.runs.items():
        run = plan.runs[stem]
        rows = paths.run_rows(stem)
        if study.is_probed(run.method, run.variant):
            rows = paths.probe_rows(study.name, stem)
        predictions = paths.run_predictions(stem)
        source = Source(Path(rows), Path(predictions), stem)
        for fold in folds:
            sources[run.key, run.seed, fold] = source
    return sources


def external_sources(study: PlannedStudy) -> Sources:
    """Files of the runs in the external results folders and collected studies of a study.

    Raises:
        UserError: a folder has no runs.
    """
    sources: Sources = {}
    for name in study.external_results:
        if not is_csv(name) or is_collected(name):
            sources |= folder_sources(name, study)
    return sources


def external_folders(study: PlannedStudy) -> list[str]:
    """External results that are folders."""
    return [name for name in study.external_results if not is_csv(name)]


def external_csvs(study: PlannedStudy) -> list[str]:
    """External results that are plain csv files."""
    return [name for name in study.external_results if is_csv(name) and not is_collected(name)]


def folder_sources(folder: str, study: PlannedStudy) -> Sources:
    """Files of the runs in a results folder, or the csv of a collected study."""
    sources: Sources = {}
    runs = external_runs([folder], f"studies.{study.name}.external_results")
    for run_key, files in runs.items():
        for (seed, fold), rows in files.items():
            predictions = predictions_of(rows)
            sources[run_key, seed, fold] = Source(rows, predictions, folder=folder)
    return sources
