"""Training curves of the NPTs, from the files that their trainings leave beside their rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import seaborn as sns

from workflow.config.scoring import Scoring
from workflow.planning.paths import RUN, run_metrics
from workflow.report.drawing import NPT_STYLES, facets, legend_below, logarithmic, panels
from workflow.report.statistics import METHOD, MODEL
from workflow.report.titles import dataset_title, method_title
from workflow.results.search import CONFIGURATION

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOSSES = {"train_loss": "train loss", "validation_loss": "validation loss"}


def curves(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Training of the NPTs: the loss on train and validation rows after each evaluation, a line for
    each fold. Only the selected configuration of a search is shown. Where the validation loss still
    falls at the end, more updates might help. The exact NPT's train loss counts masked cells of all
    columns. Compact NPT's validation loss is that of the averaged weights.
    """
    folds = []
    finished = study[(study["status"] == "ok") & study["method"].isin(NPT_STYLES)]
    for row in finished.to_dict("records"):
        path = curve_file(row)
        if path.exists():
            model = {name: row[name] for name in MODEL}
            folds.append(pd.read_csv(path).assign(**model, training=len(folds)))
    if not folds:
        return panels(0, 0)[0]
    losses = pd.concat(folds).melt(
        [*MODEL, "training", "update"], LOSSES, var_name="loss", value_name="size"
    )
    losses["loss"] = losses["loss"].map(LOSSES)
    losses = losses.sort_values(METHOD, kind="stable")
    columns = min(3, losses["dataset"].nunique())
    figure, models = facets(losses, MODEL, 7, columns=columns)
    for (dataset, method, variant), part, axis in models:
        sns.lineplot(
            part,
            x="update",
            y="size",
            style="loss",
            dashes={"train loss": (1, 1), "validation loss": ""},
            units="training",
            estimator=None,
            color=NPT_STYLES[method][0],
            linewidth=0.9,
            ax=axis,
        )
        title = f"{method_title(method, variant)}\n{dataset_title(dataset)}"
        axis.set(title=title, xlabel="updates", ylabel="loss", xlim=(0, None))
        logarithmic(axis.yaxis)
    legend_below(figure, columns=2)
    return figure


def curve_file(row: Mapping[Any, Any]) -> Path:
    """File of the curve of a fold, which may be missing."""
    stem = RUN.format(**{"seed": 0, **row, "folds": row["fold"]})
    chosen = row.get("chosen")
    if isinstance(chosen, str):
        configuration = json.loads(chosen).get(CONFIGURATION)
        if configuration is not None:
            stem = f"{stem}.{configuration}"
    return Path(run_metrics(stem))
