"""Statistics of a study: means over seeds come first, then means and standard errors over folds.

Standard errors are sample standard deviations (ddof 1) over the square root of the count.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from npt.metrics import METRICS
from npt.table import TASKS, Task
from workflow.presentation.cells import counted
from workflow.results.row import LINEAR

LEVEL = 0.05  # significance level
FEWEST_FOLDS = 3  # of a test
ROUNDING = 1e-9  # relative difference of numbers in double precision that rounding may cause
METHOD = ["method", "variant"]
MODEL = ["dataset", *METHOD]
TRAINING = [*MODEL, "fold", "seed"]
SIZES = ["train_rows", "test_rows"]
SUMMARY_COLUMNS = [
    "task",
    *MODEL,
    "metric",
    "mean",
    "standard_error",
    "folds",
    "reason",
    "seed_deviation",
]


@dataclass(frozen=True)
class ModelRows:
    """A method's variant on a dataset.

    Attributes:
        folds: Number of folds.
        encoder: That of NPT, of images.
        reason: Reason of the first fold that failed; empty if none did.
        rows: A row per fold, averaged over seeds. Empty if a fold failed, since a mean over the
            other folds would be another quantity.
        seeds: Rows of all folds and seeds, failed ones included.
    """

    dataset: str
    method: str
    variant: str
    task: Task
    folds: int
    encoder: str
    reason: str
    rows: pd.DataFrame
    seeds: pd.DataFrame

    def facts(self) -> dict[str, Any]:
        """First columns of the model's row in a tidy table."""
        names = (*MODEL, "task", "folds", "reason")
        return {name: getattr(self, name) for name in names}


def tasks_of(study: pd.DataFrame) -> list[Task]:
    """Tasks that occur in a study."""
    present = set(study["task"].unique())
    return [task for task in TASKS if task in present]


def fold_means(study: pd.DataFrame) -> pd.DataFrame:
    """One row per model and fold: numbers averaged over seeds, the rest from the first seed.

    A fold of which a seed failed has the status and the reason of that seed.
    """
    keys = [*MODEL, "fold"]
    if not study[keys].duplicated().any():
        return study
    numbers = list(study.select_dtypes("number").columns.drop(["fold", "seed"]))
    failed = study["status"] != "ok"
    reasons = "seed " + study["seed"].astype(str) + ": " + study["reason"].astype(str)
    named = study.assign(reason=study["reason"].mask(failed, reasons))
    failed_first = pd.concat([named[failed], named[~failed]])
    rows = failed_first.drop_duplicates(keys).set_index(keys)
    means = study.groupby(keys, sort=False)[numbers].mean(skipna=False)
    rows = rows.reindex(means.index)
    rows[numbers] = means
    return rows.reset_index()[list(study.columns)]


def datasets_and_folds(models: pd.DataFrame) -> str:
    """How many datasets there are, and folds of each: `2 datasets × up to 3 folds`."""
    return f"{counted(models['dataset'].nunique(), 'dataset')} × {folds_of(models)}"


def folds_of(models: pd.DataFrame) -> str:
    """How many folds models have: `up to 3 folds` where some have fewer."""
    most = "up to " if models["folds"].nunique() > 1 else ""
    return most + counted(int(models["folds"].max()), "fold")


def nearly_equal(values: pd.Series | np.ndarray) -> bool:
    """Whether values differ by rounding alone."""
    largest = np.abs(values).max()
    return bool(np.ptp(values) <= ROUNDING * largest)


def fold_differences(values: pd.Series, base: pd.Series) -> pd.Series:
    """Differences on the folds of both, 0 where rounding may have caused them; NaN elsewhere."""
    changes = values - base
    return changes.mask(changes.abs() <= ROUNDING * base.abs().max(), 0.0)


def without_noise(values: pd.Series) -> pd.Series:
    """Values to twelve digits, so that those that differ by rounding alone are equal."""
    return values.map(lambda value: float(f"{value:.12g}"))


def complete(values: pd.Series) -> pd.Series:
    """Values of folds; none if one is missing, since a mean of the others is another quantity."""
    return values[:0] if values.isna().any() else values


def standard_error(values: pd.Series) -> float:
    """Standard error of a mean; NaN for one value or a missing one, 0 for nearly equal ones."""
    if len(values) < 2:
        return float("nan")
    if nearly_equal(values):
        return 0.0
    error: Any = values.sem(skipna=False)
    return float(error)


def t_quantile(folds: pd.Series) -> np.ndarray:
    """Standard errors (n,) beyond which a mean over folds differs from 0 at the 5 % level.

    Of Student's t, two-sided; 4.3 for three folds. NaN for a single fold.
    """
    from scipy.stats import t

    return t.ppf(1 - LEVEL / 2, folds.to_numpy(dtype=float) - 1)


def fold_test(differences: pd.Series, test_fraction: float) -> tuple[float, str]:
    """Whether a mean over folds differs from zero (Nadeau and Bengio 2003).

    Every test over folds is this one.

    Args:
        differences: One per fold.
        test_fraction: Test rows over train rows of a fold; NaN if unknown.

    Returns:
        The two-sided p-value, and the reason if it is NaN because there is no test.
    """
    from scipy.stats import t

    folds = len(differences)
    if folds < FEWEST_FOLDS:
        few = f"too few for a test, at least {FEWEST_FOLDS} are needed"
        return np.nan, f"{counted(folds, 'fold')}: {few}"
    if not test_fraction > 0:
        return np.nan, "these rows lack the number of train rows"
    if nearly_equal(differences):
        return np.nan, "the same difference on every fold"
    values = differences.to_numpy()
    variance = (1 / folds + test_fraction) * values.var(ddof=1)
    return 2 * float(t.sf(abs(values.mean()) / np.sqrt(variance), folds - 1)), ""


