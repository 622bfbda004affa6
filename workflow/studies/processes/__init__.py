"""Processes: NPT and neural processes on many tables (Kim et al. 2019, section 4).

The NPT paper declines a comparison with neural processes, which learn from many realisations of a
dataset. On curves of Gaussian processes both do, and the exact posterior is known. Images are
completed from some of their pixels, with one set of weights.
"""

from __future__ import annotations

from pydantic import Field

from workflow.studies.study_kind import Options, StudyKind


class ProcessesOptions(Options):
    """What is asked of each model besides its log-likelihoods.

    Attributes:
        company: Held-out curves whose targets are also predicted one at a time.
        images: Held-out images that are scored.
    """

    company: int = Field(default=64, ge=1, le=10_000)
    images: int = Field(default=48, ge=1, le=10_000)


KIND = StudyKind(
    name="processes",
    version=2,
    title="NPT and neural processes on many tables",
    order=11,
    options=ProcessesOptions,
    probes=True,
    only_task="regression",
    realisations=True,
)
