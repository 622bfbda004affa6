"""A small generated table for tests and smoke runs.

It has both column types, missing cells and a target that depends on the features.
"""

from __future__ import annotations

import numpy as np

from npt.data.declaration import Dataset, Frame, Paths, Reading
from npt.table import Task

ROWS = 120


def frame(task: Task = "binary", rows: int = ROWS, seed: int = 0) -> Frame:
    """Three numbers x0, x1, x2, color (3 levels), shape (2 levels) and the target y.

    5 % of x2 and of color are missing.
    """
    import pandas as pd

    generator = np.random.default_rng(seed)
    x = generator.normal(size=(rows, 3))
    color = generator.integers(0, 3, rows)
    shape = generator.integers(0, 2, rows)
    interaction = np.array([-1.0, 0.0, 1.0])[color] * (2 * shape - 1)
    signal = x[:, 0] - 0.5 * x[:, 1] + interaction
    signal = signal + 0.1 * generator.normal(size=rows)
    data = pd.DataFrame(x, columns=["x0", "x1", "x2"])
    data["color"] = np.array(["blue", "green", "red"])[color]
    data["shape"] = np.array(["round", "square"])[shape]
    data.loc[generator.random(rows) < 0.05, "x2"] = np.nan
    data.loc[generator.random(rows) < 0.05, "color"] = None
    data["y"] = _target(task, signal)
    return data


def _target(task: Task, signal: np.ndarray) -> np.ndarray:
    """A number, or one of two or three classes of equal size."""
    if task == "regression":
        return 10 + 3 * signal
    quantiles = [0.5] if task == "binary" else [1 / 3, 2 / 3]
    return np.digitize(signal, np.quantile(signal, quantiles))


def read(paths: Paths) -> Frame:
    """The binary variant; no file is read."""
    return frame()


DATASET = Dataset(
    name="synthetic",
    title="Synthetic",
    task="binary",
    rows=ROWS,
    columns=6,
    target="y",
    categorical=("color", "shape", "y"),
    readings=(Reading((), read),),
    licence="CC0",
    class_counts=(60, 60),
)
