"""What README and findings state is true of the committed rows."""

from __future__ import annotations

import json
import re
import runpy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy.stats import ttest_1samp, ttest_rel, wilcoxon
from sklearn import datasets

import npt
from npt.data.public import public_tables
from npt.provenance import ROOT
from performance.pictures import OF_YACHT, effects_by_updates
from performance.when_rows_help import row_effects
from tests.workflow.report.toy import SCORING
from workflow.config.reading import read
from workflow.presentation.ranks import primary_summary, rank_tests
from workflow.presentation.sections import Section, Table
from workflow.presentation.statistics import facts_of, fold_test, fraction_tested
from workflow.report.summary import reference_study
from workflow.studies import kinds
from workflow.studies.errors import effect, losses

README = (ROOT / "README.md").read_text(encoding="utf-8")
FINDINGS = (ROOT / "docs/findings.md").read_text(encoding="utf-8")
ESTIMATORS = (ROOT / "docs/estimators.md").read_text(encoding="utf-8")
DOCUMENTS = [ROOT / "README.md", ROOT / "config/README.md", *sorted((ROOT / "docs").glob("*.md"))]


def table_of(study: str, kind: str, table: str = "") -> Table:
    """A table of a study of the reference, by default that of the kind's name."""
    return kinds()[kind].view.table(table or kind, reference_study(study), SCORING)


def printed(section: Section) -> pd.DataFrame:
    """Texts of a section's cells."""
    return pd.DataFrame(section.columns).map(lambda cell: cell.text)


def p_of(values: pd.Series) -> float:
    return round(float(wilcoxon(values).pvalue), 3)


