"""Sentences of a benchmark."""

from __future__ import annotations

from typing import Any

import pandas as pd

from npt.metrics import METRICS
from npt.table import Task
from workflow.config.scoring import Scoring
from workflow.report.cells import counted, decimals, formatted, metric_decimals, probability
from workflow.report.fold_tests import reference_model
from workflow.report.rank_tests import RankTests, rank_tests
from workflow.report.ranks import FEWEST_RANKED
from workflow.report.statistics import LEVEL, tasks_of
from workflow.report.titles import NPTS, TASK_TITLES, dataset_title, method_title, method_titles
from workflow.studies.benchmark.tables import fold_tests, ranks, scores
from workflow.studies.sentences import listed, per_method
from workflow.studies.study_kind import Card

QUESTION = "How accurate are the models?"
UNTESTED = "The differences are not tested: {reason}."
SHOWN = (
    "The corrected test over {folds} shows {shown} of {differences} from {reference} on single "
    "datasets, after Holm's correction on each."
)
NOT_SHOWN = (
    "The corrected test over {folds} shows none of {differences} from {reference} on single "
    "datasets, after Holm's correction on each. The clearest, {clearest} ({difference}), has "
    "p = {p_value}."
)


def finding(study: pd.DataFrame, scoring: Scoring) -> str:
    """The best of every dataset, or of a task with several; the NPTs; and what the tests show."""
    means = ranks(study, scoring).tidy
    best = scores(study, scoring).tidy
    sentences = []
    for task in tasks_of(study):
        of_task = means[means["task"] == task]
        if of_task["datasets"].max() >= FEWEST_RANKED:
            rows = study[study["task"] == task]
            sentences.append(_ranking(rows, of_task, task, scoring))
            continue
        sentences += _best_of_each(best[best["task"] == task])
    sentences.append(_tested(study, scoring))
    return " ".join(sentences)


def cards(study: pd.DataFrame, scoring: Scoring) -> list[Card]:
    """The place of the first NPT."""
    tests = rank_tests(study, scoring)
    verdict = ""
    npts = [name for name in tests.order if name[0] in NPTS]
    if npts and len(tests.ranks) >= FEWEST_RANKED:
        means = tests.ranks.mean()
        first = npts[0]
        is_better = means < means[first]
        place = int(is_better.sum()) + 1
        methods = tests.ranks.shape[1]
        shared = ", shared" if (means == means[first]).sum() > 1 else ""
        verdict = f"{method_title(*first)}: place {place} of {methods}{shared}"
    return [Card(QUESTION, verdict, headline(study, scoring))]


def headline(study: pd.DataFrame, scoring: Scoring) -> str:
    """The NPTs' mean ranks over all datasets, and whether a test separates methods.

    For fewer datasets than `FEWEST_RANKED`, the best method of each.
    """
    tests = rank_tests(study, scoring)
    if len(tests.ranks) < FEWEST_RANKED:
        return " ".join(_best_of_each(scores(study, scoring).tidy))
    methods = counted(tests.ranks.shape[1], "method")
    datasets = counted(len(tests.ranks), "dataset")
    sentence = f"Mean rank among {methods} over {datasets}: {_placings(study, tests)}"
    if tests.refusal:
        return f"{sentence}; too few datasets for a test."
    verdict = "separates methods" if tests.rejects else "does not separate methods"
    return f"{sentence}. Friedman's test {verdict} (p = {probability(tests.p_value)})."


def _best_of_each(tidy: pd.DataFrame) -> list[str]:
    """A sentence for each dataset."""
    groups = tidy.groupby("dataset", sort=False)
    return [_scores(str(dataset), part) for dataset, part in groups]


