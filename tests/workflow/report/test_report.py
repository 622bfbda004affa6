from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from npt.interface import UserError
from npt.metrics import PAPER_METRICS
from workflow.config.scoring import Ranking, Scoring
from workflow.report.drawing import COLUMN, NPT_COLOR, PAGE, UNDATED, method_styles
from workflow.report.figures import FIGURES
from workflow.report.findings import answer
from workflow.report.headline import headline
from workflow.report.old_html import html_note, html_table
from workflow.report.old_latex import latex
from workflow.report.old_page import _failures
from workflow.report.old_published import marked, published, published_ranks, standard_errors
from workflow.report.ranks import mean_ranks, rank_methods
from workflow.report.section import Section, Tabulated, is_number, sort_key
from workflow.report.tables import TABLES
from workflow.results.study_file import read_study

SCORING = Scoring(PAPER_METRICS)


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    yield
    plt.close("all")


PUBLISHED = published()


def summary(
    values: dict[str, dict[str, float | None]], reasons: dict[tuple[str, str], str] | None = None
) -> pd.DataFrame:
    """Means by dataset and method; None has no mean."""
    rows = [
        {"dataset": d, "method": m, "variant": "base", "mean": np.nan if value is None else value,
         "reason": (reasons or {}).get((d, m), "")}
        for d, by_method in values.items() for m, value in by_method.items()
    ]  # fmt: skip
    return pd.DataFrame(rows)


def test_ranks_of_three_by_three_with_a_tie() -> None:
    frame = summary(
        {
            "a": {"x": 1, "y": 2, "z": 3},
            "b": {"x": 5, "y": 5, "z": 1},
            "c": {"x": 1, "y": 3, "z": 2},
        }
    )
    ranked = rank_methods(frame, higher_is_better=False)
    ranks = ranked.pivot(index="dataset", columns="method", values="rank")
    assert ranks.to_numpy().tolist() == [[1, 2, 3], [2.5, 2.5, 1], [1, 3, 2]]
    means = mean_ranks(ranked)
    assert means["method"].tolist() == ["x", "z", "y"]
    assert means["mean_rank"].tolist() == pytest.approx([1.5, 2, 2.5])
    assert means["standard_error"].tolist() == pytest.approx([0.5, 1 / 3**0.5, 0.5 / 3**0.5])
    upside_down = rank_methods(frame, higher_is_better=True)
    assert (upside_down["rank"] + ranked["rank"] == 4).all()


def test_a_failure_with_a_reason_is_last_and_a_hole_is_refused() -> None:
    values: dict[str, dict[str, float | None]] = {"a": {"x": 1, "y": None, "z": 3}}
    ranked = rank_methods(summary(values, {("a", "y"): "out of memory"}), higher_is_better=False)
    assert ranked.set_index("method")["rank"].to_dict() == {"x": 1, "z": 2, "y": 3}
    with pytest.raises(UserError, match=r"y .* has no result and no reason"):
        rank_methods(summary(values), higher_is_better=False)
    with pytest.raises(UserError, match="no result and no reason"):
        rank_methods(summary({"a": {"x": 1, "y": 2}, "b": {"x": 1}}), higher_is_better=False)


SHARED = {
    "auroc": "npt 2.50±0.87 catboost 3.00±0.74 lightgbm 3.25±1.61 xgboost 4.63±1.25 gradient_boosting 5.00±0.71 mlp 5.75±1.49 "
    "random_forest 6.13±0.59 tabnet 6.50±1.32 knn 8.25±0.48",
    "accuracy": "npt 2.25±0.25 catboost 3.50±0.50 lightgbm 7.50±1.50 xgboost 2.50±1.50 gradient_boosting 3.75±1.25 "
    "mlp 3.00±2.00 random_forest 6.50±0.50 tabnet 7.50±0.50 knn 8.50±0.50",
    "rmse": "npt 3.25±1.31 catboost 3.13±0.97 lightgbm 6.50±1.55 xgboost 3.25±0.63 gradient_boosting 3.88±1.05 "
    "mlp 4.88±1.26 random_forest 4.63±0.80 tabnet 6.75±0.95 knn 8.75±0.25",
}


