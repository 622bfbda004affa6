"""When do other rows help? Dependence and benefit against what can be computed of a table.

Reads the `main`, `corruption` and `benefit` csv files of a run over many tables. An effect is the
logarithm of the factor of RMSE, or the rise of the NLL in nats per row: of permuting the other
rows, or of training without them. Correlations are Spearman's, with the 95 % interval of a
bootstrap over tables.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.spatial.distance import pdist, squareform
from scipy.stats import spearmanr
from sklearn.preprocessing import StandardScaler

from npt.data.datasets import datasets
from npt.data.frames import features_of
from npt.data.preparation import prepare_declared
from npt.table import Table
from performance.machine import parser, start, write
from workflow.results.study_file import read_study
from workflow.studies.row_effects import row_effects

FEWEST_TABLES = 8
SAMPLES = 2000
MOST_ROWS = 2000  # for distances between rows
NEAR = 0.1  # of the median distance


def main() -> None:
    """Command line of the analysis."""
    options = parser(__doc__)
    options.add_argument("folder", type=Path, help="such as results/reference/public")
    arguments = options.parse_args()
    start(arguments)
    effects = row_effects(arguments.folder)
    facts = pd.DataFrame({name: facts_of(name) for name in effects["dataset"].unique()}).T
    noise = noise_of(read_study(arguments.folder / "main.csv"))
    rows = correlations(effects, facts.join(noise))
    print(pd.DataFrame(rows).to_markdown(index=False, floatfmt=".2f"))
    write(arguments, "when_rows_help", rows)


def facts_of(name: str) -> dict[str, float]:
    """Rows, features, share of categories, repeated and near rows, and effective dimension."""
    with tempfile.TemporaryDirectory() as downloads:
        table = prepare_declared(datasets()[name], Path(downloads)).table
    features = features_of(table)
    points = _points(features)
    sample = np.random.default_rng(0).permutation(len(points))[:MOST_ROWS]
    distances = squareform(pdist(points[sample]))
    np.fill_diagonal(distances, np.inf)
    typical = np.median(distances[np.isfinite(distances)])
    variances = np.linalg.eigvalsh(np.cov(points.T))
    return {
        "rows": table.rows,
        "features": features.shape[1],
        "categories": _share_of_categories(table),
        "repeated rows": features.duplicated(keep=False).mean(),
        "near rows": (distances.min(0) < NEAR * typical).mean(),
        "effective dimension": variances.sum() ** 2 / (variances**2).sum(),
    }


def _share_of_categories(table: Table) -> float:
    kinds = [table.columns[j].kind for j in table.features]
    return kinds.count("categorical") / len(kinds)


def _points(features: pd.DataFrame) -> np.ndarray:
    """Standardised numbers and indicators of categories (n, p), means where cells are missing."""
    numbers = pd.get_dummies(features, dtype=float)
    numbers = numbers.fillna(numbers.mean()).fillna(0.0)
    return StandardScaler().fit_transform(numbers)


def noise_of(main: pd.DataFrame) -> pd.Series:
    """Lowest test loss of any method in units of that of the constant, by dataset."""
    loss = np.where(main["task"] == "regression", main["test_rmse"], main["test_nll"])
    means = main.assign(loss=loss).pivot_table("loss", "dataset", "method")
    return (means.min(axis=1) / means["constant"]).rename("noise")


def correlations(effects: pd.DataFrame, facts: pd.DataFrame) -> list[dict[str, Any]]:
    """A row for each kind of effect, method, group of tasks and fact."""
    is_regression = effects["task"] == "regression"
    effects = effects.assign(tables=np.where(is_regression, "regressions", "classifications"))
    rows = []
    for (kind, tables, method), part in effects.groupby(["kind", "tables", "method"]):
        if len(part) < FEWEST_TABLES:
            continue
        for fact, values in facts.loc[part["dataset"]].items():
            low, high = _interval(part["effect"].to_numpy(), values.to_numpy(float))
            rows.append(
                {
                    "effect": kind,
                    "method": method,
                    "of": tables,
                    "tables": len(part),
                    "fact": fact,
                    "correlation": _spearman(part["effect"].to_numpy(), values.to_numpy(float)),
                    "low": low,
                    "high": high,
                }
            )
    return rows


def _interval(effects: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    draws = np.random.default_rng(0).integers(len(effects), size=(SAMPLES, len(effects)))
    samples = [_spearman(effects[draw], values[draw]) for draw in draws]
    low, high = np.nanquantile(samples, [0.025, 0.975])
    return float(low), float(high)


def _spearman(effects: np.ndarray, values: np.ndarray) -> float:
    if np.ptp(effects) == 0 or np.ptp(values) == 0:
        return float("nan")
    correlation: Any = spearmanr(effects, values)
    return float(correlation.statistic)


if __name__ == "__main__":
    main()
