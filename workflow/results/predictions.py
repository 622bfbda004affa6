"""Predictions of a run or a probe: named arrays in one file, and the metrics of a run's."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

import numpy as np

from npt.atomic import replacing
from npt.data.store import Prepared
from npt.errors import UserError
from npt.interface import Prediction
from npt.metrics import scores
from npt.table import HELD_OUT, Part, Split

Arrays = Mapping[str, np.ndarray]


def fold_arrays(
    fold: int, split: Split, predictions: Mapping[Part, Prediction]
) -> dict[str, np.ndarray]:
    """Arrays of a fold: for each part its rows (n,), and its predictions (n,) or (n, C)."""
    arrays = {}
    for part, prediction in predictions.items():
        arrays[f"fold_{fold}_{part}_rows"] = split.rows(part)
        arrays[f"fold_{fold}_{part}"] = prediction.values
    return arrays


def write_predictions(path: Path, arrays: Arrays) -> None:
    """Write named arrays."""
    with replacing(path) as partial, partial.open("wb") as stream:
        np.savez_compressed(stream, allow_pickle=False, **arrays)


def read_predictions(path: Path) -> dict[str, np.ndarray]:
    """Read named arrays.

    Raises:
        UserError: the file is missing or damaged.
    """
    arrays = {}
    try:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                content = BytesIO(archive.read(name))  # compared with its checksum
                arrays[name.removesuffix(".npy")] = np.load(content, allow_pickle=False)
    except FileNotFoundError:
        raise UserError(f"{path}: missing") from None
    except MemoryError:
        raise
    except Exception as error:  # nearly any kind, depending on where the damage is
        raise UserError(f"{path}: damaged ({error})") from None
    return arrays


def fold_scores(prepared: Prepared, fold: int, arrays: Arrays) -> dict[str, float]:
    """Every metric of the task, as `validation_<metric>` and `test_<metric>`.

    Args:
        arrays: Predictions of a run, see `fold_arrays`.

    Raises:
        UserError: the fold has no predictions, or they are of other rows.
    """
    split = prepared.splits[fold]
    predictions: dict[Part, Prediction] = {}
    for part in HELD_OUT:
        rows = arrays.get(f"fold_{fold}_{part}_rows")
        values = arrays.get(f"fold_{fold}_{part}")
        if rows is None or values is None:
            raise UserError(f"no {part} predictions of fold {fold}")
        if not np.array_equal(rows, split.rows(part)):
            raise UserError(f"the {part} predictions of fold {fold} are of other rows")
        predictions[part] = Prediction(values)
    return scores(predictions, prepared.table, split)