def recomputed(metric: str, ranking: Ranking) -> dict[str, str]:
    """Table 1's column of a metric, from the values of the table that it came from."""
    facts = PUBLISHED["table_1_average_rank"][metric]
    found = published_ranks(metric, facts["datasets"], list(facts["rank"]), ranking)
    assert found is not None
    return {
        row.method: f"{shown(row.mean_rank)}±{shown(row.standard_error)}"
        for row in found.itertuples()
    }


def shown(value: float) -> str:
    return f"{np.floor(value * 100 + 0.5 + 1e-9) / 100:.2f}"


@pytest.mark.parametrize("metric", SHARED)
def test_the_paper_s_printed_values_with_shared_ranks(metric: str) -> None:
    words = SHARED[metric].split()
    assert recomputed(metric, "shared") == dict(zip(words[::2], words[1::2], strict=True))


@pytest.mark.parametrize("metric", SHARED)
def test_the_paper_s_table_1_to_the_last_digit_with_its_conventions(metric: str) -> None:
    printed = {
        m: cell["printed"] for m, cell in PUBLISHED["table_1_average_rank"][metric]["rank"].items()
    }
    assert recomputed(metric, "paper") == printed


def test_the_paper_s_ranking_shares_none_and_has_an_order_for_equals() -> None:
    values: dict[str, dict[str, float | None]] = {
        "a": {"npt": 1, "own": 1, "knn": 1, "tabnet": 0.5, "mlp": None}
    }
    ranked = rank_methods(
        summary(values, {("a", "mlp"): "out of memory"}), higher_is_better=True, ranking="paper"
    )
    assert ranked.set_index("method")["rank"].to_dict() == {
        "knn": 1,
        "npt": 2,
        "own": 3,
        "tabnet": 4,
        "mlp": 5,
    }
    assert list(ranked["method"]) == ["npt", "own", "knn", "tabnet", "mlp"]


def test_ranks_stand_beside_the_paper_s_of_the_same_methods_and_datasets() -> None:
    table = TABLES["ranks"](study(), SCORING)
    tidy = table.tidy.set_index(["task", "method"])
    assert tidy.loc[("binary", "npt"), "published"] == 1  # AUROC 0.997 beside 0.980
    assert tidy.loc[("binary", "knn"), "published"] == 2
    assert tidy.loc[("regression", "npt"), "published"] == 1
    assert "Paper" in table.sections[0].cells and "The paper's ranks" in " ".join(
        table.sections[-1].notes
    )
    other = study().replace({"dataset": {"breast_cancer": "wine"}})
    assert TABLES["ranks"](other, SCORING).tidy.query("task == 'binary'")["published"].isna().all()
    assert "Paper" not in TABLES["ranks"](other, SCORING).sections[0].cells
    twice = pd.concat([study(), study(variant="tuned").query("method == 'npt'")])
    assert TABLES["ranks"](twice, SCORING).tidy["published"].isna().all()  # not the paper's contest


def test_a_difference_is_in_the_standard_errors_of_both_or_of_ours_where_the_paper_has_none() -> (
    None
):
    assert standard_errors(5.0, 0.3, 4.0, 0.4) == pytest.approx(2)
    assert standard_errors(5.0, 0.5, 4.0, np.nan) == pytest.approx(2)
    assert np.isnan(standard_errors(5.0, np.nan, 4.0, 0.4))
    assert np.isnan(standard_errors(5.0, 0.0, 4.0, np.nan))
    assert (marked(2.04), marked(1.96), marked(-2.5), marked(np.nan)) == (
        "**+2.0**",
        "+2.0",
        "**−2.5**",
        "–",
    )


