"""Datasets of OpenML, from a server that is replaced."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from typing import Any
from urllib.error import URLError

import numpy as np
import pytest

from npt.data.custom import CustomDataset
from npt.data.custom.reading import read_custom
from npt.errors import UserError
from npt.validation import validated
from tests.npt.data.custom.tables import kinds
from tests.npt.data.custom.test_reading import ARFF, ARFF_KINDS

ABOUT = {
    "id": "7",
    "name": "houses",
    "version": "1",
    "format": "ARFF",
    "file_id": "9",
    "description": "",
    "status": "active",
    "url": "https://api.openml.org/data/v1/download/9",
    "md5_checksum": hashlib.md5(ARFF.encode()).hexdigest(),
}
TYPES = {"size": "numeric", "colour": "nominal", "note": "string", "price": "numeric"}


def feature(index: int, name: str) -> dict[str, str]:
    return {
        "index": str(index),
        "name": name,
        "data_type": TYPES[name],
        "is_target": "false",
        "is_ignore": "false",
        "is_row_identifier": "false",
        "number_of_missing_values": "1",
    }


FEATURES = [feature(j, name) for j, name in enumerate(TYPES)]
RESPONSES = {
    "json/data/7": {"data_set_description": ABOUT},
    "features/7": {"data_features": {"feature": FEATURES}},
    "qualities/7": {
        "data_qualities": {"quality": [{"name": "NumberOfInstances", "value": "4"}]},
    },
}


class Response(io.BytesIO):
    def info(self) -> dict[str, str]:
        return {}


def houses(**changes: Any) -> CustomDataset:
    block = {"openml": 7, "target": "price", "task": "regression", **changes}
    return validated(CustomDataset, {**block, "name": "houses"}, "houses")


def test_a_dataset_is_fetched_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    requested = []

    def urlopen(request: Any, *args: Any, **kwargs: Any) -> Response:
        requested.append(request.full_url)
        for ending, content in RESPONSES.items():
            if request.full_url.endswith(ending):
                return Response(json.dumps(content).encode())
        return Response(ARFF.encode())

    monkeypatch.setattr("sklearn.datasets._openml.urlopen", urlopen)
    first = read_custom(houses(), tmp_path)
    count = len(requested)
    again = read_custom(houses(), tmp_path)
    assert kinds(first.table) == ARFF_KINDS
    assert np.isnan(first.table.values).sum() == 2
    assert count == len(requested) > 0
    assert again.sha256 == first.sha256
    assert again.table.columns == first.table.columns
    assert np.isnan(read_custom(houses(missing=[12]), tmp_path).table.truth).sum() == 1


def test_an_unreachable_server_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any, **kwargs: Any) -> None:
        raise URLError("no route")

    monkeypatch.setattr("sklearn.datasets._openml.urlopen", fail)
    monkeypatch.setattr("time.sleep", lambda _: None)
    with pytest.raises(UserError, match=r"OpenML 7: .*no route") as error:
        read_custom(houses(), tmp_path)
    assert "\n" not in str(error.value)
