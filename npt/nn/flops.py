"""Floating-point operations of a training step of NPT, counted on tensors without content.

PyTorch's counter has two operations for a multiply-add. Everything but products is left out, and so
are the embedding of cells and the predictions, which are small beside the blocks.
"""

from __future__ import annotations

import math

import torch
from torch.utils.flop_counter import FlopCounterMode

from npt.nn.column_layout import ColumnLayout, ImageLayout
from npt.nn.embedding import build_encoder
from npt.nn.model import NPT
from npt.nn.settings import NPTSettings
from npt.table import Image


def update(n: int, d: int, settings: NPTSettings) -> int:
    """Operations of the blocks over n rows of d tokens, forward and backward.

    Attention with another kernel than dot products is counted as if it had them.
    """
    dot = settings.changed(
        kernel="dot",
        span_threshold=None,
        span_form="added",
        attention_dropout=0,
        hidden_dropout=0,
    )
    with torch.device("meta"), FlopCounterMode(display=False) as counter:
        model = NPT(ColumnLayout((1,) * d, (True,) * d, d - 1), dot)
        x = torch.zeros(1, n, d, dot.width, requires_grad=True)
        for index in range(len(model.blocks)):
            x = model.apply_block(index, x)
        x.sum().backward()
    return counter.get_total_flops()


def update_flop(settings: NPTSettings, rows: int, columns: int, image: Image | None) -> int:
    """Operations of a training step on a table, with the encoder of its images."""
    batches = math.ceil(rows / (settings.batch_rows or rows))
    batch = math.ceil(rows / batches)
    if settings.lookup != "off":
        batch *= 2  # every row has a duplicate
    if image is None:
        return update(batch, columns, settings)
    images = ImageLayout(image, columns - 1, settings)
    operations = update(batch, images.patches + 1, settings)
    if images.is_encoded:
        size = (image.height // settings.pooling, image.width // settings.pooling)
        pixels = torch.zeros(batch, image.channels, *size, device="meta", requires_grad=True)
        with FlopCounterMode(display=False) as counter:
            build_encoder(images).to("meta")(pixels).sum().backward()
        operations += counter.get_total_flops()
    return operations
