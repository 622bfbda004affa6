"""Curves: log-likelihoods of processes on tasks with a known ceiling (Kim et al. 2019, section 4).

The NPT paper declines a comparison with neural processes, which learn from many realisations of a
dataset. On curves of Gaussian processes both do, and the exact posterior is known.
"""

from __future__ import annotations

from pydantic import Field

from workflow.studies.study_kind import Options, StudyKind


class CurvesOptions(Options):
    """What is asked of each model besides its log-likelihoods.

    Attributes:
        company: Held-out curves whose targets are also predicted one at a time.
        shown: Curves of each kernel that are drawn, at equally spaced inputs.
        points: Number of these inputs.
    """

    company: int = Field(default=64, ge=1, le=10_000)
    shown: int = Field(default=1, ge=1, le=10)
    points: int = Field(default=81, ge=2, le=1000)


KIND = StudyKind(
    name="curves",
    title="NPT and neural processes on curves",
    order=11,
    tables=("likelihoods", "company"),
    figures=("training", "examples", "attention"),
    options=CurvesOptions,
    probes=True,
    only_task="regression",
    realisations=True,
    first_table="likelihoods",
    first_figure="training",
)
