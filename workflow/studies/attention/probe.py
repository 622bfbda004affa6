"""Attention between datapoints (paper Figures 3b, 4, B.1, B.2)."""

from __future__ import annotations

import numpy as np

from workflow.studies.attention.heads import heads
from workflow.studies.attention.pictures import attended_images
from workflow.studies.query import ProbeQuery, rounded
from workflow.studies.study_kind import Facts


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