def fraction_tested(rows: pd.DataFrame) -> float:
    """Test rows over train rows, as the mean over folds; NaN where a row does not have them."""
    sizes = rows.reindex(columns=SIZES).astype(float)
    return float((sizes["test_rows"] / sizes["train_rows"]).mean(skipna=False))


def by_model(study: pd.DataFrame) -> list[ModelRows]:
    """Models of a study, in the order in which their datasets first occur."""
    study = with_columns(study, ["encoder"])
    models = []
    for (dataset, method, variant), seeds in study.groupby(MODEL, sort=False):
        rows = fold_means(seeds)
        reason = ""
        failed = rows[rows["status"] != "ok"]
        if len(failed):
            reason = f"fold {failed['fold'].iloc[0]}: {failed['reason'].iloc[0]}"
        encoder = rows["encoder"].iloc[0]
        model = ModelRows(
            dataset=str(dataset),
            method=str(method),
            variant=str(variant),
            task=rows["task"].iloc[0],
            folds=len(rows),
            encoder=LINEAR if pd.isna(encoder) else encoder,
            reason=reason,
            rows=rows[:0] if reason else rows,
            seeds=seeds,
        )
        models.append(model)
    order = list(study["dataset"].unique())
    return sorted(models, key=lambda model: order.index(model.dataset))


def summarise(study: pd.DataFrame, task: Task, metric: str) -> pd.DataFrame:
    """Mean and standard error over folds of a test metric, for every model of a task.

    A model of which a fold failed, or has no value of the metric, has a reason instead of a mean.
    `seed_deviation` is the standard deviation over seeds, pooled over folds; NaN of a single seed.
    """
    column = f"test_{metric}"
    names = [*MODEL, "task", "fold", "seed", "status", "reason", column]
    study = study[study["task"] == task].reindex(columns=names)
    rows = []
    for model in by_model(study):
        values = model.rows[column].astype(float)
        undefined = model.rows.loc[values.isna(), "fold"]
        reason = model.reason
        if len(undefined):
            title = METRICS[metric].title
            reason = f"fold {undefined.iloc[0]}: no {title} on its test rows"
            values = values[:0]
        row = {
            **model.facts(),
            "metric": metric,
            "mean": values.mean(),
            "standard_error": standard_error(values),
            "folds": len(values),
            "reason": reason,
        }
        if len(values) and model.seeds["seed"].nunique() > 1:
            variances = model.seeds.groupby("fold")[column].var(ddof=1)
            row["seed_deviation"] = variances.mean() ** 0.5
        rows.append(row)
    return pd.DataFrame(rows, columns=SUMMARY_COLUMNS)


def without_failures(study: pd.DataFrame) -> pd.DataFrame:
    """Rows, of all seeds, of the models of which no fold failed."""
    complete = [model.seeds for model in by_model(study) if not model.reason]
    return pd.concat([study.iloc[:0], *complete])


def facts_of(study: pd.DataFrame, column: str, names: Iterable[str] = ()) -> pd.DataFrame:
    """Facts of the models without failures, a row for each model, fold, seed and entry.

    Args:
        names: Facts that the frame has even if it is empty.
    """
    frames = [pd.DataFrame(columns=[*TRAINING, *names], dtype=float)]
    for row in _with_facts(study, column).to_dict("records"):
        facts = pd.json_normalize(json.loads(row[column]), max_level=0)
        entries = facts.explode(list(facts.columns))
        frames.append(entries.assign(**{name: row[name] for name in TRAINING}))
    return pd.concat(frames[1:] or frames, ignore_index=True).infer_objects()


def first_facts(study: pd.DataFrame, column: str) -> Iterator[tuple[dict[Any, Any], Any]]:
    """The first row of each model without failures, and its facts."""
    for row in _with_facts(study, column).drop_duplicates(MODEL).to_dict("records"):
        yield row, json.loads(row[column])


def _with_facts(study: pd.DataFrame, column: str) -> pd.DataFrame:
    return with_columns(without_failures(study), [column]).dropna(subset=column)


def of_model(frame: pd.DataFrame, facts: Mapping[Any, Any]) -> pd.DataFrame:
    """Rows of the model that `facts` name."""
    is_model = frame[MODEL] == [facts[column] for column in MODEL]
    return frame[is_model.all(axis=1)]


def with_columns(study: pd.DataFrame, names: Iterable[str]) -> pd.DataFrame:
    """A study with empty columns for those of the names that it lacks."""
    columns = dict.fromkeys([*study.columns, *names])
    return study.reindex(columns=list(columns))


def framed(rows: list[dict[str, Any]], columns: Iterable[str]) -> pd.DataFrame:
    """A frame of rows that has all of the columns, even where no row has them."""
    return with_columns(pd.DataFrame(rows), columns)


def signed_rank_p(less: pd.Series, more: pd.Series, fewest: int = 5) -> float:
    """One-sided p-value of Wilcoxon's signed-rank test that `less` is smaller than `more`.

    NaN for fewer than `fewest` pairs that differ.
    """
    from scipy.stats import wilcoxon

    differences = (less - more).dropna()
    if (differences != 0).sum() < fewest:
        return float("nan")
    test: Any = wilcoxon(differences, alternative="less")
    return float(test.pvalue)
