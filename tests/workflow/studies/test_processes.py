"""Processes: probes of small untrained models on curves and images, their table and figures."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from npt.data import pixels
from npt.data.datasets import cifar_pixels, mnist_pixels
from npt.data.datasets.gp_curves import DATASET
from npt.data.preparation import prepare_declared
from npt.data.store import Prepared
from npt.probing import Probe
from npt.processes.curves import KERNELS
from npt.processes.settings import NeuralProcessSettings, NPTProcessSettings, TrainingSettings
from npt.processes.tasks import Tasks
from npt.processes.trained import TrainedProcess
from npt.table import Column, Split, Table
from tests.rows import failed, row, study_frame
from tests.workflow.report.toy import SCORING, leading, texts
from workflow.studies import kinds
from workflow.studies.processes import images
from workflow.studies.processes.images import TITLES
from workflow.studies.query import ProbeQuery

KIND = kinds()["processes"]
OF_EACH_KERNEL = 48  # held-out curves
IMAGES, HELD_OUT = 6, 2
SIDE = 14
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
    trained = TrainedProcess(model.model, model.data, settings, 0, history.double())
    number, kernel = table.numbers(0), table.numbers(1)
    rows: list[np.ndarray] = []
    for code in range(len(KERNELS)):
        kernel_rows = split.test[kernel[split.test] == code]
        some = np.unique(number[kernel_rows])[:OF_EACH_KERNEL]
        rows.append(kernel_rows[np.isin(number[kernel_rows], some)])
    fewer = Split(0, split.train, split.validation, np.concatenate(rows))
    options = KIND.options(company=20)  # type: ignore[call-arg]
    return ProbeQuery(Probe(trained), table, fewer, fewer.test, seed=0, options=options)


def images_query(settings: TrainingSettings, channels: int = 1) -> ProbeQuery:
    """An untrained process, and random images of which two are held out."""
    shape = (IMAGES, SIDE, SIDE, channels)
    number, *indices = (axis.ravel() for axis in np.indices(shape))
    axes = [pixels.position(index, size) for index, size in zip(indices, shape[1:], strict=True)]
    places = [axis.astype(float) for axis in (number, *axes)]
    values = np.random.default_rng(0).uniform(-0.5, 0.5, len(places[0]))
    order = np.random.default_rng(1).permutation(len(values))
    arrays = [array[order] for array in (*places, values)]
    names = ["realisation", "x1", "x2", "channel", "y"]
    if channels == 1:
        del arrays[3], names[3]
    columns = tuple(Column(name, "continuous") for name in names)
    table = Table(columns, tuple(arrays), len(names) - 1)
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
    """Facts of a probe of grey images by method."""
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


def test_references_of_several_folds_are_their_mean(facts: dict[str, Any]) -> None:
    folds = []
    for fold in range(3):
        model = facts["neural_process"]
        ceilings = [0.1 + fold] * len(KERNELS)
        model = {**model, "kernels": {**model["kernels"], "target_ceiling": ceilings}}
        for seed in range(2):
            kernels = {**model["kernels"], "target": [fold + 2.0 * seed] * len(KERNELS)}
            facts_of_seed = {**model, "kernels": kernels}
            folds.append(row("neural_process", fold, "gp_curves", seed=seed, **facts_of_seed))
    curves = study_frame(folds, "processes")
    (section,) = KIND.view.table("likelihoods", curves, SCORING).sections
    cells = texts(section.columns["RBF, target"])
    assert (cells[0], cells[-1]) == ("1.100 ± 0.577", "2.000 ± 0.577")


def test_a_row_of_curves_is_a_model_without_failures(facts: dict[str, Any]) -> None:
    curves = study(facts, "gp_curves", seeds=2)
    (section,) = KIND.view.table("likelihoods", curves, SCORING).sections
    floored = "Exact posterior, deviation at least 0.1"
    methods = ["Exact posterior", floored, "NP", "ANP", "NPT, many tables"]
    assert texts(section.columns["Method"]) == methods
    scores = leading(section.columns["RBF, target"])
    assert scores[0] > scores[1]
    assert scores[2] == pytest.approx(facts["neural_process"]["kernels"]["target"][0], abs=6e-4)
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


@pytest.mark.parametrize("channels", [1, 3])
def test_pictures_are_in_their_own_order(channels: int) -> None:
    for name, settings in OF_IMAGES.items():
        query = images_query(settings, channels)
        table = query.table
        number, x1, x2, *channel = (table.numbers(j) for j in range(len(table.columns) - 1))
        first = np.flatnonzero(number == IMAGES - HELD_OUT)
        in_raster = first[np.lexsort([axis[first] for axis in (*channel, x2, x1)])]
        expected = 255 * (table.truth[in_raster] + 0.5).reshape(SIDE, SIDE, channels)
        for example in KIND.probe(query)[0]["examples"]["images"]:
            assert np.shape(example["shown"]) == (SIDE, SIDE)
            assert np.abs(np.array(example["pictures"][0]) - expected).max() <= 0.51
            samples = 3 if name == "attentive_neural_process" else 0
            assert len(example["pictures"]) == 2 + samples
            assert np.shape(example["fine"]) == (2 * SIDE, 2 * SIDE, channels)


def test_four_fine_pixels_lie_around_each() -> None:
    fine = images.twice_as_fine((3, 4, 3)).view(3, 2, 4, 2, 3, 3)
    for axis, size in enumerate((3, 4, 3)):
        expected = pixels.position(np.arange(size), size)
        index = [0, 0, 0]
        index[axis] = slice(None)  # type: ignore[call-overload]
        middles = fine.mean((1, 3))[(*index, axis)]
        assert np.allclose(middles, expected)
    assert len(fine.flatten(0, 4).unique(dim=0)) == 4 * 36


def test_heads_keep_a_role_if_they_attend_to_the_same_relative_place() -> None:
    """One of two heads attends to the query's own place, the other to the next; then both to it."""
    x = torch.arange(5.0)[:, None].expand(2, 5, 1)
    attention = SimpleNamespace(multihead=True)
    network: Any = SimpleNamespace(attention=attention)
    tasks = [Tasks(x, x[..., 0], 5)]
    own, following = torch.eye(5), torch.eye(5).roll(1, 1)
    following[-1] = own[-1]
    both = torch.stack([own, following]).expand(2, 2, 5, 5)
    attention.weights = lambda context, queries: both
    assert images.role_share(network, tasks) > 0.6
    attention.weights = lambda context, queries: both[:, 1:].expand(2, 2, 5, 5)
    assert images.role_share(network, tasks) == 0
    assert images.role_share(SimpleNamespace(), tasks) is None  # type: ignore[arg-type]


