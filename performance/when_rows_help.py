"""When do other rows help? Dependence and benefit against what can be computed of a table.

Reads the `main`, `corruption` and `benefit` csv files of a run over many tables. An effect is the
logarithm of the factor of RMSE, or the rise of the NLL in nats per row: of permuting the other
rows, or of training without them. Correlations are Spearman's, with the 95 % interval of a
bootstrap over tables.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.spatial.distance import pdist, squareform
from sklearn.preprocessing import StandardScaler

from npt.data.frames import features_of
from performance.machine import parser, prepared, report, start
from workflow.config.fields import BASE
from workflow.results.study_file import read_study
from workflow.studies.benefit import OTHER_ROWS
from workflow.studies.errors import effect, kinds_of_tables, losses

KEYS = ["dataset", "task", "method", "fold"]
FEWEST_TABLES = 8
SAMPLES = 2000
MOST_ROWS = 2000  # for distances between rows
NEAR = 0.1  # of the median distance


def main() -> None:
    """Command line of the analysis."""
    options = parser(__doc__)
    options.add_argument("folder", type=Path, help="such as results/reference/public")
    arguments = start(options)
    effects = row_effects(arguments.folder)
    facts = pd.DataFrame({name: facts_of(name) for name in effects["dataset"].unique()}).T
    main = read_study(arguments.folder / "main.csv")
    loss = np.where(main["task"] == "regression", main["test_rmse"], main["test_nll"])
    means = main.assign(loss=loss).pivot_table("loss", "dataset", "method")
    facts["noise"] = means.min(axis=1) / means["constant"]  # the lowest loss of any method
    report(arguments, correlations(effects, facts))


def row_effects(folder: Path) -> pd.DataFrame:
    """Effects by dataset, task, method and kind: means over folds, in the order of the studies.

    `depends` is of permuting the other rows (`corruption.csv`), `benefits` of training without
    them (`benefit.csv`), of models with such twins. Where `benefit.csv` has the base that twins
    are compared with, both are of it, and not of a tuned model.
    """
    trained = read_study(folder / "benefit.csv")
    trained = trained.assign(loss=losses(trained, "test_"))
    by_fold = trained.groupby([*KEYS, "variant"], sort=False)["loss"]
    variants = by_fold.mean(skipna=False).unstack("variant")
    benefits = effect(variants[BASE], variants[OTHER_ROWS.twin])
    probed = read_study(folder / "corruption.csv")
    base = trained[(trained["variant"] == BASE) & losses(trained, "corrupted_").notna()]
    is_base = pd.MultiIndex.from_frame(probed[KEYS]).isin(pd.MultiIndex.from_frame(base[KEYS]))
    probed = pd.concat([base, probed[~is_base]])
    depends = effect(losses(probed, "clean_"), losses(probed, "corrupted_"))
    frames = [
        benefits.rename("effect").reset_index().assign(kind="benefits"),
        probed[KEYS].assign(kind="depends", effect=depends),
    ]
    by_model = pd.concat(frames).groupby([*KEYS[:-1], "kind"], sort=False)
    return by_model["effect"].mean(skipna=False).dropna().reset_index()


def facts_of(name: str) -> dict[str, Any]:
    """Rows, features, share of categories, repeated and near rows, and effective dimension."""
    table = prepared(name).table
    features = features_of(table)
    kinds = [table.columns[j].kind for j in table.features]
    numbers = pd.get_dummies(features, dtype=float)
    numbers = numbers.fillna(numbers.mean()).fillna(0.0)
    points = StandardScaler().fit_transform(numbers)
    sample = np.random.default_rng(0).permutation(len(points))[:MOST_ROWS]
    pairs = pdist(points[sample])
    distances = squareform(pairs)
    np.fill_diagonal(distances, np.inf)
    variances = np.linalg.eigvalsh(np.cov(points.T))
    return {
        "rows": table.rows,
        "features": features.shape[1],
        "categories": kinds.count("categorical") / len(kinds),
        "repeated rows": features.duplicated(keep=False).mean(),
        "near rows": (distances.min(0) < NEAR * np.median(pairs)).mean(),
        "effective dimension": variances.sum() ** 2 / (variances**2).sum(),
    }


def correlations(effects: pd.DataFrame, facts: pd.DataFrame) -> list[dict[str, Any]]:
    """A row for each kind of effect, method, group of tasks and fact."""
    effects = effects.assign(tables=kinds_of_tables(effects))
    rows = []
    for (kind, tables, method), part in effects.groupby(["kind", "tables", "method"]):
        if len(part) < FEWEST_TABLES:
            continue
        samples = np.random.default_rng(0).integers(len(part), size=(SAMPLES, len(part)))
        sizes = part["effect"].to_numpy()
        for fact, column in facts.loc[part["dataset"]].items():
            values = column.to_numpy(float)
            bootstrap = spearman(sizes[samples.T], values[samples.T])
            (correlation,) = spearman(sizes[:, None], values[:, None])
            row = {
                "effect": kind,
                "method": method,
                "of": tables,
                "tables": len(part),
                "fact": fact,
                "correlation": correlation,
                "low": bootstrap.quantile(0.025),
                "high": bootstrap.quantile(0.975),
            }
            rows.append(row)
    return rows


def spearman(first: np.ndarray, second: np.ndarray) -> pd.Series:
    """Rank correlations of columns; NaN where all values are equal."""
    return pd.DataFrame(first).rank().corrwith(pd.DataFrame(second).rank())


if __name__ == "__main__":
    main()
