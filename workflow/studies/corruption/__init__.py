"""Corruption of all other rows (paper section 4.3, Algorithm 1, Table 2)."""

from __future__ import annotations

from workflow.studies.study_kind import Options, StudyKind


class Corruption(StudyKind):
    """One forward pass for each probed row."""

    def forward_passes(self, options: Options) -> float:
        """One pass with the other rows permuted."""
        return 1.0


KIND = Corruption(
    name="corruption",
    title="What is lost when all other datapoints are corrupted?",
    order=1,
    tables=("corruption",),
    figures=("corruption",),
    probes=True,
)
