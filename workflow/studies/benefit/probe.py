"""How far predictions move, and what is lost, when other rows or their labels are permuted."""

from __future__ import annotations

from workflow.studies.corruption.probe import probe as corruption_probe
from workflow.studies.query import ProbeQuery
from workflow.studies.study_kind import ProbeResult


def probe(query: ProbeQuery) -> ProbeResult:
    """Facts of the corruption of all cells of the other rows, and of their labels alone.

    `test_` metrics are over all test rows, like those of the twins.
    """
    facts, arrays = corruption_probe(query)
    return {**facts, **query.test_scores()}, arrays
