"""The study of completion: its tasks, a probe of small processes, tables and figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import torch

from npt.data.datasets import mnist_pixels
from npt.interface import Resources
from npt.probing import Probe
from npt.processes.settings import NeuralProcessSettings, NPTProcessSettings, TrainingSettings
from npt.processes.trained import TrainedProcess
from npt.table import Column, Split, Table
from tests.rows import failed, row, study_frame
from tests.workflow.report.toy import SCORING
from workflow.studies import kinds
from workflow.studies.processes.tasks import SIDE, TITLES, shown_pixels
from workflow.studies.query import ProbeQuery

COMPLETION = kinds()["processes"]
IMAGES, HELD_OUT = 6, 2
SETTINGS: dict[str, TrainingSettings] = {
    "attentive_neural_process": NeuralProcessSettings(
        width=16, attention="multihead", draws=4, curves=None
    ),
    "npt_process": NPTProcessSettings(width=8, layers=2, heads=2, curves=None),
}


def query(settings: TrainingSettings) -> ProbeQuery:
    """An untrained process, and random images of which two are held out."""
    pixels = SIDE**2
    number = np.repeat(np.arange(IMAGES), pixels)
    rows, columns = np.divmod(np.tile(np.arange(pixels), IMAGES), SIDE)
    values = np.random.default_rng(0).uniform(-0.5, 0.5, len(number))
    order = np.random.default_rng(1).permutation(len(number))
    arrays = [array[order].astype(float) for array in (number, rows, columns, values)]
    names = ("realisation", "x1", "x2", "y")
    table = Table(tuple(Column(name, "continuous") for name in names), tuple(arrays), 3)
    is_test = (arrays[0] >= IMAGES - HELD_OUT) & (np.arange(len(order)) % 10 > 0)
    is_validation = (arrays[0] == 0) & (np.arange(len(order)) % 10 > 0)
    test = np.flatnonzero(is_test)
    split = Split(0, np.flatnonzero(~is_test & ~is_validation), np.flatnonzero(is_validation), test)
    model = TrainedProcess.untrained(settings, Resources(), table, split, seed=0)
    options = COMPLETION.options(images=5)  # type: ignore[call-arg]
    return ProbeQuery(Probe(model), table, split, test, seed=0, options=options)


@pytest.fixture(scope="module")
def facts() -> dict[str, Any]:
    """Facts of a probe by method."""
    return {name: COMPLETION.probe(query(settings))[0] for name, settings in SETTINGS.items()}


@pytest.fixture
def study(facts: dict[str, Any]) -> pd.DataFrame:
    rows = [row(name, 0, "mnist_pixels", **of_method) for name, of_method in facts.items()]
    return study_frame(rows, "completion")


def test_tasks_show_what_they_are_named_after() -> None:
    shown = {task: shown_pixels(task, seed=0) for task in TITLES}
    assert [len(pixels) for pixels in shown.values()] == [10, 30, 100, 392, 49]
    assert shown["top_half"].max() == 391
    rows, columns = np.divmod(shown["coarse"], SIDE)
    assert set(rows % 4) == set(columns % 4) == {2}
    assert all(len(np.unique(pixels)) == len(pixels) for pixels in shown.values())
    assert not np.array_equal(shown["random_10"], shown_pixels("random_10", seed=1))


def test_hidden_pixels_are_scored(facts: dict[str, Any]) -> None:
    references = []
    for of_method in facts.values():
        tasks = of_method["tasks"]
        assert tasks["task"] == list(TITLES)
        assert of_method["images"] == HELD_OUT
        assert all(square > 0 for square in tasks["square"])
        references.append(tasks["reference_square"])
    assert references[0] == references[1]
    uniform = 1 / 12  # variance of the intensities
    assert np.allclose(references[0], uniform * (1 + 1 / 3), rtol=0.15)  # three train images


def test_pictures_are_in_their_own_order(facts: dict[str, Any]) -> None:
    asked = query(SETTINGS["npt_process"])
    table = asked.table
    number, x1, x2 = (table.numbers(j).astype(int) for j in range(3))
    first = np.flatnonzero(number == IMAGES - HELD_OUT)
    expected = np.zeros((SIDE, SIDE))
    expected[x1[first], x2[first]] = 255 * (table.truth[first] + 0.5)
    for name, of_method in facts.items():
        examples = of_method["examples"]["images"]
        for example in examples:
            picture = np.reshape(example["pictures"][0], (SIDE, SIDE))
            assert np.abs(picture - expected).max() <= 0.51
            samples = 3 if name == "attentive_neural_process" else 0
            assert len(example["pictures"]) == 2 + samples


def test_tables_and_figures_are_made(study: pd.DataFrame, tmp_path: Path) -> None:
    nothing = study_frame([failed("npt_process", 0, dataset="mnist_pixels")], "completion")
    (section,) = COMPLETION.table("likelihoods", study, SCORING).sections
    methods = [cell.text for cell in section.columns["Method"]]
    assert methods == ["Pixels of the training images", "ANP", "NPT, many tables"]
    for rows in (study, nothing):
        assert COMPLETION.table("likelihoods", rows, SCORING).sections
        COMPLETION.figure("completions", rows, SCORING).savefig(tmp_path / "completions.png")
        plt.close("all")


def test_shown_pixels_of_the_dataset_are_as_many_in_a_batch() -> None:
    is_context = mnist_pixels._context_pixels(32)
    counts = is_context.sum(1)
    assert len(set(counts[:16])) == len(set(counts[16:])) == 1
    assert (counts >= 3).all()
    assert (counts <= 100).all()
    held_out = mnist_pixels._context_pixels(320)
    hidden = (~held_out).sum(1)
    assert hidden[:64].sum() == mnist_pixels.VALIDATION_ROWS
    assert hidden[64:].sum() == mnist_pixels.TEST_ROWS
    assert torch.tensor(mnist_pixels.ROWS) == 784 * (5000 + 320)
