"""Reader of datasets in text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def rows(**options: Any) -> Callable[[Mapping[str, Path]], pd.DataFrame]:
    """Reads the rows of a dataset, file after file, with options of `pandas.read_csv`."""

    def read(paths: Mapping[str, Path]) -> pd.DataFrame:
        import pandas as pd

        return pd.concat(pd.read_csv(path, **options) for path in paths.values())

    return read