def study(**changes: Any) -> pd.DataFrame:
    """Two methods, a binary and a regression dataset, two folds."""
    rows = []
    for dataset, task in (("breast_cancer", "binary"), ("yacht", "regression")):
        for method, offset in (("npt", 0.0), ("knn", 0.1)):
            for fold in range(2):
                row: dict[str, Any] = {
                    "study": "main", "dataset": dataset, "task": task, "method": method, "variant": "base", "fold": fold,
                    "status": "ok", "reason": "", "preset": "toy",
                }  # fmt: skip
                value = 0.5 + offset + 0.02 * fold
                if task == "binary":
                    row |= {"test_auroc": value, "test_accuracy": value, "test_nll": value}
                    row |= {"clean_accuracy": value, "corrupted_accuracy": value - 0.1}
                else:
                    row |= {
                        "test_rmse": value,
                        "test_mse": value**2,
                        "clean_rmse": value,
                        "corrupted_rmse": 1.5 * value,
                    }
                search = {
                    "grid": 480,
                    "configurations": 480,
                    "models": 40,
                    "failed_configurations": fold,
                    "fits": 2,
                }
                row |= search if method == "knn" else {**dict.fromkeys(search), "fits": 1}
                row |= {
                    "fit_seconds": 3000.0 + 1400 * fold,
                    "predict_seconds": 0.004,
                    "threads": 1,
                }
                row |= {
                    "peak_memory_mb": 1000.0 + 234 * fold,
                    "peak_gpu_memory_mb": None,
                    "device": "cpu",
                }
                rows.append({**row, **changes})
    return pd.DataFrame(rows)


def test_the_tables_of_a_study() -> None:
    ranks = TABLES["ranks"](study(), SCORING)
    assert ranks.tidy[["task", "method", "mean_rank"]].to_numpy().tolist() == [
        ["binary", "knn", 1], ["binary", "npt", 2], ["regression", "npt", 1], ["regression", "knn", 2],
    ]  # fmt: skip
    metrics = TABLES["metrics"](study(), SCORING)
    one = metrics.tidy.query("dataset == 'yacht' and method == 'npt' and metric == 'rmse'").iloc[0]
    assert (one["mean"], one["standard_error"], one["folds"]) == (
        pytest.approx(0.51),
        pytest.approx(0.01),
        2,
    )
    text = metrics.markdown("toy")
    assert "Configuration: toy" in text
    assert "**0.510 ± 0.010**" in text
    assert "**0.610 ± 0.010**" in text


def test_a_failed_fold_is_a_dash_with_its_reason_and_the_last_rank() -> None:
    frame = study()
    frame.loc[0, ["status", "reason", "test_auroc"]] = ["failed", "out of memory", np.nan]
    tables = {name: TABLES[name](frame, SCORING) for name in ("ranks", "metrics")}
    assert (
        tables["ranks"].tidy.query("task == 'binary' and method == 'npt'")["mean_rank"].item() == 2
    )
    text = tables["metrics"].markdown("toy")
    assert "– NPT on Breast Cancer: fold 0: out of memory" in text
    assert re.search(r"\| NPT +\| – +\|", text)


def test_an_undefined_metric_is_a_dash_and_no_mean_of_the_other_folds() -> None:
    frame = study()
    frame.loc[0, "test_auroc"] = np.nan
    text = TABLES["metrics"](frame, SCORING).markdown("toy")
    assert "NPT on Breast Cancer: fold 0: AUROC is undefined on its test rows" in text


def test_the_cost_of_a_search_is_that_of_its_whole_grid() -> None:
    frame = study()
    frame.loc[
        (frame["dataset"] == "yacht") & (frame["method"] == "npt"), ["peak_gpu_memory_mb", "device"]
    ] = [512.0, "cuda:0"]
    found = TABLES["cost"](frame, SCORING)
    first, second = (section.cells.set_index("Method") for section in found.sections)
    assert first.loc["k-NN"].to_dict() == {
        "Configurations": "480 of 480, 40 distinct, 1 failed over all folds", "Models fitted": "2", "Search": "1 h 1 min",
        "Prediction": "4 ms", "Peak memory, MB": "1,234", "On": "cpu, 1 thread",
    }  # fmt: skip
    assert first.loc["NPT", "Configurations"] == "1"
    assert list(second.loc["NPT", ["GPU memory, MB", "On"]]) == ["512", "cuda:0, 1 thread"]
    assert second.loc["k-NN", "GPU memory, MB"] == "–"
    earlier = TABLES["cost"](frame.drop(columns=["threads", "models"]), SCORING)
    assert list(earlier.sections[0].cells.set_index("Method").loc["k-NN", ["Configurations", "On"]]) == [
        "480 of 480, 1 failed over all folds", "cpu",
    ]  # fmt: skip
    frame["status"] = "failed"
    assert TABLES["cost"](frame, SCORING).markdown("toy")


