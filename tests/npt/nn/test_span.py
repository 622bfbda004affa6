"""Attention between datapoints with a Gaussian span."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from npt.errors import UserError
from npt.nn.block import Block
from npt.nn.span import Span, feature_columns, locate
from tests.npt.nn.test_kernels import LAYOUT, SETTINGS, cells, network


def span_of(**changes: Any) -> Span:
    return Span(LAYOUT, SETTINGS.changed(kernel="span", **changes)).double()


@pytest.mark.parametrize("threshold", [None, 0.02])
@pytest.mark.parametrize("form", ["added", "multiplied"])
def test_attention_equals_its_equation(threshold: float | None, form: str) -> None:
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(2, 4, 20, 20, generator=generator, dtype=torch.double)
    located = torch.randn(2, 20, 5, generator=generator, dtype=torch.double)
    span = span_of(span_threshold=threshold, span_form=form)
    scaled = located / span.sigma[span.column_of]
    gaussian = torch.exp(-torch.cdist(scaled, scaled).square() / 2)[:, None]
    expected = scores + gaussian.log() if form == "added" else scores * gaussian
    assert 0 < (gaussian < 0.02).float().mean() < 1
    if threshold is not None:
        expected = expected.masked_fill(gaussian < threshold, -torch.inf)
    weighed = span(scores, located)
    assert torch.allclose(weighed.softmax(-1), expected.softmax(-1), atol=1e-10)


def test_a_query_without_near_rows_attends_to_the_nearest() -> None:
    located = torch.randn(1, 20, 5, generator=torch.Generator().manual_seed(0)).double()
    located[:, 19] += 1000
    scores = torch.zeros(1, 1, 1, 19)
    weighed = span_of(span_threshold=0.9)(scores, located, torch.tensor([[19]]))
    nearest = torch.cdist(located[:, 19:], located[:, :19]).argmin()
    assert weighed.isfinite().flatten().nonzero().tolist() == [[nearest]]


def test_location_is_of_the_features() -> None:
    x = cells(30)
    located = locate(x, LAYOUT)
    assert located.shape == (1, 30, 5)
    squares = torch.cdist(located, located)[0].square()
    for i in range(30):
        for j in range(30):
            expected = (x.scale[0, i, 0] - x.scale[0, j, 0]) ** 2
            expected = expected + (x.scale[0, i, 2] - x.scale[0, j, 2]) ** 2
            hidden = x.mask[0, [i, j], 1].sum()
            differ = x.codes[0, i, 1] != x.codes[0, j, 1]
            category = {0: float(differ), 1: 0.5, 2: 0.0}[int(hidden)]
            assert squares[i, j] == pytest.approx(float(expected) + category, abs=1e-9)


def test_sigma_starts_at_its_setting_and_is_learned_per_column() -> None:
    model = network(kernel="span", span=2.0)
    spans = []
    for index in (0, 2):
        block = model.blocks[index]
        assert isinstance(block, Block) and block.span is not None
        spans.append(block.span)
        assert torch.allclose(block.span.sigma, torch.full((3,), 2 * math.sqrt(3)).double())
    model.predict_target(cells(20)).square().sum().backward()
    gradient = spans[0].log_sigma.grad
    assert gradient is not None
    assert len(gradient.unique()) == 3


def test_a_target_alone_has_no_span() -> None:
    with pytest.raises(UserError, match="with a feature"):
        feature_columns(LAYOUT.only_target())
