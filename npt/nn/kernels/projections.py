"""Linear layers that share an input, as one matrix product."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from npt.nn.kernels import is_fast

Projection = tuple[nn.Linear, Tensor]


def project(*projections: Projection) -> list[Tensor]:
    """Outputs of linear layers, each with its input; neighbours with one input share a product."""
    if not is_fast():
        return [layer(x) for layer, x in projections]
    groups: list[tuple[list[nn.Linear], Tensor]] = []
    for layer, x in projections:
        if groups and groups[-1][1] is x:
            groups[-1][0].append(layer)
        else:
            groups.append(([layer], x))
    outputs: list[Tensor] = []
    for layers, x in groups:
        outputs += _joint(layers, x)
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


def _joint(layers: list[nn.Linear], x: Tensor) -> list[Tensor]:
    if len(layers) == 1:
        return [layers[0](x)]
    weights: list[Tensor] = []
    biases: list[Tensor] = []
    sizes: list[int] = []
    for layer in layers:
        weights.append(layer.weight)
        biases.append(layer.bias)
        sizes.append(layer.out_features)
    weight = torch.cat(weights)
    bias = torch.cat(biases)
    outputs = nn.functional.linear(x, weight, bias)
    return list(outputs.split(sizes, -1))
