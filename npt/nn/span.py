"""Attention between datapoints with a learned Gaussian span in the attributes.

After Alfons (2022), where the space is that of pixels. Here a row's location are its features, and

    log G_ij = -1/2 sum_c |x_ic - x_jc|^2 / sigma_c^2

with a sigma for every column is added to the scores of rows i and j. A category counts by whether
it differs, with a squared distance of 1; a hidden cell has its column's mean, of categories none.
The scores of all pairs are in memory.

B tables, m query rows, N rows, of which the first n are attended to, f lengths of all features'
encodings, k heads.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from npt.errors import UserError
from npt.nn.column_layout import ColumnLayout
from npt.nn.distances import radius_of, squared_distances
from npt.nn.inputs import ModelInput
from npt.nn.settings import NPTSettings


class Span(nn.Module):
    """The Gaussian of one block.

    Attributes:
        log_sigma: Logarithms (d - 1,) of the columns' sigmas.
        radius: Distance in units of sigma beyond which rows are not attended to: where the
            Gaussian is below the threshold.
        multiplied: The Gaussian is multiplied with the scores, instead of its logarithm added. For
            comparison.
    """

    column_of: Tensor

    def __init__(self, layout: ColumnLayout, settings: NPTSettings) -> None:
        super().__init__()
        features = feature_columns(layout)
        start = settings.span * math.sqrt(len(features))
        self.log_sigma = nn.Parameter(torch.full((len(features),), math.log(start)))
        self.radius = math.inf
        if settings.span_threshold is not None:
            self.radius = radius_of(settings.span_threshold)
        self.multiplied = settings.span_form == "multiplied"
        lengths = torch.tensor([layout.sizes[j] for j in features])
        column_of = torch.arange(len(features)).repeat_interleave(lengths)  # (f,)
        self.register_buffer("column_of", column_of, persistent=False)

    @property
    def sigma(self) -> Tensor:
        """Sigma (d - 1,) of every feature's column, in standard deviations."""
        return self.log_sigma.exp()

    def forward(self, scores: Tensor, located: Tensor, rows: Tensor | None = None) -> Tensor:
        """Scores (B, k, m, n) with the Gaussian; those of excluded rows are -inf.

        The nearest rows are never excluded.

        Args:
            scores: Of the query rows and the first n rows.
            located: Locations (B, N, f) of all rows.
            rows: Query rows (B, m); by default all.
        """
        keys = located / self.sigma[self.column_of]  # (B, N, f)
        queries = keys if rows is None else keys.take_along_dim(rows[..., None], 1)  # (B, m, f)
        squares = squared_distances(queries, keys[:, : scores.shape[-1]])[:, None]  # (B, 1, m, n)
        if self.multiplied:
            weighed = scores * torch.exp(-squares / 2)
        else:
            weighed = scores - squares / 2
        limits = squares.amin(-1, keepdim=True).clamp(min=self.radius**2)
        return weighed.masked_fill(squares > limits, -math.inf)


def locate(inputs: ModelInput, layout: ColumnLayout) -> Tensor:
    """Locations (B, n, f) of rows."""
    encodings = []
    for j in feature_columns(layout):
        scale = inputs.scale[..., j, None]  # (B, n, 1)
        if layout.continuous[j]:
            encodings.append(scale)
            continue
        chosen = nn.functional.one_hot(inputs.codes[..., j], layout.sizes[j])  # (B, n, C_j)
        encodings.append(chosen * scale * math.sqrt(0.5))
    return torch.cat(encodings, -1)


def feature_columns(layout: ColumnLayout) -> list[int]:
    """Columns that make up a location: all but the target.

    Raises:
        UserError: the rows are images, or have no feature.
    """
    if layout.images is not None:
        raise UserError("kernel: span is for columns of tables, not for images")
    features = [j for j in range(len(layout.sizes)) if j != layout.target]
    if not features:
        raise UserError("kernel: span is for tables with a feature")
    return features
