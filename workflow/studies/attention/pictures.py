"""The images with the most attention, for a few images."""

from __future__ import annotations

from typing import Any

import numpy as np

from npt.probing import RowAttention, RowProbe
from npt.table import Table

DRAWN = 6  # queries
ATTENDED = 5  # images for each
Picture = dict[str, Any]


def attended_images(probe: RowProbe, table: Table, rows: np.ndarray) -> list[Picture]:
    """For the first rows: the image and those with the most attention, as mean over all heads.

    Every image has its class, its intensities (channel by channel) and its attention over the mean
    of the context.
    """
    chosen = rows[:DRAWN]
    queries: dict[int, Picture] = {}
    for attention in probe.attention(chosen):
        if attention.weights:
            query = _picture(table, attention.row)
            query["attended"] = _attended(table, attention)
            queries[attention.row] = query
    return [queries[row] for row in chosen.tolist() if row in queries]


def _attended(table: Table, attention: RowAttention) -> list[Picture]:
    layers = list(attention.weights.values())
    heads = np.concatenate(layers)  # (H, m)
    weights = heads.mean(0)
    relative = weights / weights.mean()
    from_most_to_least = np.argsort(-relative, kind="stable")
    attended = []
    for index in from_most_to_least[:ATTENDED]:
        row = int(attention.context[index])
        picture = _picture(table, row % table.rows)
        picture["relative"] = round(float(relative[index]), 2)
        attended.append(picture)
    return attended


def _picture(table: Table, row: int) -> Picture:
    assert table.image
    image = table.image
    intensities = [int(table.cells[j][row]) for j in table.features]
    return {
        "row": row,
        "class": _class_of(table, row),
        "shape": [image.channels, image.height, image.width],
        "intensities": intensities,
    }


def _class_of(table: Table, row: int) -> str:
    """Class of a row, or its number."""
    target = table.columns[table.target]
    value = table.cells[table.target][row]
    if target.kind == "categorical":
        return target.levels[int(value)]
    return f"{value:g}"
