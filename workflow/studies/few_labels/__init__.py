"""Few labels: does a model predict better for the features of rows that have no label?

Each variant shows the targets of some train rows. The others are there without theirs, or with
permuted features, which carry marginal distributions alone, or removed. See `npt.train_rows`.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Annotated, Any, get_args

from pydantic import Field

from npt.method import Method
from npt.train_rows import TrainRows, Unlabelled
from npt.validation import validated
from workflow.config.fields import BASE
from workflow.studies.study_kind import Options, StudyKind, in_order


class FewLabelsOptions(Options):
    """Numbers of labelled train rows, ascending; the base is trained on all labels."""

    labels: Annotated[list[Annotated[int, Field(ge=2)]], in_order("ascending numbers")] = Field(
        default=[10, 30, 100], min_length=1
    )


class FewLabels(StudyKind):
    """A kind that trains models on few labels, with the other rows present, permuted or absent."""

    def variants_of(
        self, method: Method, options: FewLabelsOptions
    ) -> Mapping[str, Mapping[str, Any]]:
        """One for each number of labels and state of the other rows, with unchanged settings."""
        pairs = itertools.product(options.labels, get_args(Unlabelled))
        return {f"labels_{labels}_{unlabelled}": {} for labels, unlabelled in pairs}

    def train_rows(self, variant: str) -> TrainRows:
        """The labels, and the state of the other rows, in a name such as `labels_20_present`."""
        if variant == BASE:
            return TrainRows()
        _, labels, unlabelled = variant.split("_")
        return validated(TrainRows, {"labels": int(labels), "unlabelled": unlabelled}, variant)


KIND = FewLabels(
    name="few_labels",
    title="Do rows without labels help where labels are few?",
    order=10,
    options=FewLabelsOptions,
    trains_variants=True,
    refuses_lookup=True,
)
