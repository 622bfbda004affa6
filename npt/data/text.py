"""Reader of datasets in text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from npt.data.declaration import Frame, Paths


def rows(**options: Any) -> Callable[[Paths], Frame]:
    """Reads the rows of a dataset, file after file, with options of `pandas.read_csv`."""

    def read(paths: Paths) -> Frame:
        import pandas as pd

        return pd.concat(pd.read_csv(path, **options) for path in paths.values())

    return read
