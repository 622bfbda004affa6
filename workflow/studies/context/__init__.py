"""Context: the test error with fewer and fewer train rows, at prediction and in training.

The NPT paper predicts with all rows (section 2.2); how many a trained model needs it leaves open.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from npt.method import Method
from npt.train_rows import TrainRows
from workflow.config.fields import BASE
from workflow.studies.study_kind import Options, Share, StudyKind, in_order

PREFIX = "train_"
UNIT = "_percent"
FROM_1 = in_order("descending shares that begin with 1", 1, reverse=True)


class ContextOptions(Options):
    """Shares of the train rows, descending from 1, which is the model as trained.

    Attributes:
        shares: Shares that a trained model has at prediction.
        retrained: Shares of them on which models are trained anew; all by default.
    """

    shares: Annotated[list[Annotated[Share, Field(ge=1e-4, le=1)]], FROM_1] = Field(
        default=[1.0, 0.5, 0.25, 0.1, 0.05, 0.02, 0.01]
    )
    retrained: list[Share] | None = None

    @model_validator(mode="after")
    def _retrained_among_shares(self) -> Self:
        for share in self.retrained or []:
            if share not in self.shares:
                raise ValueError(f"retrained: {share} is not among the shares {self.shares}")
        if not self.trained_shares:
            raise ValueError("retrained: no share is below 1")
        return self

    @property
    def trained_shares(self) -> list[float]:
        """Shares on which models are trained anew."""
        shares = self.shares if self.retrained is None else self.retrained
        return [share for share in shares if share < 1]


class Context(StudyKind):
    """A kind that probes base runs with fewer train rows, and trains them on fewer."""

    def accepts(self, method: Method) -> bool:
        """Any method that learns from one table: those that cannot be probed are trained alone."""
        return not method.realisations

    def variants_of(
        self, method: Method, options: ContextOptions
    ) -> Mapping[str, Mapping[str, Any]]:
        """One for each share that models are trained on, without a change of settings."""
        return {f"{PREFIX}{100 * share:g}{UNIT}": {} for share in options.trained_shares}

    def train_rows(self, variant: str) -> TrainRows:
        """The share in a name such as `train_10_percent`."""
        if variant == BASE:
            return TrainRows()
        percent = variant.removeprefix(PREFIX).removesuffix(UNIT)
        return TrainRows(share=float(f"{float(percent) / 100:g}"))


KIND = Context(
    name="context",
    title="How many other rows does a model need?",
    order=8,
    options=ContextOptions,
    probes=True,
    trains_variants=True,
    refuses_lookup=True,
    needs_rows=True,
)
