"""Processes: probes of small untrained models on curves and images, their table and figures."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from npt.data.datasets import mnist_pixels
from npt.data.datasets.gp_curves import DATASET
from npt.data.preparation import prepare_declared
from npt.data.store import Prepared
from npt.probing import Probe
from npt.processes.curves import KERNELS
from npt.processes.settings import NeuralProcessSettings, NPTProcessSettings, TrainingSettings
from npt.processes.trained import TrainedProcess
from npt.table import Column, Split, Table
from tests.rows import failed, row, study_frame
from tests.workflow.report.toy import SCORING, texts
from workflow.studies import kinds
from workflow.studies.processes.probe import SIDE, TITLES
from workflow.studies.query import ProbeQuery

KIND = kinds()["processes"]
OF_EACH_KERNEL = 48  # held-out curves
IMAGES, HELD_OUT = 6, 2
SETTINGS: dict[str, TrainingSettings] = {
    "neural_process": NeuralProcessSettings(width=16, draws=3),
    "attentive_neural_process": NeuralProcessSettings(width=16, attention="multihead", draws=3),
    "npt_process": NPTProcessSettings(width=8, layers=2, heads=2),
}
OF_IMAGES: dict[str, TrainingSettings] = {
    "attentive_neural_process": NeuralProcessSettings(
        width=16, attention="multihead", draws=4, curves=None
    ),
    "npt_process": NPTProcessSettings(width=8, layers=2, heads=2, curves=None),
}


def curves_query(prepared: Prepared, settings: TrainingSettings) -> ProbeQuery:
    """An untrained process, and some held-out curves of each kernel."""
    table = prepared.table
    split = prepared.splits[0]
    model = TrainedProcess.untrained(settings, torch.device("cpu"), table, split, seed=0)
    history = torch.tensor([[10.0, 1.0, -1.0, -1.2], [20.0, 2.0, -0.5, -0.7]])
    trained = TrainedProcess(model.model, model.data, split, settings, 0, history.double())
    number, kernel = table.numbers(0), table.numbers(1)
    rows: list[np.ndarray] = []
    for code in range(len(KERNELS)):
        kernel_rows = split.test[kernel[split.test] == code]
        some = np.unique(number[kernel_rows])[:OF_EACH_KERNEL]
        rows.append(kernel_rows[np.isin(number[kernel_rows], some)])
    fewer = Split(0, split.train, split.validation, np.concatenate(rows))
    options = KIND.options(company=20)  # type: ignore[call-arg]
    return ProbeQuery(Probe(trained), table, fewer, fewer.test, seed=0, options=options)


def images_query(settings: TrainingSettings) -> ProbeQuery:
    """An untrained process, and random images of which two are held out."""
    pixels = SIDE**2
    number = np.repeat(np.arange(IMAGES), pixels)
    rows, columns = np.divmod(np.tile(np.arange(pixels), IMAGES), SIDE)
    values = np.random.default_rng(0).uniform(-0.5, 0.5, len(number))
    order = np.random.default_rng(1).permutation(len(number))
    arrays = [array[order].astype(float) for array in (number, rows, columns, values)]
    names = ("realisation", "x1", "x2", "y")
    table = Table(tuple(Column(name, "continuous") for name in names), tuple(arrays), 3)
    is_hidden = np.arange(len(order)) % 10 > 0
    is_test = (arrays[0] >= IMAGES - HELD_OUT) & is_hidden
    is_validation = (arrays[0] == 0) & is_hidden
    train = np.flatnonzero(~is_test & ~is_validation)
    split = Split(0, train, np.flatnonzero(is_validation), np.flatnonzero(is_test))
    model = TrainedProcess.untrained(settings, torch.device("cpu"), table, split, seed=0)
    options = KIND.options(images=5)  # type: ignore[call-arg]
    return ProbeQuery(Probe(model), table, split, split.test, seed=0, options=options)


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Facts of a probe of curves by method."""
    prepared = prepare_declared(DATASET, tmp_path_factory.getbasetemp())
    queries = {name: curves_query(prepared, settings) for name, settings in SETTINGS.items()}
    return {name: KIND.probe(query)[0] for name, query in queries.items()}


@pytest.fixture(scope="module")
def image_facts() -> dict[str, Any]:
    """Facts of a probe of images by method."""
    return {name: KIND.probe(images_query(settings))[0] for name, settings in OF_IMAGES.items()}


def study(facts: dict[str, Any], dataset: str, seeds: int = 1) -> pd.DataFrame:
    rows = []
    for name, method_facts in facts.items():
        rows += [row(name, 0, dataset, seed=seed, **method_facts) for seed in range(seeds)]
    return study_frame(rows, "processes")