def test_results_stand_beside_the_paper_s_in_standard_errors() -> None:
    frame = study()
    frame["dataset"] = frame["dataset"].replace("breast_cancer", "breast_cancer_legacy")
    found = TABLES["published"](frame, SCORING)
    cells = found.tidy.set_index(["dataset", "method", "metric"])
    npt = cells.loc["breast_cancer_legacy", "npt", "accuracy"]
    assert (npt["published"], npt["published_error"]) == (
        pytest.approx(0.9473),
        pytest.approx(0.0069),
    )
    assert npt["standard_errors"] == pytest.approx((0.51 - 0.9473) / np.hypot(0.01, 0.0069))
    assert cells.loc["yacht", "knn", "rmse"]["published"] == 12.02
    assert (
        "yacht",
        "knn",
        "mse",
    ) not in cells.index  # the paper prints deviations there, not errors
    text = found.markdown("toy")
    assert "Breast Cancer (legacy splits): test accuracy, beside the paper" in text
    assert "| 0.510 ± 0.010 | 0.947 ± 0.007 | **−36.0**" in re.sub(" +", " ", text)


def test_corruption_has_the_paper_s_two_conventions() -> None:
    tidy = TABLES["corruption"](study().query("method == 'npt'"), SCORING).tidy.set_index("dataset")
    assert tidy.loc["breast_cancer", "change"] == pytest.approx(-10)
    assert tidy.loc["yacht", "change"] == pytest.approx(-50)
    assert tidy.loc["yacht", "standard_error"] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    "name", ["corruption", "cost", "critical_difference", "intervention", "metrics", "ranks"]
)
def test_figures_have_the_same_bytes_for_the_same_data_and_fit_a_page(name: str) -> None:
    contents = []
    for _ in range(2):
        shown = {"corruption": study().query("method == 'npt'"), "intervention": lookup_study()}
        figure = FIGURES[name](shown.get(name, study()), SCORING)
        contents.append([])
        for ending, metadata in UNDATED.items():
            stream = io.BytesIO()
            figure.savefig(stream, format=ending, metadata=metadata)
            contents[-1].append(stream.getvalue())
        assert figure.get_figwidth() in (COLUMN, PAGE)
        labels = {text.get_text() for axis in figure.axes for text in axis.get_yticklabels()}
        labels |= {text.get_text() for legend in figure.legends for text in legend.get_texts()}
        expected = {
            "corruption": {"Breast Cancer", "Yacht"},
            "intervention": set(),
            "critical_difference": set(),
        }
        assert expected.get(name, {"NPT", "k-NN"}) <= labels
    assert contents[0] == contents[1]


def test_the_answer_is_made_of_the_numbers() -> None:
    text = answer(study(), "benchmark", SCORING)
    assert "k-NN ranks first of 2 with mean rank 1.00; NPT has 2.00." in text
    assert "Regression (1 dataset, RMSE): NPT ranks first" in text
    assert "Breast Cancer −10.0 ± 0.0 points of accuracy, Yacht −50.0 ± 0.0 % of RMSE" in answer(
        study().query("method == 'npt'"), "corruption", SCORING
    )
    tied = study(test_rmse=1.0).query("dataset == 'yacht'")
    assert "NPT and k-NN share the first place" in answer(tied, "benchmark", SCORING).replace(
        "k-NN and NPT", "NPT and k-NN"
    )


def test_names_stay_text_when_a_study_is_read(tmp_path: Path) -> None:
    study(reason="NA").assign(variant=["0.1"] * 4 + ["0.10"] * 4).to_csv(
        tmp_path / "main.csv", index=False
    )
    found = read_study(tmp_path / "main.csv")
    assert set(found["variant"]) == {"0.1", "0.10"}
    assert set(found["reason"]) == {"NA"}


