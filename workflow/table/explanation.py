"""Predictions of solved NPT for one table, and the rows that they rest on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from tabulate import tabulate

from npt.atomic import replacing
from npt.data.frames import features_of, values_of
from npt.table import Split, Table
from workflow.planning import paths

if TYPE_CHECKING:
    from npt.estimator import NPTClassifier, NPTRegressor

EXPLAINED = 3  # rows
RESTING_ON = 3  # fitted rows for each explained one
MOST_FITTED = 10_000  # rows, of the model that predicts and explains
CLASS_COLUMNS = ("truth", "predicted", "of target")  # in whose names 3.10 is not 3.1


def explained(table: Table, split: Split, output: Path) -> Iterator[str]:
    """Predictions of solved NPT, and which rows they rest on.

    Rows without a target are predicted from all others, and written to a file of the output folder.
    If all targets are known, some test rows are predicted from the rows that are not tested.
    """
    from npt.estimator import NPTClassifier, NPTRegressor

    file = output / paths.NEW_ROWS
    file.unlink(missing_ok=True)  # of an earlier state of the table
    is_fitted = ~np.isnan(table.truth)
    predicted = np.flatnonzero(~is_fitted)
    is_new = len(predicted) > 0
    if not is_new:
        predicted = split.rows("test")
        is_fitted[predicted] = False
    shown = predicted[:EXPLAINED]
    fitted_rows = np.flatnonzero(is_fitted)
    unexplained = "No prediction is explained"
    failure = "No row without a target is predicted" if is_new else unexplained
    if len(fitted_rows) > MOST_FITTED:
        yield f"{failure}: {len(fitted_rows):,} rows to fit, at most {MOST_FITTED:,} are allowed"
        return
    features = features_of(table)
    target = values_of(table, table.target)
    estimator = NPTRegressor if table.task == "regression" else NPTClassifier
    is_categorical = [table.columns[j].kind == "categorical" for j in table.features]
    model = estimator(architecture="solved", verbose=0, categorical=is_categorical)
    try:
        model.fit(
            features.iloc[fitted_rows],
            target[fitted_rows],
            groups=None if table.groups is None else table.groups[fitted_rows],
        )
        if is_new:
            frame = predictions(model, features.iloc[predicted])
            frame.insert(0, "row", predicted + 1)
            with replacing(file) as partial:
                frame.to_csv(partial, index=False)
            yield ""
            yield f"Predictions of {len(frame):,} rows without a target, by solved NPT: {file}"
            if table.groups is not None:
                known = np.isin(table.groups[predicted], table.groups[fitted_rows]).sum()
                if known:
                    yield f"As rows of new groups, also {known:,} of groups with known targets."
            failure = unexplained
        frame = model.explain(features.iloc[shown], rows=RESTING_ON).frame
    except ValueError as error:  # such as for numbers too far apart
        yield f"{failure}: {str(error).removeprefix('explain: ')}"
        return
    rows = shown[frame["row"]]
    columns = {"row": rows + 1}
    if not is_new:
        columns["truth"] = target[rows]
    columns |= {
        "predicted": frame["prediction"],
        "rests on row": fitted_rows[frame["fitted_row"]] + 1,
        "of target": frame["target"],
        "weight": frame["weight"],
    }
    as_text = []
    if table.task != "regression":
        as_text = [place for place, name in enumerate(columns) if name in CLASS_COLUMNS]
        columns["probability"] = frame["score"]
    columns["without it"] = frame["without_row"]
    fitted = "all rows with a target" if is_new else "rows that are not tested"
    yield ""
    yield f"Which rows do predictions rest on? By solved NPT, fitted to {fitted}:"
    yield tabulate(columns, headers="keys", floatfmt=".4g", disable_numparse=as_text)
    yield "Row 1 is the first one below the header."


def predictions(model: NPTRegressor | NPTClassifier, features: pd.DataFrame) -> pd.DataFrame:
    """Predictions of new rows: a number with its 90 % interval, or a class with probabilities."""
    from npt.estimator import NPTClassifier

    frame = pd.DataFrame({"prediction": model.predict(features)})
    if isinstance(model, NPTClassifier):
        columns = [f"probability of {name}" for name in model.classes_]
        return frame.join(pd.DataFrame(model.predict_proba(features), columns=columns))
    with suppress(ValueError):  # fewer rows than intervals need
        frame[["lower", "upper"]] = model.predict_interval(features, 0.9)
    return frame
