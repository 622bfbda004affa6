"""The same functions on a GPU; skipped where there is none."""

from typing import Any

import numpy as np
import pytest
import torch

from npt.interface import Resources
from npt.nn.cuda_graph import Recorded
from npt.nn.device import arithmetic
from npt.nn.learner import NPTLearner
from npt.nn.settings import NPTSettings
from npt.nn.trained import TrainedNPT
from npt.nn.training import NPTTraining
from tests.conftest import first_split, make_table
from tests.npt.nn.test_training import BATCHES
from tests.npt.solved.test_solved import QUERIES, fitted

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")


@pytest.mark.parametrize("classes", [None, 3])
@pytest.mark.parametrize(
    ("steps", "exact_rows", "tolerance"), [(0, 4000, 1e-6), (0, 50, 1e-6), (20, 4000, 1e-2)]
)
def test_predictions_are_those_of_the_cpu(
    classes: int | None, steps: int, exact_rows: int, tolerance: float
) -> None:
    settings = {"steps": steps, "exact_rows": exact_rows, "landmarks": 40}
    on_cpu = fitted(classes, **settings)
    on_gpu = fitted(classes, device="cuda", **settings)
    assert on_gpu.predict(QUERIES) == pytest.approx(on_cpu.predict(QUERIES), abs=tolerance)
    weights = on_cpu.attention_weights(QUERIES)
    assert on_gpu.attention_weights(QUERIES) == pytest.approx(weights, abs=tolerance)
    left_out = np.tile([3, 7], (len(QUERIES), 1))
    (without,) = on_cpu.without(QUERIES, left_out)
    (without_on_gpu,) = on_gpu.without(QUERIES, left_out)
    assert without_on_gpu == pytest.approx(without, abs=tolerance)


# Without random draws, which differ between devices.
PLAIN = BATCHES.changed(
    batch_rows=None,
    hidden_dropout=0,
    attention_dropout=0,
    feature_mask=0,
    tradeoff_start=0,
    target_mask=1,
)


def losses(device: str, **changes: Any) -> list[float]:
    """Losses of twenty updates."""
    settings = PLAIN.changed(updates=20, **changes)
    table = make_table("multiclass")
    split = first_split(table)
    blind = table.blind(split.test)
    trained = TrainedNPT.untrained(settings, torch.device(device), blind, split, 3)
    training = NPTTraining(trained.model, trained.data, settings, 3)
    with arithmetic(settings, trained.device):
        return [float(training.update(number)) for number in range(1, 21)]


@pytest.mark.parametrize(
    ("precision", "tolerance"), [("float32", 1e-5), ("tf32", 0.01), ("bfloat16", 0.05)]
)
def test_updates_are_near_those_of_the_cpu(precision: str, tolerance: float) -> None:
    assert losses("cuda", precision=precision) == pytest.approx(losses("cpu"), rel=tolerance)


def weights_after(settings: NPTSettings) -> list[torch.Tensor]:
    """Weights after a training."""
    table = make_table("multiclass")
    split = first_split(table)
    learner = NPTLearner(settings, Resources(device="cuda"))
    learner.fit(table.blind(split.test), split, 3)
    return [parameter.cpu() for parameter in learner.trained.model.parameters()]


@pytest.mark.parametrize(
    "changes", [{}, {"precision": "bfloat16"}, {"recompute_activations": "always"}]
)
def test_a_training_gives_the_same_bits_twice(changes: dict[str, Any]) -> None:
    settings = BATCHES.changed(**changes)
    assert all(map(torch.equal, weights_after(settings), weights_after(settings)))


CONSTANT = {"tradeoff": "constant", "tradeoff_start": 0.5}


@pytest.mark.parametrize("changes", [{"batch_rows": None}, {}, {"precision": "bfloat16"}, CONSTANT])
def test_recorded_steps_are_those_of_single_kernels(
    changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = BATCHES.changed(updates=20, evaluate_every=1, **changes)
    graphs = []
    captured = Recorded._captured

    def counted(recorded: Recorded, inputs: list[torch.Tensor]) -> torch.cuda.CUDAGraph:
        graphs.append(captured(recorded, inputs))
        return graphs[-1]

    monkeypatch.setattr(Recorded, "_captured", counted)
    recorded = weights_after(settings)
    assert graphs
    monkeypatch.setattr(Recorded, "__call__", Recorded._on_stream)
    assert all(map(torch.equal, recorded, weights_after(settings)))
