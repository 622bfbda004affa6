"""Attention between datapoints (paper Figures 3b, 4, B.1, B.2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from npt.probing import RowProbe
from npt.table import Table
from workflow.studies.attention.heads import heads
from workflow.studies.query import ProbeQuery, rounded
from workflow.studies.study_kind import Facts

DRAWN = 6  # queries
ATTENDED = 5  # images for each
Picture = dict[str, Any]


def probe(query: ProbeQuery) -> tuple[Facts, dict[str, np.ndarray]]:
    """Measures and map of every head, compared with the same heads before training."""
    probe = query.row_probe
    after = heads(probe, query.table, query.rows)
    untrained = probe.before_training()
    before = heads(untrained, query.table, query.rows) if untrained else []
    facts = []
    arrays = {}
    for index, head in enumerate(after):
        facts.append(
            {
                "layer": head.layer,
                "head": head.head,
                "nearness": rounded(head.nearness),
                "typical": rounded(head.typical),
                "untrained": rounded(before[index].nearness) if before else None,
                "reach": rounded(head.reach),
                "partner": rounded(head.partner),
                "own_class": rounded(head.own_class),
            }
        )
        arrays[f"relative_{head.layer}_{head.head}"] = head.relative
    maps = [[rounded(line) for line in head.relative] for head in after]
    results: Facts = {"heads": {"heads": facts}, "maps": {"rows": maps}}
    if query.table.image:
        results["pictures"] = {"queries": attended_images(probe, query.table, query.rows)}
    return results, arrays


def attended_images(probe: RowProbe, table: Table, rows: np.ndarray) -> list[Picture]:
    """For the first rows: the image and those with the most attention, as mean over all heads.

    Every image has its class, its intensities (channel by channel) and its attention over the mean
    of the context.
    """
    chosen = rows[:DRAWN]
    queries: dict[int, Picture] = {}
    for attention in probe.attention(chosen):
        if not attention.weights:
            continue
        weights = np.concatenate(list(attention.weights.values())).mean(0)  # (m,), over all heads
        relative = weights / weights.mean()
        attended = []
        for index in np.argsort(-relative, kind="stable")[:ATTENDED]:
            picture = _picture(table, int(attention.context[index]) % table.rows)
            attended.append({**picture, "relative": round(float(relative[index]), 2)})
        queries[attention.row] = {**_picture(table, attention.row), "attended": attended}
    return [queries[row] for row in chosen.tolist() if row in queries]


def _picture(table: Table, row: int) -> Picture:
    assert table.image
    image = table.image
    target = table.columns[table.target]
    value = table.cells[table.target][row]
    return {
        "row": row,
        "class": target.levels[int(value)] if target.kind == "categorical" else f"{value:g}",
        "shape": [image.channels, image.height, image.width],
        "intensities": [int(table.cells[j][row]) for j in table.features],
    }