def test_a_task_in_which_every_method_failed_is_told_and_not_ranked() -> None:
    frame = study().query("dataset == 'yacht'").assign(status="failed", reason="out of memory")
    frame = frame.drop(
        columns=[name for name in frame if name.startswith(("test_", "validation_"))]
    )
    for name in (
        "ranks",
        "rank_tests",
        "metrics",
        "fold_tests",
        "published",
        "cost",
        "ablation",
        "validation_ranks",
    ):
        assert TABLES[name](frame, SCORING).markdown("toy")
    for name in ("ranks", "critical_difference", "metrics", "cost"):
        FIGURES[name](frame, SCORING)
    assert "Regression: no method has a result." in answer(frame, "benchmark", SCORING)
    assert "– NPT on Yacht: fold 0: out of memory" in TABLES["metrics"](frame, SCORING).markdown(
        "toy"
    )


def test_a_change_from_the_base_is_of_all_folds_or_none() -> None:
    part = study().query("dataset == 'yacht' and method == 'npt'")
    variant = part.assign(
        variant="without_datapoints", test_rmse=lambda frame: frame["test_rmse"] + [0.1, 0.2]
    )
    whole = TABLES["ablation"](pd.concat([part, variant]), SCORING).tidy.set_index("variant")
    assert whole.loc["without_datapoints", "change"] == pytest.approx(0.15)
    variant.loc[variant["fold"] == 1, ["status", "reason", "test_rmse"]] = [
        "failed",
        "killed",
        np.nan,
    ]
    broken = pd.concat([part, variant])
    assert np.isnan(
        TABLES["ablation"](broken, SCORING)
        .tidy.set_index("variant")
        .loc["without_datapoints", "change"]
    )
    assert (
        answer(broken, "ablation", SCORING) == "There is no variant with a result beside the base."
    )


def test_only_a_published_dataset_and_a_whole_method_stand_beside_the_paper() -> None:
    own = study().replace({"dataset": {"yacht": "yacht_of_mine", "breast_cancer": "higgs_legacy"}})
    assert TABLES["published"](own, SCORING).tidy.empty
    assert TABLES["ranks"](own, SCORING).tidy["published"].isna().all()
    variant = study(variant="without_datapoints").query("method == 'npt'")
    assert TABLES["published"](variant, SCORING).tidy.empty
    assert TABLES["corruption"](variant, SCORING).tidy["published"].isna().all()
    mine = lookup_study().replace({"dataset": {"protein": "protein_mine"}})
    assert not any(
        "Table 3" in section.title for section in TABLES["lookup"](mine, SCORING).sections
    )


def test_an_undefined_metric_is_among_what_failed() -> None:
    frame = study()
    frame.loc[0, "test_auroc"] = np.nan
    told = _failures({"main": frame}, SCORING)
    assert told == [
        "main: npt (base) on breast_cancer, fold 0: AUROC is undefined on its test rows"
    ]


def test_markdown_keeps_its_cells_and_lines() -> None:
    section = Section("t", pd.DataFrame({"Method": ["a|b\n# c"], "x": ["1"]}), ("a\n# heading",))
    assert r"a\|b # c" in section.markdown()
    assert "a # heading" in Tabulated(section.cells, (section,)).markdown("toy")


def test_npt_looks_alike_in_every_figure_and_no_two_methods_do() -> None:
    titles = [f"m{i}" for i in range(20)]
    assert (
        method_styles([*titles, "NPT"])["NPT"]
        == method_styles(["NPT", "k-NN"])["NPT"]
        == (NPT_COLOR, "D")
    )
    assert (NPT_COLOR, "D") not in method_styles(titles).values()
    assert len(set(method_styles([*titles, "NPT"]).values())) == 21


