"""Lookup models, other methods and the paper's (Table 3), and the intervention (Figure 3)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from baselines import methods
from workflow.presentation.cells import numbers, texts, with_errors
from workflow.presentation.drawing import EQUAL, NPT_COLOR, panels
from workflow.presentation.published import (
    DIFFERENCE,
    difference_cells,
    in_standard_errors,
    is_protein,
    published,
)
from workflow.presentation.sections import Table, View, model_table
from workflow.presentation.statistics import (
    by_model,
    first_facts,
    framed,
    standard_error,
    with_columns,
)
from workflow.presentation.titles import model_title

PAPER = {  # columns, and names in Table 3
    "Paper, NPT": "npt",
    "Paper, 1-NN": "one_nn",
    "Paper, k-NN": "knn",
    "Paper, DKL": "dkl",
}
MEASURES = {  # columns, and means over folds with their decimals
    "r": ("correlation", 4),
    "Alone": ("alone_rmse", 2),
    "1-NN": ("nearest_rmse", 2),
    "k-NN": ("neighbours_rmse", 2),
    "Constant": ("constant_rmse", 2),
    "Slope": ("intervention_slope", 3),
    "Others": ("intervention_others", 2),
}
NOTE = (
    "Every row of a batch occurs twice, once with its target hidden and once with it shown. The "
    "error is that of the hidden ones. `Alone` is the same model without the duplicates. The best "
    "k of 1 to 10 neighbours is selected by the test error, as in the paper. A model that other "
    "rows can be given to after its training, such as solved NPT or TabR, is trained on the train "
    "rows, and has the duplicates of the probed rows in their place (DKL: an exact process on the "
    "embedded duplicates, from which its kernel is learned, too, where `from_duplicates` is set). "
    "Other baselines are fitted to the duplicates, with their quick grids or the settings of the "
    "configuration. The intervention "
    "sets the target of one duplicate at a time to values over the whole range. A slope of 1 "
    "follows it. `Others` is the largest change that it causes in the prediction of any other row, "
    "as the median over the sweeps. Rows with nearly equal features attend to each other's "
    "duplicates too. The paper's are on the whole of Protein, with NPTs at full size."
)


def lookup_table(study: pd.DataFrame) -> Table:
    """Test RMSE of every lookup model, how it follows an intervention, and the paper's Table 3."""
    measures = dict(MEASURES)
    for name, method in methods().items():  # baselines that were fitted to the duplicates
        if f"{name}_rmse" in study:
            measures[method.title] = (f"{name}_rmse", 2)
    names = ["rmse", *(name for name, _ in measures.values())]
    study = with_columns(study, ["lookup", *names, "compare_with_reasons"])
    printed = published()["table_3_semisynthetic_rmse"]["cells"]
    rows = []
    for model in by_model(study):
        row = {**model.facts(), **model.rows[names].astype(float).mean(skipna=False)}
        row["lookup"] = next(iter(model.rows["lookup"]), "")
        row["standard_error"] = standard_error(model.rows["rmse"])
        if is_protein(model.dataset):
            for name, cell in printed.get(row["lookup"], {}).items():
                row[f"published_{name}"] = cell["value"]
        rows.append(row)
    tidy = framed(rows, [f"published_{name}" for name in PAPER.values()])
    published_npt = tidy["published_npt"].where(tidy["method"] == "npt")
    tidy["standard_errors"] = in_standard_errors(
        tidy["rmse"], tidy["standard_error"], published_npt, np.nan
    )
    columns = {
        "Task": texts(task.replace("_", " ") for task in tidy["lookup"]),
        "RMSE": with_errors(tidy, "rmse", 2),
        **{title: numbers(tidy[name], digits) for title, (name, digits) in measures.items()},
        **{title: numbers(tidy[f"published_{name}"], 2) for title, name in PAPER.items()},
        DIFFERENCE: difference_cells(tidy),
    }
    notes = [NOTE, *sorted(study["compare_with_reasons"].dropna().unique())]
    title = "Lookup: test RMSE with each row's target on its duplicate"
    return model_table(tidy, title, columns, notes, (*PAPER, DIFFERENCE))


def intervention(study: pd.DataFrame) -> Figure:
    """Predictions for up to twenty rows, as the target of their duplicate is set to other values. A
    line along the dotted one is an exact lookup: in the task `add_one`, where a duplicate shows a
    target that is larger by one standard deviation, it is shifted. A flat line does not depend on
    the duplicate.
    """
    models = list(first_facts(study, "sweep"))
    figure, axes = panels(len(models), 10)
    for (row, sweep), axis in zip(models, axes, strict=False):
        values = np.array(sweep["values"])
        predictions = np.array(sweep["predicted"])  # (rows, values)
        axis.plot(values, predictions.T, color=NPT_COLOR, alpha=0.5, linewidth=0.8)
        axis.plot(values, values - row["shift"], **EQUAL)
        axis.set(xlabel="target of the duplicate, set", ylabel="prediction", title=_title(row))
    return figure


def predictions(study: pd.DataFrame) -> Figure:
    """Predictions for test rows whose duplicates show the target, against the row's target; at most
    500 rows of a fold. On the dotted line the target is looked up exactly.
    """
    models = list(first_facts(study, "looked_up"))
    figure, axes = panels(len(models), 12)
    for (row, facts), axis in zip(models, axes, strict=False):
        pairs = pd.DataFrame(facts)
        sns.scatterplot(pairs, x="truth", y="predicted", color=NPT_COLOR, s=6, linewidth=0, ax=axis)
        ends = [pairs["truth"].min(), pairs["truth"].max()]
        axis.plot(ends, ends, **EQUAL)
        axis.set(xlabel="target", ylabel="prediction", title=_title(row))
    return figure


def _title(row: dict) -> str:
    task = row["lookup"].replace("_", " ")
    return model_title(row).replace("\n", f", {task}\n")


VIEW = View(
    tables={"lookup": lookup_table},
    figures={"predictions": predictions, "intervention": intervention},
    drawn=("intervention",),
)
