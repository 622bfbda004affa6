"""Held-out curves of Gaussian processes with three kernels, to be predicted from some points.

Training curves are drawn anew for every update (`npt/processes/curves.py`). Values have four
decimals, so that every machine makes the same table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from npt.data.declaration import Dataset, Frame, Paths, Reading, SplitRule

if TYPE_CHECKING:
    import torch

    from npt.processes.settings import Kernel

SEED = 2019
CURVES = 16  # of a batch, which share their numbers of points
VALIDATION_BATCHES = 8  # of the first kernel
TEST_BATCHES = 64  # of each kernel
FEWEST, MOST = 3, 49  # context points; no curve has more than MOST points
DECIMALS = 4
ROWS = 125_520
VALIDATION_ROWS = 1_248
TEST_ROWS = 33_488


def read(paths: Paths) -> Frame:
    """All points: contexts, then the targets for validation, then those for the test."""
    import pandas as pd
    import torch

    from npt.processes.curves import KERNELS

    generator = torch.Generator().manual_seed(SEED)
    contexts: list[Frame] = []
    validation: list[Frame] = []
    test: list[Frame] = []
    first = 0
    for kernel in KERNELS:
        batches = [test] * TEST_BATCHES
        if kernel == KERNELS[0]:
            batches += [validation] * VALIDATION_BATCHES
        for targets in batches:
            context, others = _batch(kernel, first, generator)
            contexts.append(context)
            targets.append(others)
            first += CURVES
    return pd.concat([*contexts, *validation, *test], ignore_index=True)


def _batch(kernel: Kernel, first: int, generator: torch.Generator) -> tuple[Frame, Frame]:
    """Context points and other targets of a batch of curves, numbered from `first`."""
    import pandas as pd

    from npt.processes.curves import Hyperparameters, draw_curves, drawn_inputs
    from npt.processes.tasks import drawn_sizes

    context, points = drawn_sizes(generator, FEWEST, MOST)
    x = drawn_inputs(CURVES, points, generator).round(decimals=DECIMALS)
    hyperparameters = Hyperparameters.drawn(CURVES, generator).rounded(DECIMALS)
    y = draw_curves(kernel, hyperparameters, x, generator).round(decimals=DECIMALS)
    numbers = np.repeat(np.arange(first, first + CURVES), points)
    columns: dict[str, Any] = {"realisation": numbers, "kernel": kernel}
    for name, values in hyperparameters.numbers().items():
        columns[name] = np.repeat(values, points)
    columns |= {"x": x.flatten().numpy(), "y": y.flatten().numpy()}
    frame = pd.DataFrame(columns)
    is_context = np.tile(np.arange(points) < context, CURVES)
    return frame[is_context], frame[~is_context]


DATASET = Dataset(
    name="gp_curves",
    title="GP curves",
    task="regression",
    rows=ROWS,
    columns=7,
    target="y",
    categorical=("kernel",),
    readings=(Reading((), read),),
    licence="CC0",
    split_rule=SplitRule(fixed_validation_rows=VALIDATION_ROWS, fixed_test_rows=TEST_ROWS),
    realisations=True,
)
