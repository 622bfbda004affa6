"""What the probes should find of models whose answer is known, and what they find."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.cells import Cell, text
from workflow.report.notes import failure_notes
from workflow.report.sections import Section, Table
from workflow.report.statistics import ModelRows, by_model, framed, of_model
from workflow.studies.error_columns import model_columns, texts

COLUMNS = ("check", "probe", "expected", "measured", "passes")


ROUNDING = 1e-6


@dataclass(frozen=True)
class Check:
    """Something that is known of a model.

    Attributes:
        known: What is known.
        probe: Study kind whose probe measures it.
        expected: Value that the probe should find, within a rounding error.
    """

    known: str
    probe: str
    expected: float

    def passes(self, measured: float) -> bool:
        """Whether a measured value is the expected one."""
        return abs(measured - self.expected) <= ROUNDING


CHECKS = {
    "control": Check("the identity permutation moves nothing: movement", "corruption", 0),
    "skill": Check("no skill over a constant: skill", "dose response", 0),
    "movement": Check("no other row is read: movement", "corruption", 0),
    "recall": Check("k rows are needed: recall", "deletion", 1),
    "precision": Check("k rows are needed: precision", "deletion", 1),
    "derivative": Check("weights are derivatives: difference", "attention", 0),
}
NOTE = (
    "Movements are the largest of all probed rows, in standard deviations of the train targets. "
    "Precision and recall compare the rows that the greedy search of the deletion keeps, without "
    "any tolerance, with the k nearest rows. Rows with equal targets stand for each other: one of "
    "them can be exchanged for the next neighbour without any change. `Weights` are what the "
    "attention study compares with distances. Their "
    "derivatives are differences of predictions after one stored target has moved. A check "
    "passes within a rounding error of 1e−6 on every fold."
)


def instrument(study: pd.DataFrame, scoring: Scoring) -> Table:
    """A row for each model and check."""
    rows: list[dict[str, Any]] = []
    for model in by_model(study):
        rows += _rows(model, study)
    tidy = framed(rows, COLUMNS)
    columns = {
        **model_columns(tidy),
        "Known": texts(tidy["check"].astype(object).fillna("")),
        "Probe": texts(tidy["probe"].astype(object).fillna("")),
        "Expected": [_value(value) for value in tidy["expected"]],
        "Measured": [_value(value) for value in tidy["measured"]],
        "Verdict": [_verdict(value) for value in tidy["passes"]],
    }
    notes = (NOTE, *failure_notes(tidy))
    section = Section("Probes of models whose answer is known", columns, notes)
    return Table(tidy, (section,))


def _rows(model: ModelRows, study: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """The worst of all folds and seeds for each check."""
    facts = model.facts()
    if model.rows.empty:
        yield facts
        return
    measured: dict[str, list[float]] = {}
    for cell in of_model(study, facts)["checks"]:
        for name, value in json.loads(cell).items():
            measured.setdefault(name, []).append(value)
    for name, values in measured.items():
        check = CHECKS[name]
        differences = np.abs(np.array(values, float) - check.expected)
        worst = values[int(np.argmax(np.nan_to_num(differences, nan=np.inf)))]
        yield {
            **facts,
            "check": check.known,
            "probe": check.probe,
            "expected": check.expected,
            "measured": worst,
            "passes": check.passes(worst),
        }


def _value(value: float) -> Cell:
    if pd.isna(value):
        return text("–")
    shown = f"{value:.3g}"
    if 0 < abs(value) < ROUNDING:
        shown = f"< {ROUNDING:g}"
    return Cell(shown, float(value))


def _verdict(passes: object) -> Cell:
    if passes is True:
        return text("reads true")
    return text("differs" if passes is False else "–")
