"""A small generated table with both kinds of columns, missing cells and a target that depends on the features.

No download: the tests and the smoke run use it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from npt.data.declaration import Dataset, Reading
from npt.table import Task

if TYPE_CHECKING:
    import pandas as pd

ROWS = 120


def frame(task: Task = "binary", rows: int = ROWS, seed: int = 0) -> pd.DataFrame:
    """Columns x0, x1, x2 (numbers), color (3 levels), shape (2 levels) and y; 5 % of x2 and color are missing."""
    import pandas as pd

    generator = np.random.default_rng(seed)
    x = generator.normal(size=(rows, 3))
    color, shape = generator.integers(0, 3, rows), generator.integers(0, 2, rows)
    signal = x[:, 0] - 0.5 * x[:, 1] + np.array([-1.0, 0.0, 1.0])[color] * (2 * shape - 1)
    signal = signal + 0.1 * generator.normal(size=rows)
    data = pd.DataFrame(x, columns=["x0", "x1", "x2"])
    data["color"] = np.array(["blue", "green", "red"])[color]
    data["shape"] = np.array(["round", "square"])[shape]
    data.loc[generator.random(rows) < 0.05, "x2"] = np.nan
    data.loc[generator.random(rows) < 0.05, "color"] = None
    cuts = {"binary": [0.5], "multiclass": [1 / 3, 2 / 3]}.get(task)
    data["y"] = 10 + 3 * signal if cuts is None else np.digitize(signal, np.quantile(signal, cuts))
    return data


def read(paths: Mapping[str, Path]) -> pd.DataFrame:
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
    in_paper=False,
)