def untuned(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of the public tables on which no default was chosen."""
    tuned = [name for name, table in public_tables().items() if table.tuned_on]
    return rows[~rows["dataset"].isin(tuned)]


def public_effects(*methods: str) -> pd.DataFrame:
    effects = row_effects(ROOT / "results/reference/public")
    return effects[effects["method"].isin(methods)]


def test_citation_has_the_version_of_the_package() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == npt.__version__


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_and_names_lead_to_files(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        if not target.startswith("http"):
            assert (document.parent / target).exists(), target
    for path in re.findall(r"`((?:npt|baselines|workflow|performance|tests)/[\w./-]+)`", text):
        assert (ROOT / path).exists(), path


def test_named_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"\bmake ([a-z-]+)", README))
    assert {"run", "test"} <= targets
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


RESEMBLING = ["weather_izmir", "wine_quality_red"]  # of the family of tuned tables
DECIDING = ["cpu_performance", "mammographic", "maternal_health", "qsar_fish_toxicity"]
DECIDING += ["teaching", "wine_quality_red", "wisconsin"]  # whose test scores decided a detail


def code_blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("block", code_blocks("yaml"))
def test_configuration_examples_are_valid(block: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    config = yaml.safe_load((ROOT / "config.yaml").read_text())
    example = yaml.safe_load(block)
    studies = {"main": {"tuned": True}} | example.pop("studies", {})
    read({**config, **example, "studies": studies})


def test_python_example_runs() -> None:
    (code,) = code_blocks("python")
    exec(code.replace("X[3:], y[3:]", "X[3:40], y[3:40]"), {})


def test_lead_over_catboost_on_held_out_tables() -> None:
    leads = held_out_leads("npt_solved", "catboost")
    assert lead(leads["rmse"]) == (0.92, 10, 0.016)
    assert lead(leads["rmse"].drop("servo")) == (0.96, 9, 0.032)
    assert lead(leads["rmse"].drop(RESEMBLING)) == (0.91, 8, 0.049)
    assert lead(leads["rmse"].drop(DECIDING, errors="ignore")) == (0.9, 7, 0.098)
    assert lead(held_out_leads("npt_solved", "catboost", [0])["rmse"]) == (0.86, 12, 0.0)
    assert lead(held_out_leads("npt_solved", "catboost", [1, 2])["rmse"]) == (0.95, 9, 0.077)
    assert lead(leads["nll"])[1:] == (8, 0.841)
    assert lead(leads["nll"].drop(DECIDING, errors="ignore"))[1:] == (7, 0.821)
    score = leads["score"].round(12)  # rounding is no lead
    assert ((score < 0).sum(), (score > 0).sum(), lead(score)[2]) == (8, 11, 0.717)
    compact = held_out_leads("npt_compact", "catboost")
    assert (lead(compact["rmse"]), lead(compact["nll"])[1:]) == ((0.91, 9, 0.009), (10, 0.475))


@pytest.mark.parametrize(
    ("other", "factor", "median", "worse"),
    [("lightgbm", 0.82, 0.94, 19), ("xgboost", 0.86, 0.88, 18)],
)
def test_lead_over_other_boosting_on_held_out_tables(
    other: str, factor: float, median: float, worse: int
) -> None:
    leads = held_out_leads("npt_solved", other)
    assert lead(leads["rmse"]) == (factor, 12, 0.0)
    assert round(np.exp(leads["rmse"].median()), 2) == median
    assert lead(leads["rmse"].drop(RESEMBLING))[1:] == (10, 0.002)
    assert (leads["nll"] < 0).sum() == worse
    assert wilcoxon(leads["nll"]).pvalue < 0.0001
    assert lead(leads["rmse"].drop(DECIDING, errors="ignore"))[1:] == (9, 0.004)
    undecided = leads["nll"].drop(DECIDING, errors="ignore")
    assert ((undecided < 0).sum(), len(undecided)) == (worse - 3, 16)
    assert wilcoxon(undecided).pvalue < 0.001


def held_out_leads(method: str, other: str, folds: Sequence[int] = (0, 1, 2)) -> dict[str, Any]:
    """Means over folds, by table, of log ratios of RMSE and differences of other metrics."""
    study = reference_study("held_out/main").query("fold in @folds").copy()
    study["score"] = study["test_auroc"].fillna(study["test_accuracy"])
    numbers = study.set_index(["task", "dataset", "fold", "method"])
    of_classes = numbers.drop(index="regression")
    columns = {
        "rmse": np.log(numbers.loc["regression", "test_rmse"]),
        "nll": of_classes["test_nll"],
        "score": of_classes["score"],
    }
    leads = {}
    for name, column in columns.items():
        values = column.unstack()
        leads[name] = (values[method] - values[other]).groupby("dataset").mean()
    return leads


def lead(differences: pd.Series) -> tuple[float, int, float]:
    """Factor of logarithms, number of lower values, and p."""
    factor = round(float(np.exp(differences.mean())), 2)
    return factor, int((differences < 0).sum()), p_of(differences)


def test_ranks_of_six_methods_on_held_out_tables() -> None:
    six = ["npt_solved", "npt_compact", "catboost", "random_forest", "lightgbm", "xgboost"]
    study = reference_study("held_out/main").query("method in @six")
    means = primary_summary(study, SCORING).groupby("method")["rank"].mean()
    assert means[six].round(1).tolist() == [2.5, 2.5, 2.9, 3.7, 4.7, 4.8]
    study["loss"] = study["test_rmse"].fillna(study["test_nll"])
    ranks = study.pivot_table("loss", ["task", "dataset"], "method")[six].rank(axis=1)
    is_regression = ranks.index.get_level_values("task") == "regression"
    for title, part in (
        ("12 regressions", ranks[is_regression]),
        ("20 classifications", ranks[~is_regression]),
        ("all 32", ranks),
    ):
        cells = [f"{rank:.1f}" for rank in part.mean()]
        assert f"| rank by loss, {title} | {' | '.join(cells)} |" in ESTIMATORS


def test_saint_is_better_than_the_small_npt_on_two_tables() -> None:
    table = table_of("row_models/saint", "ablation")
    saint = table.tidy[table.tidy["variant"] == "saint"].set_index("dataset")
    better = saint[saint["p_value"] < 0.05]["change"].round(2)
    assert better.to_dict() == {"concrete": -1.16, "yacht": -1.42}


def test_scores_on_the_small_tables_of_the_paper() -> None:
    summary = primary_summary(reference_study("solved/main"), SCORING)
    means = summary.pivot(index="method", columns="dataset", values="mean")
    means["rank"] = summary.groupby("method")["rank"].mean()
    columns = ["breast_cancer", "boston_housing", "concrete", "yacht", "rank"]
    for auroc, *others in means[columns].to_numpy():
        cells = [f"{auroc:.3f}", *(f"{value:.2f}" for value in others)]
        assert f"|{'|'.join(cells)}|\n" in FINDINGS


@pytest.mark.parametrize(
    ("title", "method"),
    [
        ("Small NPT", "npt"),
        ("Compact NPT", "npt_compact"),
        ("TabR-S", "tabr"),
        ("Solved NPT", "npt_solved"),
        ("GP", "gaussian_process"),
        ("ModernNCA", "modern_nca"),
        ("xRFM", "xrfm"),
        ("k-NN", "knn"),
    ],
)
def test_dependence_and_benefit_on_three_tables(title: str, method: str) -> None:
    (line,) = re.findall(rf"^\|{title}\|(\d+ %.*)\|$", FINDINGS, re.MULTILINE)
    share, *cells = line.split("|")
    trained = reference_study("row_models/benefit").query("method == @method")
    concrete = trained.query("dataset == 'concrete' and variant == 'base'")
    assert share == f"{100 * concrete['corrupted_moved'].mean():.0f} %"
    tidy = table_of("row_models/benefit", "benefit").tidy
    rows = tidy.query("method == @method and source == 'other rows' and task == 'regression'")
    effects = [*rows["depends"], *rows["benefits"]]
    p_values = [*rows["depends_p_value"], *rows["benefits_p_value"]]
    for cell, size, p in zip(cells, effects, p_values, strict=True):
        if cell == "–":
            assert np.isnan(size)
            continue
        number = cell.strip("*")
        digits = len(number.partition(".")[2])
        assert (f"{np.exp(size):.{digits}f}", cell != number) == (number, p < 0.05)


@pytest.mark.parametrize(
    ("method", "is_untuned", "depends", "benefits"),
    [
        (
            "npt_compact",
            False,
            [(1.66, 14, 0.0), (1.1, 20, 0.0)],
            [(1.05, 11, 0.015), (1.0, 9, 0.339)],
        ),
        (
            "npt_compact",
            True,
            [(1.69, 9, 0.006), (1.09, 15, 0.001)],
            [(1.07, 7, 0.049), (1.01, 8, 0.671)],
        ),
        (
            "npt",
            False,
            [(1.0, 7, 0.33), (1.0, 14, 0.771)],
            [(0.97, 4, 0.035), (1.0, 13, 1.0)],
        ),
        (
            "tabr",
            False,
            [(2.22, 15, 0.0), (1.45, 20, 0.0)],
            [(1.0, 9, 0.762), (1.0, 13, 0.692)],
        ),
        (
            "tabr",
            True,
            [(2.15, 10, 0.002), (1.42, 15, 0.002)],
            [(0.99, 6, 0.922), (1.0, 10, 0.899)],
        ),
    ],
)
def test_dependence_and_benefit_on_public_tables(
    method: str,
    is_untuned: bool,
    depends: list[tuple[float, ...]],
    benefits: list[tuple[float, ...]],
) -> None:
    effects = public_effects(method)
    if is_untuned:
        effects = untuned(effects)
    for kind, expected in (("depends", depends), ("benefits", benefits)):
        of_kind = effects[effects["kind"] == kind]
        is_regression = of_kind["task"] == "regression"
        for rows, numbers in zip((is_regression, ~is_regression), expected, strict=True):
            values = of_kind.loc[rows, "effect"]
            factor = round(np.exp(values.mean()), 2)
            assert (factor, (values > 0).sum(), p_of(values)) == numbers


@pytest.mark.parametrize(
    ("method", "regressions", "classifications", "p_without_relatives"),
    [
        ("npt_compact", (9, 10, 0.004), (18, 18, 0.0), 0.008),
        ("tabr", (9, 10, 0.01), (14, 18, 0.007), 0.023),
    ],
)
def test_models_depend_more_than_they_benefit(
    method: str,
    regressions: tuple[float, ...],
    classifications: tuple[float, ...],
    p_without_relatives: float,
) -> None:
    effects = untuned(public_effects(method))
    by_kind = effects.pivot(index=["task", "dataset"], columns="kind", values="effect")
    difference = by_kind["depends"] - by_kind["benefits"]
    is_regression = difference.index.get_level_values("task") == "regression"
    for rows, expected in ((is_regression, regressions), (~is_regression, classifications)):
        values = difference[rows]
        assert ((values > 0).sum(), len(values), p_of(values)) == expected
    assert p_of(difference["regression"].drop(RESEMBLING)) == p_without_relatives


@pytest.mark.parametrize(("folds", "factor", "p"), [([0], 1.12, 0.027), ([1, 2], 1.04, 0.625)])
def test_the_benefit_of_compact_npt_is_that_of_the_first_fold(
    folds: list[int], factor: float, p: float
) -> None:
    study = reference_study("public/benefit").query("method == 'npt_compact' and fold in @folds")
    study = untuned(study[study["task"] == "regression"])
    errors = study.pivot(index=["dataset", "fold"], columns="variant", values="test_rmse")
    logs = np.log(errors["without_datapoints"] / errors["base"]).groupby("dataset").mean()
    assert (len(logs), round(np.exp(logs.mean()), 2), p_of(logs)) == (10, factor, p)


def test_models_of_rows_alone_depend_on_them_on_all_regressions() -> None:
    alone = ["npt_solved", "gaussian_process", "xrfm", "modern_nca", "knn"]
    effects = public_effects(*alone)
    is_regression = effects["task"] == "regression"
    worse = effects[~is_regression].groupby("method")["effect"].agg(lambda rise: (rise > 0).sum())
    assert worse[alone].tolist() == [25, 25, 23, 24, 19]
    losses = effects[is_regression].groupby("method")["effect"]
    assert set(losses.groups) == set(alone)
    assert (losses.min() > 0).all() and (losses.size() == 15).all()
    factors = np.exp(losses.mean())
    assert (round(factors.min(), 1), round(factors.max(), 1)) == (2.5, 3.8)


def test_a_tenth_of_the_rows_costs_about_the_same_at_prediction_as_in_training() -> None:
    table = table_of("public/context", "context")
    tenth = table.tidy.query("task == 'regression' and share == 0.1")
    assert tenth["dataset"].nunique() == 15
    factors = np.exp(tenth.groupby(["method", "kind"])["effect"].mean()).round(1)
    assert factors.pop(("linear", "in training")) == 1.1
    assert set(factors) == {1.4, 1.5}
    both = [
        (name, kind) for name in ("npt_solved", "xrfm", "knn") for kind in tenth["kind"].unique()
    ]
    one = [(name, "in training") for name in ("catboost", "random_forest")]
    assert sorted(factors.index) == sorted([*both, *one])
    by_kind = table.tidy.query("share == 0.1").pivot(
        index=["method", "dataset"], columns="kind", values="effect"
    )
    differences = (by_kind["at prediction"] - by_kind["in training"]).dropna()
    is_regression = differences.index.isin(tenth["dataset"], level="dataset")
    for _, values in differences[is_regression].groupby("method"):
        assert len(values) == 15
        low, high = np.exp(ttest_1samp(values, 0).confidence_interval())
        assert 0.865 < low < 1 < high < 1.175
    complete = table.tidy.query("share == 0.02 and kind == 'in training'").dropna(subset="effect")
    p_values = []
    for method, values in differences[~is_regression].groupby("method"):
        if method == "npt_solved":
            assert (len(values), round(wilcoxon(values).pvalue, 3)) == (25, 0.030)
        kept = complete.loc[complete["method"] == method, "dataset"]
        values = values[values.index.isin(kept, level="dataset")]
        assert len(values) == 22
        p_values.append(wilcoxon(values).pvalue)
    assert round(min(p_values), 2) == 0.07
    rows = printed(table.sections[0])
    classes = rows[rows["Datasets"] == "22 classifications"]
    costs = classes.pivot(index="Method", columns="Share", values="10 %")
    costs = costs.loc[["Solved NPT", "xRFM", "k-NN"]]
    assert costs["at prediction"].tolist() == ["+0.25", "+0.26", "+0.89"]
    assert costs["in training"].tolist() == ["+0.47", "+0.40", "+1.68"]


GROUPS = {  # folds of ten on which solved NPT is ahead of CatBoost, and p
    "known": {"yacht": None, "concrete": None, "airfoil": (10, 0.0001), "vowel": (10, 0.0001)},
    "new": {
        "yacht_hulls": None,
        "concrete_mixtures": None,
        "airfoil_profiles": (9, 0.0616),
        "vowel_speakers": (5, 0.7344),
    },
}
GROUPED_MODELS = {
    "npt_solved": "Solved NPT",
    "npt_compact": "Compact NPT",
    "gaussian_process": "GP",
    "catboost": "CatBoost",
}


def test_scores_with_known_and_with_new_groups() -> None:
    means = []
    for name, tables in GROUPS.items():
        study = reference_study(f"groups/{name}_groups")
        study = study.assign(loss=study["test_rmse"].fillna(study["test_nll"]))
        means.append(study.pivot_table("loss", "dataset", "method").loc[list(tables)])
    known, new = means
    for method, title in GROUPED_MODELS.items():
        pairs = zip(known[method], new[method], strict=True)
        cells = [f"{before:.2f}/{after:.2f}" for before, after in pairs]
        assert f"|{title}|{'|'.join(cells)}|\n" in FINDINGS


@pytest.mark.parametrize("name", GROUPS)
def test_leads_with_known_and_with_new_groups(name: str) -> None:
    study = reference_study(f"groups/{name}_groups")
    for table, expected in GROUPS[name].items():
        rows = study[study["dataset"] == table]
        loss = rows.assign(loss=losses(rows, "test_")).pivot(
            index="fold", columns="method", values="loss"
        )
        lead = effect(loss["npt_solved"], loss["catboost"])
        p_value, _ = fold_test(lead, fraction_tested(rows))
        if expected is None:
            assert p_value > 0.7
        else:
            assert ((lead > 0).sum(), round(p_value, 4)) == expected


@pytest.mark.parametrize(
    ("study", "expected"),
    [("known", ("1.19", "1.15", "1.40", "+0.12")), ("new", ("1.23", "1.08", "1.23", "−0.01"))],
)
def test_benefit_with_known_and_with_new_groups(study: str, expected: tuple[str, ...]) -> None:
    tidy = table_of(f"groups/benefit_{study}", "benefit").tidy
    rows = tidy[tidy["source"] == "other rows"]
    numbers = rows[rows["task"] == "regression"]["benefits"]
    (classes,) = rows[rows["task"] != "regression"]["benefits"]
    found = [f"{np.exp(number):.2f}" for number in numbers]
    assert (*found, f"{classes:+.2f}".replace("-", "−")) == expected
    *factors, nats = expected
    assert f"× {', '.join(factors)} and {nats}" in FINDINGS


def test_small_npt_is_not_shown_to_gain_from_unlabelled_rows() -> None:
    rows = printed(table_of("few_labels/few_labels_npt", "few_labels").sections[0])
    assert rows["Helped"].tolist() == ["10 of 14", "8 of 14"]
    assert rows["p, Holm"].tolist() == ["0.951", "0.480"]


def test_no_method_is_shown_to_gain_from_unlabelled_rows() -> None:
    section = table_of("few_labels/few_labels", "few_labels").sections[0]
    rows = printed(section).set_index("Method")
    for labels in ("10", "30"):
        helped = rows[rows["Labels"] == labels]["Helped"]
        assert (helped["Self-training"], helped["Label spreading"]) == ("0 of 6", "2 of 6")
    assert (rows["p, Holm"].astype(float) > 0.5).all()


def test_intervals_of_few_rows_hold_the_targets() -> None:
    measured = json.loads((ROOT / "performance/results/intervals.cpu.json").read_text("utf-8"))
    shares = 100 * pd.DataFrame(measured["rows"]).groupby("fitted")[["90 %", "80 %"]].mean()
    for level in shares:
        *first, last = (f"{shares.loc[rows, level]:.0f}" for rows in (20, 30, 50, 100))
        assert f"{', '.join(first)} and {last} %" in ESTIMATORS


def test_losses_and_intervals_of_new_groups() -> None:
    measured = json.loads((ROOT / "performance/results/groups.cpu.json").read_text("utf-8"))
    rows = pd.DataFrame(measured["rows"])
    means = rows.groupby(["table", "left out"]).mean()
    assert rows["fold"].nunique() == 10
    for title, table, digits in (
        ("Yacht", "yacht_hulls", (3, 3)),
        ("Concrete", "concrete_mixtures", (2, 2)),
        ("Airfoil", "airfoil_profiles", (2, 2)),
        ("Vowel", "vowel_speakers", (3, 2)),
    ):
        row, group = means.loc[table].loc[["row", "group"]].to_dict("records")
        line = next(line for line in ESTIMATORS.splitlines() if line.startswith(f"| {title} |"))
        assert f"| {row['expected']:.{digits[0]}f} / {group['expected']:.{digits[1]}f} |" in line
        assert f"| {row['loss']:.{digits[1]}f} / {group['loss']:.{digits[1]}f} |" in line
        if title != "Vowel":
            assert f"| {100 * row['90 %']:.0f} / {100 * group['90 %']:.0f} % |" in line
    speakers = rows[rows["table"] == "vowel_speakers"].pivot(
        index="fold", columns="left out", values="loss"
    )
    assert (speakers["group"] < speakers["row"]).sum() == 8


def test_scores_with_few_rows() -> None:
    rows = reference_study("few_labels/few_labels").query("variant.str.endswith('absent')")
    is_regression = rows["task"] == "regression"
    keys = ["train_rows", "dataset"]
    rmse = rows[is_regression].pivot_table("test_rmse", keys, "method")
    scores = rows[~is_regression].pivot_table(["test_accuracy", "test_nll"], keys, "method")
    factors = np.exp(np.log(rmse.div(rmse["catboost"], axis=0)).groupby("train_rows").mean())
    means = scores.groupby("train_rows").mean()
    methods = ["npt_solved", "npt_compact", "catboost", "gaussian_process", "linear"]
    for name, table, digits in (
        ("RMSE, 10 / 30 / 100 rows", factors, 2),
        ("accuracy, %", 100 * means["test_accuracy"], 0),
        ("NLL", means["test_nll"], 2),
    ):
        cells = [" / ".join(f"{value:.{digits}f}" for value in table[method]) for method in methods]
        line = f"| {name} | {' | '.join(cells)} |".replace("1.00 / 1.00 / 1.00", "1")
        assert line in ESTIMATORS, line
    for method, counts, p_values in (
        ("catboost", [6, 5, 5], [0.03, 0.06, 0.06]),
        ("linear", [4, 6, 4], [0.31, 0.03, 0.22]),
    ):
        lead = (scores["test_nll"][method] - scores["test_nll"]["npt_solved"]).unstack(0)
        assert (lead > 0).sum().tolist() == counts
        assert lead.apply(lambda column: wilcoxon(column).pvalue).round(2).tolist() == p_values
    base = reference_study("few_labels/few_labels").query("variant == 'base'")
    share = (base["validation_rows"] / base["train_rows"]).unique()
    few, more, most = (np.unique((share * labels).round()).astype(int) for labels in (10, 30, 100))
    assert f"{few.item()},\n{more.item()} or {most.item()} labelled validation rows" in ESTIMATORS


def test_dependence_goes_with_noise_in_controls_too() -> None:
    measured = json.loads((ROOT / "performance/results/when_rows_help.json").read_text("utf-8"))
    rows = pd.DataFrame(measured["rows"]).query("effect == 'depends' and fact == 'noise'")
    found = rows.pivot(index="method", columns="of", values="correlation").round(2)
    assert found.loc["npt_compact"].to_dict() == {"classifications": -0.83, "regressions": -0.88}
    assert found.loc["npt_solved"].to_dict() == {"classifications": -0.85, "regressions": -0.96}


def test_solved_npt_is_ahead_of_three_methods_where_no_default_was_tuned() -> None:
    tests = rank_tests(untuned(reference_study("public/main")), SCORING)
    against_solved = tests.pairs.loc[("npt_solved", "base")]
    separated = against_solved[against_solved < 0.05].index.get_level_values("method")
    assert sorted(separated) == ["constant", "knn", "linear"]


def test_models_of_stored_rows_keep_near_rows() -> None:
    deletion = table_of("row_models/deletion", "deletion").tidy
    p_values = deletion.pivot(index="method", columns="dataset", values="p_random")
    trained = p_values.loc[["npt", "npt_compact"]]
    stored = p_values.drop(trained.index)
    assert stored.size == 18
    assert (stored > 0.04).stack().pipe(lambda is_larger: is_larger[is_larger]).index.tolist() == [
        ("gaussian_process", "yacht"),
        ("npt_solved", "concrete"),
    ]
    assert trained.loc["npt_compact"].round(3).tolist() == [0.32, 0.125, 0.016]
    assert (trained.loc["npt"].dropna() >= 0.9).all()


def test_npt_depends_on_rows_late_in_its_training() -> None:
    first_fold = effects_by_updates(*OF_YACHT)["depends"].xs(0, level="fold").map(np.exp).round(2)
    two_seeds = first_fold.unstack("seed").to_dict("split")
    assert dict(zip(two_seeds["index"], two_seeds["data"], strict=True)) == {
        100: [1.0, 1.0],
        200: [1.0, 1.01],
        500: [0.93, 0.98],
        1000: [1.43, 1.45],
        2000: [1.51, 2.26],
        5000: [1.51, 2.29],
    }
    rows = reference_study("training_length/corruption").query("variant == 'updates_2000'")
    factors = rows["corrupted_rmse"] / rows["clean_rmse"]
    assert factors[rows["device"] == "cpu"].round(2).tolist() == [2.06]  # not drawn


@pytest.mark.parametrize(
    ("updates", "effect", "factor", "larger", "p"),
    [
        (1000, "benefits", 1.06, 3, 0.151),
        (2000, "benefits", 0.92, 0, 0.192),
        (5000, "benefits", 0.85, 0, 0.023),
        (1000, "depends", 1.3, 3, 0.045),
        (5000, "depends", 1.32, 5, 0.061),
        (5000, "depends more", 1.56, 5, 0.014),
    ],
)
def test_npt_depends_more_than_it_benefits_late_in_its_training(
    updates: int, effect: str, factor: float, larger: int, p: float
) -> None:
    tested = fraction_tested(reference_study("training_length/benefits"))
    effects = effects_by_updates(*OF_YACHT)
    effects["depends more"] = effects["depends"] - effects["benefits"]
    folds = effects[effect].xs((updates, 0), level=["updates", "seed"]).dropna()
    found, _ = fold_test(folds, tested)
    assert ((folds > 0).sum(), round(found, 3)) == (larger, p)
    assert np.exp(folds.mean()) == pytest.approx(factor, abs=5e-3)


def test_neither_is_shown_on_boston_housing() -> None:
    tested = fraction_tested(reference_study("training_length/benefits_boston_housing"))
    effects = effects_by_updates("depends_boston_housing", "benefits_boston_housing")
    for kind, factor, p in (("depends", 1.09, 0.36), ("benefits", 1.01, 0.75)):
        folds = effects[kind]
        found, _ = fold_test(folds, tested)
        assert (round(np.exp(folds.mean()), 2), round(found, 2), len(folds)) == (factor, p, 3)


def test_twin_of_npt_is_not_shown_to_differ_on_validation_rows() -> None:
    trained = reference_study("training_length/benefits")
    scores = np.log(trained.pivot(index="fold", columns="variant", values="validation_rmse"))
    effects = scores["without_datapoints"] - scores["base"]
    assert np.exp(effects.mean()) == pytest.approx(1, abs=5e-3)
    assert fold_test(effects, fraction_tested(trained))[0] > 0.9


def test_bfloat16_hardly_changes_the_scores_of_npt() -> None:
    in_float32 = reference_study("paper_tenth/yacht").query("variant == 'target_mask_0.5'")
    in_bfloat16 = reference_study("training_length/benefits_shorter").query(
        "variant == 'updates_1000'"
    )
    scores = in_float32.set_index("fold")["test_rmse"]
    assert scores.to_numpy() == pytest.approx(in_bfloat16["test_rmse"].to_numpy(), rel=0.015)


def test_npt_learns_to_use_near_rows() -> None:
    deletion = table_of("training_length/deletion", "deletion").tidy
    (kept,) = deletion.to_dict("records")
    assert kept["kept"] / kept["random"] == pytest.approx(0.62, abs=5e-3)
    assert (kept["probed"], round(kept["p_random"], 5)) == (16, 2e-5)
    heads = table_of("training_length/attention", "attention").tidy
    (nearness,) = heads[["nearness", "untrained", "typical"]].round(2).to_dict("records")
    assert nearness == {"nearness": 0.28, "untrained": 0.02, "typical": -0.01}


def test_shuffled_features_cost_npt_more_than_shuffled_labels() -> None:
    rows = reference_study("training_length/corruption").query("variant == 'base'")
    features, labels = (
        rows[f"corrupted_{columns}_all_rmse"] / rows["clean_rmse"]
        for columns in ("features", "target")
    )
    assert (features > labels).all()
    assert labels.max() == pytest.approx(1.09, abs=5e-3)
    everything = rows["corrupted_rmse"] / rows["clean_rmse"]
    assert everything.to_numpy() == pytest.approx([1.26, 2.29], abs=5e-3)


@pytest.mark.parametrize(
    ("study", "errors"),
    [("main", [5.29, 9.25, 2.92]), ("tabnet_batches", [3.81, 6.75, 2.0])],
)
def test_errors_of_tabnet(study: str, errors: list[float]) -> None:
    rows = reference_study(f"baselines/{study}").query("method == 'tabnet'")
    means = rows.groupby("dataset")["test_rmse"].mean()[["boston_housing", "concrete", "yacht"]]
    assert means.round(2).tolist() == errors


def test_scores_on_one_fold_of_larger_tables() -> None:
    protein = reference_study("baselines/protein").set_index(["method", "variant"])["test_rmse"]
    assert protein.round(2).to_dict() == {
        ("random_forest", "base"): 3.54,
        ("gradient_boosting", "base"): 3.61,
        ("xgboost", "base"): 3.54,
        ("xgboost", "exact"): 3.61,
        ("catboost", "base"): 3.51,
        ("lightgbm", "base"): 3.65,
        ("mlp", "base"): 3.60,
        ("knn", "base"): 3.77,
    }
    kick = reference_study("baselines/kick").set_index("method")["test_auroc"]
    assert kick.round(3).to_dict() == {
        "lightgbm": 0.787,
        "catboost": 0.785,
        "xgboost": 0.783,
        "random_forest": 0.768,
        "knn": 0.722,
    }
    income = reference_study("baselines/income")
    for measure, value in (("auroc", 0.956), ("accuracy", 0.958), ("nll", 0.109)):
        assert income[f"test_{measure}"].round(3).tolist() == 3 * [value]


def test_errors_of_the_lookup_tasks() -> None:
    table = table_of("lookup_cpu/lookup", "lookup").tidy
    columns = ["rmse", "published_npt", "nearest_rmse", "neighbours_rmse", "intervention_slope"]
    for values in table[columns].to_numpy():
        assert f"|{'|'.join(f'{value:.2f}' for value in values)}|\n" in FINDINGS


def test_errors_of_solved_npt_without_a_part() -> None:
    tidy = table_of("solved/parts", "ablation").tidy
    means = tidy.pivot(index="variant", columns="dataset", values="mean")
    p_values = tidy.pivot(index="variant", columns="dataset", values="p_value")
    cells = means.map("{:.2f}".format)
    cells["breast_cancer"] = means["breast_cancer"].map("{:.3f}".format)
    cells = cells.mask(p_values < 0.05, "**" + cells + "**")
    text = (ROOT / "docs/solved.md").read_text(encoding="utf-8")
    for line in cells[["breast_cancer", "boston_housing", "concrete", "yacht"]].to_numpy():
        assert f"| {' | '.join(line)} |\n" in text


def test_npt_looks_rows_up_and_follows_the_intervention() -> None:
    rows = reference_study("mechanisms/lookup").set_index("lookup")
    assert (rows["correlation"] >= 0.99).all()
    assert (rows["intervention_correlation"] >= 0.98).all()
    assert rows.loc["add_one", "nearest_rmse"] > 10 * rows.loc["add_one", "rmse"]
    assert (rows["alone_rmse"] > 5 * rows["rmse"]).all()


def test_probes_find_the_duplicate_with_the_answer() -> None:
    deletion = table_of("mechanisms/deletion_lookup", "deletion").tidy
    assert (deletion["p_random"] < 0.05).all()
    heads = table_of("mechanisms/attention_lookup", "attention").tidy
    uniform = 1 / 63
    assert (heads["partner"] > 5 * uniform).all()


@pytest.mark.parametrize("tutorial", ["which_rows", "paper_cell"])
def test_tutorials_run(tutorial: str, monkeypatch: pytest.MonkeyPatch) -> None:
    features, target = datasets.load_diabetes(return_X_y=True, as_frame=True)
    few = (features[:60], target[:60])
    monkeypatch.setattr(datasets, "load_diabetes", lambda **options: few)
    runpy.run_path(str(ROOT / f"docs/tutorials/{tutorial}.py"))


def test_images_are_completed_best_by_attention_to_the_context() -> None:
    section = table_of("neural_processes/completion", "processes", "likelihoods").sections[0]
    rows = printed(section).set_index("Method")
    assert rows["100 random pixels, RMSE"].tolist() == [
        "0.255",
        "0.249 ± 0.001",
        "0.194 ± 0.000",
        "0.194 ± 0.001",
        "0.190 ± 0.001",
        "0.206 ± 0.004",
        "0.186 ± 0.000",
    ]
    worse = rows[[f"{task}, RMSE" for task in ("10 random pixels", "30 random pixels", "top half")]]
    errors = worse.map(lambda text: float(text[:5]))
    assert errors.iloc[0].tolist() == [0.255, 0.256, 0.262]
    assert errors.loc["ANP"].tolist() == [0.28, 0.262, 0.288]
    assert errors.loc["ANP (longer)"].tolist() == [0.258, 0.24, 0.264]
    assert rows.loc["ANP", ["Roles", "Roles, untrained"]].tolist() == [
        "0.254 ± 0.048",
        "0.000 ± 0.000",
    ]


def test_later_blocks_between_pixels_look_farther() -> None:
    training = pd.read_csv(ROOT / "results/reference/images/siren_2d_span.metrics.csv")
    last = training.filter(like="sigma").iloc[-1]
    assert last.round(2).tolist() == [0.31, 0.33, 0.4, 0.47, 0.5, 0.54]


def test_the_mean_of_pixels_is_more_accurate_than_the_last_one() -> None:
    trained = reference_study("images/positions").pivot(
        index="seed", columns="variant", values="test_accuracy"
    )
    gain = 100 * (trained["siren_2d_mean"] - trained["siren_2d"])
    low, high = ttest_1samp(gain, 0).confidence_interval()
    assert (len(gain), round(gain.mean(), 1), round(low, 1), round(high, 1)) == (3, 1.5, 1.0, 2.0)


def test_colours_are_completed_best_by_attention_to_the_context() -> None:
    study = "neural_processes/completion_colour"
    section = table_of(study, "processes", "likelihoods").sections[0]
    rows = printed(section).set_index("Method")
    cells = rows.filter(like="RMSE")
    errors = cells.map(lambda text: float(text.split(" ")[0]))
    assert (errors.idxmin() == "NPT, many tables (to_context)").all()
    hundred = ["0.245", "0.193 ± 0.006", "0.093 ± 0.000", "0.099 ± 0.004", "0.084 ± 0.000"]
    assert cells["100 random pixels, RMSE"].tolist() == hundred
    assert cells["top half, RMSE"].tolist()[3:] == ["0.209 ± 0.001", "0.207 ± 0.002"]
    assert (errors.loc["ANP"] > errors.iloc[0]).tolist() == [False, False, False, True, False]


def test_attentive_processes_are_compared_by_seed() -> None:
    kernels = facts_of(reference_study("neural_processes/curves"), "kernels", ("kernel",))
    anp = kernels.query("kernel == 'rbf' and method == 'attentive_neural_process'")
    targets = anp.pivot(index="seed", columns="variant", values="target")
    p_value = ttest_rel(targets["base"], targets["laplace"]).pvalue
    assert (targets.mean().idxmax(), round(p_value, 2)) == ("base", 0.04)
    tasks = facts_of(reference_study("neural_processes/completion"), "tasks", ("task", "square"))
    anp = tasks.query("task == 'random_30' and method == 'attentive_neural_process'")
    errors = np.sqrt(anp.pivot(index="seed", columns="variant", values="square"))
    assert round(ttest_rel(errors["longer"], errors["base"]).pvalue, 3) == 0.045