def _scores(dataset: str, part: pd.DataFrame) -> str:
    """The best mean on a dataset, and those of the NPTs."""
    title = dataset_title(dataset)
    metric = METRICS[part["metric"].iloc[0]].title
    if part["mean"].isna().all():
        return f"{title}: no method has a result."
    best = part[part["is_best"]]
    value = best["mean"].iloc[0]
    verb = "has" if len(best) == 1 else "have"
    winners = listed(method_titles(best))
    sentence = (
        f"{title}: {winners} {verb} the best {metric} ({formatted(value, metric_decimals(value))})"
    )
    others = part[part["method"].isin(NPTS) & ~part["is_best"] & part["mean"].notna()]
    others = others.sort_values("rank")
    clauses = []
    for name, mean in zip(method_titles(others), others["mean"], strict=True):
        shown = formatted(mean, metric_decimals(mean))
        clauses.append(f"; {name} has {shown}")
    return f"{sentence}{''.join(clauses)}."


def _tested(study: pd.DataFrame, scoring: Scoring) -> str:
    """How many differences on single datasets the fold tests show."""
    tidy = fold_tests(study, scoring).tidy
    tested = tidy[tidy["p_holm"].notna()]
    if tested.empty:
        return UNTESTED.format(reason=tidy["reason"].iloc[0]) if len(tidy) else ""
    reference = method_title(*reference_model(study))
    folds = counted(int(tested["folds"].max()), "fold")
    shown = int((tested["p_holm"] < LEVEL).sum())
    differences = counted(len(tested), "difference")
    if shown:
        return SHOWN.format(shown=shown, differences=differences, reference=reference, folds=folds)
    by_p_value = tested.astype({"p_holm": float}).sort_values("p_holm")
    clearest = by_p_value.iloc[0]
    title = method_title(clearest["method"], clearest["variant"])
    difference = clearest["difference"]
    return NOT_SHOWN.format(
        differences=differences,
        reference=reference,
        folds=folds,
        clearest=f"{title} on {dataset_title(clearest['dataset'])}",
        difference=formatted(difference, decimals(difference), sign=True),
        p_value=probability(clearest["p_holm"]),
    )


def _ranking(
    rows: pd.DataFrame,
    means: pd.DataFrame,
    task: Task,
    scoring: Scoring,
) -> str:
    title = TASK_TITLES[task]
    if not (rows["status"] == "ok").any():
        return f"{title}: no method has a result."
    best = means["mean_rank"].min()
    winners = method_titles(means[means["mean_rank"] == best])
    verb = "ranks first" if len(winners) == 1 else "share the first place"
    metric = METRICS[scoring.metrics[task]].title
    datasets = counted(int(means["datasets"].max()), "dataset")
    sentence = (
        f"{title} ({datasets}, {metric}): {listed(winners)} {verb} of {len(means)} "
        f"with mean rank {best:.2f}"
    )
    behind = means[means["method"].isin(NPTS) & (means["mean_rank"] > best)]
    if len(behind):
        pairs = zip(method_titles(behind), behind["mean_rank"], strict=True)
        sentence += f"; {listed([f'{name} has {mean:.2f}' for name, mean in pairs])}"
    return f"{sentence}."


def _placings(study: pd.DataFrame, tests: RankTests) -> str:
    """Mean ranks of the NPTs and of the best methods that have a result on some dataset."""
    failures = _failures(study, tests)
    means = tests.ranks.mean()
    ranked = [name for name in tests.order if failures.get(name, 0) < len(tests.ranks)]
    best = means[ranked].min() if ranked else None
    clauses = {}
    for name in tests.order:
        is_best = name in ranked and means[name] == best
        if name[0] not in NPTS and not is_best:
            continue
        clause = formatted(means[name], 2)
        if is_best:
            clause += " (the best)"
        if name in failures:
            clause += f", last for lack of a result on {failures[name]}"
        clauses[name] = clause
    return per_method(clauses)


def _failures(study: pd.DataFrame, tests: RankTests) -> dict[Any, int]:
    """Number of ranked datasets on which a method has no result."""
    failed = study[study["dataset"].isin(tests.ranks.index) & (study["status"] != "ok")]
    counts = failed.groupby(["method", "variant"])["dataset"].nunique()
    return counts.to_dict()
