"""Small tables in files, as custom datasets."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from npt.data.custom import CustomDataset
from npt.data.custom.reading import prepare_custom
from npt.data.store import Prepared
from npt.table import Table
from npt.validation import validated

ROWS = 40
KINDS = {
    "size": "continuous",
    "rooms": "continuous",
    "colour": "categorical",
    "garden": "categorical",
    "built": "continuous",
    "price": "continuous",
}


def frame(rows: int = ROWS) -> pd.DataFrame:
    generator = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "size": generator.normal(100, 20, rows).round(2),
            "rooms": generator.integers(1, 7, rows),
            "colour": generator.choice(["red", "blue"], rows),
            "garden": generator.random(rows) < 0.5,
            "built": pd.date_range("2001-02-03", periods=rows, freq="D"),
            "price": generator.normal(300, 50, rows).round(1),
        }
    )


def write(folder: Path, data: pd.DataFrame | str, name: str = "my.csv") -> Path:
    """A .csv of a frame, or a file of text."""
    path = folder / name
    path.write_text(data if isinstance(data, str) else data.to_csv(index=False))
    return path


def declare(path: Path | str, **changes: Any) -> CustomDataset:
    """The regression of `price` with changes of its block."""
    block = {"path": str(path), "target": "price", "task": "regression", **changes}
    return validated(CustomDataset, {**block, "name": "mine"}, "mine")


def read(path: Path, **changes: Any) -> Prepared:
    return prepare_custom(declare(path, **changes), path.parent)


def kinds(table: Table) -> dict[str, str]:
    return {column.name: column.kind for column in table.columns}
