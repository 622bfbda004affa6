"""The lookup study's table (paper Table 3) and its sweeps of one duplicate's target (Figure 3)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from baselines import methods
from workflow.config.scoring import Scoring
from workflow.report.old_published import DIFFERENCE, marked, part_of, published, standard_errors
from workflow.report.section import DASH, Section, Tabulated, notes, number, plus_minus
from workflow.report.summary import (
    MODEL,
    by_model,
    dataset_title,
    method_title,
    method_titles,
    standard_error,
    tabulated,
    with_columns,
    without_failures,
)

MEASURES = (
    "rmse", "correlation", "alone_rmse", "nearest_rmse", "neighbours_rmse", "constant_rmse", "intervention_correlation",
    "intervention_slope", "intervention_rmse", "intervention_others",
)  # fmt: skip
PUBLISHED_ON = "protein"
NOTE = (
    "Every row of a batch is there twice, once with its target hidden and once with it shown; the error is that of the hidden "
    "ones. `Alone` is the same model without the duplicates. The best k of 1 to 10 neighbours is chosen on the test error, as "
    "in the paper; other baselines are fitted to the duplicates, which hold the answers, with their quick grids (DKL: an "
    "exact process on the embedded duplicates, its kernel learnt on the train rows). The sweep "
    "sets the target of one duplicate at a time to values over the whole range: a slope of 1 follows it. `Others` is the "
    "largest change that it causes in the prediction of any other row, the median over the sweeps: rows with nearly equal "
    "features are read off each other's duplicates too."
)


def lookup(study: pd.DataFrame, scoring: Scoring) -> Tabulated:
    """Test RMSE of every lookup model, beside neighbours and the paper's, and how it follows an intervention."""
    study, rows = with_columns(study, ["lookup", "rmse"]), []
    for row, group in by_model(study):
        measures = [*MEASURES, *(f"{name}_rmse" for name in _beside(study))]
        means = {name: group[name].mean() for name in measures if name in group}
        task = group["lookup"].iloc[0] if len(group) else ""
        row |= {
            "lookup": task,
            **means,
            "standard_error": standard_error(group["rmse"]),
            **_published(row["dataset"], task),
        }
        rows.append(row)
    tidy = tabulated(rows, MEASURES)
    cells = pd.DataFrame(
        {
            "Dataset": tidy["dataset"].map(dataset_title),
            "Task": tidy["lookup"].str.replace("_", " "),
            "Method": method_titles(tidy),
            "RMSE": [
                plus_minus(m, e, 2)
                for m, e in zip(tidy["rmse"], tidy["standard_error"], strict=True)
            ],
            "r": [number(x, 4) for x in tidy["correlation"]],
            "Alone": [number(x, 2) for x in tidy["alone_rmse"]],
            "1-NN": [number(x, 2) for x in tidy["nearest_rmse"]],
            "k-NN": [number(x, 2) for x in tidy["neighbours_rmse"]],
            **{
                methods()[name].title: [number(x, 2) for x in tidy[f"{name}_rmse"]]
                for name in _beside(tidy)
            },
            "Constant": [number(x, 2) for x in tidy["constant_rmse"]],
        }
    )
    sweep = pd.DataFrame(
        {
            "Dataset": cells["Dataset"],
            "Task": cells["Task"],
            "Method": cells["Method"],
            "r of set and predicted": [number(x, 4) for x in tidy["intervention_correlation"]],
            "RMSE": [number(x, 2) for x in tidy["intervention_rmse"]],
            "Slope": [number(x, 3) for x in tidy["intervention_slope"]],
            "Others": [number(x, 2) for x in tidy["intervention_others"]],
        }
    )
    return Tabulated(
        tidy,
        (
            Section(
                "Lookup: test RMSE with each row's target on its duplicate",
                cells,
                (NOTE, *_reasons(study), *notes(tidy)),
            ),
            *_beside_the_paper(tidy, cells),
            Section("Intervention: the target of one duplicate is swept", sweep),
        ),
    )


def _reasons(study: pd.DataFrame) -> list[str]:
    """Why a baseline beside the models has no result."""
    return sorted(set(study["compare_with_reasons"].dropna())) if "compare_with_reasons" in study else []


def _beside(frame: pd.DataFrame) -> list[str]:
    """Baselines that were fitted to the duplicates too."""
    return [name for name in methods() if f"{name}_rmse" in frame]


def sweeps(study: pd.DataFrame) -> list[tuple[str, np.ndarray, np.ndarray, np.ndarray]]:
    """Title, values (K,), what they stand for (K,) and predictions (rows, K) of every dataset and task, of its first fold.

    With `add_one` a duplicate's target stands for one that is smaller by a standard deviation.
    """
    found = []
    for (dataset, method, variant), group in without_failures(study).groupby(MODEL, sort=False):
        swept: Mapping[str, Any] = json.loads(group["sweep"].iloc[0])
        task = str(group["lookup"].iloc[0]).replace("_", " ")
        title = f"{dataset_title(str(dataset))}, {task}\n{method_title(str(method), str(variant))}"
        values = np.array(swept["values"])
        found.append((title, values, values - group["shift"].iloc[0], np.array(swept["predicted"])))
    return found


def _published(dataset: str, task: str) -> dict[str, float]:
    if not part_of(dataset, PUBLISHED_ON):
        return {}
    cells = published()["table_3_semisynthetic_rmse"]["cells"].get(task, {})
    return {f"published_{name}": cell["value"] for name, cell in cells.items()}


def _beside_the_paper(tidy: pd.DataFrame, cells: pd.DataFrame) -> list[Section]:
    """The same tasks in the paper, whose table is the whole of Protein, and whose NPT is at full size."""
    columns = {"NPT": "npt", "1-NN": "one_nn", "k-NN": "knn", "DKL": "dkl"}
    if "published_npt" not in tidy or tidy["published_npt"].isna().all():
        return []
    theirs = {
        title: [number(x, 2) for x in tidy[f"published_{name}"]] for title, name in columns.items()
    }
    shown = pd.DataFrame({"Task": cells["Task"], "Method": cells["Method"], "RMSE here": cells["RMSE"]} | {
        f"{title}, paper": values for title, values in theirs.items()
    } | {
        DIFFERENCE: [
            marked(standard_errors(row["rmse"], row["standard_error"], row["published_npt"], np.nan))
            if row["method"] == "npt" else DASH for row in tidy.to_dict("records")
        ]
    })[tidy["published_npt"].notna()]  # fmt: skip
    if (shown[DIFFERENCE] == DASH).all():
        shown = shown.drop(columns=DIFFERENCE)
    return [Section("Beside the paper's Table 3, test RMSE on the whole of Protein", shown)]
