from pathlib import Path

import numpy as np
import pytest

from npt.errors import UserError
from npt.interface import Prediction
from npt.table import Part
from tests.rows import prepared
from workflow.results.predictions import (
    fold_arrays,
    fold_scores,
    read_predictions,
    write_predictions,
)

YACHT = prepared("yacht")  # targets 0, 1, 2, 1; row 2 validates, row 3 tests
PREDICTED: dict[Part, Prediction] = {
    "validation": Prediction(np.array([1.75])),
    "test": Prediction(np.array([3.0])),
}


def saved(folder: Path) -> Path:
    path = folder / "run.predictions.npz"
    write_predictions(path, fold_arrays(1, YACHT.splits[1], PREDICTED))
    return path


def test_scores_come_from_saved_predictions(tmp_path: Path) -> None:
    scores = fold_scores(YACHT, 1, read_predictions(saved(tmp_path)))
    expected = {"validation_rmse": 0.25, "validation_mse": 0.0625, "test_rmse": 2, "test_mse": 4}
    assert expected.items() <= scores.items()


def test_predictions_of_other_rows_are_refused(tmp_path: Path) -> None:
    arrays = read_predictions(saved(tmp_path))
    with pytest.raises(UserError, match="fold 0"):
        fold_scores(YACHT, 0, arrays)
    arrays["fold_1_test_rows"] = np.array([2])
    with pytest.raises(UserError, match="test predictions of fold 1"):
        fold_scores(YACHT, 1, arrays)


def test_damaged_predictions_are_named(tmp_path: Path) -> None:
    path = saved(tmp_path)
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1  # the first file is said to be encrypted
    path.write_bytes(content)
    with pytest.raises(UserError, match=rf"{path.name}: damaged"):
        read_predictions(path)


def test_missing_predictions_are_named(tmp_path: Path) -> None:
    path = tmp_path / "run.predictions.npz"
    with pytest.raises(UserError, match=path.name):
        read_predictions(path)
