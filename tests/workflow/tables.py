"""A table of random numbers that tests prepare and fit."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

DATASETS: dict[str, Any] = {
    "custom_datasets": {"random": {"path": "random.csv", "target": "y", "task": "regression"}},
    "datasets": ["random"],
    "folds": 0,
}


def write_random_table() -> None:
    """Write the file of `DATASETS` into this folder."""
    values = np.random.default_rng(0).normal(size=(60, 3))
    pd.DataFrame(values, columns=["a", "b", "y"]).to_csv(Path("random.csv"), index=False)