def test_the_headline_is_made_of_the_numbers_of_all_studies() -> None:
    studies = {"main": study(), "corruption": study(), "lookup": lookup_study()}
    kinds = {"main": "benchmark", "corruption": "corruption", "lookup": "lookup"}
    assert headline(studies, kinds, SCORING) == (
        "Corrupting all other rows costs more than two standard errors: NPT on 2 of 2 datasets, k-NN on 2 of 2 datasets. "
        "Where a duplicate of each row holds the answer, NPT's predictions for rows that it never trained on correlate with "
        "the truth by 0.990 to 0.999 (2 tasks). "
        "Mean rank among 2 methods over 2 datasets: NPT 1.50 (the best), k-NN 1.50 (the best); too few for a test."
    )
    failed = study(status="failed", reason="out of memory", test_rmse=np.nan, test_auroc=np.nan)
    two = {"main": "benchmark", "corruption": "corruption"}
    told = headline({"main": failed, "corruption": failed}, two, SCORING)
    assert told == (
        "Mean rank among 2 methods over 2 datasets: NPT 2.00, last for want of a result on 2; too few for a test."
    )
    half = pd.concat([study().query("method == 'knn'"), failed.query("method == 'npt'")])
    assert "NPT 2.00, last for want of a result on 2, k-NN 1.00 (the best)" in headline(
        {"main": half}, two, SCORING
    )
    assert (
        headline({"ablation": study()}, {"ablation": "ablation"}, SCORING)
        == "The studies of this run do not tell."
    )


def test_the_page_escapes_what_it_prints() -> None:
    cells = pd.DataFrame({"<b>": ["<script>", "**<i>**"]})
    assert html_table(cells) == (
        "<div class='wide'><table><thead><tr><th scope='col'>&lt;b&gt;</th></tr></thead><tbody><tr><td>&lt;script&gt;</td></tr>"
        "<tr><td><strong>&lt;i&gt;</strong></td></tr></tbody></table></div>"
    )


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("0.997 ± 0.002", 0.997), ("**−3.8 ± 6.2**", -3.8), ("+1.2", 1.2), ("1.9e−06", 1.9e-6), ("12,345", 12345),
        ("124 %", 124), ("none", 0), ("4 ms", 0.004), ("2 min 3 s", 123), ("1 h 1 min", 3660),
        ("480 of 480, 40 distinct", 480), ("1 min 2 s, 8 CPUs", 62),
    ],
)  # fmt: skip
def test_what_a_cell_sorts_by(text: str, key: float) -> None:
    assert is_number(text)
    assert sort_key(text) == pytest.approx(key)


@pytest.mark.parametrize("text", ["1-NN", "8f7e7247", "NPT", "–", "", "cpu, 1 thread"])
def test_what_is_no_number(text: str) -> None:
    assert not is_number(text)


def test_a_column_of_numbers_and_dashes_sorts_by_them() -> None:
    table = html_table(
        pd.DataFrame({"Method": ["NPT", "1-NN", "k-NN"], "RMSE": ["**0.5 ± 0.1**", "–", "1.5"]}),
        "Errors",
    )
    assert "<th scope='col' class='number'><button type='button'>RMSE</button></th>" in table
    assert "<td class='number' data-key='0.5'><strong>0.5 ± 0.1</strong></td>" in table
    assert "<td class='number' data-key=''>–</td>" in table
    assert "role='region' tabindex='0' aria-label='Errors'" in table


def everything() -> dict[str, Tabulated]:
    """Tables with all that LaTeX must be told otherwise."""
    cells = pd.DataFrame(
        {"Method": ["a_b & c", "**50 % <x>**"], "x^2 ± {y}": ["1 ± 2", "−3 # $4"], "~": ["\\", "–"]}
    )
    odd = Tabulated(
        cells, (Section("100 % of `code_x` ≈ 2 × 3", cells, ("\\* a star; σ ≤ 1 … “so”",)),)
    )
    return {
        "odd": odd,
        **{
            name: TABLES[name](study(), SCORING)
            for name in ("ranks", "rank_tests", "metrics", "fold_tests", "cost")
        },
    }


