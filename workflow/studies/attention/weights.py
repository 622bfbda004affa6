"""Attention weights of query rows in a forward pass."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch

from npt.nn.device import evaluating
from npt.nn.model import Block
from npt.nn.queries import QueryBatch
from npt.nn.trained import TrainedNPT


def attention_weights(trained: TrainedNPT, batch: QueryBatch) -> dict[int, np.ndarray]:
    """Attention (heads, m, n) of the query rows in every layer between datapoints."""
    model = trained.model
    inputs: dict[int, torch.Tensor] = {}
    hooks = []
    for layer, (block, over_rows) in enumerate(zip(model.blocks, model.over_rows, strict=True)):
        if over_rows:
            hooks.append(block.register_forward_pre_hook(partial(_remember, inputs, layer)))
    try:
        with evaluating(trained.settings, trained.device):
            model(batch.inputs)
            return {layer: _weights(model.blocks[layer], x, batch) for layer, x in inputs.items()}
    finally:
        for hook in hooks:
            hook.remove()


def _weights(
    block: torch.nn.Module,
    x: torch.Tensor,
    batch: QueryBatch,
) -> np.ndarray:
    assert isinstance(block, Block)
    return block.probabilities(x, batch.queries[None])[0].double().cpu().numpy()


def _remember(
    inputs: dict[int, torch.Tensor],
    layer: int,
    block: torch.nn.Module,
    arguments: tuple[torch.Tensor, ...],
) -> None:
    inputs[layer] = arguments[0]
