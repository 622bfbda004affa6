"""The training loop: updates, validation passes, and the best weights by validation loss (paper Appendix C.5, E)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch

from npt.batches import partition
from npt.cells import Encoded
from npt.interface import Mode
from npt.loss import summed_loss, tradeoff, training_loss
from npt.masking import mask
from npt.model import NPT, Layout
from npt.optim import Lamb, Lookahead, clip_elements, learning_rate
from npt.settings import NPTSettings

PURPOSES = ("weights", "masks", "batches", "dropout", "evaluation")


@dataclass(frozen=True)
class Trained:
    """The model with its best weights, their validation label loss, and the update they come from."""

    model: NPT
    validation_loss: float
    update: int


def seed_for(seed: int, purpose: str) -> int:
    """An independent seed for one purpose of a run."""
    return int(np.random.SeedSequence([seed, PURPOSES.index(purpose)]).generate_state(1, np.uint64)[0] >> np.uint64(1))


def generator_for(seed: int, purpose: str, device: torch.device) -> torch.Generator:
    """A generator of its own for one purpose of a run."""
    return torch.Generator(device).manual_seed(seed_for(seed, purpose))


@contextmanager
def isolated_randomness(seed: int, purpose: str, device: torch.device) -> Iterator[None]:
    """torch's own generators (initialisation, dropout) seeded inside the block and as before after it."""
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        torch.manual_seed(seed_for(seed, purpose))
        yield


def build_model(layout: Layout, settings: NPTSettings, seed: int, device: torch.device) -> NPT:
    """A model with fresh weights, the same on every device."""
    with isolated_randomness(seed, "weights", torch.device("cpu")):
        return NPT(layout, settings).to(device)


def train(model: NPT, data: Encoded, settings: NPTSettings, seed: int) -> Trained:
    """Train for `settings.updates` updates and return the weights with the lowest validation label loss."""
    device = data.codes.device
    masks, batches, evaluation = (generator_for(seed, purpose, device) for purpose in ("masks", "batches", "evaluation"))
    optimiser = Lookahead(Lamb(model.parameters(), model.segments()), settings.lookahead_steps, settings.lookahead_share)
    best = Trained(model, float("inf"), 0)
    best_weights: list[torch.Tensor] = []
    done = epoch = 0
    with isolated_randomness(seed, "dropout", device):
        while done < settings.updates:
            for rows in partition(data, "train", settings, batches):
                if done < settings.updates:
                    done += 1
                    update(model, optimiser, data.take(rows), done, settings, masks)
            epoch += 1
            if epoch % settings.evaluate_every == 0 or done == settings.updates:
                loss = label_loss(model, data, "validation", settings, evaluation)
                if loss < best.validation_loss:
                    best = Trained(model, loss, done)
                    best_weights = [p.detach().clone() for p in model.parameters()]
    if best_weights:
        torch._foreach_copy_([p.data for p in model.parameters()], best_weights)
    model.eval()
    return best


def update(
    model: NPT, optimiser: Lookahead, batch: Encoded, number: int, settings: NPTSettings, masks: torch.Generator
) -> None:
    """Update `number` = 1 .. T: mask a batch anew, step down its combined loss."""
    model.train()
    masked = mask(batch, "train", settings, masks)
    loss = training_loss(model.head, model(masked.cells)[0], batch, masked, tradeoff(number, settings))
    for parameter in model.parameters():
        parameter.grad = None
    if loss.requires_grad:
        loss.backward()
    clip_elements(model.parameters(), settings.clip)
    optimiser.step(learning_rate(number, settings))


@torch.no_grad()
def label_loss(model: NPT, data: Encoded, mode: Mode, settings: NPTSettings, generator: torch.Generator) -> float:
    """Mean loss over the known targets of the mode's own rows, in batches drawn anew; infinite if there are none."""
    model.eval()
    total, count = 0.0, 0
    for rows in partition(data, mode, settings, generator):
        batch = data.take(rows)
        masked = mask(batch, mode, settings, generator)
        total += float(summed_loss(model.head, model(masked.cells)[0], batch, masked.labels))
        count += int(masked.labels.sum())
    return total / count if count else float("inf")


@torch.no_grad()
def target_outputs(model: NPT, data: Encoded, mode: Mode, settings: NPTSettings, seed: int) -> torch.Tensor:
    """Outputs (N, C of the target) of every row in the mode's batches: logits, or standardised values."""
    model.eval()
    outputs = torch.full((len(data.part), model.layout.sizes[model.layout.target]), torch.nan, device=data.codes.device)
    generator = generator_for(seed, "evaluation", data.codes.device)
    for rows in partition(data, mode, settings, generator):
        outputs[rows] = model.predict_target(mask(data.take(rows), mode, settings, generator).cells)[0]
    return outputs
