"""Variants compared with their base (paper Tables 4, 5 and 13)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from npt.metrics import METRICS
from workflow.config.fields import BASE
from workflow.config.scoring import Scoring
from workflow.presentation.cells import emphasised, metric_decimals, number, texts, with_errors
from workflow.presentation.cost import cost
from workflow.presentation.drawing import EQUAL, facets, points
from workflow.presentation.published import (
    DIFFERENCE,
    DIFFERENCE_NOTE,
    difference_cells,
    differences_from_paper,
    paper_name,
    published,
    scaled,
)
from workflow.presentation.sections import Section, Table, View, failure_notes, with_notes
from workflow.presentation.statistics import (
    LEVEL,
    MODEL,
    complete,
    fold_differences,
    fold_means,
    fold_test,
    fraction_tested,
    framed,
    of_model,
    standard_error,
    summarise,
    tasks_of,
    with_columns,
)
from workflow.presentation.titles import dataset_title, method_titles

TABLE_5_VARIANTS = {"base", "without_attributes", "no_feature_masking"}
OPTIONAL = [  # columns that the tidy table has even if they are empty
    "seed_deviation",
    "published",
    "published_error",
    "published_rank",
    "published_rank_error",
]
SEEDS = "Over seeds"
RANK = "Validation rank"
PAPER_RANK = "Paper, Table 13"
NOTE = (
    "The change is the mean and standard error over folds of the difference from the base on the "
    "same fold. Bold: differs from zero at the 5 % level by the corrected resampled t-test "
    "(Nadeau and Bengio 2003), without a correction for the number of variants."
)
ONE_FOLD_NOTE = "The change is the difference from the base. One fold tests nothing."
SEEDS_NOTE = f"`{SEEDS}` is the standard deviation over seeds, pooled over folds."
RANK_NOTE = (
    f"`{RANK}`: by validation loss on a fold, from 0 as in the paper's Table 13, averaged over "
    "folds. Equal losses share a rank."
)
TABLE_5_NOTE = (
    "The base of the paper's Table 5 is its main result: on the small datasets that is the best of "
    "eight configurations on each fold. Its Income masks no features, so that the variant without "
    "is the base."
)


def paper_table(dataset: str, variants: set[str]) -> str:
    """The table of the paper that has these variants; empty if there is none.

    A dataset whose base masks no features needs no variant without.
    """
    table_4_variants = published()["table_4_ablation"]["cells"]["protein"]
    if variants >= set(table_4_variants):
        return "table_4_ablation"
    unmasked = published()["table_5_ablation"]["without_feature_masking_by_default"]
    if paper_name(dataset) in unmasked:
        variants = {*variants, "no_feature_masking"}
    if variants >= TABLE_5_VARIANTS:
        return "table_5_ablation"
    return ""


def paper_facts(variants: set[str], row: Mapping[Any, Any]) -> dict[str, Any]:
    """The paper's numbers of a row, as far as it prints some for these variants of its dataset.

    Returns:
        `paper_table`, which may be empty; `published` and `published_error`, the mean and standard
        error of its test metric; `published_rank` and `published_rank_error` of Table 13, if the
        dataset has exactly its variants.
    """
    table = paper_table(row["dataset"], variants)
    facts: dict[str, Any] = {"paper_table": table}
    if row["method"] != "npt":
        return facts
    if table:
        cells = published()[table]["cells"].get(paper_name(row["dataset"]), {})
        cell = cells.get(row["variant"])
        if cell and cells.get("metric", "rmse") == row["metric"]:
            facts["published"], facts["published_error"] = scaled(cell, row["metric"])
    ranks = published()["table_13_configuration_rank"]["cells"].get(row["dataset"], {})
    if variants == set(ranks):
        cell = ranks[row["variant"]]
        facts["published_rank"] = cell["value"]
        facts["published_rank_error"] = cell["standard_error"]
    return facts


def ablation_table(study: pd.DataFrame, scoring: Scoring) -> Table:
    """Test metric of every variant, its change from the base, and its rank on validation rows."""
    tidy = changes(study, scoring)
    sections = [_section(str(name), part) for name, part in tidy.groupby("dataset", sort=False)]
    has = tidy.notna().any()
    notes = {
        NOTE: has["change_error"],
        ONE_FOLD_NOTE: has["change"] and not has["change_error"],
        SEEDS_NOTE: has["seed_deviation"],
        RANK_NOTE: has["rank"],
        TABLE_5_NOTE: (tidy["paper_table"] == "table_5_ablation").any(),
        DIFFERENCE_NOTE: has["standard_errors"],
    }
    return Table(tidy, with_notes(sections, *(note for note, applies in notes.items() if applies)))


def changes(study: pd.DataFrame, scoring: Scoring) -> pd.DataFrame:
    """A row for each variant: its summary, change from the base, rank, and the paper's numbers.

    `change` is the mean difference from the base on the same fold; NaN for the base, and where a
    fold failed. `rank` is that by validation loss, from 0.
    """
    folds = fold_means(study)
    summaries = [summarise(study, task, scoring.metrics[task]) for task in tasks_of(study)]
    summary = pd.concat(summaries, ignore_index=True)
    variants = summary.groupby("dataset")["variant"].agg(set)
    rows = []
    for row in summary.to_dict("records"):
        differences = _differences(folds, row)
        p_value, _ = fold_test(differences, fraction_tested(of_model(folds, row)))
        rows.append(
            {
                **row,
                "change": differences.mean(),
                "change_error": standard_error(differences),
                "p_value": p_value,
                **paper_facts(variants[row["dataset"]], row),
            }
        )
    tidy = framed(rows, OPTIONAL).merge(_validation_ranks(folds), on=MODEL, how="left")
    return tidy.assign(standard_errors=differences_from_paper(tidy, "mean"))


def _differences(folds: pd.DataFrame, row: Mapping[Any, Any]) -> pd.Series:
    """Difference of a variant from its base on each fold; empty for the base and after failures."""
    column = f"test_{row['metric']}"
    variant = of_model(folds, row).set_index("fold")
    base = of_model(folds, {**row, "variant": BASE}).set_index("fold")
    statuses = {*variant["status"], *base["status"]}
    if row["variant"] == BASE or column not in folds or statuses != {"ok"}:
        return pd.Series(dtype=float)
    return complete(fold_differences(variant[column], base[column]))


def _validation_ranks(folds: pd.DataFrame) -> pd.DataFrame:
    """Ranks on the folds on which every variant has a result, averaged over these folds."""
    folds = with_columns(folds, ["validation_loss"])
    folds["loss"] = folds["validation_loss"].where(folds["status"] == "ok")
    variants = folds.groupby(MODEL[:2])["variant"].transform("nunique")
    losses = folds.groupby([*MODEL[:2], "fold"])["loss"]
    ranked = folds.assign(rank=losses.rank() - 1)[losses.transform("count") == variants]
    ranks = ranked.groupby(MODEL)["rank"]
    return ranks.agg(rank="mean", rank_error=standard_error).reset_index()


def _section(dataset: str, part: pd.DataFrame) -> Section:
    metric = METRICS[part["metric"].iloc[0]]
    better = "higher" if metric.higher_is_better else "lower"
    paper_number = part["paper_table"].iloc[0].removeprefix("table_").removesuffix("_ablation")
    paper = f"Paper, Table {paper_number}"
    change_cells = []
    seeds_cells = []
    for row in part.to_dict("records"):
        digits = metric_decimals(row["mean"])
        cell = number(row["change"], digits, error=row["change_error"], sign=True)
        change_cells.append(emphasised(cell, row["p_value"] < LEVEL))
        seeds_cells.append(number(row["seed_deviation"], digits))
    columns = {
        "Variant": texts(method_titles(part)),
        metric.title: with_errors(part, "mean"),
        SEEDS: seeds_cells,
        "Change": change_cells,
        paper: with_errors(part, "published", error="published_error"),
        DIFFERENCE: difference_cells(part),
        RANK: with_errors(part, "rank", 2, error="rank_error"),
        PAPER_RANK: with_errors(part, "published_rank", 2, error="published_rank_error"),
    }
    title = f"{dataset_title(dataset)}: test {metric.title} ({better} is better) of each variant"
    section = Section(title, columns, failure_notes(part))
    return section.without_empty(SEEDS, "Change", paper, DIFFERENCE, RANK, PAPER_RANK)


def ablation_figure(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Change of the test metric when one part of the model is removed or altered, with its standard
    error over folds. In a study without a whole model, the metric itself with its deviation over
    seeds. A change near zero shows no measurable effect of that part on these folds.
    """
    tidy = changes(study, scoring)
    variants = tidy[tidy["variant"] != BASE]
    figure, datasets = facets(variants.assign(title=method_titles(variants)), "dataset")
    for dataset, part, axis in datasets:
        metric = METRICS[part["metric"].iloc[0]]
        label = f"test {metric.title}"
        if part["change"].notna().any():
            points(axis, part, "change", "change_error")
            axis.axvline(0, **EQUAL)
            label = f"change of {label}"
        else:
            points(axis, part, "mean", "seed_deviation")
        better = "right" if metric.higher_is_better else "left"
        axis.set(title=dataset_title(dataset), xlabel=f"{label}\n({better} is better)")
    return figure


VIEW = View(
    tables={"ablation": ablation_table, "cost": cost},
    figures={"ablation": ablation_figure},
    scored=True,
)
