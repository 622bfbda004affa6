"""Ask a trained model a question. A row for each fold, and the predictions."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from baselines import methods
from npt.data import store
from npt.interface import Method, Resources, UserError
from npt.table import Table
from npt.validation import validated
from workflow.config.old_settings import typed_settings
from workflow.planning.revision import PROBE_SOURCES
from workflow.results.collection import read_rows
from workflow.results.rows import Fold, folds, write_predictions, write_rows
from workflow.runtime import gpu_lock
from workflow.runtime.command import execute, run_parser
from workflow.studies import kinds
from workflow.studies.query import ProbeQuery, drawn

NOT_SHOWN = ("versions", "sweep", "doses", "distances", "heads", "maps")


def main() -> None:
    """Command line of the step."""
    options = run_parser(__doc__)
    options.add_argument("--probe", choices=kinds(), required=True)
    options.add_argument(
        "--model",
        type=Path,
        required=True,
        help="weights (.pt), or the rows of a run of one that has none",
    )
    options.add_argument(
        "--options", type=json.loads, default={}, help="scoring of the probe, as JSON"
    )
    options.add_argument(
        "--cap", default="all", help="probe at most so many test rows of a fold, drawn by fold"
    )
    given = options.parse_args()
    method, prepared = methods()[given.method], store.load(given.data)
    given.device = gpu_lock.device(given.device) if method.saves_weights else given.device
    kind = kinds()[given.probe]
    chosen = validated(kind.options, given.options, "--options")
    rows: list[dict[str, Any]] = []
    arrays: dict[str, np.ndarray] = {}
    for fold in folds(given, method, prepared, sources=PROBE_SOURCES):
        row = {**fold.identity, "status": "ok", "reason": "", "options": chosen.model_dump()}
        try:
            learner = _model(
                fold,
                method,
                given.model,
                prepared.table,
                given.settings,
                Resources(given.threads, given.device),
            )
        except NoModel as error:
            rows.append({**row, "status": "failed", "reason": str(error)})
            continue
        test = fold.split.test
        probed = test if given.cap == "all" else drawn(test, int(given.cap), fold.fold)
        started = time.perf_counter()
        query = ProbeQuery(
            learner, prepared.table, fold.split, probed, fold.fold, chosen, given.threads
        )
        found, predictions = kind.probe(query)
        seconds = time.perf_counter() - started
        row |= {
            "rows": len(probed),
            "probe_seconds": round(seconds, 3),
            "seconds_per_row": round(seconds / len(probed), 5),
        }
        row |= {"device": str(getattr(learner, "device", "cpu")), **found}
        arrays |= {f"fold_{fold.fold}_{name}": values for name, values in predictions.items()}
        arrays[f"fold_{fold.fold}_rows"] = probed
        rows.append(row)
        print({key: value for key, value in row.items() if key not in NOT_SHOWN}, flush=True)
    write_predictions(given.predictions, arrays)
    write_rows(given.rows, rows)


class NoModel(Exception):
    """There is nothing to question; the message is the reason."""


def _model(
    fold: Fold,
    method: Method,
    path: Path,
    table: Table,
    settings: dict[str, Any],
    resources: Resources,
) -> Any:
    """The trained model of a fold: with the weights that were kept, or fitted again with the configuration that was chosen."""
    blind = table.blind(fold.split.test)
    if method.saves_weights:
        if path.stat().st_size == 0:
            raise NoModel("there are no weights, as training failed")
        assert method.load is not None
        chosen = typed_settings(method.name, settings, "--settings")
        return method.load(chosen, resources, path, blind, fold.split, fold.fold)
    lines = read_rows([path])
    found = [line for line in lines if line["fold"] == fold.fold]
    if len(found) != 1:
        raise UserError(
            f"{path}: {len(found)} rows of fold {fold.fold}; exactly one is allowed; remove it and run again"
        )
    if found[0]["status"] != "ok":
        raise NoModel(found[0]["reason"])
    own = typed_settings(method.name, settings, "--settings")
    device = found[0].get("device", "cpu")
    assert method.refit is not None
    return method.refit(
        own,
        found[0]["chosen"],
        Resources(resources.threads, device),
        blind,
        fold.split,
        fold.fold,
    )


if __name__ == "__main__":
    execute(main)
