"""Which rows a prediction needs (paper section 4.4, Figure B.3)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from workflow.presentation.cells import numbers, p_value, percents
from workflow.presentation.drawing import EQUAL, NPT_COLOR, OTHER_COLOR, facets, legend_below
from workflow.presentation.published import is_protein
from workflow.presentation.sections import Table, View, model_table
from workflow.presentation.statistics import (
    LEVEL,
    MODEL,
    TRAINING,
    by_model,
    facts_of,
    framed,
    of_model,
    signed_rank_p,
)
from workflow.presentation.titles import model_title
from workflow.studies.deletion import DeletionOptions

NOTE = (
    "Rows are proposed one at a time, and deleted if the prediction stays close to that with all "
    "rows (paper Algorithm 2). A dose response deletes them whatever follows. Distance is the mean "
    "squared distance between encoded features. Random rows are as many as were kept. p is of "
    "Wilcoxon's one-sided signed-rank test over the probed rows of all folds that have both sets."
)
PAPER = (
    "The paper on Protein, standard run of 5,567 rows: kept nearer than deleted p ≈ 0 (underflow), "
    "than random p = 8.8e−130. Strict run of 398 rows: p = 5.3e−49 and 8.4e−39, input reduced to "
    "1 % for 79.5 % of the rows, to 10 % for 99.5 %."
)
DISTANCES = ["kept", "deleted", "random"]
MEASURED = [*DISTANCES, "left"]  # of each probed row
OWN_DUPLICATE = "Own duplicate kept"
FAR = 20  # times the median distance, beyond which an axis becomes logarithmic
COLORS = {"deleted": OTHER_COLOR, "random": NPT_COLOR}


def deletion_table(study: pd.DataFrame) -> Table:
    """How far a context can be reduced, and whether the remaining rows are near."""
    probed = probed_rows(study)
    rows = []
    for model in by_model(study):
        rows.append(model.facts())
        part = of_model(probed, model.facts())
        if part.empty:
            continue
        partners = model.rows["partner_kept"].astype(float)
        rows[-1] |= {
            **part[MEASURED].mean(),
            "probed": len(part),
            "reduced": (part["left"] <= 0.1).sum(),
            "p_deleted": signed_rank_p(part["kept"], part["deleted"]),
            "p_random": signed_rank_p(part["kept"], part["random"]),
            "partner_kept": np.average(partners, weights=model.rows["rows"]),
        }
    measures = ["probed", "left", "reduced", "p_deleted", "p_random", "partner_kept"]
    tidy = framed(rows, [*DISTANCES, *measures])
    columns = {
        "Rows": numbers(tidy["probed"], 0),
        "Distance, kept": numbers(tidy["kept"], 2),
        "Distance, random": numbers(tidy["random"], 2),
        "p, kept < random": [p_value(p) for p in tidy["p_random"]],
        "Distance, deleted": numbers(tidy["deleted"], 2),
        "p, kept < deleted": [p_value(p) for p in tidy["p_deleted"]],
        "Context left": percents(tidy["left"], 1),
        "With ≤ 10 % left": numbers(tidy["reduced"], 0),
        OWN_DUPLICATE: percents(tidy["partner_kept"]),
    }
    notes = [NOTE, _constants(DeletionOptions.from_study(study))]
    if any(map(is_protein, tidy["dataset"])):
        notes.append(PAPER)
    title = "Rows that a prediction keeps, and their distances"
    return model_table(tidy, title, columns, notes, [OWN_DUPLICATE])


def probed_rows(study: pd.DataFrame) -> pd.DataFrame:
    """A row for each probed row of every fold: mean distances, and the fraction left.

    Several seeds of a fold probe the same rows; their results are averaged.
    """
    probed = facts_of(study, "distances", MEASURED)
    probed["row"] = probed.groupby(TRAINING, sort=False).cumcount()
    probed = probed.astype(dict.fromkeys(MEASURED, float))
    means = probed.groupby([*MODEL, "fold", "row"], sort=False).mean()
    return means.reset_index()


def _constants(options: DeletionOptions) -> str:
    """The constants of Algorithm 2, and the paper's."""
    return (
        f"A deletion is accepted if it changes the prediction by less than {options.tolerance:g} "
        "(of its size, at least a hundredth of the target's standard deviation; total variation "
        f"distance for classes). The tolerance grows after {options.retries} rejections in "
        "succession (the paper: 50). The search ends at a deletion within the tolerance that "
        f"changes the prediction by {options.limit:g} or more, or below {100 * options.left:g} % "
        "of the rows."
    )


def deletion_figure(study: pd.DataFrame) -> Figure:
    """Other rows were deleted from the context of each probed row as long as its prediction stayed
    the same. A mark is one probed row. Below the diagonal, the rows that the prediction keeps are
    nearer than those that were deleted.
    """
    figure, models = facets(probed_rows(study), MODEL, 10)
    for _, part, axis in models:
        distances = part[DISTANCES].to_numpy()
        ends = [np.nanmin(distances), np.nanmax(distances)]
        median = np.nanmedian(distances)
        if ends[1] > FAR * median > 0:  # a few rows lie far from all others
            axis.set_xscale("symlog", linthresh=median)
            axis.set_yscale("symlog", linthresh=median)
        sns.scatterplot(
            part.melt(["kept"], list(COLORS), "against", "distance"),
            x="distance",
            y="kept",
            hue="against",
            style="against",
            palette=COLORS,
            ax=axis,
        )
        axis.plot(ends, ends, **EQUAL)
        axis.set(
            title=model_title(part.iloc[0]),
            xlabel="mean distance to deleted, or random rows",
            ylabel="mean distance to kept rows",
        )
    legend_below(figure, columns=2)
    return figure


def answer(tidy: pd.DataFrame) -> str:
    """For how many models the rows that predictions keep are near."""
    tested = tidy["p_random"].dropna()
    if tested.empty:
        return ""
    near = (tested < LEVEL).sum()
    return (
        f"The rows that predictions keep are nearer than as many random rows for {near} of "
        f"{len(tested)} tested models, with p below {LEVEL}."
    )


VIEW = View(
    tables={"deletion": deletion_table},
    figures={"deletion": deletion_figure},
    drawn=(),
    columns=("Rows", "Distance, kept", "Distance, random", "p, kept < random", "Context left"),
    answer=answer,
)
