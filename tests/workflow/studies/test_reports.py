"""Tables, figures and sentences of the studies that question trained models, on frames whose answers are known."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from npt.metrics import PAPER_METRICS
from workflow.config.scoring import Scoring
from workflow.report.ablation import changes
from workflow.report.attention import attention_heads
from workflow.report.dose import doses, skill_from_others
from workflow.report.figures import FIGURES
from workflow.report.findings import answer
from workflow.report.published import published
from workflow.report.summary import one_sided
from workflow.report.tables import TABLES

SCORING = Scoring(PAPER_METRICS)

COMMON: dict[str, Any] = {"status": "ok", "reason": "", "variant": "base", "preset": "toy"}
FAILED = {"status": "failed", "reason": "there are no weights, as training failed"}


def dose_study() -> pd.DataFrame:
    def one(method: str, fold: int, shuffled: list[float], deleted: list[float]) -> dict[str, Any]:
        found = {
            "shuffle": {"share": [0.0, 1.0], "rmse": shuffled},
            "delete": {"share": [0.0, 0.9], "rmse": deleted},
        }
        own = {
            "dataset": "yacht",
            "task": "regression",
            "method": method,
            "fold": fold,
            "constant_rmse": 11.0,
        }
        return {**COMMON, **own, "doses": json.dumps(found)}

    classes = {
        "shuffle": {"share": [0.0, 1.0], "accuracy": [0.9, 0.9]},
        "delete": {"share": [0.0, 0.9], "accuracy": [0.9, 0.7]},
    }
    binary = {
        "dataset": "breast_cancer",
        "task": "binary",
        "method": "npt",
        "fold": 0,
        "constant_accuracy": 0.6,
    }
    return pd.DataFrame([
        one("npt", 0, [1.0, 1.0], [1.0, 3.5]), one("npt", 1, [3.0, 3.0], [3.0, 5.5]),
        one("knn", 0, [6.0, 11.0], [6.0, 13.5]), one("knn", 1, [6.0, 11.0], [6.0, 13.5]),
        {**COMMON, **binary, "doses": json.dumps(classes)},
        {**COMMON, **binary, "method": "knn", **FAILED},
    ])  # fmt: skip


def test_doses_are_means_over_folds_and_the_lost_skill_is_counted_from_the_constant() -> None:
    found = doses(dose_study()).set_index(["dataset", "method", "kind", "share"])
    assert found.loc[("yacht", "npt", "delete", 0.9), "error"] == pytest.approx(4.5)
    assert found.loc[("yacht", "npt", "delete", 0.9), "standard_error"] == pytest.approx(1.0)
    assert found.loc[("breast_cancer", "npt", "delete", 0.9), "error"] == pytest.approx(30)
    shares = {
        kind: skill_from_others(dose_study(), kind).set_index(["dataset", "method"])["share"]
        for kind in ("shuffle", "delete")
    }
    assert shares["shuffle"]["yacht", "npt"] == 0
    assert shares["shuffle"]["yacht", "knn"] == pytest.approx(1)
    assert shares["delete"]["yacht", "npt"] == pytest.approx(2.5 / 9)
    assert shares["delete"]["yacht", "knn"] == pytest.approx(1.5)
    table = TABLES["dose_response"](dose_study(), SCORING)
    cells = table.sections[0].cells.set_index(["Dataset", "Method"])
    assert list(cells.loc[("Yacht", "NPT")]) == ["2.00", "11.00", "2.00", "0 %", "4.50", "28 %"]
    assert list(cells.loc[("Yacht", "k-NN")]) == [
        "6.00",
        "11.00",
        "11.00",
        "100 %",
        "13.50",
        "150 %",
    ]
    assert list(cells.loc[("Breast Cancer", "NPT")]) == [
        "10.0",
        "40.0",
        "10.0",
        "0 %",
        "30.0",
        "67 %",
    ]
    assert any("there are no weights" in note for note in table.sections[0].notes)
    told = answer(dose_study(), "dose_response", SCORING)
    assert (
        "NPT loses 0 % of its skill when they are shuffled and 47 % when most are deleted (median over 2 datasets)"
        in told
    )
    assert (
        "k-NN loses 100 % of its skill when they are shuffled and 150 % when most are deleted (one dataset)"
        in told
    )


def test_a_model_with_one_failed_fold_has_no_mean_over_the_others() -> None:
    study = dose_study()
    study.loc[1, ["status", "reason"]] = ["failed", "out of memory"]
    table = TABLES["dose_response"](study, SCORING)
    assert (
        table.sections[0].cells.set_index(["Dataset", "Method"]).loc[("Yacht", "NPT"), "Error"]
        == "–"
    )
    assert "– NPT on Yacht: fold 1: out of memory" in table.sections[0].notes
    assert "yacht" not in set(doses(study).query("method == 'npt'")["dataset"])
    kept = deletion_study([5.0, 4.0, 6.0, 3.0])
    both = pd.concat([kept.iloc[:1], kept.iloc[:1].assign(fold=1, **FAILED)])
    line = TABLES["deletion"](both, SCORING).tidy.iloc[0]
    assert np.isnan(line["kept"]) and line["reason"].startswith("fold 1: there are no weights")
    heads = attention_study().iloc[:1]
    both = pd.concat([heads, heads.assign(fold=1, **FAILED)])
    assert np.isnan(TABLES["attention"](both, SCORING).tidy.iloc[0]["nearness"])
    clean = {
        "clean_rmse": 1.0,
        "corrupted_rmse": 2.0,
        "control_clean_rmse": 1.0,
        "control_rmse": 1.0,
    }
    own = {**COMMON, "dataset": "yacht", "task": "regression", "method": "npt"}
    both = pd.DataFrame([{**own, **clean, "fold": 0}, {**own, "fold": 1, **FAILED}])
    line = TABLES["corruption"](both, SCORING).tidy.iloc[0]
    assert np.isnan(line["clean"]) and np.isnan(line["change"])
    assert TABLES["corruption"](both.iloc[:1], SCORING).tidy.iloc[0]["change"] == -100


def test_a_model_without_skill_has_none_to_lose() -> None:
    study = dose_study().iloc[:1].assign(constant_rmse=0.5)
    assert answer(study, "dose_response", SCORING) == "No model had any skill to lose."
    assert TABLES["dose_response"](study, SCORING).sections[0].cells["Lost, shuffled"].item() == "–"


def deletion_study(kept: list[float | None], dataset: str = "protein") -> pd.DataFrame:
    count = len(kept)
    distances = {
        "kept": kept,
        "deleted": [10.0] * count,
        "random": [9.0] * count,
        "left": [0.01, 0.5] * (count // 2),
    }
    constants = {"tolerance": 0.01, "limit": 0.1, "growth": 1.1, "retries": 5, "left": 0.02}
    facts = {"context_rows": 300, "passes": 10 * count, "rows": count,
             "distances": json.dumps(distances), "options": json.dumps(constants), "partner_kept": None}  # fmt: skip
    own = {"dataset": dataset, "task": "regression", "method": "npt", "fold": 0}
    return pd.DataFrame(
        [{**COMMON, **own, **facts}, {**COMMON, **own, "dataset": "yacht", **FAILED}]
    )


def test_deletion_is_tested_over_rows_and_stands_beside_the_paper() -> None:
    table = TABLES["deletion"](deletion_study([5.0, 4.0, 6.0, 3.0, 2.0, 7.0, 1.0, 8.0]), SCORING)
    tidy = table.tidy.set_index("dataset")
    assert tidy.loc[
        "protein", ["probed", "left", "to_1_percent", "to_10_percent", "kept"]
    ].tolist() == [
        8,
        0.255,
        0.5,
        0.5,
        4.5,
    ]
    assert tidy.loc["protein", "p_deleted"] == pytest.approx(1 / 2**8)
    assert tidy.loc["protein", "passes_per_row"] == 10
    assert np.isnan(tidy.loc["yacht", "p_deleted"])
    assert "p = 8.8e−130" in " ".join(table.sections[0].notes)
    assert (
        "more after 5 refusals in succession (the paper: 50), up to 0.1; the search ends below 2 %"
        in table.sections[0].notes[1]
    )
    assert "Own duplicate kept" not in table.sections[0].cells
    partners = deletion_study([5.0, 4.0]).assign(partner_kept=[0.75, None])
    assert TABLES["deletion"](partners, SCORING).sections[0].cells[
        "Own duplicate kept"
    ].tolist() == ["75 %", "–"]
    assert "75 % keep the row's own duplicate" in answer(partners, "deletion", SCORING)
    assert (
        table.sections[0].cells.set_index("Dataset").loc["Protein", "p, kept < deleted"] == "0.004"
    )
    assert (
        "Protein a prediction of NPT needs 26 % of its context; those left are nearer than random ones (p = 0.0039)"
        in answer(deletion_study([5.0, 4.0, 6.0, 3.0, 2.0, 7.0, 1.0, 8.0]), "deletion", SCORING)
    )
    own = TABLES["deletion"](deletion_study([1.0, 2.0], "concrete"), SCORING)
    assert "8.8e" not in " ".join(own.sections[0].notes)
    assert "too few to test" in answer(deletion_study([1.0, 2.0]), "deletion", SCORING)


def test_the_test_is_one_sided_and_asks_for_five_pairs() -> None:
    low, high = pd.Series(np.arange(9.0)), pd.Series(np.arange(9.0) + 1 + np.arange(9) / 10)
    assert one_sided(low, high) < 0.01 < 0.99 < one_sided(high, low)
    assert np.isnan(one_sided(low[:4], high[:4]))
    assert np.isnan(one_sided(low, low))
    assert np.isnan(one_sided(low.where(low > 5), high))


def attention_study(partner: list[float] | None = None) -> pd.DataFrame:
    near = [0.5, 0.6, 0.4, 0.7, 0.55, 0.3, 0.45, 0.65]
    heads = [
        {"layer": layer, "head": head, "nearness": near if head else [-x for x in near], "untrained": [0.1] * 8,
         "typical": [0.2] * 8, "reach": [0.5] * 8, "partner": partner}
        for layer in (0, 2) for head in (0, 1)
    ]  # fmt: skip
    maps = {"rows": [[[2.0, 1.0, 0.5]] * 8] * 4}
    own = {"dataset": "yacht", "task": "regression", "method": "npt", "fold": 0}
    facts = {"heads": json.dumps({"heads": heads}), "maps": json.dumps(maps)}
    return pd.DataFrame(
        [{**COMMON, **own, **facts}, {**COMMON, **own, "dataset": "concrete", **FAILED}]
    )


def test_half_of_the_heads_look_near() -> None:
    heads = attention_heads(attention_study())
    assert heads["looks_near"].tolist() == [0, 1, 0, 1]
    assert heads["typical"].eq(0.2).all()
    table = TABLES["attention"](attention_study(), SCORING)
    line = table.sections[0].cells.set_index("Dataset").loc["Yacht"]
    assert line["Look near"] == "50 %"
    assert line["Nearness"] == "0.00"
    assert line["Before training"] == "0.10"
    assert line["Nearest head"] == "0.52 (layer 2, head 1, fold 0)"
    assert "On own duplicate" not in line
    told = answer(attention_study([0.25] * 8), "attention", SCORING)
    assert (
        "50 % of the heads of NPT on Yacht look nearer to the row that asks than to others (mean rank correlation 0.00"
        in told
    )
    assert "with others 0.20, before training 0.10)" in told
    assert "a row's own duplicate gets 25 % of the attention" in told


def test_a_model_without_heads_has_a_reason_and_not_an_error() -> None:
    study = (
        attention_study()
        .iloc[:1]
        .assign(heads=json.dumps({"heads": []}), maps=json.dumps({"rows": []}))
    )
    table = TABLES["attention"](study, SCORING)
    assert table.tidy["reason"].item() == "it has no attention between datapoints"
    assert answer(study, "attention", SCORING) == "No trained model could be questioned."
    FIGURES["attention"](study, SCORING)


def ablation_study(*more: str) -> pd.DataFrame:
    rows = []
    errors_of = {"base": [3.0, 3.2], "layers_4": [3.6, 3.9], "without_attributes": [3.0, 3.2]}
    for variant, errors in {**errors_of, **{name: [4.0, 4.0] for name in more}}.items():
        for fold, error in enumerate(errors):
            own = {
                "dataset": "boston_housing",
                "task": "regression",
                "method": "npt",
                "fold": fold,
                "test_rmse": error,
            }
            rows.append(
                {
                    **COMMON,
                    **own,
                    "test_mse": error**2,
                    "variant": variant,
                    "validation_loss": error,
                }
            )
    return pd.DataFrame(rows)


def test_an_ablation_is_compared_fold_by_fold_and_with_both_of_the_paper_s_tables() -> None:
    table = TABLES["ablation"](ablation_study(), SCORING)
    cells = table.sections[0].cells.set_index("Variant")
    assert cells.loc["NPT (layers_4)", "Change"] == "**+0.650 ± 0.050**"
    assert cells.loc["NPT", "Change"] == "–"
    assert cells.loc["NPT (without_attributes)", "Change"] == "0.000 ± 0.000"
    assert not any("Paper" in column for column in cells)  # it is neither of the paper's tables
    table_4 = set(published()["table_4_ablation"]["cells"]["protein"]) - {"base", "layers_4"}
    for more, title, values in (
        (table_4, "Paper, Table 4", ["3.000 ± 0.230", "3.300 ± 0.410", "–"]),
        ({"no_feature_masking"}, "Paper, Table 5", ["2.920 ± 0.150", "–", "3.220 ± 0.250"]),
    ):
        whole = TABLES["ablation"](ablation_study(*more), SCORING).sections[0].cells
        assert [column for column in whole if "Paper" in column] == [title]
        assert whole[title].tolist()[:3] == values
    found = changes(ablation_study(), SCORING).set_index("title")
    assert found.loc["NPT (layers_4)", "change"] == pytest.approx(100 * 0.65 / 3.1)
    assert "Boston Housing (RMSE): NPT (layers_4) +21 %, NPT (without_attributes) 0 %" in answer(
        ablation_study(), "ablation", SCORING
    )


def test_variants_are_ranked_from_zero_by_validation_loss_beside_table_13() -> None:
    table = TABLES["validation_ranks"](ablation_study(), SCORING)
    ranks = table.tidy.set_index("variant")
    assert ranks["mean_rank"].to_dict() == {"base": 0.5, "layers_4": 2.0, "without_attributes": 0.5}
    assert ranks["published"].isna().all()  # Table 13 ranks eight
    assert ranks["folds"].eq(2).all()
    eight = set(published()["table_13_configuration_rank"]["cells"]["boston_housing"]) - {"base"}
    names = {"layers_4": "gone", "without_attributes": "gone"}
    whole = ablation_study(*eight).replace({"variant": names}).query("variant != 'gone'")
    ranks = TABLES["validation_ranks"](whole, SCORING).tidy.set_index("variant")
    assert ranks.loc["layers_16", "published"] == 4.3
    assert ranks["mean_rank"].sum() == 28
    two = pd.concat([whole, whole.query("variant == 'base'").assign(method="knn")])
    assert len(TABLES["validation_ranks"](two, SCORING).tidy) == 9
    missing = ablation_study().query("not (variant == 'layers_4' and fold == 1)")
    assert TABLES["validation_ranks"](missing, SCORING).tidy["folds"].eq(1).all()


STUDIES = {
    "dose_response": dose_study(),
    "deletion": deletion_study([5.0, 4.0, None, 3.0]),
    "attention": attention_study(),
    "ablation": ablation_study(),
}


@pytest.mark.parametrize("name", STUDIES)
def test_figures_have_the_same_bytes_for_the_same_data(name: str, tmp_path: Any) -> None:
    contents = []
    for number in range(2):
        figure = FIGURES[name](STUDIES[name], SCORING)
        figure.savefig(tmp_path / f"{number}.svg", metadata={"Date": None})
        contents.append((tmp_path / f"{number}.svg").read_bytes())
    assert contents[0] == contents[1]
    words = " ".join(
        text.get_text() for axis in figure.axes for text in (axis.title, axis.xaxis.label)
    )
    assert (
        "Boston Housing" if name == "ablation" else "Protein" if name == "deletion" else "Yacht"
    ) in words


@pytest.mark.parametrize("name", STUDIES)
def test_nothing_to_show_is_said(name: str) -> None:
    failed = STUDIES[name].assign(**FAILED)
    TABLES[name](failed, SCORING)
    FIGURES[name](failed, SCORING)
    assert answer(failed, name, SCORING)
