"""Training curves of the NPTs, from the files that their trainings leave beside their rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from workflow.config.scoring import Scoring
from workflow.planning.paths import run_key, run_metrics
from workflow.report.drawing import COLUMN, NPT_STYLES, legend_below, logarithmic, panels, pyplot
from workflow.report.statistics import MODEL
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
    groups: dict[tuple[str, ...], list[pd.DataFrame]] = {}
    for row in _trainings(study):
        path = curve_file(row)
        if path.exists():
            model = tuple(row[name] for name in MODEL)
            folds = groups.setdefault(model, [])
            folds.append(pd.read_csv(path))
    if not groups:
        figure, axis = pyplot().subplots(figsize=(COLUMN, 0.5), layout="constrained")
        axis.set_axis_off()
        axis.set_title("The trainings have left no curves")
        return figure
    datasets = {model[0] for model in groups}
    figure, axes = panels(len(groups), 7, columns=min(3, len(datasets)))
    by_method = sorted(groups.items(), key=lambda group: group[0][1:])
    for (model, folds), axis in zip(by_method, axes, strict=True):
        dataset, method, variant = model
        _panel(axis, folds, method)
        axis.set_title(f"{method_title(method, variant)}\n{dataset_title(dataset)}")
    for column, style in STYLES.items():
        axes[0].plot([], [], style, color="0.3", label=TITLES[column])
    legend_below(figure, axes[0], columns=2)
    return figure


def _trainings(study: pd.DataFrame) -> list[dict[Any, Any]]:
    finished = study[(study["status"] == "ok") & study["method"].isin(NPTS)]
    return finished.to_dict("records")


def curve_file(row: Mapping[Any, Any]) -> Path:
    """File of the curve of a fold, which may be missing."""
    key = run_key(row["dataset"], row["method"], row["variant"])
    seed = row.get("seed", 0)
    stem = f"{key}/seed_{seed}/folds_{row['fold']}"
    chosen = row.get("chosen")
    if isinstance(chosen, str):
        configuration = json.loads(chosen).get("configuration")
        if configuration is not None:
            stem = f"{stem}.{configuration}"
    return Path(run_metrics(stem))


def _panel(axis: Axes, folds: list[pd.DataFrame], method: str) -> None:
    color, _ = NPT_STYLES[method]
    colors = {"train_loss": "0.5", "validation_loss": color}
    for fold in folds:
        for column, style in STYLES.items():
            axis.plot(
                fold["update"],
                fold[column],
                style,
                color=colors[column],
                linewidth=0.9,
            )
    axis.set(xlabel="updates", ylabel="loss")
    logarithmic(axis.yaxis)
    axis.set_xlim(left=0)
