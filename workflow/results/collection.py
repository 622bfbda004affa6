"""Collect the rows of a study."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from npt.data import store
from npt.errors import UserError
from npt.metrics import METRICS, METRICS_VERSION
from workflow.config.study import Study
from workflow.planning import paths
from workflow.planning.plan import Plan
from workflow.planning.run import Run
from workflow.results.external import external_rows
from workflow.results.predictions import read_predictions
from workflow.results.requirements import planned_data, planned_probe, require
from workflow.results.row import Key, Row
from workflow.results.row_file import read_rows, remedy
from workflow.results.scores import fold_scores

KEPT = 100  # files in memory; the rows of a file follow each other


class Collector:
    """Collects the studies of a plan; each dataset is read once, and a file for all its rows."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._prepared: dict[str, store.Prepared] = {}
        self._rows = lru_cache(KEPT)(_rows_by_key)
        self._predictions = lru_cache(KEPT)(read_predictions)

    def collect(self, study: Study) -> list[Row]:
        """Rows of a study in the configuration's order, then external ones.

        Raises:
            UserError: names the first row that is missing, or of other settings, data or versions.
        """
        for name in study.datasets:
            if name not in self._prepared:
                self._prepared[name] = store.load(Path(paths.prepared(name)))
        rows: list[Row] = []
        for run, fold in self.plan.rows_of(study):
            rows.append(self._row(study, run, fold))
        run_here = {row.key for row in rows}
        folds_of_study = [(row.dataset, row.fold) for row in rows]
        for name in study.external_results:
            for row in external_rows(Path(name), self._prepared, folds_of_study):
                if row.key in run_here:
                    raise UserError(
                        f"{name}: {row.run_key} fold {row.fold} is in the study already; "
                        f"remove {row.method} from its methods, or the other file"
                    )
                run_here.add(row.key)
                rows.append(row)
        return rows

    def _row(self, study: Study, run: Run, fold: int) -> Row:
        is_probed = study.is_probed(run.method, run.variant)
        path = Path(paths.run_rows(run.stem))
        if is_probed:
            path = Path(paths.probe_rows(study.name, run.stem))
        identity = f"{run.key} seed {run.seed} fold {fold}"
        prepared = self._prepared[run.dataset]
        try:
            rows = self._rows(path).get((run.key, run.seed, fold), [])
            if len(rows) != 1:
                raise UserError(f"{path}: {len(rows)} rows of {identity}")
            (row,) = rows
            require(row, {"fingerprint": run.fingerprint, **planned_data(prepared)}, path)
            if is_probed:
                require(row, planned_probe(row, study, prepared), path)
                return row
            if row.status != "ok" or _has_metrics(row):
                return row
            predictions = Path(paths.run_predictions(run.stem))
            scores = fold_scores(prepared, row.fold, self._predictions(predictions))
            return row.changed(scores)
        except FileNotFoundError as error:
            raise UserError(f"{error.filename}: missing; has {identity}") from None
        except UserError as error:
            raise UserError(f"{error}; {remedy(path)}") from None


def _rows_by_key(path: Path) -> dict[Key, list[Row]]:
    rows_by_key: dict[Key, list[Row]] = {}
    for row in read_rows(path):
        rows_by_key.setdefault(row.key, []).append(row)
    return rows_by_key


def _has_metrics(row: Row) -> bool:
    """Whether a row has all metrics of its task, in the version of today."""
    if row.metrics != METRICS_VERSION:
        return False
    facts = row.model_extra or {}
    for metric in METRICS.values():
        if row.task in metric.tasks and f"test_{metric.name}" not in facts:
            return False
    return True
