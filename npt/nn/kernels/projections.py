"""Linear layers that share an input, as one matrix product."""

from __future__ import annotations

from itertools import groupby

import torch
from torch import Tensor, nn

Projection = tuple[nn.Linear, Tensor]


def project(*projections: Projection) -> list[Tensor]:
    """Outputs of linear layers, each with its input; neighbours with one input share a product."""
    outputs: list[Tensor] = []
    for _, group in groupby(projections, lambda projection: id(projection[1])):
        layers, inputs = zip(*group, strict=True)
        weight = torch.cat([layer.weight for layer in layers])
        bias = torch.cat([layer.bias for layer in layers])
        joint = nn.functional.linear(inputs[0], weight, bias)
        outputs += joint.chunk(len(layers), -1)
    return outputs


def initialised_jointly(width: int, count: int) -> list[nn.Linear]:
    """Linear layers M -> M with the initial weights of one layer M -> count * M.

    The weights of all are drawn before their biases.
    """
    joint = nn.Linear(width, count * width)
    layers = []
    for weight, bias in zip(joint.weight.chunk(count), joint.bias.chunk(count), strict=True):
        layer = nn.Linear(width, width, device="meta")
        layer.weight = nn.Parameter(weight.detach().clone())
        layer.bias = nn.Parameter(bias.detach().clone())
        layers.append(layer)
    return layers
