"""Attention between datapoints (paper Figures 3b, 4, B.1, B.2)."""

from __future__ import annotations

import numpy as np

from workflow.studies.attention.heads import Head, heads
from workflow.studies.attention.pictures import attended_images
from workflow.studies.query import ProbeQuery, rounded
from workflow.studies.study_kind import Facts


def probe(query: ProbeQuery) -> tuple[Facts, dict[str, np.ndarray]]:
    """Measures and map of every head, compared with the same heads before training."""
    probe = query.row_probe
    bins = query.options.bins
    after = heads(probe, query.table, query.rows, bins)
    untrained = probe.before_training()
    before: list[Head | None] = [None] * len(after)
    if untrained is not None:
        before = [*heads(untrained, query.table, query.rows, bins)]
    facts = []
    maps = []
    arrays = {}
    for head, initial in zip(after, before, strict=True):
        facts.append(_facts(head, initial))
        maps.append([rounded(line) for line in head.relative])
        arrays[f"relative_{head.layer}_{head.head}"] = head.relative
    results: Facts = {"heads": {"heads": facts}, "maps": {"rows": maps}}
    if query.table.image:
        pictures = attended_images(probe, query.table, query.rows)
        results["pictures"] = {"queries": pictures}
    return results, arrays


def _facts(head: Head, untrained: Head | None) -> Facts:
    return {
        "layer": head.layer,
        "head": head.head,
        "nearness": rounded(head.nearness),
        "typical": rounded(head.typical),
        "untrained": None if untrained is None else rounded(untrained.nearness),
        "reach": rounded(head.reach),
        "partner": _unless_empty(head.partner),
        "own_class": _unless_empty(head.own_class),
    }


def _unless_empty(values: np.ndarray) -> list[float | None] | None:
    """Values as JSON has them; None without any."""
    if np.isnan(values).all():
        return None
    return rounded(values)
