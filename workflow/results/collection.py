"""Collect the rows of a study."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from baselines import methods
from npt.data import store
from npt.errors import UserError
from npt.metrics import METRICS_VERSION
from workflow.config.models import Study
from workflow.config.scoring import Scoring
from workflow.planning import paths
from workflow.planning.plan import Plan
from workflow.planning.run import Run
from workflow.results.external import external_rows
from workflow.results.job import planned_rows
from workflow.results.predictions import fold_scores, read_predictions
from workflow.results.row import Row, remedy


def collect(study: Study, plan: Plan) -> list[Row]:
    """Rows of a study in the configuration's order, then external ones.

    Raises:
        UserError: names the first row that is missing, or of other settings, data or versions.
    """
    prepared = {name: plan.prepared(name) for name in study.datasets}
    rows = []
    for run in plan.runs_of(study):
        rows += _rows_of_run(run, study, prepared[run.dataset])
    keys = {row.key for row in rows}
    folds_of_study = [(row.dataset, row.fold) for row in rows]
    for name in study.external_results:
        external = external_rows(Path(name), prepared, folds_of_study)
        _require_ranked_metrics(external, plan.scoring, name)
        for row in external:
            if row.key in keys:
                raise UserError(
                    f"{name}: {row.run_key} fold {row.fold} is in the study already; "
                    f"remove {row.method} from its methods, or the other file"
                )
            keys.add(row.key)
            rows.append(row)
    return rows


def _require_ranked_metrics(rows: list[Row], scoring: Scoring, name: str) -> None:
    """Refuse a file without the metric of a task, which would rank all of its methods last."""
    for task, metric in scoring.metrics.items():
        results = [row for row in rows if row.task == task and row.status == "ok"]
        if results and not any(f"test_{metric}" in row.facts for row in results):
            raise UserError(f"{name}: has no {metric}, by which metrics.{task} ranks")


def _rows_of_run(run: Run, study: Study, prepared: store.Prepared) -> list[Row]:
    """Rows of the folds that a study uses of a run, with all metrics."""
    is_probed = study.is_probed(run.method, run.variant)
    path = made = paths.run_rows(run.stem)
    if is_probed:
        path = paths.probe_rows(study.name, run.stem)
        made = path.parent  # the probes of a run are made together
    folds = study.runs[run.stem]
    read_arrays = cache(read_predictions)
    rows = []
    try:
        for row in planned_rows(run, folds, prepared, path):
            if is_probed:
                row.require(planned_probe(row, study, prepared), path)
            elif row.status == "ok" and row.metrics != METRICS_VERSION:
                arrays = read_arrays(paths.run_predictions(run.stem))
                row = row.changed(fold_scores(prepared, row.fold, arrays))
            rows.append(row)
    except FileNotFoundError:
        how = remedy(made) if is_probed else "run again"
        identity = f"{run.key} seed {run.seed} fold {folds[0]}"
        raise UserError(f"{path}: missing; has {identity}; {how}") from None
    except UserError as error:
        raise UserError(f"{error}; {remedy(made)}") from None
    return rows


def planned_probe(row: Row, study: Study, prepared: store.Prepared) -> dict[str, Any]:
    """Columns of a row of a probe: its version, and its query if it gave a result."""
    version = f"{methods()[row.method].version}.{study.declaration.version}"
    if row.status != "ok":
        return {"revision": version}
    rows = len(prepared.splits[row.fold].test)
    if study.max_test_rows is not None:
        rows = min(rows, study.max_test_rows)
    return {"revision": version, "options": study.options, "rows": rows}
