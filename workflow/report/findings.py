"""A study's outcome in sentences made of its numbers."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from npt.metrics import METRICS
from workflow.config.scoring import Scoring
from workflow.report.ablation import changes
from workflow.report.attention import attention as attention_table
from workflow.report.corruption import corruption_changes
from workflow.report.deletion import deletion as deletion_table
from workflow.report.dose import skill_from_others
from workflow.report.section import TASK_TITLES, counted, number, tasks_of
from workflow.report.summary import (
    LEVEL,
    dataset_title,
    method_title,
    method_titles,
    standard_error,
    without_failures,
)
from workflow.report.tables import ranks


def answer(study: pd.DataFrame, kind: str, scoring: Scoring) -> str:
    """What a reader takes from a study."""
    return ANSWERS[kind](study, scoring)


def _benchmark(study: pd.DataFrame, scoring: Scoring) -> str:
    tidy = ranks(study, scoring).tidy
    sentences = []
    for task in tasks_of(study):
        part = tidy[tidy["task"] == task]
        if part["mean_rank"].isna().all():
            sentences.append(f"{TASK_TITLES[task]}: no dataset has all its results yet.")
            continue
        if not (study.loc[study["task"] == task, "status"] == "ok").any():
            sentences.append(f"{TASK_TITLES[task]}: no method has a result.")
            continue
        titles = pd.Series(method_titles(part), part.index)
        best, count = part["mean_rank"].min(), int(part["datasets"].max())
        first = titles[part["mean_rank"] == best]
        verb = "ranks first" if len(first) == 1 else "share the first place"
        sentence = (
            f"{TASK_TITLES[task]} ({counted(count, 'dataset')}, {METRICS[scoring.metrics[task]].title}): "
            f"{_listed(list(first))} {verb} of {len(part)} with mean rank {best:.2f}"
        )
        others = [
            f"{titles[i]} has {part['mean_rank'][i]:.2f}"
            for i in part.index
            if part["method"][i] == "npt"
        ]
        if others and not any(title.startswith("NPT") for title in first):
            sentence += f"; {_listed(others)}"
        sentences.append(sentence + ".")
    folds = study.groupby(["dataset", "method", "variant"])["fold"].nunique().max()
    return (
        " ".join(sentences)
        + f" With {counted(folds, 'fold')} a dataset, differences within the error bars are no evidence."
    )


def _corruption(study: pd.DataFrame, scoring: Scoring) -> str:
    study = study.assign(**corruption_changes(study))
    parts = []
    keys = ["dataset", "task", "variant"]
    for (dataset, task, variant), change in study[study["method"] == "npt"].groupby(
        keys, sort=False
    )["change"]:
        if change.isna().any():
            continue
        unit = "% of RMSE" if task == "regression" else "points of accuracy"
        error = standard_error(change)
        spread = "" if pd.isna(error) else f" ± {error:.1f}"
        name = dataset_title(str(dataset)) + ("" if variant == "base" else f" ({variant})")
        parts.append(f"{name} {number(change.mean(), 1, sign=True)}{spread} {unit}")
    if not parts:
        return "No trained model could be questioned."
    return (
        f"Destroying all other rows changes what NPT achieves by: {', '.join(parts)}. "
        "Negative is worse; zero would mean that it does not use what they say."
    )


def _ablation(study: pd.DataFrame, scoring: Scoring) -> str:
    found, parts = changes(study, scoring), []
    for dataset, part in found.groupby("dataset", sort=False):
        metric = METRICS[part["metric"].iloc[0]].title
        each = [
            f"{row['title']} {number(row['change'], 0, sign=True)} %"
            for row in part.dropna(subset="change").to_dict("records")
        ]
        if not each:
            continue
        parts.append(f"{dataset_title(str(dataset))} ({metric}): {', '.join(each)}")
    if not parts:
        return "There is no variant with a result beside the base."
    return f"Changes of one part move the test metric by: {'; '.join(parts)}."


def _dose_response(study: pd.DataFrame, scoring: Scoring) -> str:
    keys, parts = ["method", "variant"], []
    shuffled, deleted = (
        skill_from_others(study, kind).dropna(subset="share") for kind in ("shuffle", "delete")
    )
    lost = {names: own["share"].median() for names, own in deleted.groupby(keys, sort=False)}
    for names, own in shuffled.groupby(keys, sort=False):
        parts.append(
            f"{method_title(*map(str, names))} loses {number(100 * own['share'].median(), 0)} % of its skill when they are "
            f"shuffled and {number(100 * lost[names], 0)} % when most are deleted ({_over(len(own))})"
        )
    if not parts:
        return "No model had any skill to lose."
    return (
        f"How much comes from other rows: {'; '.join(parts)}. A constant prediction has lost 100 %."
    )


def _over(count: int) -> str:
    return "one dataset" if count == 1 else f"median over {count} datasets"


def _deletion(study: pd.DataFrame, scoring: Scoring) -> str:
    parts = []
    for row in deletion_table(study, scoring).tidy.to_dict("records"):
        if row["reason"]:
            continue
        verdict = f"those left are {'' if row['p_random'] < LEVEL else 'not shown to be '}nearer than random ones"
        verdict = (
            "too few to test"
            if pd.isna(row["p_random"])
            else f"{verdict} (p = {row['p_random']:.2g})"
        )
        parts.append(
            f"on {dataset_title(row['dataset'])} a prediction of {method_title(row['method'], row['variant'])} needs "
            f"{100 * row['left']:.0f} % of its context; {verdict}"
            + (
                ""
                if pd.isna(row["partner_kept"])
                else f"; {100 * row['partner_kept']:.0f} % keep the row's own duplicate"
            )
        )
    return (
        f"When all rows go that can be spared: {'; '.join(parts)}."
        if parts
        else "No trained model could be questioned."
    )


def _attention(study: pd.DataFrame, scoring: Scoring) -> str:
    parts = []
    for row in attention_table(study, scoring).tidy.to_dict("records"):
        if row["reason"]:
            continue
        name = f"{method_title(row['method'], row['variant'])} on {dataset_title(row['dataset'])}"
        near = (
            "too few rows to tell how many heads"
            if pd.isna(row["share_near"])
            else f"{100 * row['share_near']:.0f} % of the heads"
        )
        part = (
            f"{near} of {name} look nearer to the row that asks than to others (mean rank correlation "
            f"{number(row['nearness'], 2)}, with others {number(row['typical'], 2)}, before training "
            f"{number(row['untrained'], 2)})"
        )
        if not pd.isna(row["partner"]):
            part += (
                f", and a row's own duplicate gets {100 * row['partner']:.0f} % of the attention"
            )
        parts.append(part)
    return (
        f"Attention between datapoints: {'; '.join(parts)}."
        if parts
        else "No trained model could be questioned."
    )


def _lookup(study: pd.DataFrame, scoring: Scoring) -> str:
    study = without_failures(study)
    if study.empty:
        return "No trained model could be questioned."
    parts = [
        f"{dataset_title(str(dataset))} ({str(task).replace('_', ' ')}) {group['correlation'].mean():.3f}, "
        f"and an RMSE of {group['rmse'].mean():.2f} where the nearest neighbour has {group['nearest_rmse'].mean():.2f}"
        for (dataset, task), group in study.groupby(["dataset", "lookup"], sort=False)
    ]
    return (
        "With every row's target to be read off a duplicate, predictions of NPT and true targets of test rows correlate by: "
        f"{'; '.join(parts)}. One means that it looks rows up."
    )


ANSWERS: dict[str, Callable[[pd.DataFrame, Scoring], str]] = {
    "benchmark": _benchmark,
    "ablation": _ablation,
    "corruption": _corruption,
    "dose_response": _dose_response,
    "deletion": _deletion,
    "attention": _attention,
    "lookup": _lookup,
}


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
