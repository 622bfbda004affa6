"""Notes below tables that explain what is missing in them."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from baselines import methods
from workflow.report.cells import DASH
from workflow.report.titles import dataset_title, method_title, method_titles
from workflow.results.row import UNFINISHED


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


def unranked_notes(datasets: Iterable[str]) -> tuple[str, ...]:
    """A note on datasets without ranks, if there are any."""
    names = ", ".join(map(dataset_title, datasets))
    return (f"Not ranked, because results are missing: {names}.",) if names else ()


def standardisation_notes(study: pd.DataFrame) -> tuple[str, ...]:
    """A note for each group of datasets on which methods of this project are standardised unlike.

    Variants of a single method are not compared: an ablation changes the setting on purpose.
    """
    if "transductive" not in study:
        return ()
    own = study[study["method"].isin(methods()) & (study["status"] != UNFINISHED)]
    datasets: dict[tuple[str, str], list[str]] = {}
    for dataset, rows in own.groupby("dataset", sort=False):
        over_train_rows = rows["transductive"].eq(False)
        if rows["method"].nunique() > 1 and over_train_rows.nunique() > 1:
            pair = _listed(rows[over_train_rows]), _listed(rows[~over_train_rows])
            datasets.setdefault(pair, []).append(dataset_title(str(dataset)))
    return tuple(
        f"{', '.join(names)}: features are standardised over the train rows for {over_train}, "
        f"over all rows for {over_all} (setting `transductive`)."
        for (over_train, over_all), names in datasets.items()
    )


def _listed(rows: pd.DataFrame) -> str:
    return ", ".join(dict.fromkeys(method_titles(rows)))
