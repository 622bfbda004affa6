"""Tables and sentence of an ablation."""

import numpy as np
import pandas as pd
import pytest

from tests.rows import row, study_frame
from tests.workflow.report.toy import FAILED, SCORING, texts
from workflow.presentation.published import published
from workflow.studies import kinds
from workflow.studies.ablation.view import changes

ABLATION = kinds()["ablation"]
ERRORS = {"base": [3.0, 3.2], "layers_4": [3.6, 3.9], "without_attributes": [3.0, 3.2]}
TABLE_4 = set(published()["table_4_ablation"]["cells"]["protein"])
TABLE_13 = set(published()["table_13_configuration_rank"]["cells"]["boston_housing"])


def ablation_study(errors: dict[str, list[float]] = ERRORS, *others: str) -> pd.DataFrame:
    """Variants of NPT on Boston Housing; the `others` have an error of 4 in two folds."""
    rows = []
    for variant, values in {**errors, **{name: [4.0, 4.0] for name in others}}.items():
        for fold, error in enumerate(values):
            facts = {"test_rmse": error, "validation_loss": error, "variant": variant}
            sizes = {"train_rows": 70, "test_rows": 10}
            rows.append(row("npt", fold, "boston_housing", **facts, **sizes))
    return study_frame(rows, "parts")


def column(study: pd.DataFrame, title: str) -> list[str]:
    return texts(ABLATION.view.table("ablation", study, SCORING).sections[0].columns[title])


def test_change_is_over_the_same_folds() -> None:
    (section,) = ABLATION.view.table("ablation", ablation_study(), SCORING).sections
    assert texts(section.columns["Change"]) == ["–", "+0.650 ± 0.050", "0.000 ± 0.000"]
    assert not any(title.startswith("Paper") for title in section.columns)
    one_fold = ablation_study().query("fold == 0")
    assert column(one_fold, "Change") == ["–", "+0.600", "0.000"]


@pytest.mark.parametrize(
    ("errors", "change"),
    [
        ([2.0, 2.1, 2.3], "**+1.033 ± 0.033**"),
        ([2.0, 2.1, 2.2], "+1.000 ± 0.000"),
        ([1.0, 1.1, 2.9], "+0.567 ± 0.567"),
    ],
)
def test_changes_are_tested_over_three_folds(errors: list[float], change: str) -> None:
    study = ablation_study({"base": [1.0, 1.1, 1.2], "layers_4": errors})
    assert column(study, "Change")[1] == change


def test_change_is_of_all_folds_or_none() -> None:
    study = ablation_study()
    study.loc[3, ["test_rmse", *FAILED]] = [np.nan, *FAILED.values()]
    tidy = ABLATION.view.table("ablation", study, SCORING).tidy.set_index("variant")
    assert np.isnan(tidy.loc["layers_4", "change"])
    assert tidy.loc["without_attributes", "change"] == 0
    undefined = ablation_study()
    undefined.loc[3, "test_rmse"] = np.nan
    other_folds = ablation_study()
    other_folds["fold"] += 2 * (other_folds["variant"] == "layers_4")
    for study in (undefined, other_folds):
        assert column(study, "Change")[1] == "–"


def test_changes_by_rounding_are_no_evidence() -> None:
    noise = [1 + 2.3e-16] * 9 + [1 + 4.6e-16]
    study = ablation_study({"base": [1.0] * 10, "layers_4": noise})
    assert column(study, "Change")[1] == "0.000 ± 0.000"


def test_seeds_are_averaged_before_the_change() -> None:
    study = ablation_study()
    other = study.assign(seed=1)
    other.loc[other["variant"] == "layers_4", "test_rmse"] += 0.2
    table = ABLATION.view.table("ablation", pd.concat([study, other], ignore_index=True), SCORING)
    assert table.tidy.set_index("variant").loc["layers_4", "change"] == pytest.approx(0.75)
    assert "Over seeds" in table.sections[0].columns
    assert any("`Over seeds`" in note for note in table.sections[-1].notes)


@pytest.mark.parametrize(
    ("others", "title", "values"),
    [
        (TABLE_4 - set(ERRORS), "Paper, Table 4", ["3.000 ± 0.230", "3.300 ± 0.410", "–"]),
        ({"no_feature_masking"}, "Paper, Table 5", ["2.920 ± 0.150", "–", "3.220 ± 0.250"]),
    ],
    ids=["table 4", "table 5"],
)
def test_variants_of_the_paper_are_compared_with_it(
    others: set[str], title: str, values: list[str]
) -> None:
    assert column(ablation_study(ERRORS, *others), title)[:3] == values


def test_variants_are_ranked_by_loss_on_complete_folds() -> None:
    ranks = changes(ablation_study(), SCORING).set_index("variant")
    expected = {"base": 0.5, "layers_4": 2.0, "without_attributes": 0.5}
    assert ranks["rank"].to_dict() == expected
    assert ranks["published_rank"].isna().all()
    one_fold = ablation_study().query("not (variant == 'layers_4' and fold == 1)")
    ranks = changes(one_fold, SCORING).set_index("variant")
    assert ranks["rank"].to_dict() == expected
    assert ranks["rank_error"].isna().all()
    study = ablation_study(ERRORS, *TABLE_13 - {"base"})
    ranks = changes(study[study["variant"].isin(TABLE_13)], SCORING).set_index("variant")
    assert ranks.loc["layers_16", "published_rank"] == 4.3
    assert ranks["rank"].sum() == 28


def test_figure_names_every_variant() -> None:
    (axis,) = ABLATION.view.figure("ablation", ablation_study(), SCORING).axes
    labels = [text.get_text() for text in axis.get_yticklabels()]
    assert sorted(labels) == ["NPT (layers_4)", "NPT (without_attributes)"]
    assert axis.lines[0].get_xdata() == pytest.approx([0.65])


def test_without_a_base_variants_have_their_metric() -> None:
    study = ablation_study()
    study = study[study["variant"] != "base"]
    table = ABLATION.view.table("ablation", study, SCORING)
    assert "Change" not in table.sections[0].columns
    assert table.tidy["mean"].tolist() == [3.75, 3.1]
    figure = ABLATION.view.figure("ablation", study, SCORING)
    assert figure.axes[0].get_xlabel().startswith("test RMSE\n")
