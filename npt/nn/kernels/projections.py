"""Linear layers that share an input, as one matrix product."""

from __future__ import annotations

import torch
from torch import nn

from npt.nn.kernels import is_fast

Projection = tuple[nn.Linear, torch.Tensor]


def project(*projections: Projection) -> list[torch.Tensor]:
    """Outputs of linear layers, each with its input; neighbours with the same input share a product."""
    if not is_fast():
        return [layer(x) for layer, x in projections]
    outputs: list[torch.Tensor] = []
    for layers, x in _neighbours(projections):
        outputs += _joint(layers, x)
    return outputs


def initialised_jointly(width: int, count: int) -> list[nn.Linear]:
    """Linear layers M -> M with the initial weights of one layer M -> count * M, the weights of all drawn before the biases."""
    joint = nn.Linear(width, count * width)
    layers = []
    for weight, bias in zip(joint.weight.split(width), joint.bias.split(width), strict=True):
        layer = nn.utils.skip_init(nn.Linear, width, width, device=weight.device)
        layer.weight.data.copy_(weight)
        layer.bias.data.copy_(bias)
        layers.append(layer)
    return layers


def _joint(layers: list[nn.Linear], x: torch.Tensor) -> list[torch.Tensor]:
    if len(layers) == 1:
        return [layers[0](x)]
    weight = torch.cat([layer.weight for layer in layers])
    bias = torch.cat([layer.bias for layer in layers])
    sizes = [layer.out_features for layer in layers]
    return list(nn.functional.linear(x, weight, bias).split(sizes, -1))


def _neighbours(
    projections: tuple[Projection, ...],
) -> list[tuple[list[nn.Linear], torch.Tensor]]:
    groups: list[tuple[list[nn.Linear], torch.Tensor]] = []
    for layer, x in projections:
        if groups and groups[-1][1] is x:
            groups[-1][0].append(layer)
        else:
            groups.append(([layer], x))
    return groups