def test_the_ceiling_is_above_untrained_models(facts: dict[str, Any]) -> None:
    ceilings = []
    for method_facts in facts.values():
        kernels = method_facts["kernels"]
        assert kernels["kernel"] == list(KERNELS)
        ceilings.append(kernels["target_ceiling"])
        for part in ("context", "target"):
            assert np.less(kernels[part], kernels[f"{part}_ceiling"]).all()
    assert ceilings[0] == ceilings[1] == ceilings[2]  # it is that of the data


def test_only_npt_predicts_otherwise_in_company(facts: dict[str, Any]) -> None:
    for name, method_facts in facts.items():
        company = method_facts["company"]
        assert company["curves"] == 20
        if name == "npt_process":
            assert company["moved"] > 1e-4
            assert company["alone"] != company["together"]
        else:
            assert company["moved"] < 1e-5
            assert company["alone"] == pytest.approx(company["together"], abs=1e-5)


def test_a_row_of_curves_is_a_model_without_failures(facts: dict[str, Any]) -> None:
    curves = study(facts, "gp_curves", seeds=2)
    (section,) = KIND.view.table("likelihoods", curves, SCORING).sections
    floored = "Exact posterior, deviation at least 0.1"
    methods = ["Exact posterior", floored, "NP", "ANP", "NPT, many tables"]
    assert texts(section.columns["Method"]) == methods
    scores = [cell.value for cell in section.columns["RBF, target"]]
    assert scores[0] > scores[1]
    assert scores[2] == pytest.approx(facts["neural_process"]["kernels"]["target"][0])
    assert section.columns["Moved"][2].text == "0.000 ± 0.000"
    other = study_frame([failed("neural_process", dataset="gp_curves", seed=2)], "processes")
    table = KIND.view.table("likelihoods", pd.concat([curves, other], ignore_index=True), SCORING)
    (section,) = table.sections
    methods.remove("NP")
    assert texts(section.columns["Method"]) == methods
    assert any("out of memory" in note for note in section.notes)
    assert set(table.tidy["reason"]) == {"", "fold 0: seed 2: out of memory"}


def test_hidden_pixels_are_scored(image_facts: dict[str, Any]) -> None:
    references = []
    for method_facts in image_facts.values():
        tasks = method_facts["tasks"]
        assert tasks["task"] == list(TITLES)
        assert method_facts["images"] == HELD_OUT
        assert all(square > 0 for square in tasks["square"])
        references.append(tasks["reference_square"])
    assert references[0] == references[1]
    uniform = 1 / 12  # variance of the intensities
    assert np.allclose(references[0], uniform * (1 + 1 / 3), rtol=0.15)  # three train images


def test_pictures_are_in_their_own_order(image_facts: dict[str, Any]) -> None:
    table = images_query(OF_IMAGES["npt_process"]).table
    number, x1, x2 = (table.numbers(j).astype(int) for j in range(3))
    first = np.flatnonzero(number == IMAGES - HELD_OUT)
    expected = np.zeros((SIDE, SIDE))
    expected[x1[first], x2[first]] = 255 * (table.truth[first] + 0.5)
    for name, method_facts in image_facts.items():
        for example in method_facts["examples"]["images"]:
            picture = np.reshape(example["pictures"][0], (SIDE, SIDE))
            assert np.abs(picture - expected).max() <= 0.51
            samples = 3 if name == "attentive_neural_process" else 0
            assert len(example["pictures"]) == 2 + samples


def test_images_have_rows_and_figures_are_drawn_without_results(
    facts: dict[str, Any], image_facts: dict[str, Any], tmp_path: Path
) -> None:
    images = study(image_facts, "mnist_pixels")
    (section,) = KIND.view.table("likelihoods", images, SCORING).sections
    methods = ["Pixels of the training images", "ANP", "NPT, many tables"]
    assert texts(section.columns["Method"]) == methods
    nothing = study_frame([failed("npt_process", dataset="mnist_pixels")], "processes")
    assert KIND.view.table("likelihoods", nothing, SCORING).sections
    curves = study(facts, "gp_curves")
    for name, with_results in (("completions", images), ("training", curves)):
        for rows in (with_results, nothing):
            KIND.view.figure(name, rows, SCORING).savefig(tmp_path / "figure.png")


def test_shown_pixels_of_the_dataset_are_as_many_in_a_batch() -> None:
    is_context = mnist_pixels._context_pixels(32)
    counts = is_context.sum(1)
    assert len(set(counts[:16])) == len(set(counts[16:])) == 1
    assert (counts >= 3).all()
    assert (counts <= 100).all()
    hidden = (~mnist_pixels._context_pixels(320)).sum(1)
    assert hidden[:64].sum() == mnist_pixels.VALIDATION_ROWS
    assert hidden[64:].sum() == mnist_pixels.TEST_ROWS
    assert mnist_pixels.ROWS == 784 * (5000 + 320)
