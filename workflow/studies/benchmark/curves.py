"""Training curves of the NPTs, from the files that their trainings leave beside their rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.planning.paths import RESULTS, run_key, run_metrics
from workflow.report.drawing import NPT_STYLES, logarithmic, panels, pyplot
from workflow.report.titles import NPTS, dataset_title, method_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLES = {"train_loss": "train loss", "validation_loss": "validation loss"}
STYLES = {"train_loss": ":", "validation_loss": "-"}


def has_curves(study: pd.DataFrame) -> bool:
    """Whether a training of the study has left its curve."""
    return any(curve_file(row).exists() for row in _trainings(study))


def curves(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Train and validation loss after each evaluation, a panel for each NPT and dataset.

    There is a line for each fold; of a search, that of the configuration that was chosen.
    """
    groups: dict[tuple[str, str, str], list[pd.DataFrame]] = {}
    for row in _trainings(study):
        path = curve_file(row)
        if path.exists():
            key = (row["dataset"], row["method"], row["variant"])
            groups.setdefault(key, []).append(pd.read_csv(path))
    if not groups:
        figure, axis = pyplot().subplots(figsize=(3.4, 0.5), layout="constrained")
        axis.set_axis_off()
        axis.set_title("The trainings have left no curves")
        return figure
    figure, axes = panels(len(groups), 7, columns=3)
    for ((dataset, *model), folds), axis in zip(groups.items(), axes, strict=True):
        _panel(axis, folds, model[0])
        axis.set_title(f"{method_title(*model)}\n{dataset_title(dataset)}")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    return figure


def _trainings(study: pd.DataFrame) -> list[dict[Any, Any]]:
    finished = study[(study["status"] == "ok") & study["method"].isin(NPTS)]
    return finished.to_dict("records")


def curve_file(row: dict[Any, Any]) -> Path:
    """File of the curve of a fold, which may be missing."""
    key = run_key(row["dataset"], row["method"], row["variant"])
    stem = f"{key}/seed_{row.get('seed', 0)}/folds_{row['fold']}"
    chosen = row.get("chosen")
    configuration = json.loads(chosen).get("configuration") if isinstance(chosen, str) else None
    if configuration is not None:
        return Path(f"{RESULTS}/runs/{stem}.{configuration}.metrics.csv")
    return Path(run_metrics(stem))


def _panel(axis: Axes, folds: list[pd.DataFrame], method: str) -> None:
    color, _ = NPT_STYLES[method]
    for number, fold in enumerate(folds):
        for column, style in STYLES.items():
            axis.plot(
                fold["update"],
                fold[column],
                style,
                color=color if column == "validation_loss" else "0.5",
                linewidth=0.9,
                label=None if number else TITLES[column],
            )
    axis.set(xlabel="updates", ylabel="loss")
    logarithmic(axis.yaxis)
    axis.set_xlim(left=0)
