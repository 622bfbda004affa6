"""Readers of datasets in text: by pandas, or in parts with exact values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from npt.data.declaration import Read

if TYPE_CHECKING:
    import pandas as pd

BLOCK_BYTES = 2 << 20  # Arrow reads about thirty blocks ahead


def rows(**options: Any) -> Callable[[Mapping[str, Path]], pd.DataFrame]:
    """Reads the rows of a dataset's only file, with options of `pandas.read_csv`."""

    def read(paths: Mapping[str, Path]) -> pd.DataFrame:
        import pandas as pd

        (path,) = paths.values()
        return pd.read_csv(path, **options)

    return read


def whole_numbers(names: Sequence[str]) -> Read:
    """Reads columns of whole numbers, file after file."""

    def read(paths: Mapping[str, Path]) -> Iterator[pd.DataFrame]:
        for path in paths.values():
            yield from numbers(path, names, whole=True)

    return read


def numbers(path: Path, names: Sequence[str], *, whole: bool = False) -> Iterator[pd.DataFrame]:
    """Frames of two megabytes of text each.

    Args:
        path: File without a header, gzipped or not.
        names: Names of its columns.
        whole: Whether the columns are of integers.
    """
    import pyarrow as pa
    from pyarrow import csv

    kind = pa.int64() if whole else pa.float64()
    batches = csv.open_csv(
        str(path),
        csv.ReadOptions(column_names=list(names), block_size=BLOCK_BYTES, use_threads=False),
        convert_options=csv.ConvertOptions(column_types=dict.fromkeys(names, kind)),
    )
    for batch in batches:
        yield batch.to_pandas()
