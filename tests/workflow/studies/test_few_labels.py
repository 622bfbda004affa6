"""Few labels: what rows without labels are worth."""

import numpy as np
import pandas as pd
import pytest

from npt.train_rows import TrainRows
from tests.rows import failed, plan, row, study_frame
from tests.workflow.studies.frames import SCORING
from workflow.studies import kinds
from workflow.studies.few_labels.view import by_fold, values_of_rows

KIND = kinds()["few_labels"]
DATASETS = ("yacht", "concrete", "boston_housing", "protein", "servo", "airfoil")


def study() -> pd.DataFrame:
    """Unlabelled rows halve the RMSE of k-NN on all datasets, permuted ones change nothing."""
    rows = []
    for dataset in DATASETS:
        for fold in (0, 1):
            scale = 1.0 + fold
            rows.append(row("knn", fold, dataset=dataset, test_rmse=scale))
            for state, rmse in (("present", 2.0), ("permuted", 4.0), ("absent", 4.0)):
                facts = {"variant": f"labels_10_{state}", "test_rmse": rmse * scale}
                rows.append(row("knn", fold, dataset=dataset, **facts))
    rows.append(failed("linear", dataset="yacht", reason="too few labels"))
    return study_frame(rows, "few_labels")


def test_each_number_of_labels_and_state_is_a_run() -> None:
    block = {"kind": "few_labels", "options": {"labels": [5, 20]}}
    planned = plan(datasets=["yacht"], methods=["knn"], studies={"few_labels": block})
    trained = {run.variant: run.train for run in planned.runs.values()}
    assert trained["base"] == TrainRows()
    assert trained["labels_5_absent"] == TrainRows(labels=5, unlabelled="absent")
    assert len(trained) == 7
    assert len({run.fingerprint for run in planned.runs.values()}) == 7
    assert not any(planned.probes_of(run) for run in planned.runs.values())


def test_value_is_the_loss_without_rows_minus_that_with_them() -> None:
    values = values_of_rows(by_fold(study()))[["present", "permuted"]]
    assert values.size == 2 * len(DATASETS)
    assert values["present"].tolist() == pytest.approx([np.log(2)] * len(DATASETS))
    assert values["permuted"].tolist() == [0.0] * len(DATASETS)


def test_tables_and_figures_of_known_results() -> None:
    over_tables, errors = KIND.view.table("few_labels", study(), SCORING).sections
    assert [cell.text for cell in over_tables.columns["Helped"]] == ["6 of 6"]
    assert over_tables.columns["Present"][0].text == "× 2.0"
    assert over_tables.columns["Permuted"][0].text == "× 1.0"
    assert len(errors.columns["Dataset"]) == 2 * len(DATASETS)
    assert any("too few labels" in note for note in errors.notes)
    for name in KIND.view.figures:
        assert KIND.view.figure(name, study(), SCORING).axes


def test_a_study_without_results_has_a_table() -> None:
    nothing = study_frame([failed("knn", dataset="yacht", reason="no luck")], "few_labels")
    (errors,) = KIND.view.table("few_labels", nothing, SCORING).sections
    assert any("no luck" in note for note in errors.notes)
