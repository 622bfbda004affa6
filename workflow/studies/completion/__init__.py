"""Completion: images from some of their pixels, with one set of weights (Kim et al. 2019, 4.2)."""

from __future__ import annotations

from pydantic import Field

from workflow.studies.study_kind import Options, StudyKind


class CompletionOptions(Options):
    """What is asked of each model.

    Attributes:
        images: Held-out images that are scored.
        shown: Image that is drawn, counted from the first of them.
        samples: Completions that are drawn, each for a draw of the latent variable.
    """

    images: int = Field(default=48, ge=1, le=10_000)
    shown: int = Field(default=0, ge=0, le=10_000)
    samples: int = Field(default=3, ge=1, le=10)


KIND = StudyKind(
    name="completion",
    title="Completing images",
    order=12,
    tables=("completions",),
    figures=("completions", "attention"),
    options=CompletionOptions,
    probes=True,
    only_task="regression",
    realisations=True,
)
