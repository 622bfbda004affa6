"""Local attention between pixels against the masked form of all pairs: seconds and FLOPs.

A step of one block of the pixel encoder, forward and backward, on images of some sizes. The span
reaches some numbers of pixels in each direction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from unittest.mock import patch

import torch
from torch.utils.flop_counter import FlopCounterMode

from npt.nn.distances import radius_of
from npt.nn.encoders import siren
from npt.nn.settings import PixelSettings
from performance.machine import parser, report, seconds, start

SIZES = (8, 16, 28, 32)
REACHES = (1, 2, 4, 8, 12)
THRESHOLD = 0.1
IMAGES = 4
REPETITIONS = 5


def main() -> None:
    """Command line of the benchmark."""
    arguments = start(parser(__doc__))
    report(arguments, list(measured(arguments.device)))


def measured(device: torch.device) -> Iterator[dict[str, Any]]:
    """Ratios of both forms for each size and reach of which something is saved."""
    settings = PixelSettings(span=True, threshold=THRESHOLD)
    for size in SIZES:
        for reach in REACHES:
            torch.manual_seed(0)
            block = siren.PixelEncoder(3, (size, size), settings).blocks[0].to(device)
            assert isinstance(block, siren.PixelBlock) and block.span is not None
            block.span.sigma.data[:] = (reach - 0.5) / (size - 1) / radius_of(THRESHOLD)
            if block.tiles(block.span.reach()) is None:
                continue
            pixels = torch.randn(IMAGES, size * size, siren.PIXEL_WIDTH, device=device)
            action = partial(step, block, pixels)
            local, masked = [], []
            for _ in range(REPETITIONS):
                local.append(seconds(action))
                with patch.object(siren.PixelBlock, "tiles", return_value=None):
                    masked.append(seconds(action))
                    all_pairs = flops(action)
            yield {
                "size": size,
                "reach": reach,
                "FLOPs": flops(action) / all_pairs,
                "seconds": min(local) / min(masked),
                "masked, ms": 1000 * min(masked),
            }


def step(block: siren.PixelBlock, pixels: torch.Tensor) -> None:
    """Forward and backward pass."""
    block(pixels).square().mean().backward()


def flops(action: Callable[[], Any]) -> int:
    """FLOPs of an action's matrix products."""
    with FlopCounterMode(display=False) as counter:
        action()
    return counter.get_total_flops()


if __name__ == "__main__":
    main()
