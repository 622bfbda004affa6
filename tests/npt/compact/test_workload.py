"""Operations of compact NPT, compared with those that PyTorch counts."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from npt.compact.columns import Encoder
from npt.compact.data import TrainingRows
from npt.compact.settings import CompactSettings
from npt.compact.training import build_model, context_of, draw_visibility
from npt.compact.workload import workload
from npt.workload import TableSize
from tests.conftest import first_split, make_table

CPU = torch.device("cpu")
VARIANTS = [
    {},
    {"width": 192, "members": 2},
    {"layers": 3},
    {"number_embedding": "linear"},
    {"between_attributes": False},
]


@pytest.mark.parametrize("changes", VARIANTS)
def test_operations_are_those_that_pytorch_counts(changes: dict[str, Any]) -> None:
    settings = CompactSettings(**changes)
    table = make_table("regression", 300)
    split = first_split(table)
    encoder = Encoder.of(table, split, settings)
    model = build_model(encoder, settings, 0, CPU)
    data = TrainingRows.of(table, split, encoder, settings, 0, CPU)
    size = TableSize(table.rows, len(table.columns), len(data))
    work = workload(settings, size)
    rows = settings.batch_size(len(data))
    _, invisible = draw_visibility(rows, settings, CPU)
    batch = data.features.take(torch.arange(rows))
    with FlopCounterMode(display=False) as update:
        model.leave_one_out(batch, data.labels[:rows], None, invisible).sum().backward()
    assert work.update_flop == pytest.approx(update.get_total_flops(), rel=0.15)
    query = data.validation_features.take(torch.arange(1))
    with FlopCounterMode(display=False) as probe, torch.no_grad():
        context = context_of(model, data.context_features, data.context_labels)
        model.predict(model.encode(query), context)
    assert work.query_flop == pytest.approx(probe.get_total_flops(), rel=0.15)


def test_memory_is_bounded_by_the_context_and_linear_in_rows() -> None:
    settings = CompactSettings()
    sizes = [TableSize(rows, 15, 7 * rows // 10) for rows in (20_000, 30_000, 40_000)]
    small, large, larger = [workload(settings, size).memory_mb for size in sizes]
    assert larger - large == pytest.approx(large - small)
    assert larger < 2 * small
