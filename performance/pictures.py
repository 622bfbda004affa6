"""Draws the pictures of README.md and of the documents."""

from __future__ import annotations

import argparse
import json

import numpy as np
import pandas as pd

from npt.estimator import NPTRegressor
from npt.metrics import PAPER_METRICS
from npt.provenance import ROOT
from performance.intervals import first_fold
from workflow.config.scoring import Scoring
from workflow.presentation.drawing import (
    COMPACT_COLOR,
    EQUAL,
    NPT_COLOR,
    OTHER_COLOR,
    PAGE,
    facets,
    pyplot,
)
from workflow.report.summary import reference_study
from workflow.studies import kinds
from workflow.studies.errors import effect, losses

DOCS = ROOT / "docs"
FIGURES = {  # study, kind and figure
    "curves_training.png": ("neural_processes/curves", "processes", "training"),
    "influence.png": ("kernels/influence", "certificates", "influence"),
    "context.png": ("row_models/context", "context", "context"),
    "completion.png": ("neural_processes/completion", "processes", "completions"),
}
EFFECTS = {"benefits": (-0.15, NPT_COLOR), "depends": (0.15, OTHER_COLOR)}
IN_CONTEXT = ("npt_solved", "npt_compact", "gaussian_process", "tabr", "catboost")
# Studies of training_length.yaml on Yacht.
OF_YACHT = ("depends", "depends_shorter", "corruption", "benefits", "benefits_shorter")
DOTS_PER_INCH = 110
DATASET, UNIT = "concrete", "compressive strength, MPa"
EXPLAINED = (0.1, 0.5, 0.9)  # quantiles of the predictions, whose test rows are shown
ROWS = 10  # fitted rows of each
AREA = 1_500  # of a point whose attention is 1, in square points


def main() -> None:
    """Draw all of them."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    for file, (name, kind, figure) in FIGURES.items():
        study = reference_study(name)
        if kind == "context":
            study = study[study["method"].isin(IN_CONTEXT)]
        drawing = kinds()[kind].view.figure(figure, study, Scoring(PAPER_METRICS))
        drawing.savefig(DOCS / file, dpi=DOTS_PER_INCH)
    draw_correlations()
    draw_training_lengths()
    draw_explanation()


def draw_correlations() -> None:
    """What dependence and benefit of compact NPT go with, by `performance.when_rows_help`."""
    measured = json.loads((ROOT / "performance/results/when_rows_help.json").read_text())
    rows = pd.DataFrame(measured["rows"])
    rows = rows[rows["method"] == "npt_compact"].iloc[::-1]
    figure, groups = facets(rows, "of", 14)
    for group, part, axis in groups:
        for name, (offset, color) in EFFECTS.items():
            points = part[part["effect"] == name]
            middle = points["correlation"]
            ends = [middle - points["low"], points["high"] - middle]
            lines = np.arange(len(points))
            axis.errorbar(middle, lines + offset, xerr=ends, fmt="o", color=color, label=name)
            axis.set_yticks(lines, points["fact"])
        axis.axvline(0, **EQUAL)
        axis.set_xlim(-1.05, 1.05)
        axis.set_title(f"{part['tables'].iloc[0]} {group}")
        axis.set_xlabel("rank correlation")
    figure.axes[0].legend(loc="lower right")
    figure.savefig(DOCS / "when.png", dpi=DOTS_PER_INCH)


def draw_training_lengths() -> None:
    """Dependence and benefit of the paper's NPT by its updates: marks, and means of folds."""
    figure, axes = pyplot().subplots(figsize=(PAGE, 2.6), layout="constrained")
    axes.set(xscale="log", xlabel="updates", ylabel="factor of RMSE")
    for name, logarithms in effects_by_updates(*OF_YACHT).items():
        _, color = EFFECTS[name]
        lengths = logarithms.index.get_level_values("updates")
        axes.scatter(lengths, np.exp(logarithms), color=color, alpha=0.4)
        same_folds = logarithms.loc[:, :2, 0]  # fold 0 alone for up to 500 updates
        means = same_folds.groupby("updates").mean().map(np.exp)
        axes.plot(means, color=color, label=name)
        axes.set_xticks(means.index, means.index)
    axes.axhline(1, **EQUAL)
    axes.legend()
    figure.savefig(DOCS / "updates.png", dpi=DOTS_PER_INCH)


def effects_by_updates(*studies: str) -> dict[str, pd.Series]:
    """Logarithms of the factors of RMSE without other rows, by updates, fold and seed.

    Args:
        studies: Of training_length.yaml, on one table.
    """
    rows = pd.concat(reference_study(f"training_length/{name}") for name in studies)
    rows = rows.set_index(["updates", "fold", "seed"])
    is_twin = rows["variant"].str.startswith("without_datapoints")
    scores = losses(rows, "test_")
    benefits = effect(scores[~is_twin].dropna(), scores[is_twin])
    depends = effect(losses(rows, "clean_"), losses(rows, "corrupted_")).dropna()
    first_probe = depends.groupby(level=[0, 1, 2]).first()  # some are in two studies
    return {"benefits": benefits.sort_index(), "depends": first_probe}


def draw_explanation() -> None:
    """Three predictions of Concrete, a line each, and the true values."""
    features, target, fitted, test = first_fold(DATASET)
    model = NPTRegressor().fit(features.iloc[fitted], target[fitted])
    order = np.argsort(model.predict(features.iloc[test]))
    rows = test[[order[int(share * len(order))] for share in EXPLAINED]]
    explanation = model.explain(features.iloc[rows], rows=ROWS)
    truth = target[rows]
    figure, axes = pyplot().subplots(figsize=(PAGE, 2.1), layout="constrained")
    lines = np.arange(len(truth))
    frame = explanation.frame
    weights = frame["weight"]
    looks = {"above 0": (weights > 0, OTHER_COLOR), "below 0": (weights < 0, "none")}
    for label, (is_drawn, color) in looks.items():
        axes.scatter(
            frame["target"][is_drawn],
            frame["row"][is_drawn],
            s=AREA * np.abs(weights[is_drawn]),
            facecolor=color,
            edgecolor=OTHER_COLOR,
            alpha=0.35,
            label=f"fitted rows, weight {label}",
        )
    scores = frame.groupby("row").first()
    bars = {
        "prediction": (scores["score"], OTHER_COLOR, 400),
        f"without these {ROWS} rows": (scores["without_all_rows"], COMPACT_COLOR, 400),
        "true value": (truth, "black", 60),
    }
    for label, (values, color, size) in bars.items():
        axes.scatter(values, lines, marker="|", s=size, linewidths=2.5, color=color, label=label)
    axes.set_yticks(lines, [f"new row {line + 1}" for line in lines])
    axes.set_ylim(len(truth) - 0.5, -0.5)
    axes.set_xlabel(UNIT)
    legend = axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    for handle in legend.legend_handles:
        handle.set_sizes([80.0])
    figure.savefig(DOCS / "explain.png", dpi=150)


if __name__ == "__main__":
    main()
