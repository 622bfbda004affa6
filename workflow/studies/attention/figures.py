"""Heat maps of attention to other rows."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from workflow.config.scoring import Scoring
from workflow.report.drawing import PAGE, pyplot
from workflow.report.statistics import MODEL, without_failures
from workflow.report.titles import dataset_title, method_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINE_HEIGHT, MARGIN = 1.1, 0.6  # inches
SMALLEST = 2.0**-8
MOST_HEADS = 8  # of a layer that fit on the page


@dataclass(frozen=True)
class LayerMaps:
    """Relative attention (rows, bins) of the heads of a layer, by head."""

    title: str
    layer: int
    maps: dict[int, np.ndarray]


def attention(study: pd.DataFrame, scoring: Scoring) -> Figure:
    """Attention of the heads to other rows, from near to far, with a line for each probed row.

    Of every layer the first eight heads are drawn; in an ensemble, those of the first members.
    """
    layers = layer_maps(study)
    heads = max((1 + max(layer.maps) for layer in layers), default=1)
    lines = max(1, len(layers))
    size = (PAGE, LINE_HEIGHT * lines + MARGIN)
    figure, axes = pyplot().subplots(
        lines, heads, figsize=size, squeeze=False, layout="constrained"
    )
    for axis in axes.flat:
        axis.set(xticks=[], yticks=[])
        axis.grid(visible=False)
    image = None
    title = ""
    for line, layer in zip(axes, layers, strict=False):
        image = _draw(line, layer)
        if layer.title != title:
            title = layer.title
            line[0].set_title("")
            line[0].set_title(f"{title}\nlayer {layer.layer}, head 0", loc="left", fontsize=7)
        line[0].set_ylabel("probed rows")
    for axis in axes[-1]:
        axis.set_xlabel("others, near to far")
    if image is not None:
        figure.colorbar(
            image,
            ax=axes,
            label="log2 of attention / mean",
            extend="both",
            shrink=0.8,
        )
    return figure


def _draw(line: np.ndarray, layer: LayerMaps) -> Any:
    """Draw the heads of a layer; returns the last image, for the color bar."""
    image = None
    for head, axis in enumerate(line):
        if head in layer.maps:
            image = _heat_map(axis, layer.maps[head])
            axis.set_title(f"layer {layer.layer}, head {head}", fontsize=7)
        else:
            axis.set_visible(False)
    return image


def _heat_map(axis: Axes, relative: np.ndarray) -> Any:
    return axis.imshow(
        np.log2(np.maximum(relative, SMALLEST)),
        cmap="PuOr_r",
        vmin=-2,
        vmax=2,
        aspect="auto",
        interpolation="nearest",
    )


def layer_maps(study: pd.DataFrame) -> list[LayerMaps]:
    """Maps of every layer, of the first fold of every model."""
    layers = []
    for (dataset, method, variant), rows in without_failures(study).groupby(MODEL, sort=False):
        title = f"{dataset_title(str(dataset))}, {method_title(str(method), str(variant))}"
        heads = json.loads(rows["heads"].iloc[0])["heads"]
        maps = json.loads(rows["maps"].iloc[0])["rows"]
        by_layer: dict[int, dict[int, np.ndarray]] = {}
        for head, relative in zip(heads, maps, strict=True):
            if head["head"] >= MOST_HEADS:
                continue
            of_layer = by_layer.setdefault(head["layer"], {})
            of_layer[head["head"]] = np.array(relative, float)
        layers += [LayerMaps(title, layer, by_layer[layer]) for layer in sorted(by_layer)]
    return layers
