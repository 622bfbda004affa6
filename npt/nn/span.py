"""Attention between datapoints with a learned Gaussian span in the attributes.

After Alfons (2022), where the space is that of pixels. Here a row's location are its features, and

    log G_ij = -1/2 sum_c |x_ic - x_jc|^2 / sigma_c^2

with a sigma for every column is added to the scores of rows i and j. A category counts by whether
it differs, with a squared distance of 1; a hidden cell has its column's mean, of categories none.

B tables, m query rows, n rows, f lengths of all features' encodings, k heads of width c.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from npt.errors import UserError
from npt.nn.column_layout import ColumnLayout
from npt.nn.distances import radius_of, squared_distances
from npt.nn.inputs import ModelInput
from npt.nn.kernels.attention import dot_product
from npt.nn.kernels.dropout import Dropout
from npt.nn.settings import NPTSettings


class Span(nn.Module):
    """The Gaussian of one block.

    Attributes:
        log_sigma: Logarithms (d - 1,) of the columns' sigmas.
        radius: Distance in units of sigma beyond which rows are not attended to: where the
            Gaussian is below the threshold.
        multiplied: The Gaussian is multiplied with the scores, instead of its logarithm added. For
            comparison. With it or a threshold, memory grows with the square of the rows.
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

    def attend(
        self,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        located: Tensor,
        rows: Tensor | None,
        *,
        scale: float,
        dropout: Dropout | None,
        present: Tensor | None,
    ) -> Tensor:
        """Attention (B, k, m, c) of queries (B, k, m, c') to keys and values (B, k, n, ...)."""
        if self.multiplied or math.isfinite(self.radius):
            scores = queries @ keys.mT * scale  # (B, k, m, n)
            probabilities = self.weigh(scores, located, rows, present).softmax(-1)
            if dropout is not None:
                probabilities = dropout(probabilities)
            return probabilities @ values
        queries, keys = _with_gaussian(queries, keys, *self._scaled(located, rows), scale)
        return dot_product(queries, keys, values, scale=scale, dropout=dropout, present=present)

    def weigh(
        self,
        scores: Tensor,
        located: Tensor,
        rows: Tensor | None = None,
        present: Tensor | None = None,
    ) -> Tensor:
        """Scores (B, k, m, n) with the Gaussian; those of excluded rows are -inf.

        The nearest rows are never excluded.

        Args:
            located: Locations (B, n, f) of all rows.
            rows: Query rows (B, m); by default all.
            present: Rows (B, n) that are not padding; by default all.
        """
        squares = squared_distances(*self._scaled(located, rows))[:, None]  # (B, 1, m, n)
        if present is not None:
            squares = squares.masked_fill(~present[:, None, None], math.inf)
        if self.multiplied:
            weighed = scores * torch.exp(-squares / 2)
        else:
            weighed = scores - squares / 2
        limits = squares.amin(-1, keepdim=True).clamp(min=self.radius**2)
        is_far = (squares > limits) | squares.isinf()
        return weighed.masked_fill(is_far, -math.inf)

    def _scaled(self, located: Tensor, rows: Tensor | None) -> tuple[Tensor, Tensor]:
        """Locations of the query rows (B, m, f) and of all rows (B, n, f), in units of sigma."""
        scaled = located / self.sigma[self.column_of]
        if rows is None:
            return scaled, scaled
        return scaled.take_along_dim(rows[..., None], 1), scaled


def _with_gaussian(
    queries: Tensor,
    keys: Tensor,
    query_locations: Tensor,
    key_locations: Tensor,
    scale: float,
) -> tuple[Tensor, Tensor]:
    """Features whose inner products have log G / scale added, up to a constant of every query."""
    heads = queries.shape[1]
    ones = torch.ones_like(query_locations[..., :1])
    squares = key_locations.square().sum(-1, keepdim=True)
    query_locations = torch.cat([query_locations, ones], -1)  # (B, m, f + 1)
    key_locations = torch.cat([key_locations, -squares / 2], -1) / scale  # (B, n, f + 1)
    query_locations = query_locations[:, None].expand(-1, heads, -1, -1)
    key_locations = key_locations[:, None].expand(-1, heads, -1, -1)
    joint_queries = torch.cat([queries, query_locations.to(queries.dtype)], -1)
    joint_keys = torch.cat([keys, key_locations.to(keys.dtype)], -1)
    return joint_queries, joint_keys


def locate(inputs: ModelInput, layout: ColumnLayout) -> Tensor:
    """Locations (B, n, f) of rows."""
    encodings = []
    for j in feature_columns(layout):
        scale = inputs.scale[..., j, None]  # (B, n, 1)
        if layout.continuous[j]:
            encodings.append(scale)
            continue
        classes = torch.arange(layout.sizes[j], device=scale.device)
        chosen = inputs.codes[..., j, None] == classes  # (B, n, C_j)
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