def test_images_have_rows_and_figures_are_drawn_without_results(
    facts: dict[str, Any], image_facts: dict[str, Any], tmp_path: Path
) -> None:
    completed = study(image_facts, "mnist_pixels")
    (section,) = KIND.view.table("likelihoods", completed, SCORING).sections
    methods = ["Pixels of the training images", "ANP", "NPT, many tables"]
    assert texts(section.columns["Method"]) == methods
    nothing = study_frame([failed("npt_process", dataset="mnist_pixels")], "processes")
    roles = section.columns["Roles"]
    assert roles[0].text == roles[2].text == "–"
    assert 0 <= leading(roles)[1] <= 1
    assert KIND.view.table("likelihoods", nothing, SCORING).sections
    curves = study(facts, "gp_curves")
    for name, with_results in (("completions", completed), ("training", curves)):
        for rows in (with_results, nothing):
            KIND.view.figure(name, rows, SCORING).savefig(tmp_path / "figure.png")


@pytest.mark.parametrize(("dataset", "channels"), [(mnist_pixels, 1), (cifar_pixels, 3)])
def test_shown_pixels_of_a_dataset_are_as_many_in_a_batch(dataset: Any, channels: int) -> None:
    is_context = pixels.context_pixels(dataset.SIDE**2, dataset.MOST)
    counts = is_context.sum(1)
    assert len(set(counts[:16])) == len(set(counts[16:32])) == 1
    assert (counts >= 3).all()
    assert (counts <= dataset.MOST).all()
    hidden = channels * (~is_context).sum(1)
    rule = dataset.DATASET.split_rule
    assert hidden[:64].sum() == rule.fixed_validation_rows
    assert hidden[64:].sum() == rule.fixed_test_rows


def test_pixels_are_shown_in_all_channels() -> None:
    intensities = np.random.default_rng(0).integers(0, 256, (pixels.HELD_OUT + 2, 4, 5, 3))
    frame = pixels.points(intensities.astype(np.uint8), most=6)
    assert len(frame) == intensities.size
    assert not frame.duplicated(["realisation", "x1", "x2", "channel"]).any()
    places = []
    for name, size in (("x1", 4), ("x2", 5), ("channel", 3)):
        places.append(((frame[name] + 1) / 2 * (size - 1)).round().astype(int))
    assert np.allclose(intensities[frame["realisation"], *places] / 255 - 0.5, frame["y"])
    hidden = 3 * (~pixels.context_pixels(20, 6)).sum(1)
    shown = frame[: -int(hidden.sum())]
    sizes = shown.groupby(["realisation", "x1", "x2"]).size()
    assert (sizes == 3).all()
    assert set(frame["realisation"][-int(hidden[64:].sum()) :]) == {*range(66, 322)}
