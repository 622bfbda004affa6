"""The first table of a benchmark, all methods on all datasets, and its scores for BenchEval."""

from __future__ import annotations

import numpy as np
import pandas as pd

from npt.metrics import METRICS
from workflow.config.scoring import Scoring
from workflow.presentation.cells import (
    MISSING,
    Cell,
    count,
    counted,
    emphasised,
    followed_by,
    formatted,
    listed,
    metric_decimals,
    p_value,
    percents,
    seconds,
    texts,
    with_errors,
)
from workflow.presentation.ranks import FEWEST_RANKED, RankTests, rank_matrix, rank_tests, refusal
from workflow.presentation.sections import Section, Table, failure_notes
from workflow.presentation.statistics import (
    LEVEL,
    METHOD,
    datasets_and_folds,
    fold_differences,
    fold_means,
    fold_test,
    folds_of,
    fraction_tested,
    standard_error,
    tasks_of,
    with_columns,
    without_noise,
)
from workflow.presentation.titles import dataset_title, method_title, method_titles
from workflow.studies.errors import p_values

MOST_DATASETS = 12  # that have columns of their own
LEADERS = 3  # that the answer names
ELO_REFERENCE = "random_forest"  # has an Elo of 1000, as in TabArena; the best where it is absent
UNTESTED = "†"
AGAINST = "p, against the best"
ERROR_NOTE = "± is the standard error over folds, or over datasets of a rank."
BEST_NOTE = "Bold: the best mean."
TEST_NOTE = (
    f"Shaded or italic: not significantly different from the best at the {100 * LEVEL:.0f} % level "
    "by the corrected resampled t-test over folds (Nadeau and Bengio 2003), without a correction "
    "for the number of methods."
)
RANKS_NOTE = (
    "Friedman's test of the hypothesis that all methods rank alike, by permutation of the ranks "
    "within datasets: p = {p}. p against the best is of Nemenyi's test, where Friedman's rejects, "
    "bold below {level}."
)
BOARD_NOTE = (
    "By TabArena's evaluator: Elo with the 95 % interval over datasets of its difference from the "
    "method of 1,000, none of a method that always or never wins; win rate against the other "
    "methods; and improvability, the part of the error that the best method of a dataset saves."
)
SECONDS_NOTE = "Seconds: search and training on a fold."
BENCHEVAL_COLUMNS = {
    "dataset": "task",
    "fold": "seed",
    "fit_seconds": "time_train_s",
    "predict_seconds": "time_infer_s",
}


def scores(study: pd.DataFrame, scoring: Scoring) -> Table:
    """The metric of each task on its datasets, mean ranks and seconds; the best methods first.

    More than `MOST_DATASETS` have no columns of their own.
    """
    tests = rank_tests(study, scoring)
    ranks = tests.ranks
    tidy = _with_tests(tests.summary, study)
    order = ranks.columns.to_frame(index=False)
    columns = {"Method": texts(method_titles(order))}
    if len(ranks) <= MOST_DATASETS:
        is_tested = bool(tidy["p_value"].notna().any())
        for dataset, part in tidy.groupby("dataset", sort=False):
            metric = METRICS[part["metric"].iloc[0]]
            title = f"{dataset_title(str(dataset))}, {metric.title}"
            title += " ↑" if metric.higher_is_better else " ↓"
            columns[title] = _cells(order.merge(part, on=METHOD, how="left"), marks=is_tested)
    if len(ranks) >= FEWEST_RANKED:
        means = ranks.agg(["mean", standard_error]).T
        columns["Mean rank"] = with_errors(means, "mean", 2)
    if not tests.refusal:
        columns[AGAINST] = p_values(tests.pairs.iloc[0])
        columns |= _leaderboard_columns(study, scoring, order)
    times = with_columns(study, ["fit_seconds"]).groupby(METHOD)["fit_seconds"].mean()
    columns["Seconds"] = [seconds(times[name]) for name in ranks.columns]
    title = f"Test scores on {counted(len(ranks), 'dataset')}"
    notes = _notes(tidy, tests, has_elo="Elo" in columns)
    return Table(tidy, (Section(title, columns, notes),))


def scores_answer(tidy: pd.DataFrame) -> str:
    """The methods with the best mean ranks, or scores of too few datasets or a single method."""
    if tidy["mean"].isna().all():
        return ""
    ranks = rank_matrix(tidy)
    if len(ranks) < FEWEST_RANKED or len(ranks.columns) == 1:
        scored = tidy.dropna(subset="mean").groupby("dataset", sort=False)
        return " ".join(_best_of(rows) for _, rows in scored)
    means = ranks.mean().sort_values(kind="stable")
    leaders = []
    for (method, variant), rank in means.head(LEADERS).items():  # type: ignore[misc]
        leaders.append(f"{method_title(method, variant)} ({rank:.2f})")
    ranked = tidy[tidy["dataset"].isin(ranks.index)].dropna(subset="mean")  # failures have 0 folds
    extent = datasets_and_folds(ranked)
    methods = counted(len(means), "method")
    answer = f"{listed(leaders)} have the best mean ranks of {methods} on {extent}."
    if refusal(ranks):
        answer += f" Ranks are not tested: {refusal(ranks)}."
    return answer


