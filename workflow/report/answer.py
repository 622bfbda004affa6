"""A study's outcome in sentences made of its numbers."""

from __future__ import annotations

import pandas as pd

from npt.metrics import METRICS
from workflow.report.section import TASK_TITLES, Primary, counted, tasks_of
from workflow.report.summary import dataset_title, method_titles, standard_error
from workflow.report.tables import corruption_changes, ranks


def answer(study: pd.DataFrame, kind: str, primary: Primary) -> str:
    """What a reader takes from a study."""
    answers = {"corruption": _corruption, "lookup": _lookup}
    return answers[kind](study) if kind in answers else _benchmark(study, primary)


def _benchmark(study: pd.DataFrame, primary: Primary) -> str:
    tidy = ranks(study, primary).tidy
    sentences = []
    for task in tasks_of(study):
        part = tidy[tidy["task"] == task]
        titles = pd.Series(method_titles(part), part.index)
        best, count = part["mean_rank"].min(), int(part["datasets"].max())
        first = titles[part["mean_rank"] == best]
        verb = "ranks first" if len(first) == 1 else "share the first place"
        sentence = (
            f"{TASK_TITLES[task]} ({counted(count, 'dataset')}, {METRICS[primary[task]].title}): "
            f"{_listed(list(first))} {verb} of {len(part)} with mean rank {best:.2f}"
        )
        others = [f"{titles[i]} has {part['mean_rank'][i]:.2f}" for i in part.index if part["method"][i] == "npt"]
        if others and not any(title.startswith("NPT") for title in first):
            sentence += f"; {_listed(others)}"
        sentences.append(sentence + ".")
    folds = study.groupby(["dataset", "method", "variant"])["seed"].nunique().max()
    return " ".join(sentences) + f" With {counted(folds, 'fold')} a dataset, differences within the error bars are no evidence."


def _corruption(study: pd.DataFrame) -> str:
    study = study.assign(**corruption_changes(study))
    parts = []
    for (dataset, task, variant), changes in study.groupby(["dataset", "task", "variant"], sort=False)["change"]:
        if changes.isna().any():
            continue
        unit = "% of RMSE" if task == "regression" else "points of accuracy"
        error = standard_error(changes)
        spread = "" if pd.isna(error) else f" ± {error:.1f}"
        name = dataset_title(str(dataset)) + ("" if variant == "base" else f" ({variant})")
        parts.append(f"{name} {changes.mean():+.1f}{spread} {unit}".replace("-", "−"))
    if not parts:
        return "No trained model could be questioned."
    return (
        f"Destroying all other rows changes what NPT achieves by: {', '.join(parts)}. "
        "Negative is worse; zero would mean that it does not use them."
    )


def _lookup(study: pd.DataFrame) -> str:
    study = study[study["status"] == "ok"]
    parts = [
        f"{dataset_title(str(dataset))} ({str(task).replace('_', ' ')}) {group['correlation'].mean():.3f}, "
        f"and an RMSE of {group['rmse'].mean():.2f} where the nearest neighbour has {group['nearest_rmse'].mean():.2f}"
        for (dataset, task), group in study.groupby(["dataset", "lookup"], sort=False)
    ]
    if not parts:
        return "No trained model could be questioned."
    return (
        "With every row's target to be read off a duplicate, predictions of NPT and true targets of test rows correlate by: "
        f"{'; '.join(parts)}. One means that it looks rows up."
    )


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
