"""Linear layers that share an input, as one matrix product."""

from __future__ import annotations

from itertools import groupby

import torch
from torch import Tensor, nn

from npt.nn.kernels import is_fast

Projection = tuple[nn.Linear, Tensor]


def project(*projections: Projection) -> list[Tensor]:
    """Outputs of linear layers, each with its input; neighbours with one input share a product."""
    if not is_fast():
        return [layer(x) for layer, x in projections]
    outputs = []
    for _, group in groupby(projections, _identity_of_input):
        layers, inputs = zip(*group, strict=True)
        outputs += _joint(layers, inputs[0])
    return outputs


def initialised_jointly(width: int, count: int) -> list[nn.Linear]:
    """Linear layers M -> M with the initial weights of one layer M -> count * M.

    The weights of all are drawn before their biases.
    """
    joint = nn.Linear(width, count * width)
    weights = joint.weight.detach().split(width)
    biases = joint.bias.detach().split(width)
    layers = []
    for weight, bias in zip(weights, biases, strict=True):
        layer = nn.Linear(width, width, device="meta")
        layer.weight = nn.Parameter(weight.clone())
        layer.bias = nn.Parameter(bias.clone())
        layers.append(layer)
    return layers


def _identity_of_input(projection: Projection) -> int:
    _, x = projection
    return id(x)


def _joint(layers: tuple[nn.Linear, ...], x: Tensor) -> list[Tensor]:
    if len(layers) == 1:
        return [layers[0](x)]
    weight = torch.cat([layer.weight for layer in layers])
    bias = torch.cat([layer.bias for layer in layers])
    sizes = [layer.out_features for layer in layers]
    outputs = nn.functional.linear(x, weight, bias)
    return list(outputs.split(sizes, -1))