def _best_of(rows: pd.DataFrame) -> str:
    """The methods with the best scores on a dataset."""
    leaders = []
    for row in rows.sort_values("rank", kind="stable").head(LEADERS).to_dict("records"):
        score = formatted(row["mean"], metric_decimals(row["mean"]))
        leaders.append(f"{method_title(row['method'], row['variant'])} ({score})")
    metric = METRICS[rows["metric"].iloc[0]].title
    dataset = dataset_title(rows["dataset"].iloc[0])
    verb = "has" if len(leaders) == 1 else "have"
    return f"{dataset}: {listed(leaders)} {verb} the best {metric}; {folds_of(rows)}."


def _with_tests(tidy: pd.DataFrame, study: pd.DataFrame) -> pd.DataFrame:
    """Add `is_best`, `p_value` of the test against the best model, and why it is `untested`."""
    folds = fold_means(study)
    lowest = tidy.groupby("dataset")["rank"].transform("min")
    is_best = tidy["mean"].notna() & (tidy["rank"] == lowest)
    tidy = tidy.assign(is_best=is_best, p_value=np.nan, untested="")
    for dataset, part in tidy.dropna(subset="mean").groupby("dataset", sort=False):
        rows = folds[folds["dataset"] == dataset]
        fraction = fraction_tested(rows.groupby("fold").first())
        scores = rows.pivot(index="fold", columns=METHOD, values=f"test_{part['metric'].iloc[0]}")
        best = scores[tuple(part.loc[part["is_best"], METHOD].iloc[0])]
        for index, model in part[~part["is_best"]].iterrows():
            changes = fold_differences(scores[tuple(model[METHOD])], best).dropna()
            tidy.loc[index, ["p_value", "untested"]] = fold_test(changes, fraction)
    return tidy


def _cells(rows: pd.DataFrame, *, marks: bool) -> list[Cell]:
    """Scores on a dataset: the best bold, those that do not differ italic, untested ones marked."""
    cells = []
    for mean, row in zip(with_errors(rows, "mean"), rows.to_dict("records"), strict=True):
        cell = emphasised(mean, row["is_best"], italic=row["p_value"] >= LEVEL)
        if marks and row["untested"]:
            cell = followed_by(cell, f" {UNTESTED}")
        cells.append(cell)
    return cells


def _leaderboard_columns(
    study: pd.DataFrame, scoring: Scoring, order: pd.DataFrame
) -> dict[str, list[Cell]]:
    """Elo with its interval, win rate and improvability.

    None where a result is missing, or two methods have one title. `elo+` and `elo-` are the
    distances to the ends of Elo's 95 % interval, over datasets.
    """
    from bencheval.evaluator import BenchmarkEvaluator

    titles = method_titles(order)
    tidy = bencheval(study, scoring).tidy
    is_complete = (study["status"] == "ok").all() and tidy["metric_error"].notna().all()
    if not is_complete or tidy["method"].nunique() < len(titles):
        return {}
    is_reference = order["method"] == ELO_REFERENCE
    reference = titles[int(is_reference.argmax())]
    evaluator = BenchmarkEvaluator(seed_column="seed", columns_to_agg_extra=None)
    calibration = {"calibration_framework": reference, "post_calibrate": False}
    board = evaluator.leaderboard(tidy, average_seeds=True, elo_kwargs=calibration)
    rows = board.loc[titles]
    elo = []
    for row in rows.to_dict("records"):
        lowest, highest = row["elo"] - row["elo-"], row["elo"] + row["elo+"]
        interval = f" ({count(lowest).text} to {count(highest).text})"
        has_limits = 0 < row["winrate"] < 1
        elo.append(followed_by(count(row["elo"]), interval) if has_limits else MISSING)
    return {
        "Elo": elo,
        "Win rate": percents(rows["winrate"]),
        "Improvability": percents(rows["improvability"]),
    }


def _notes(tidy: pd.DataFrame, tests: RankTests, *, has_elo: bool) -> tuple[str, ...]:
    notes = [ERROR_NOTE]
    shown = tidy[tidy["reason"] != ""]
    if len(tests.ranks) <= MOST_DATASETS:
        shown = tidy
        notes.append(BEST_NOTE)
        is_tested = tidy["p_value"].notna().any()
        if is_tested:
            notes.append(TEST_NOTE)
        reasons = "; ".join(filter(None, tidy["untested"].unique()))
        if reasons:
            sign = f"{UNTESTED} " if is_tested else ""
            notes.append(f"{sign}Not tested: {reasons}.")
    if not tests.refusal:
        notes.append(RANKS_NOTE.format(p=p_value(tests.p_value).text, level=LEVEL))
    if has_elo:
        notes.append(BOARD_NOTE)
    return (" ".join([*notes, SECONDS_NOTE]), *failure_notes(shown))


def bencheval(study: pd.DataFrame, scoring: Scoring) -> Table:
    """`metric_error` is the metric, or 1 minus it where higher is better; only a file."""
    folds = fold_means(study)
    frames = []
    for task in tasks_of(folds):
        metric = METRICS[scoring.metrics[task]]
        column = f"test_{metric.name}"
        finished = folds[(folds["task"] == task) & (folds["status"] == "ok")]
        rows = with_columns(finished, [*BENCHEVAL_COLUMNS, column])
        scores = without_noise(rows[column])
        errors = 1 - scores if metric.higher_is_better else scores
        tidy = rows[list(BENCHEVAL_COLUMNS)].rename(columns=BENCHEVAL_COLUMNS)
        names = {"method": method_titles(rows), "metric": metric.name}
        frames.append(tidy.assign(**names, metric_error=errors))
    return Table(pd.concat(frames), ())
