"""The same predictions on a GPU; skipped where there is none."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.npt.solved.test_solved import QUERIES, fitted

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")


@pytest.mark.parametrize("classes", [None, 3])
@pytest.mark.parametrize(
    ("steps", "exact_rows", "tolerance"), [(0, 4000, 1e-6), (0, 50, 1e-6), (20, 4000, 1e-2)]
)
def test_predictions_are_those_of_the_cpu(
    classes: int | None, steps: int, exact_rows: int, tolerance: float
) -> None:
    settings = {"steps": steps, "exact_rows": exact_rows, "landmarks": 40}
    on_cpu = fitted(classes, **settings)
    on_gpu = fitted(classes, device="cuda", **settings)
    assert on_gpu.predict(QUERIES) == pytest.approx(on_cpu.predict(QUERIES), abs=tolerance)
    weights = on_cpu.attention_weights(QUERIES)
    assert on_gpu.attention_weights(QUERIES) == pytest.approx(weights, abs=tolerance)
    left_out = np.tile([3, 7], (len(QUERIES), 1))
    (without,) = on_cpu.without(QUERIES, left_out)
    (without_on_gpu,) = on_gpu.without(QUERIES, left_out)
    assert without_on_gpu == pytest.approx(without, abs=tolerance)