def test_latex_has_rules_labels_and_nothing_that_it_would_misread() -> None:
    text = latex(everything()["odd"], "main-odd", "toy")
    assert r"\caption{100 \% of \texttt{code\_x} $\approx$ 2 $\times$ 3}" in text
    assert r"a\_b \& c & 1 $\pm$ 2 & \textbackslash{} \\" in text
    assert r"\textbf{50 \% $<$x$>$} & $-$3 \# \$4 & -- \\" in text
    assert r"* a star; $\sigma$ $\leq$ 1 \dots{} ``so''" in text
    assert all(
        rule in text
        for rule in (r"\toprule", r"\midrule", r"\bottomrule", r"\label{tab:main-odd-1}")
    )
    assert r"\begin{tabular}{lrr}" in latex(TABLES["ranks"](study(), SCORING), "x", "toy").replace(
        "{lrrr}", "{lrr}"
    )


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_compiles(tmp_path: Path) -> None:
    body = "\n".join(latex(table, name, "toy") for name, table in everything().items())
    packages = "\\usepackage{booktabs}\\usepackage{graphicx}"
    (tmp_path / "all.tex").write_text(
        f"\\documentclass{{article}}{packages}\\begin{{document}}\n{body}\\end{{document}}\n"
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "all.pdf").stat().st_size > 10_000


def lookup_study() -> pd.DataFrame:
    sweep = {"values": [0.0, 1.0, 2.0], "predicted": [[0.1, 1.0, 1.9], [0.0, 0.9, 2.1]]}
    common = {"method": "npt", "task": "regression", "status": "ok", "reason": "", "fold": 0, "constant_rmse": 6.0,
              "alone_rmse": 4.9, "neighbours": 1, "intervention_correlation": 0.99, "intervention_slope": 0.9,
              "intervention_others": 0.1, "shift": 0.0, "sweep": json.dumps(sweep)}  # fmt: skip
    rows = [
        {**common, "dataset": "protein", "variant": "lookup", "lookup": "original", "rmse": 0.3, "correlation": 0.999,
         "nearest_rmse": 0.0, "neighbours_rmse": 0.0},
        {**common, "dataset": "concrete", "variant": "lookup_add_one", "lookup": "add_one", "shift": 6.1, "rmse": 0.5,
         "correlation": 0.99, "nearest_rmse": 6.1, "neighbours_rmse": 5.2},
        {**common, "dataset": "concrete", "variant": "lookup", "status": "failed", "reason": "there are no weights"},
    ]  # fmt: skip
    return pd.DataFrame(rows)


def test_the_lookup_table_stands_beside_the_paper_s_on_its_dataset_alone() -> None:
    table = TABLES["lookup"](lookup_study(), SCORING)
    shown = table.sections[0].cells.set_index(["Dataset", "Task"])
    paper = table.sections[1].cells
    assert paper["Task"].tolist() == ["original"]  # Concrete is not the paper's
    assert paper.iloc[0, 2:].tolist() == ["0.30", "0.34", "0.00", "0.00", "0.00"]
    assert (
        len(TABLES["lookup"](lookup_study().query("dataset == 'concrete'"), SCORING).sections) == 2
    )
    assert shown.loc[("Concrete", "add one"), "1-NN"] == "6.10"
    assert (
        table.tidy.set_index(["dataset", "variant"]).loc[("concrete", "lookup"), "reason"]
        == "fold 0: there are no weights"
    )
    assert "there are no weights" in table.markdown("x")


def test_the_sweeps_are_drawn_and_told() -> None:
    figure = FIGURES["intervention"](lookup_study(), SCORING)
    assert [len(axis.lines) for axis in figure.axes if axis.lines] == [3, 3]
    assert [list(axis.lines[-1].get_ydata()) for axis in figure.axes if axis.lines][
        1
    ] == pytest.approx([-6.1, -5.1, -4.1])
    told = answer(lookup_study(), "lookup", SCORING)
    assert (
        "Protein (original) 0.999, and an RMSE of 0.30 where the nearest neighbour has 0.00" in told
    )
    assert (
        answer(lookup_study().iloc[2:], "lookup", SCORING)
        == "No trained model could be questioned."
    )


def test_a_note_shows_names_as_code_and_is_escaped() -> None:
    assert html_note("`Lost` is <b>; \\* a star") == "<code>Lost</code> is &lt;b&gt;; * a star"
