"""Probe of a trained process: of curves where the table names their kernels, else of images."""

from __future__ import annotations

import torch

from workflow.studies.processes.curves import KERNEL_COLUMN, curve_facts
from workflow.studies.processes.images import image_facts
from workflow.studies.query import ProbeQuery
from workflow.studies.study_kind import ProbeResult


@torch.no_grad()
def probe(query: ProbeQuery) -> ProbeResult:
    """Facts of the held-out curves or images, and the scores of all test rows."""
    is_of_curves = any(column.name == KERNEL_COLUMN for column in query.table.columns)
    facts = curve_facts(query) if is_of_curves else image_facts(query)
    return facts | query.test_scores(), {}
