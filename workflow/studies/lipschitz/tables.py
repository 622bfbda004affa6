"""Tightness of the bounds, derivatives without a bound, and inversions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.cells import Cell, count, number, percent, text
from workflow.report.notes import failure_notes
from workflow.report.sections import Section, Table
from workflow.report.statistics import by_model
from workflow.report.titles import dataset_title, method_title
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
    "Attention between datapoints of the first block, with its trained weights and output layer, "
    "without LayerNorm, biases and contraction, at the embeddings of rows. `Found` is the "
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
    failed = models[models["reason"] != ""]
    tidy = curve.assign(reason="")
    if len(failed):
        tidy = pd.concat([tidy, failed], ignore_index=True)
    sections = (
        _section(
            "Tightness of the bound",
            _tightness_cells(curve),
            TIGHTNESS_NOTE,
            *failure_notes(models),
        ),
        _section("Derivatives at (0, t)", _derivative_cells(study), DERIVATIVES_NOTE),
        _section("Trained attention", _trained_cells(study), TRAINED_NOTE),
        _section("Inversion", _inversion_cells(study), INVERSION_NOTE),
    )
    return Table(tidy, sections)


def tightness_rows(study: pd.DataFrame) -> pd.DataFrame:
    """Bound and largest norm by number of positions."""
    frames = [pd.DataFrame(columns=TIGHTNESS)]
    for facts in _facts(study, "tightness"):
        frame = pd.DataFrame(facts)
        frames.append(frame)
    joined = pd.concat(frames[1:] or frames)
    groups = joined.groupby("positions", as_index=False)
    return groups.max()


def inversion_rows(study: pd.DataFrame) -> pd.DataFrame:
    """Largest error over all models and folds, by attention, factor and iteration."""
    frames = [pd.DataFrame(columns=INVERSION)]
    for inversions in _facts(study, "inversions"):
        for facts in inversions["maps"]:
            frame = pd.DataFrame(facts)
            frames.append(frame)
    joined = pd.concat(frames[1:] or frames)
    keys = ["attention", "c", "iteration"]
    largest = joined.groupby(keys, sort=False)["error"].max()
    return largest.reset_index()


def last_errors(errors: pd.DataFrame) -> pd.DataFrame:
    """The error of every inversion after its last iteration."""
    is_last = errors["iteration"] == errors["iteration"].max()
    return errors[is_last]


def _section(title: str, cells: Iterable[dict[str, Cell]], *notes: str) -> Section:
    columns = columns_of(list(cells))
    return Section(title, columns, notes)


def _facts(study: pd.DataFrame, column: str) -> Iterator[Any]:
    if column not in study:
        return
    for facts in study[column].dropna():
        yield json.loads(facts)


def _tightness_cells(curve: pd.DataFrame) -> Iterator[dict[str, Cell]]:
    for row in curve.to_dict("records"):
        share = row["largest"] / row["bound"]
        yield {
            "n": count(row["positions"]),
            "Bound": number(row["bound"], 2),
            "Found": number(row["largest"], 2),
            "Ratio": percent(share),
        }


def _derivative_cells(study: pd.DataFrame) -> Iterator[dict[str, Cell]]:
    """Those of the first model; they are the same of all."""
    facts = next(_facts(study, "derivatives"), {})
    frame = pd.DataFrame(facts)
    for row in frame.to_dict("records"):
        t = row["t"]
        yield {
            "t": count(t),
            "Dot product": number(row["product"], 2),
            "½ + t²/4": number(0.5 + t**2 / 4, 2),
            "L2, norm": number(row["distance_norm"], 2),
        }


def _trained_cells(study: pd.DataFrame) -> Iterator[dict[str, Cell]]:
    for model in by_model(study):
        facts = list(_facts(model.rows, "trained"))
        if not facts:
            continue
        means = pd.DataFrame(facts).mean()
        yield {
            "Dataset": text(dataset_title(model.dataset)),
            "Method": text(method_title(model.method, model.variant)),
            "Rows": count(means["rows"]),
            "Bound": number(means["bound"], 0),
            "Bound, Euclidean": number(means["bound_euclidean"], 0),
            "Bound of eight rows": number(means["bound_of_sample"], 0),
            "Found": number(means["found"], 3),
        }


def _inversion_cells(study: pd.DataFrame) -> Iterator[dict[str, Cell]]:
    errors = inversion_rows(study)
    last = errors["iteration"].max()
    for row in last_errors(errors).to_dict("records"):
        is_same = (errors["attention"] == row["attention"]) & (errors["c"] == row["c"])
        by_iteration = errors[is_same].set_index("iteration")["error"]
        cells = {
            "Attention": text(row["attention"]),
            "c": number(row["c"], 1),
        }
        for iteration in (0, 10, last):
            if iteration in by_iteration.index:
                error = float(by_iteration[iteration])
                cells[f"{iteration} iterations"] = Cell(f"{error:.1e}", error)
        yield cells
