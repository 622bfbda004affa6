"""The same function on a GPU; skipped where there is none."""

from __future__ import annotations

import pytest
import torch

from npt.interface import Resources
from npt.nn.device import arithmetic, autocast
from npt.nn.inputs import EncodedTable, ModelInput
from npt.nn.learner import NPTLearner
from npt.nn.losses import tradeoff, training_loss
from npt.nn.masking import Masked, mask
from npt.nn.optimiser import learning_rate
from npt.nn.settings import NPTSettings
from npt.nn.training import build_model, build_optimiser
from tests.conftest import first_split, make_table
from tests.npt.nn.test_training import BATCHES, start

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
PLAIN = BATCHES.changed(batch_rows=None, hidden_dropout=0.0, attention_dropout=0.0, updates=20)


def on(device: torch.device, data: EncodedTable) -> EncodedTable:
    moved = {
        name: x.to(device) if isinstance(x, torch.Tensor) else x for name, x in vars(data).items()
    }
    return EncodedTable(**moved)


def losses(device: torch.device, settings: NPTSettings) -> list[float]:
    """Twenty updates with masks drawn on the CPU, so that every device sees the same."""
    start_model, data = start(settings)
    model = build_model(start_model.layout, settings, 3, device)
    optimiser, draws, found = build_optimiser(model, settings), torch.Generator().manual_seed(0), []
    truth = on(device, data)
    for number in range(1, settings.updates + 1):
        drawn = mask(data, "train", settings, draws)
        cells = ModelInput(
            *(x.to(device) for x in (drawn.cells.codes, drawn.cells.scale, drawn.cells.mask))
        )
        masked = Masked(cells, drawn.features.to(device), drawn.labels.to(device))
        model.train()
        model.zero_grad()
        with arithmetic(settings, device):
            with autocast(settings, device):
                loss = training_loss(
                    model.head, model(cells)[0], truth, masked, tradeoff(number, settings)
                )
            loss.backward()
            optimiser.step(learning_rate(number, settings))
        found.append(float(loss))
    return found


def test_twenty_updates_are_those_of_the_cpu() -> None:
    assert losses(torch.device("cuda"), PLAIN) == pytest.approx(
        losses(torch.device("cpu"), PLAIN), rel=1e-5
    )


@pytest.mark.parametrize(("precision", "tolerance"), [("tf32", 0.01), ("bfloat16", 0.05)])
def test_lower_precision_stays_near(precision: str, tolerance: float) -> None:
    lower = losses(torch.device("cuda"), PLAIN.changed(precision=precision))  # type: ignore[arg-type]
    assert lower == pytest.approx(losses(torch.device("cpu"), PLAIN), rel=tolerance)


@pytest.mark.parametrize(
    "changes",
    [{}, {"precision": "bfloat16"}, {"recompute_activations": "always"}],
)
def test_a_training_gives_the_same_bits_twice(changes: dict) -> None:
    table = make_table("multiclass")
    split = first_split(table)
    trained = []
    for _ in range(2):
        learner = NPTLearner(BATCHES.changed(**changes), Resources(device="cuda"))
        learner.fit(table.blind(split.test), split, 3)
        trained.append([p.cpu() for p in learner.trained.model.parameters()])
    assert all(torch.equal(a, b) for a, b in zip(*trained, strict=True))
