"""Frames to a table: declared facts, parts of rows, compact types."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from npt.data.assembly import assemble
from npt.data.datasets import synthetic
from npt.errors import UserError

REGRESSION = {"task": "regression", "categorical": ("color", "shape"), "class_counts": ()}


@pytest.mark.parametrize(
    ("changes", "fact"),
    [
        ({"rows": 121}, "synthetic: rows"),
        ({"columns": 7}, "synthetic: columns"),
        ({"class_counts": (1, 119)}, "synthetic: class counts"),
        ({"target": "z"}, "'z'"),
        ({"categorical": ("y",)}, "'color'"),
        ({**REGRESSION, "target_sigma": 1.0}, "synthetic: target deviation"),
    ],
)
def test_a_fact_that_is_not_the_declared_one(changes: dict[str, Any], fact: str) -> None:
    declared = replace(synthetic.DATASET, **changes)
    with pytest.raises(UserError, match=fact):
        assemble(synthetic.frame(declared.task), declared)


def test_parts_give_the_table_of_the_whole() -> None:
    frame = synthetic.frame("multiclass", 90)
    declared = replace(synthetic.DATASET, task="multiclass", rows=90, class_counts=())
    whole = assemble(frame, declared)
    frames = (frame.iloc[start : start + 7] for start in range(0, 90, 7))
    parts = assemble(frames, declared)
    assert parts.columns == whole.columns
    for cells, expected in zip(parts.cells, whole.cells, strict=True):
        assert cells.dtype == expected.dtype
        assert np.array_equal(cells, expected, equal_nan=cells.dtype.kind == "f")
