"""Notes below tables."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.rows import row, study
from workflow.config.scoring import Scoring
from workflow.report.notes import standardisation_notes
from workflow.studies import kinds
from workflow.studies.study_kind import StudyKind

OVER_TRAIN_ROWS = {"transductive": False}
SCORING = Scoring({"binary": "auroc", "multiclass": "accuracy", "regression": "rmse"})


def rows_of(method: str, dataset: str = "yacht", **changes: Any) -> list[Any]:
    return [row(method, fold, dataset, test_rmse=1.0 + fold, **changes) for fold in range(2)]


def notes(tmp_path: Path, *models: list[Any]) -> tuple[str, ...]:
    return standardisation_notes(study(chain(*models), tmp_path))


def test_methods_standardised_unlike_are_listed(tmp_path: Path) -> None:
    (note,) = notes(tmp_path, rows_of("npt", **OVER_TRAIN_ROWS), rows_of("knn"), rows_of("mlp"))
    assert note == (
        "Yacht: features are standardised over the train rows for NPT, over all rows for k-NN, MLP "
        "(setting `transductive`)."
    )


def test_datasets_with_the_same_methods_share_a_note(tmp_path: Path) -> None:
    models = []
    for dataset in ("yacht", "concrete"):
        models.append(rows_of("npt", dataset))
        models.append(rows_of("knn", dataset, **OVER_TRAIN_ROWS))
    models.append(rows_of("npt", "protein"))
    models.append(rows_of("knn", "protein"))
    (note,) = notes(tmp_path, *models)
    assert note.startswith("Yacht, Concrete: ")


@pytest.mark.parametrize("changes", [{}, OVER_TRAIN_ROWS])
def test_methods_standardised_alike_need_no_note(tmp_path: Path, changes: dict[str, Any]) -> None:
    assert notes(tmp_path, rows_of("npt", **changes), rows_of("knn", **changes)) == ()


def test_variants_of_one_method_need_no_note(tmp_path: Path) -> None:
    inductive = rows_of("npt", variant="no_semi_supervision", **OVER_TRAIN_ROWS)
    assert notes(tmp_path, rows_of("npt"), inductive) == ()


def test_only_results_of_known_methods_count(tmp_path: Path) -> None:
    npt = rows_of("npt", **OVER_TRAIN_ROWS)
    assert notes(tmp_path, npt, rows_of("theirs", source="published.csv")) == ()


def test_every_table_of_a_benchmark_has_the_note(tmp_path: Path) -> None:
    mixed: pd.DataFrame = study(rows_of("npt", **OVER_TRAIN_ROWS) + rows_of("knn"), tmp_path)
    benchmark: StudyKind = kinds()["benchmark"]
    for name in ("scores", "metrics", "published"):
        last = benchmark.table(name, mixed, SCORING).sections[-1]
        assert any("transductive" in note for note in last.notes), name
