"""Means and comparisons of the treatments of positions."""

from __future__ import annotations

import pandas as pd
import pytest
import yaml
from scipy.stats import ttest_ind

from performance.positions import COMPARISONS, TREATMENTS, comparisons, treatments
from performance.study_tables import ROOT

DRAWS = [-0.01, 0.0, 0.01]
CONFIG = ROOT / "workflow" / "configs" / "images_small.yaml"


def made_up() -> pd.DataFrame:
    """Three seeds of every treatment; two dimensions have 10 points more than one."""
    rows = []
    for variant in TREATMENTS:
        mean = 0.5 if "2d" in variant else 0.4
        for seed, draw in enumerate(DRAWS):
            test = mean + draw
            rows.append(
                {
                    "variant": variant,
                    "seed": seed,
                    "fold": 0,
                    "test_accuracy": test,
                    "validation_accuracy": test + 0.02,
                }
            )
    return pd.DataFrame(rows)


def test_the_treatments_are_the_variants_of_the_study() -> None:
    study = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))["studies"]["positions"]
    assert list(TREATMENTS) == list(study["variants"]["npt"])


def test_changes_and_tests() -> None:
    compared = comparisons(made_up()).set_index(["before", "after"])
    by_dimensions = compared.loc[("siren_1d", "siren_2d")]
    assert by_dimensions["change"] == pytest.approx(10)
    assert by_dimensions["thesis"] == pytest.approx(7.22)
    plain = ttest_ind([49, 50, 51], [39, 40, 41], equal_var=False)
    assert by_dimensions["p_holm"] == pytest.approx(len(COMPARISONS) * plain.pvalue)
    # Two groups of three with deviation 1 have four degrees of freedom.
    standard_error = (2 / 3) ** 0.5
    assert by_dimensions["high"] == pytest.approx(10 + 2.776 * standard_error, abs=1e-3)
    assert compared.loc[("siren_2d", "siren_2d_span"), "p_holm"] == 1
    assert pd.isna(compared.loc[("siren_2d_without_datapoints", "siren_2d_attending"), "thesis"])


def test_sections() -> None:
    accuracies, changes = treatments(made_up()).sections
    by_network = {row[0].text: row for row in accuracies.rows}
    texts = [cell.text for cell in by_network["2-D SIREN"]]
    assert texts == ["2-D SIREN", "50.0 ± 1.0", "52.0 ± 1.0", "79.9 ± 0.9"]
    assert by_network["2-D SIREN, attention between images"][-1].is_missing
    assert len(changes.rows) == len(COMPARISONS)
    assert "there are 3 here" in accuracies.notes[0]


def test_folds_do_not_count_as_seeds() -> None:
    study = made_up()
    study.loc[0, "fold"] = 1
    with pytest.raises(ValueError, match="one fold"):
        treatments(study)
