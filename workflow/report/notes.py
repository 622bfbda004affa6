"""Notes below tables that explain what is missing in them."""

from __future__ import annotations

import pandas as pd

from baselines import methods
from workflow.report.cells import DASH
from workflow.report.titles import dataset_title, method_title, method_titles


def failure_notes(frame: pd.DataFrame) -> tuple[str, ...]:
    """Reasons of missing results, and the meaning of a star, for a frame with a row per model."""
    notes = []
    for row in frame.to_dict("records"):
        if row["reason"]:
            title = method_title(row["method"], row["variant"])
            notes.append(f"{DASH} {title} on {dataset_title(row['dataset'])}: {row['reason']}")
    titles = [dataset_title(name) for name in frame["dataset"]]
    if any(title.endswith("*") for title in titles):
        notes.append("\\* not one of the paper's ten datasets")
    return tuple(notes)


def standardisation_notes(study: pd.DataFrame) -> tuple[str, ...]:
    """Notes on datasets where some methods are standardised over all rows, others over train rows.

    Variants of a single method are not compared: an ablation changes the setting on purpose.
    """
    if "transductive" not in study:
        return ()
    known = study["method"].isin(methods())
    datasets: dict[str, list[str]] = {}
    for dataset, rows in study[known].groupby("dataset", sort=False):
        over_train_rows = rows["transductive"].eq(False)
        if rows["method"].nunique() == 1 or over_train_rows.nunique() == 1:
            continue
        inductive = _listed(rows[over_train_rows])
        others = _listed(rows[~over_train_rows])
        difference = f"over the train rows for {inductive}, over all rows for {others}"
        datasets.setdefault(difference, []).append(dataset_title(str(dataset)))
    notes = []
    for difference, titles in datasets.items():
        names = ", ".join(titles)
        note = f"{names}: features are standardised {difference} (setting `transductive`)."
        notes.append(note)
    return tuple(notes)


def _listed(models: pd.DataFrame) -> str:
    titles = dict.fromkeys(method_titles(models))
    return ", ".join(titles)
