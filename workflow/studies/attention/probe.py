"""Attention between datapoints (paper Figures 3b, 4, B.1, B.2)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from npt.nn.trained import TrainedNPT
from npt.nn.training import build_model
from workflow.studies.attention.heads import Head, heads
from workflow.studies.query import ProbeQuery, rounded
from workflow.studies.study_kind import Facts


def probe(query: ProbeQuery) -> tuple[Facts, dict[str, np.ndarray]]:
    """Measures and map of every head, compared with the same heads before training."""
    bins = query.options.bins
    after = heads(query.trained, query.table, query.rows, bins)
    untrained = _untrained(query.trained)
    before = heads(untrained, query.table, query.rows, bins)
    facts = []
    maps = []
    arrays = {}
    for head, initial in zip(after, before, strict=True):
        facts.append(_facts(head, initial))
        maps.append([rounded(line) for line in head.relative])
        arrays[f"relative_{head.layer}_{head.head}"] = head.relative
    return {"heads": {"heads": facts}, "maps": {"rows": maps}}, arrays


def _untrained(trained: TrainedNPT) -> TrainedNPT:
    """The network as it was before training."""
    model = build_model(
        trained.model.layout,
        trained.settings,
        trained.seed,
        trained.device,
    )
    return replace(trained, model=model.eval())


def _facts(head: Head, untrained: Head) -> Facts:
    partner = None
    if not np.isnan(head.partner).all():
        partner = rounded(head.partner)
    return {
        "layer": head.layer,
        "head": head.head,
        "nearness": rounded(head.nearness),
        "typical": rounded(head.typical),
        "untrained": rounded(untrained.nearness),
        "reach": rounded(head.reach),
        "partner": partner,
    }
