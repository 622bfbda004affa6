"""The study of curves: a probe of small processes, its tables and its figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import torch

from npt.data.datasets.gp_curves import DATASET
from npt.data.preparation import prepare_declared
from npt.data.store import Prepared
from npt.interface import Resources
from npt.probing import Probe
from npt.processes.curves import KERNELS
from npt.processes.settings import NeuralProcessSettings, NPTProcessSettings, TrainingSettings
from npt.processes.trained import TrainedProcess
from npt.table import Split
from tests.rows import failed, row, study_frame
from tests.workflow.report.toy import SCORING
from workflow.studies import kinds
from workflow.studies.query import ProbeQuery

CURVES = kinds()["processes"]
OF_EACH_KERNEL = 48  # held-out curves
SETTINGS: dict[str, TrainingSettings] = {
    "neural_process": NeuralProcessSettings(width=16, draws=3),
    "attentive_neural_process": NeuralProcessSettings(width=16, attention="multihead", draws=3),
    "npt_process": NPTProcessSettings(width=8, layers=2, heads=2),
}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    return prepare_declared(DATASET, tmp_path_factory.getbasetemp())


def query(prepared: Prepared, settings: TrainingSettings) -> ProbeQuery:
    """An untrained process, and some held-out curves of each kernel."""
    table = prepared.table
    split = prepared.splits[0]
    model = TrainedProcess.untrained(settings, Resources(), table, split, seed=0)
    history = torch.tensor([[10.0, 1.0, -1.0, -1.2], [20.0, 2.0, -0.5, -0.7]])
    trained = TrainedProcess(model.model, model.data, split, settings, 0, history.double())
    number, kernel = table.numbers(0), table.numbers(1)
    rows: list[np.ndarray] = []
    for code in range(len(KERNELS)):
        of_kernel = split.test[kernel[split.test] == code]
        some = np.unique(number[of_kernel])[:OF_EACH_KERNEL]
        rows.append(of_kernel[np.isin(number[of_kernel], some)])
    fewer = Split(0, split.train, split.validation, np.concatenate(rows))
    options = CURVES.options(company=20)  # type: ignore[call-arg]
    return ProbeQuery(Probe(trained), table, fewer, fewer.test, seed=0, options=options)


@pytest.fixture(scope="module")
def facts(prepared: Prepared) -> dict[str, Any]:
    """Facts of a probe by method."""
    queries = {name: query(prepared, settings) for name, settings in SETTINGS.items()}
    return {name: CURVES.probe(asked)[0] for name, asked in queries.items()}


@pytest.fixture
def study(facts: dict[str, Any]) -> pd.DataFrame:
    rows = []
    for name, of_method in facts.items():
        for seed in range(2):
            rows.append(row(name, 0, "gp_curves", seed=seed, **of_method))
    return study_frame(rows, "curves")


def test_the_ceiling_is_above_untrained_models(facts: dict[str, Any]) -> None:
    ceilings = []
    for of_method in facts.values():
        kernels = of_method["kernels"]
        assert kernels["kernel"] == list(KERNELS)
        ceilings.append(kernels["target_ceiling"])
        for part in ("context", "target"):
            assert np.less(kernels[part], kernels[f"{part}_ceiling"]).all()
    assert ceilings[0] == ceilings[1] == ceilings[2]  # it is that of the data


def test_only_npt_predicts_otherwise_in_company(facts: dict[str, Any]) -> None:
    for name, of_method in facts.items():
        company = of_method["company"]
        assert company["curves"] == 20
        if name == "npt_process":
            assert company["moved"] > 1e-4
            assert company["alone"] != company["together"]
        else:
            assert company["moved"] < 1e-5
            assert company["alone"] == pytest.approx(company["together"], abs=1e-5)


def test_tables_have_a_row_for_each_model(study: pd.DataFrame, facts: dict[str, Any]) -> None:
    (section,) = CURVES.table("likelihoods", study, SCORING).sections
    methods = [cell.text for cell in section.columns["Method"]]
    floored = "Exact posterior, deviation at least 0.1"
    assert methods == ["Exact posterior", floored, "NP", "ANP", "NPT, many tables"]
    assert section.columns["RBF, target"][0].value > section.columns["RBF, target"][1].value
    target = facts["neural_process"]["kernels"]["target"][0]
    assert section.columns["RBF, target"][2].value == pytest.approx(target)
    assert section.columns["Moved"][2].text == "0.000 ± 0.000"


def test_a_model_with_a_failed_seed_has_no_result(study: pd.DataFrame) -> None:
    other = study_frame([failed("neural_process", 0, dataset="gp_curves", seed=2)], "curves")
    both = pd.concat([study, other], ignore_index=True)
    table = CURVES.table("likelihoods", both, SCORING)
    (section,) = table.sections
    assert "NP" not in [cell.text for cell in section.columns["Method"]]
    assert any("out of memory" in note for note in section.notes)
    assert set(table.tidy["reason"]) == {"", "fold 0: seed 2: out of memory"}


def test_figures_are_drawn_with_and_without_results(study: pd.DataFrame, tmp_path: Path) -> None:
    nothing = study_frame([failed("neural_process", 0, dataset="gp_curves")], "curves")
    for rows in (study, nothing):
        CURVES.figure("training", rows, SCORING).savefig(tmp_path / "training.png")
        plt.close("all")
    assert CURVES.table("likelihoods", nothing, SCORING).sections
