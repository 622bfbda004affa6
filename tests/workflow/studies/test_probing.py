"""Probing: what the model of a fold is refitted with, and the row of a probe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from npt.interface import Prediction, Resources
from npt.perturbation import Perturbation
from npt.table import Split, Table
from tests.rows import finish, plan, prepare
from workflow.results.job import Job
from workflow.studies.probing import Probe


@dataclass(frozen=True)
class Refitted:
    """Predicts zero, and keeps what it was refitted with."""

    chosen: Mapping[str, Any]
    table: Table
    split: Split
    seed: int

    def predict(self, rows: np.ndarray) -> Prediction:
        return Prediction(np.zeros(len(rows)))

    def predict_perturbed(
        self, rows: np.ndarray, perturbation: Perturbation, seed: int
    ) -> Prediction:
        return self.predict(rows)


def probe(models: list[Refitted], **changes: Any) -> Probe:
    """The probe of a finished run whose refitted models join the list."""

    def refit(
        settings: Any,
        chosen: Mapping[str, Any],
        resources: Resources,
        table: Table,
        split: Split,
        seed: int,
    ) -> Refitted:
        models.append(Refitted(chosen, table, split, seed))
        return models[-1]

    prepare("yacht")
    study = {"kind": "corruption", "methods": ["knn"]}
    planned = plan(datasets=["yacht"], methods=["knn"], seeds=[1], studies={"corruption": study})
    (stem,) = planned.runs
    finish(planned, stem, **{"chosen": {"k": 5}, **changes})
    job = Job.of(planned, stem)
    with_refit = replace(job, method=replace(job.method, refit=refit))
    return Probe.of(planned.studies["corruption"], with_refit, Resources(1, "cpu"))


def test_probe_refits_blind_with_the_chosen_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    models: list[Refitted] = []
    row, arrays = probe(models).fold(2)
    (model,) = models
    assert np.isnan(model.table.truth).tolist() == [False, False, False, True]
    assert (model.chosen, model.seed, model.split.fold) == ({"k": 5}, 10_002, 2)
    assert (row.key, row.status) == (("yacht/knn/base", 1, 2), "ok")
    assert row.facts["clean_rmse"] == 1  # the target of the test row
    assert arrays["fold_2_rows"].tolist() == [3]


def test_run_without_a_model_gives_a_failed_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    models: list[Refitted] = []
    row, arrays = probe(models, status="failed", reason="out of memory").fold(0)
    assert (row.status, row.reason) == ("failed", "out of memory")
    assert (arrays, models) == ({}, [])
