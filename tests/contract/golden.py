"""Predictions of every method and facts of every probe on small tables, for `golden.json`.

`python -m tests.contract.golden` writes the file anew: after a version was raised, that of the
metrics, too, or for a new method or kind. Values that are close to the known ones stay.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from baselines import methods
from baselines.probe import StoredRowProbe
from npt.data.datasets import gp_curves
from npt.data.preparation import prepare_declared
from npt.errors import UserError
from npt.evaluation import evaluate
from npt.interface import Resources
from npt.method import Method
from npt.metrics import METRICS_VERSION
from npt.nn.probe import NPTProbe
from npt.table import Column, Split, Table, Task
from tests.conftest import first_split, make_table
from tests.workflow.studies import test_processes
from tests.workflow.studies.models import small_npt
from workflow.studies import kinds
from workflow.studies.query import ProbeQuery
from workflow.studies.study_kind import StudyKind

FILE = Path(__file__).with_name("golden.json")
TASKS: tuple[Task, ...] = ("regression", "multiclass")
ROWS = 80
PREDICTIONS = 6  # of a method on a table
TOLERANCE = 5e-3  # of a value, or absolute: processors differ in the last digits of a training
NUMBERS = 30  # of a probe
CERTIFIED = {"kernel": "l2_contractive", "layer_norm": "none"}  # changes of the probed NPT
PARTS = {"processes": ("curves", "images")}


def names() -> list[str]:
    """Methods, and kinds that probe, with the part where they have several."""
    probing = [kind.name for kind in kinds().values() if kind.probes]
    parts = [f"probe {name} {part}".rstrip() for name in probing for part in PARTS.get(name, ("",))]
    return [*methods(), *parts]


def golden(name: str) -> dict[str, Any]:
    """Version and values of a method, or of a kind.

    Raises:
        UserError: A library of the method is not installed.
    """
    if name.startswith("probe "):
        _, kind, *part = name.split()
        return {
            "version": f"{kinds()[kind].version}, metrics {METRICS_VERSION}",
            "values": _rounded(_of_kind(kinds()[kind], *part)),
        }
    method = methods()[name]
    method.require_libraries()
    return {"version": method.version, "values": _rounded(_of_method(method))}


def _of_method(method: Method) -> Iterator[float]:
    for task in TASKS:
        if method.refusal(task, realisations=method.realisations) is not None:
            continue
        table, split = _curves() if method.realisations else _table(task)
        settings = method.settings(**method.test_settings)
        learner = method.build(settings, Resources())
        evaluation = evaluate(learner, table, split, seed=1)
        assert evaluation.status == "ok", evaluation.reason
        values = evaluation.predictions["test"].values[:PREDICTIONS]
        yield from values.ravel().tolist()


def _of_kind(kind: StudyKind, part: str = "") -> list[float]:
    is_certified = kind.name == "certificates"
    options = kind.options.model_validate({})
    if part == "curves":
        with tempfile.TemporaryDirectory() as downloads:
            prepared = prepare_declared(gp_curves.DATASET, Path(downloads))
        query = test_processes.curves_query(
            prepared, test_processes.SETTINGS["attentive_neural_process"]
        )
    elif part == "images":
        query = test_processes.images_query(test_processes.OF_IMAGES["attentive_neural_process"])
    elif kind.name == "lookup":
        method = methods()["gaussian_process"]
        learner: Any = method.build(method.settings(**method.test_settings), Resources())
        table, split = _table("regression")
        learner.fit(table.blind(split.test), split, 0)
        query = ProbeQuery(
            StoredRowProbe(learner.trained), table, split, split.test[:4], seed=0, options=options
        )
    else:
        model, table, split = small_npt("regression", **(CERTIFIED if is_certified else {}))
        query = ProbeQuery(NPTProbe(model), table, split, split.test[:4], seed=0, options=options)
    facts, arrays = kind.probe(query)
    numbers = [*_numbers(facts)]
    for values in arrays.values():
        numbers += [float(np.nanmean(values)), float(np.nanmean(np.abs(values)))]
    return numbers[:NUMBERS]


def _numbers(facts: Any) -> Iterator[float]:
    """All numbers in nested facts, in their order."""
    if isinstance(facts, bool | int | float):
        yield float(facts)
    elif isinstance(facts, Mapping):
        for value in facts.values():
            yield from _numbers(value)
    elif isinstance(facts, list | tuple):
        for value in facts:
            yield from _numbers(value)


def _table(task: Task) -> tuple[Table, Split]:
    table = make_table(task, ROWS)
    return table, first_split(table)


def _curves(realisations: int = 12, points: int = 15) -> tuple[Table, Split]:
    """Noisy sines; the last three are held out, of which some points are shown."""
    draws = np.random.default_rng(0)
    number = np.repeat(np.arange(realisations), points)
    kernel = number % 2
    x = draws.uniform(-2, 2, len(number))
    y = np.sin(x + number) + 0.1 * draws.normal(size=len(number))
    columns = [
        Column("realisation", "continuous"),
        Column("kernel", "categorical", ("a", "b")),
        Column("x", "continuous"),
        Column("y", "continuous"),
    ]
    table = Table.from_values(columns, np.stack([number, kernel, x, y], axis=1), 3)
    hidden = np.arange(len(number)) % 3 > 0
    test = np.flatnonzero((number >= realisations - 3) & hidden)
    validation = np.flatnonzero((number == 0) & hidden)
    train = np.setdiff1d(np.arange(len(number)), np.concatenate([test, validation]))
    return table, Split(0, train, validation, test)


def _rounded(values: Iterator[float] | list[float]) -> list[float]:
    return [float(f"{value:.6g}") for value in values]


def close_to(values: list[float]) -> Any:
    """What equals values up to the tolerance."""
    return pytest.approx(values, rel=TOLERANCE, abs=TOLERANCE, nan_ok=True)


def main() -> None:
    """Write the file; values of methods whose library is missing stay as they are."""
    known = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    written = {}
    for name in names():
        before = known.get(name, {"values": []})
        try:
            written[name] = golden(name)
        except UserError:
            written[name] = before
        if written[name]["values"] == close_to(before["values"]):
            written[name]["values"] = before["values"]
    FILE.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
