"""Studies that tests of tables, figures and the report share."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from npt.metrics import PAPER_METRICS
from tests.rows import row, study_frame
from workflow.config.scoring import Scoring

SCORING = Scoring(PAPER_METRICS)
SEARCH = {"grid": 480, "configurations": 480, "models": 40, "fits": 2}
FAILED = {"status": "failed", "reason": "out of memory"}


def benchmark_study(**changes: Any) -> pd.DataFrame:
    """NPT and k-NN on Breast Cancer and Yacht in two folds; k-NN's metrics are higher by 0.1."""
    rows = []
    for dataset in ("breast_cancer", "yacht"):
        for method, offset in (("npt", 0.0), ("knn", 0.1)):
            for fold in range(2):
                value = 0.5 + offset + 0.02 * fold
                facts = {**_metrics(dataset, value), **_costs(method, fold), **changes}
                rows.append(row(method, fold, dataset, **facts))
    return study_frame(rows, "main")


def seeds_study(values: dict[int, list[float]], **changes: Any) -> pd.DataFrame:
    """NPT on Yacht: RMSE by fold, one value per seed."""
    rows = []
    for fold, seed_values in values.items():
        for seed, value in enumerate(seed_values):
            rows.append(row("npt", fold, seed=seed, test_rmse=value, **changes))
    return study_frame(rows, "main")


def fold_study(differences: dict[str, list[float]], **changes: Any) -> pd.DataFrame:
    """NPT with an RMSE of 1 and other methods with 1 plus differences, on 70 train rows."""
    folds = len(next(iter(differences.values())))
    facts = {"train_rows": 70, "test_rows": 10, **changes}
    rows = []
    for method, values in {"npt": [0.0] * folds, **differences}.items():
        for fold, difference in enumerate(values):
            rows.append(row(method, fold, test_rmse=1 + difference, **facts))
    return study_frame(rows, "main")


def random_study(datasets: int, methods: int) -> pd.DataFrame:
    """Methods whose errors are random numbers."""
    values = np.random.default_rng(0).random((datasets, methods))
    rows = []
    for dataset, method_values in enumerate(values):
        for method, value in enumerate(method_values):
            rows.append(row(f"m{method}", 0, f"d{dataset}", test_rmse=float(value)))
    return study_frame(rows, "main")


def with_failure(study: pd.DataFrame, index: int = 0) -> pd.DataFrame:
    """A study of which one row is a failure."""
    study = study.copy()
    metrics = [name for name in study if name.startswith("test_") and name != "test_rows"]
    study.loc[index, metrics] = np.nan
    study.loc[index, list(FAILED)] = list(FAILED.values())
    return study


def texts(cells: Iterable[Any]) -> list[str]:
    """Cells as Markdown shows them."""
    return [f"**{cell.text}**" if cell.bold else cell.text for cell in cells]


def leading(cells: Iterable[Any]) -> list[float]:
    """The numbers with which cells begin; NaN for dashes."""
    words = [cell.text.split()[0].replace("−", "-").replace(",", "") for cell in cells]
    return [float("nan") if word == "–" else float(word) for word in words]


def _metrics(dataset: str, value: float) -> dict[str, float]:
    if dataset == "yacht":
        return {"test_rmse": value, "test_mse": value**2}
    return {"test_auroc": value, "test_accuracy": value, "test_nll": value}


def _costs(method: str, fold: int) -> dict[str, Any]:
    search: dict[str, Any] = {"fits": 1}
    if method == "knn":
        search = {**SEARCH, "failed_configurations": fold}
    return {
        **search,
        "fit_seconds": 3000.0 + 1400 * fold,
        "predict_seconds": 0.004,
        "peak_memory_mb": 1000.0 + 234 * fold,
        "threads": 1,
        "device": "cpu",
    }
