"""The picture of `explain` for README.md: the mixtures that predictions of Concrete attend to."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from matplotlib.collections import PathCollection

from npt.data.preparation import prepare
from npt.estimator import NPTRegressor
from npt.estimator.explanation import Explanation
from performance.estimator import frame_of, target_of
from performance.machine import ROOT
from workflow.report.drawing import COMPACT_COLOR, OTHER_COLOR, PAGE, pyplot

PICTURE = ROOT / "docs" / "explain.png"
DATASET = "concrete"
UNIT = "compressive strength, MPa"
EXPLAINED = (0.1, 0.5, 0.9)  # quantiles of the predictions, whose test rows are shown
SHOWN = 10  # fitted rows of each
AREA = 1_500  # of a point whose attention is 1, in square points


def main() -> None:
    """Fit, explain, draw."""
    with tempfile.TemporaryDirectory() as downloads:
        prepared = prepare(DATASET, Path(downloads))
    table = prepared.table
    split = prepared.splits[0]
    fitted = np.concatenate([split.train, split.validation])
    features = frame_of(table, text=True)
    target = target_of(table)
    model = NPTRegressor().fit(features.iloc[fitted], target[fitted])
    predicted = model.predict(features.iloc[split.test])
    order = np.argsort(predicted)
    places = [order[int(share * len(order))] for share in EXPLAINED]
    rows = split.test[places]
    explanation = model.explain(features.iloc[rows], rows=SHOWN)
    draw(explanation, target[rows])
    print(PICTURE)


def draw(explanation: Explanation, truth: np.ndarray) -> None:
    """A line for each explained row."""
    figure, axes = pyplot().subplots(figsize=(PAGE, 2.1), layout="constrained")
    lines = np.arange(len(truth))
    places = np.repeat(lines, SHOWN)
    weights = explanation.weights.ravel()
    looks = {"above 0": (weights > 0, OTHER_COLOR), "below 0": (weights < 0, "none")}
    for label, (shown, color) in looks.items():
        axes.scatter(
            explanation.targets.ravel()[shown],
            places[shown],
            s=AREA * np.abs(weights[shown]),
            facecolor=color,
            edgecolor=OTHER_COLOR,
            alpha=0.35,
            label=f"fitted rows, weight {label}",
        )
    bar = {"marker": "|", "linestyle": "", "markersize": 20, "markeredgewidth": 2.5}
    axes.plot(explanation.scores, lines, color=OTHER_COLOR, label="prediction", **bar)
    axes.plot(
        explanation.without_all,
        lines,
        color=COMPACT_COLOR,
        label=f"without these {SHOWN} rows",
        **bar,
    )
    axes.plot(truth, lines, "x", color="black", label="true value")
    axes.set_yticks(lines, [f"new row {line + 1}" for line in lines])
    axes.set_ylim(len(truth) - 0.5, -0.5)
    axes.set_xlabel(UNIT)
    legend = axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    for handle in legend.legend_handles:
        if isinstance(handle, PathCollection):
            handle.set_sizes([80.0])
        else:
            handle.set_markersize(9)
    figure.savefig(PICTURE, dpi=150)


if __name__ == "__main__":
    main()
