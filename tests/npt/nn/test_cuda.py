"""The same function on a GPU; skipped where there is none."""

from __future__ import annotations

from typing import Any

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

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
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


def trained(settings: NPTSettings) -> list[torch.Tensor]:
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
    assert all(map(torch.equal, trained(settings), trained(settings)))


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
    recorded = trained(settings)
    assert graphs
    monkeypatch.setattr(Recorded, "__call__", Recorded._on_stream)
    assert all(map(torch.equal, recorded, trained(settings)))
