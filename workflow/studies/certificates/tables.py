"""Influence of one row on another's prediction, learned spans, and how tight bounds are."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.cells import Cell, count, metric_decimals, number, percent, scientific, text
from workflow.report.sections import Section, Table
from workflow.report.statistics import MODEL, by_model, framed, standard_error, with_columns
from workflow.report.titles import dataset_title, method_title
from workflow.studies.error_columns import columns_of, model_cells, probe_table
from workflow.studies.errors import error_of

BOUNDS = ["bound_maximum", "bound_euclidean"]
NOTE = (
    "Influence in standard deviations of the train targets, or of the predicted class's "
    "probability. `Certified`: no change of the visible cells of one other row within the ranges "
    "of their columns moves a prediction further; the largest of the folds. It is the product of "
    "the bounds of all blocks in the norm that is named, and exists for tied distances without "
    "LayerNorm alone. It does not cover cells that become hidden or visible, as they may under "
    "corruption. `Largest found`: by gradient ascent over one other row in double precision, which "
    "may stop at a local maximum; the largest of the folds and probed rows. `Corruption`: mean "
    "movement when all other rows are permuted column by column, which is more than one row. It is "
    "computed in single precision, whose rounding is about 1e-7. `Error`: RMSE, or the percentage "
    "of wrong classes, of all test rows."
)
SPAN_NOTE = (
    "Learned sigma of each feature's column in standard deviations, divided by the root of the "
    "number of feature columns, as the mean over blocks and folds: the smaller, the more the column"
    " decides which rows are near. `Near` is the fraction of pairs of rows above the threshold, if "
    "there is one."
)
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


def influence(study: pd.DataFrame, scoring: Scoring) -> Table:
    """A row for each model, and the learned spans below; empty where bounds are measured."""
    means = influences(study)
    if "tightness" in study and means.empty:
        return Table(means, ())
    rows = []
    for model in means.to_dict("records"):
        cells = model_cells(model)
        digits = metric_decimals(model["error"])
        cells["Error"] = number(model["error"], digits, error=model["standard_error"])
        cells["Certified, maximum norm"] = scientific(model["bound_maximum"], 2)
        cells["Certified, Euclidean"] = scientific(model["bound_euclidean"], 2)
        cells["Largest found"] = scientific(model["largest_influence"], 2)
        cells["Corruption"] = scientific(model["corruption"], 2)
        rows.append(cells)
    table = probe_table(study, means, "Influence of one other row", rows, NOTE)
    return Table(table.tidy, (*table.sections, *_span_sections(study)))


def influences(study: pd.DataFrame) -> pd.DataFrame:
    """A row for each model without a failed fold: largest over folds, or means."""
    rows: list[dict[str, Any]] = []
    for model in by_model(study):
        folds = model.rows
        if folds.empty or "largest_influence" not in folds:
            continue
        errors = [error_of(row, model.task, "test_") for row in folds.to_dict("records")]
        largest = folds[BOUNDS].apply(pd.to_numeric).max(skipna=False)  # NaN if a fold has none
        rows.append(
            {
                **model.facts(),
                **{name: float(largest[name]) for name in BOUNDS},
                "bound": largest.min(skipna=False),
                "largest_influence": folds["largest_influence"].max(),
                "corruption": folds["corruption"].mean(),
                "error": pd.Series(errors).mean(),
                "standard_error": standard_error(pd.Series(errors)),
            }
        )
    names = [*BOUNDS, "bound", "largest_influence", "corruption", "error", "standard_error"]
    return framed(rows, [*MODEL, "task", "folds", *names])


def bounds(study: pd.DataFrame, scoring: Scoring) -> Table:
    """Sections of tightness, derivatives, trained attention and inversions, where measured."""
    curve = tightness_rows(study)
    if curve.empty:
        return Table(curve, ())
    tightness = []
    for row in curve.to_dict("records"):
        tightness.append(
            {
                "n": count(row["positions"]),
                "Bound": number(row["bound"], 2),
                "Found": number(row["largest"], 2),
                "Ratio": percent(row["largest"] / row["bound"]),
            }
        )
    derivatives = []
    for row in _facts(study, "derivatives").drop_duplicates("t").to_dict("records"):
        derivatives.append(
            {
                "t": count(row["t"]),
                "Dot product": number(row["product"], 2),
                "½ + t²/4": number(0.5 + row["t"] ** 2 / 4, 2),
                "L2, norm": number(row["distance_norm"], 2),
            }
        )
    table = probe_table(study, curve, "Tightness of the bound", tightness, TIGHTNESS_NOTE)
    return Table(
        table.tidy,
        (
            *table.sections,
            Section("Derivatives at (0, t)", columns_of(derivatives), (DERIVATIVES_NOTE,)),
            Section("Trained attention", columns_of(_trained_cells(study)), (TRAINED_NOTE,)),
            Section("Inversion", columns_of(_inversion_cells(study)), (INVERSION_NOTE,)),
        ),
    )


def tightness_rows(study: pd.DataFrame) -> pd.DataFrame:
    """Bound and largest norm by number of positions; empty where influence is measured."""
    facts = with_columns(_facts(study, "tightness"), TIGHTNESS)
    return facts[TIGHTNESS].groupby("positions", as_index=False).max()


def inversion_rows(study: pd.DataFrame) -> pd.DataFrame:
    """Largest error over all models and folds, by attention, factor and iteration."""
    frames = [pd.DataFrame(columns=INVERSION)]
    for maps in with_columns(_facts(study, "inversions"), ["maps"])["maps"]:
        frames.append(pd.DataFrame(maps))
    joined = pd.concat(frames[1:] or frames)
    return joined.groupby(INVERSION[:-1], sort=False)["error"].max().reset_index()


def _facts(study: pd.DataFrame, column: str) -> pd.DataFrame:
    """Facts of all rows in a column, one below the other."""
    frames = [pd.DataFrame()]
    for facts in study.get(column, pd.Series(dtype=object)).dropna():
        content = json.loads(facts)
        scalars = not isinstance(next(iter(content.values())), list)
        frames.append(pd.DataFrame([content]) if scalars else pd.DataFrame(content))
    return pd.concat(frames[1:] or frames, ignore_index=True)


def _trained_cells(study: pd.DataFrame) -> list[dict[str, Cell]]:
    rows = []
    for model in by_model(study):
        means = _facts(model.rows, "trained").mean()
        if len(means):
            cells = model_cells(model.facts())
            cells["Rows"] = count(means["rows"])
            cells["Bound"] = number(means["bound"], 0)
            cells["Bound, Euclidean"] = number(means["bound_euclidean"], 0)
            cells["Bound of eight rows"] = number(means["bound_of_sample"], 0)
            cells["Found"] = number(means["found"], 3)
            rows.append(cells)
    return rows


def _inversion_cells(study: pd.DataFrame) -> list[dict[str, Cell]]:
    errors = inversion_rows(study)
    rows = []
    for _, part in errors.groupby(["attention", "c"], sort=False):
        by_iteration = part.set_index("iteration")["error"]
        first = part.iloc[0]
        cells = {"Attention": text(first["attention"]), "c": number(first["c"], 1)}
        for iteration in (0, 10, errors["iteration"].max()):
            if iteration in by_iteration.index:
                error = float(by_iteration[iteration])
                cells[f"{iteration} iterations"] = Cell(f"{error:.1e}", error)
        rows.append(cells)
    return rows


def _span_sections(study: pd.DataFrame) -> list[Section]:
    """The sigma of every column, a section for each dataset with models that have a span."""
    if "spans" not in study:
        return []
    sections = []
    with_spans = study[study["spans"].notna()]
    for dataset, models in with_spans.groupby("dataset", sort=False):
        rows = []
        for (method, variant), folds in models.groupby(["method", "variant"], sort=False):
            sigma = pd.concat([_sigma(facts) for facts in folds["spans"]], axis=1).mean(axis=1)
            cells = {"Method": text(method_title(str(method), str(variant)))}
            cells |= {str(column): number(float(value), 2) for column, value in sigma.items()}
            cells["Near"] = percent(folds["near_fraction"].mean())
            rows.append(cells)
        title = f"Learned spans on {dataset_title(str(dataset))}"
        sections.append(Section(title, columns_of(rows), (SPAN_NOTE,)))
    return sections


def _sigma(facts: str) -> pd.Series:
    """Mean over the blocks of every column's sigma, in units of the root of the columns."""
    frame = pd.DataFrame(json.loads(facts)).set_index("column")
    return frame.mean(axis=1) / len(frame) ** 0.5
