"""Columns of a file as plain ones: numbers, booleans, and text in which missing cells are null."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from npt.interface import UserError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "#N/A", "<NA>")
TICKS_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def plain_columns(
    table: pa.Table, missing: Sequence[str], as_text: Collection[str]
) -> tuple[pa.Table, tuple[str, ...]]:
    """Columns of numbers, booleans and trimmed text, and the names of those that were dates.

    Args:
        missing: Cells that become null, as text or as numbers. Text that holds only numbers
            without them becomes a column of numbers.
        as_text: Columns of text that stay text.

    Raises:
        UserError: The column and its type, if it is none of these.
    """
    import pyarrow as pa

    dates = []
    for j, field in enumerate(table.schema):
        column = table.column(j)
        if pa.types.is_dictionary(field.type):
            column = column.cast(field.type.value_type)
        kind = column.type
        if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
            dates.append(field.name)
            column = _seconds(column)
        elif pa.types.is_decimal(kind) or pa.types.is_floating(kind):
            column = _without_numbers(column.cast(pa.float64()), missing)
        elif pa.types.is_integer(kind):
            column = _without_numbers(column, missing)
        elif _is_text(kind):
            column = _trimmed(column, missing, numbers_allowed=field.name not in as_text)
        elif pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
            raise UserError(f"column {field.name!r} holds bytes that are not UTF-8 text")
        elif pa.types.is_time(kind) or pa.types.is_duration(kind):
            raise UserError(
                f"column {field.name!r} holds times of day or durations; write them as numbers, "
                "or put it under `drop`"
            )
        elif not (pa.types.is_boolean(kind) or pa.types.is_null(kind)):
            raise UserError(
                f"column {field.name!r} holds {kind}; allowed: numbers, text, booleans and dates"
            )
        table = table.set_column(j, field.name, column)
    return table, tuple(dates)


def exact_frame(table: pa.Table) -> pd.DataFrame:
    """The frame of a table in which integers stay integers, even beside missing cells."""
    import pandas as pd
    import pyarrow as pa

    nullable = {pa.int64(): pd.Int64Dtype(), pa.uint64(): pd.UInt64Dtype()}
    frame = table.to_pandas(ignore_metadata=True)
    for name in table.column_names:
        column = table[name]
        if column.type in nullable and column.null_count:
            frame[name] = column.to_pandas(types_mapper=nullable.get)
    return frame


def _compute() -> Any:
    """The compute functions of Arrow, which exist only at run time."""
    import pyarrow.compute

    return pyarrow.compute


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return (
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def _seconds(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Dates as seconds since 1970."""
    import pyarrow as pa

    if pa.types.is_date(column.type):
        column = column.cast(pa.timestamp("ms"))
    ticks = column.cast(pa.int64()).cast(pa.float64(), safe=False)
    return _compute().divide(ticks, float(TICKS_PER_SECOND[column.type.unit]))


def _without_numbers(column: pa.ChunkedArray, missing: Sequence[str]) -> pa.ChunkedArray:
    """Numbers in which those that mean missing are null."""
    import pyarrow as pa

    markers = []
    for text in missing:
        try:
            number = float(text)
        except ValueError:
            continue
        if math.isfinite(number):
            markers.append(number)
    if not markers:
        return column
    pc = _compute()
    is_missing = pc.is_in(column.cast(pa.float64(), safe=False), pa.array(markers, pa.float64()))
    return pc.if_else(is_missing, None, column)


def _trimmed(
    column: pa.ChunkedArray, missing: Sequence[str], *, numbers_allowed: bool
) -> pa.ChunkedArray:
    """Text without blanks around it, in which cells that mean missing are null."""
    import pyarrow as pa

    pc = _compute()
    text = pc.utf8_trim_whitespace(column.cast(pa.large_string()))
    if not missing:
        return text
    is_missing = pc.is_in(text, pa.array(missing, pa.large_string()))
    known = pc.if_else(is_missing, None, text)
    if not numbers_allowed or known.null_count == text.null_count:
        return known
    for kind in (pa.int64(), pa.float64()):
        try:
            return known.cast(kind)
        except pa.ArrowInvalid:
            continue
    return known
