"""What models depend on, and benefit from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from baselines import methods
from npt.table import TASKS
from workflow.config.fields import BASE
from workflow.presentation.cells import Cell, emphasised, followed_by, texts
from workflow.presentation.drawing import (
    EQUAL,
    NPT_COLOR,
    OTHER_COLOR,
    facets,
    legend_below,
    logarithmic,
)
from workflow.presentation.ranks import FEWEST_DIFFERENCES
from workflow.presentation.sections import (
    Section,
    Table,
    View,
    failure_notes,
    model_columns,
    with_notes,
)
from workflow.presentation.statistics import (
    LEVEL,
    MODEL,
    ModelRows,
    by_model,
    complete,
    fold_means,
    fold_test,
    fraction_tested,
    standard_error,
)
from workflow.presentation.titles import dataset_title, method_title
from workflow.studies.benefit import PERMUTED, sources_of
from workflow.studies.errors import (
    effect,
    effect_cell,
    effects_answer,
    effects_over_datasets,
    factor_label,
    losses,
)

EFFECTS = {"depends": "Depends", "benefits": "Benefits"}
NOTE = (
    "`Depends` is the effect of permuting the source on the trained model, on the probed test "
    "rows. `Benefits` is that of training a twin without the source, on all test rows of the same "
    "folds. A method that predicts from other rows alone has no twin without them, which would be "
    "a constant."
)
FOLD_NOTES = (
    "Of RMSE an effect is the geometric mean over folds of the ratio, of classes the mean increase "
    "of the NLL in nats per row. Then come the folds that are worse without the source.",
    "Bold: differs from zero at the 5 % level by the corrected resampled t-test (Nadeau and Bengio "
    "2003), without a correction for the number of tests. What it does not detect is not excluded.",
)
SELF_TWIN = "the model is without this source, so that its twin would be itself"
KINDS = {
    "depends": ("depends: permuted", OTHER_COLOR, "o"),
    "benefits": ("benefits: trained without", NPT_COLOR, "D"),
}


def benefit_table(study: pd.DataFrame) -> Table:
    """A row for each base model and source of information, a section for each loss."""
    tidy = effects(study)
    title = "What it costs to be without a source, over all datasets"
    sections = effects_over_datasets(tidy, title, EFFECTS, {"source": "Source"})
    for is_regression, part in tidy.groupby(tidy["task"] == "regression"):
        columns = {
            **model_columns(part),
            "Source": texts(part["source"]),
            "Depends": _effects(part, "depends"),
            "Benefits": _effects(part, "benefits"),
        }
        measure = "RMSE" if is_regression else "NLL"
        title = f"Test {measure}: what it costs to be without each source of information"
        sections.append(Section(title, columns, (*FOLD_NOTES, *_reasons(part))))
    return Table(tidy, with_notes(sections, NOTE))


def effects(study: pd.DataFrame) -> pd.DataFrame:
    """What each base model depends on and benefits from, tested over folds."""
    folds = fold_means(study)
    states = ["test", "clean", *(selection.name for selection in PERMUTED)]
    folds = folds.assign(**{f"{name}_loss": losses(folds, f"{name}_") for name in states})
    models = sorted(by_model(folds), key=lambda model: TASKS.index(model.task))
    by_key = {(model.dataset, model.method, model.variant): model for model in models}
    rows: list[dict[str, Any]] = []
    for model in models:
        if model.variant == BASE:
            rows += _rows_of(model, by_key)
    return pd.DataFrame(rows)


def _rows_of(
    model: ModelRows, models: Mapping[tuple[str, str, str], ModelRows]
) -> Iterator[dict[str, Any]]:
    """A row for each source of information."""
    method = methods().get(model.method)
    twins = method.twins if method else {}
    base = model.rows.set_index("fold")
    fraction = fraction_tested(base)
    for source in sources_of(twins):
        row = {**model.facts(), "source": source.title}
        row["twin"] = source.twin if source.twin in twins else ""
        twin = models.get((model.dataset, model.method, source.twin))
        row["missing_twin"] = ""
        if row["twin"]:
            row["missing_twin"] = twin.reason if twin else SELF_TWIN
        depends = benefits = pd.Series(dtype=float)
        if source.permuted is not None:
            depends = effect(base["clean_loss"], base[f"{source.permuted.name}_loss"])
        if twin and not twin.reason:
            after = twin.rows.set_index("fold")["test_loss"]
            benefits = effect(base["test_loss"], after.reindex(base.index))
        for name, values in zip(EFFECTS, (depends, benefits), strict=True):
            known = complete(values)
            row[name] = known.mean()
            row[f"{name}_error"] = standard_error(known)
            row[f"{name}_worse"] = (known > 0).sum()
            row[f"{name}_p_value"], _ = fold_test(known, fraction)
        yield row


def _effects(part: pd.DataFrame, name: str) -> list[Cell]:
    """Effects and the number of worse folds, bold where the mean differs from zero."""
    cells = []
    for row in part.to_dict("records"):
        cell = effect_cell(row[name], row["task"])
        cell = followed_by(cell, f" ({row[f'{name}_worse']} of {row['folds']})")
        cells.append(emphasised(cell, row[f"{name}_p_value"] < LEVEL))
    return cells


def _reasons(part: pd.DataFrame) -> tuple[str, ...]:
    """Reasons of missing bases, then of missing twins."""
    bases = part.drop_duplicates(MODEL)
    complete = part[part["reason"] == ""]
    twins = complete.assign(variant=complete["twin"], reason=complete["missing_twin"])
    return failure_notes(pd.concat([bases, twins]))


def benefit_figure(study: pd.DataFrame) -> Figure:
    """Factor by which the test RMSE grows without a source of information, or by which the
    probability of the true class falls (the exponential of the increase of the NLL): when the
    source is permuted for the trained model (depends), and when a twin is trained without it
    (benefits). Right of 1 is worse without. Marks are geometric means over folds, bars standard
    errors; of six datasets and more, each is a small mark, and means and errors are over them. A
    mark near 1 shows no effect on these data, which is not proof that there is none.
    """
    sources = effects(study)
    sources = sources[sources["twin"] != ""]
    are_many = sources["dataset"].nunique() >= FEWEST_DIFFERENCES
    measures = sources["task"].map(factor_label)
    titles = sources["source"] + (", " + measures if are_many else "")
    if not are_many:
        titles = sources["dataset"].map(dataset_title) + ": " + titles
    sources = sources.assign(title=titles, measure=measures)
    lines = sources.groupby("method")["title"].nunique()
    figure, methods = facets(sources, "method", 2 + max(lines, default=0))
    for method, part, axis in methods:
        for name, (kind, color, marker) in KINDS.items():
            by_title = part.groupby("title", sort=False)
            errors = by_title[f"{name}_error"].mean()  # of one dataset
            if are_many:
                axis.plot(np.exp(part[name]), part["title"], ".", color=color, alpha=0.3)
                errors = by_title[name].agg(standard_error)
            means = by_title[name].mean()
            factor, error = np.exp(means), np.exp(errors.fillna(0))
            ends = [factor - factor / error, factor * error - factor]
            axis.errorbar(factor, means.index, xerr=ends, fmt=marker, color=color, label=kind)
        axis.set_ylim(part["title"].nunique() - 0.4, -0.6)
        axis.axvline(1, **EQUAL)
        logarithmic(axis.xaxis)
        axis.margins(x=0.1)
        axis.set(
            title=method_title(method, part["variant"].iloc[0]),
            xlabel=f"{' or '.join(part['measure'].unique())}\n(right is worse without)",
            ylabel="",
        )
        axis.grid(axis="y", visible=False)
    legend_below(figure, columns=2)
    return figure


def answer(tidy: pd.DataFrame) -> str:
    """What training without other rows costs."""
    without_rows = tidy[tidy["source"] == "other rows"]
    return effects_answer(without_rows, "Retraining without other rows", "benefits")


VIEW = View(
    tables={"benefit": benefit_table},
    figures={"benefit": benefit_figure},
    answer=answer,
)
