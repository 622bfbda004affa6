"""Sizes of the encoders; importing it loads nothing heavy."""

from __future__ import annotations

RESNET_WIDTHS = (64, 128, 256, 512)  # channels of the four stages
RESNET_BLOCKS = 2  # of every stage

PIXEL_WIDTH = 64  # of a pixel's token
PIXEL_HEADS = 8
PIXEL_LAYERS = 6
PIXEL_FEED_FORWARD = 128
