"""Figures of what trained models answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from npt.perturbation import KINDS
from workflow.config.scoring import Scoring
from workflow.report.attention import attention_maps
from workflow.report.corruption import corruption as corruption_table
from workflow.report.corruption import corruption_changes
from workflow.report.deletion import deletion_rows
from workflow.report.dose import doses
from workflow.report.drawing import (
    NPT_COLOR,
    OTHER_COLOR,
    PAGE,
    method_styles,
    panels,
    points,
    pyplot,
    zero_line,
)
from workflow.report.lookup import sweeps
from workflow.report.summary import MODEL, dataset_title, method_title, method_titles, of_model

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def corruption(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Change of test performance under corruption of all other rows, for every dataset and fold."""
    tidy, folds = corruption_table(study, scoring).tidy, study.assign(**corruption_changes(study))
    kinds = [kind for kind in (False, True) if kind in set(tidy["task"] == "regression")]
    figure, axes = panels(len(kinds), 3 + tidy.groupby(tidy["task"] == "regression").size().max())
    for regression, axis in zip(kinds, axes, strict=True):
        part = tidy[(tidy["task"] == "regression") == regression]
        models = set(method_titles(part))
        labels = [
            dataset_title(d) + ("" if len(models) == 1 else f", {title}")
            for d, title in zip(part["dataset"], method_titles(part), strict=True)
        ]
        for place, row in enumerate(part.to_dict("records")):
            own = of_model(folds, row)["change"]
            axis.plot(
                own, [len(labels) - 1 - place] * len(own), "|", color="0.6", markersize=6, zorder=1
            )
        bright = [
            label for label, method in zip(labels, part["method"], strict=True) if method == "npt"
        ]
        points(axis, labels, part["change"], part["standard_error"], highlight=bright)
        zero_line(axis)
        axis.set_title("Regression" if regression else "Classification")
        axis.set_xlabel(
            "relative change of RMSE, percent" if regression else "change of accuracy, points"
        )
        axis.set_ylim(-0.6, len(labels) - 0.4)
    return figure


def intervention(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """What a model predicts for a row as the target of its duplicate is set to other values: one line a row."""
    found = sweeps(study)
    figure, axes = panels(max(1, len(found)), 10)
    for axis, (title, values, right, predicted) in zip(axes, found, strict=False):
        axis.plot(values, predicted.T, color=NPT_COLOR, alpha=0.5, linewidth=0.8)
        axis.plot(values, right, color="0.3", linestyle=":", linewidth=1.2)
        axis.set(title=title, xlabel="target of the duplicate, set", ylabel="prediction")
    return figure


def dose_response(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Test error of every method as more of the other rows are shuffled (left of a pair) or deleted (right)."""
    found = doses(study)
    names = list(dict.fromkeys(found["dataset"]))
    figure, axes = panels(max(1, 2 * len(names)), 8)
    keys = list(found[["method", "variant"]].drop_duplicates().itertuples(index=False, name=None))
    styles = method_styles([method_title(*key) for key in keys])
    for axis, (name, kind) in zip(
        axes, [(name, kind) for name in names for kind in KINDS], strict=False
    ):
        part = found[(found["dataset"] == name) & (found["kind"] == kind)]
        for key in keys:
            line = part[(part["method"] == key[0]) & (part["variant"] == key[1])]
            color, marker = styles[method_title(*key)]
            share, error = 100 * line["share"], line["standard_error"].fillna(0)
            axis.plot(
                share,
                line["error"],
                color=color,
                marker=marker,
                markersize=4,
                label=method_title(*key),
            )
            axis.fill_between(
                share,
                line["error"] - error,
                line["error"] + error,
                color=color,
                alpha=0.15,
                linewidth=0,
            )
        axis.axhline(
            part["constant"].mean(), color="0.3", linestyle=":", linewidth=1.2, label="a constant"
        )
        axis.set(
            title=f"{dataset_title(name)}: others {'shuffled' if kind == 'shuffle' else 'deleted'}",
            xlabel="share of the other rows, %",
            ylabel="test RMSE" if part["task"].iloc[0] == "regression" else "test errors, %",
        )
        axis.set_ylim(bottom=0)
    if names:
        axes[0].legend()
    return figure


def deletion(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Distance to the rows that were kept, against that to those deleted and to random ones, a point for each probed row."""
    found = deletion_rows(study)
    models = found[MODEL].drop_duplicates().to_dict("records")
    figure, axes = panels(max(1, len(models)), 10)
    for model, axis in zip(models, axes, strict=False):
        part = of_model(found, model)
        for name, color, marker in (("deleted", OTHER_COLOR, "o"), ("random", NPT_COLOR, "D")):
            axis.plot(
                part[name], part["kept"], marker, color=color, markersize=4, label=f"against {name}"
            )
        every = part[["kept", "deleted", "random"]].to_numpy()
        ends, middle = (
            [float(np.nanmin(every)), float(np.nanmax(every))],
            float(np.nanmedian(every)),
        )
        if ends[1] > 20 * middle > 0:  # a few rows lie far from all others
            axis.set_xscale("symlog", linthresh=middle)
            axis.set_yscale("symlog", linthresh=middle)
        axis.plot(ends, ends, color="0.3", linestyle=":", linewidth=1.2)
        title = (
            f"{dataset_title(model['dataset'])}\n{method_title(model['method'], model['variant'])}"
        )
        axis.set(
            title=title, xlabel="mean distance to the others", ylabel="mean distance to the kept"
        )
        axis.legend()
    return figure


def attention(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Heat maps of every head's attention to other rows, from near to far, a line for each probed row."""
    found = attention_maps(study)
    lines = [
        (title, layer, places, maps)
        for title, places, maps in found
        for layer in sorted({one for one, _ in places})
    ]
    widest = max((1 + head for _, places, _ in found for _, head in places), default=1)
    size = (PAGE, 1.1 * max(1, len(lines)) + 0.6)
    figure, axes = pyplot().subplots(
        max(1, len(lines)), widest, figsize=size, squeeze=False, layout="constrained"
    )
    image = None
    for place, (title, layer, places, maps) in enumerate(lines):
        for head, axis in enumerate(axes[place]):
            axis.set(xticks=[], yticks=[])
            axis.grid(visible=False)
            if (layer, head) not in places:
                axis.set_visible(False)
                continue
            relative = np.log2(np.maximum(maps[places.index((layer, head))], 2.0**-8))
            image = axis.imshow(
                relative, cmap="PuOr_r", vmin=-2, vmax=2, aspect="auto", interpolation="nearest"
            )
            axis.set_title(f"layer {layer}, head {head}", fontsize=7)
        if not place or lines[place - 1][0] != title:
            axes[place, 0].set_title(f"{title}\nlayer {layer}, head 0", fontsize=7)
        axes[place, 0].set_ylabel("probed rows")
    for axis in axes[-1]:
        axis.set_xlabel("others, near to far")
    if image is not None:
        figure.colorbar(image, ax=axes, label="log2 of attention / mean", extend="both", shrink=0.8)
    return figure
