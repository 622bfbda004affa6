"""Tightness of the bounds, derivatives without a bound, and inversions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.cells import Cell, count, number, percent, text
from workflow.report.notes import failure_notes
from workflow.report.sections import Section, Table
from workflow.report.statistics import MODEL, by_model
from workflow.report.titles import dataset_title, method_titles
from workflow.studies.error_columns import columns_of

TIGHTNESS_NOTE = (
    "L2 attention of n positions on a line, with one head and unit weights. `Bound` is 4 φ⁻¹(n − "
    "1) + 1 with φ(x) = x exp(x + 1), `Found` the largest maximum norm of a Jacobian that "
    "gradient ascent finds, over all restarts and folds. The largest may be larger."
)
DERIVATIVES_NOTE = (
    "At the positions 0 and t: the derivative of the first output of dot-product attention by the"
    " first position, which is ½ + t²/4 and has no bound, and the maximum norm of the Jacobian of"
    " L2 attention."
)
TRAINED_NOTE = (
    "Attention between datapoints of the first block, with its output layer. `Found` is the "
    "largest absolute row sum of the Jacobian over some outputs of one row, at eight rows of the "
    "table, without an ascent. Its bound is that for eight rows; `Bound` and `Bound, Euclidean` "
    "are for the rows of the table."
)
INVERSION_NOTE = (
    "Largest error of x after fixed-point iterations x ← y − c f(x) / L from y = x + c f(x) / L. L "
    "is the bound of L2 attention. Dot products have none and are divided by the same number."
)
TIGHTNESS = ["positions", "bound", "largest"]
INVERSION = ["attention", "c", "iteration", "error"]


def lipschitz(study: pd.DataFrame, scoring: Scoring) -> Table:
    """Sections of tightness, derivatives, trained attention and inversions."""
    curve = tightness_rows(study)
    facts = [model.facts() for model in by_model(study)]
    models = pd.DataFrame(facts)
    notes = (TIGHTNESS_NOTE, *failure_notes(models))
    sections = [
        Section("Tightness of the bound", columns_of(list(_tightness_cells(curve))), notes),
        Section(
            "Derivatives at (0, t)",
            columns_of(list(_derivative_cells(study))),
            (DERIVATIVES_NOTE,),
        ),
        Section("Trained attention", columns_of(list(_trained_cells(study))), (TRAINED_NOTE,)),
        Section("Inversion", columns_of(list(_inversion_cells(study))), (INVERSION_NOTE,)),
    ]
    failed = models[models["reason"] != ""]
    tidy = curve.assign(reason="")
    if len(failed):
        tidy = pd.concat([tidy, failed], ignore_index=True)
    return Table(tidy, tuple(sections))


def tightness_rows(study: pd.DataFrame) -> pd.DataFrame:
    """Bound and largest norm by number of positions."""
    frames = []
    for facts in _facts(study, "tightness"):
        frames.append(pd.DataFrame(facts))
    if not frames:
        return pd.DataFrame(columns=TIGHTNESS)
    joined = pd.concat(frames)
    return joined.groupby("positions", as_index=False).max()


def inversion_rows(study: pd.DataFrame) -> pd.DataFrame:
    """Largest error over all models and folds, by attention, factor and iteration."""
    frames = []
    for inversions in _facts(study, "inversions"):
        for facts in inversions["maps"]:
            frames.append(pd.DataFrame(facts))
    if not frames:
        return pd.DataFrame(columns=INVERSION)
    joined = pd.concat(frames)
    keys = ["attention", "c", "iteration"]
    return joined.groupby(keys, sort=False, as_index=False)["error"].max()


def _facts(study: pd.DataFrame, column: str) -> Iterator[Any]:
    if column in study:
        for facts in study[column].dropna():
            yield json.loads(facts)


def _tightness_cells(curve: pd.DataFrame) -> Iterator[dict[str, Cell]]:
    for row in curve.to_dict("records"):
        yield {
            "n": count(row["positions"]),
            "Bound": number(row["bound"], 2),
            "Found": number(row["largest"], 2),
            "Ratio": percent(row["largest"] / row["bound"]),
        }


def _derivative_cells(study: pd.DataFrame) -> Iterator[dict[str, Cell]]:
    for facts in _facts(study, "derivatives"):
        for row in pd.DataFrame(facts).to_dict("records"):
            yield {
                "t": count(row["t"]),
                "Dot product": number(row["product"], 2),
                "½ + t²/4": number(0.5 + row["t"] ** 2 / 4, 2),
                "L2, norm": number(row["distance_norm"], 2),
            }
        return


def _trained_cells(study: pd.DataFrame) -> Iterator[dict[str, Cell]]:
    if "trained" not in study:
        return
    finished = study[study["trained"].notna()]
    for names, part in finished.groupby(MODEL, sort=False):
        model = pd.DataFrame([dict(zip(MODEL, names, strict=True))])
        facts = pd.DataFrame([json.loads(value) for value in part["trained"]])
        yield {
            "Dataset": text(dataset_title(model["dataset"].iloc[0])),
            "Method": text(method_titles(model)[0]),
            "Rows": count(facts["rows"].max()),
            "Bound": number(facts["bound"].mean(), 0),
            "Bound, Euclidean": number(facts["bound_euclidean"].mean(), 0),
            "Bound of eight rows": number(facts["bound_of_sample"].mean(), 0),
            "Found": number(facts["found"].mean(), 3),
        }


def _inversion_cells(study: pd.DataFrame) -> Iterator[dict[str, Cell]]:
    errors = inversion_rows(study)
    for (attention, c), part in errors.groupby(["attention", "c"], sort=False):  # type: ignore[misc]
        by_iteration = part.set_index("iteration")["error"]
        cells = {"Attention": text(attention), "c": number(float(c), 1)}
        last = by_iteration.index.max()
        for iteration in (0, last // 2, last):
            nearest = min(by_iteration.index, key=lambda known, aim=iteration: abs(known - aim))
            error = float(by_iteration[nearest])
            cells[f"{nearest} iterations"] = Cell(f"{error:.1e}", error)
        yield cells
