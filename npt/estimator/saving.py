"""Files of fitted estimators: arrays as safetensors, and all else as JSON in their header."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from pydantic import ValidationError
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from npt.atomic import replacing
from npt.data.frames import Feature
from npt.errors import UserError
from npt.estimator.model import ModelFacts
from npt.validation import Strict, user_error, validated

FACTS = "npt_estimator"
DIGEST = "sha256"
Task = Literal["classifier", "regressor"]


class ClassFacts(Strict):
    """Classes and the type of their array."""

    values: list[bool | int | float | str]
    dtype: str


class EstimatorFacts(Strict):
    """All of a fitted estimator but its arrays."""

    format: Literal[4] = 4
    task: Task
    parameters: dict[str, Any]
    model: ModelFacts
    features: tuple[Feature, ...]
    feature_names: list[str] | None
    classes: ClassFacts | None


def class_facts(classes: np.ndarray) -> ClassFacts:
    """Facts of classes; dates are whole numbers of their unit.

    Raises:
        UserError: A class has no form in JSON.
    """
    values = classes.astype(np.int64) if classes.dtype.kind in "mM" else classes
    facts = {"values": values.tolist(), "dtype": classes.dtype.str}
    return validated(ClassFacts, facts, "classes_")


def plain_parameters(parameters: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Parameters of an estimator as JSON has them.

    Args:
        seed: Replaces a generator.

    Raises:
        UserError: A parameter is no number, text, list or mapping.
    """

    def plain(value: Any) -> Any:
        if isinstance(value, np.random.RandomState):
            return seed
        if isinstance(value, np.generic | np.ndarray | pd.Index | pd.Series):
            return value.tolist()
        if isinstance(value, set):
            return list(value)
        raise UserError(f"{value!r} cannot be saved as JSON")

    return json.loads(json.dumps(dict(parameters), default=plain))


def write(path: Path, facts: EstimatorFacts, arrays: Mapping[str, np.ndarray]) -> None:
    """Write a file atomically."""
    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    text = json.dumps(facts.model_dump())
    metadata = {FACTS: text, DIGEST: _digest(text, contiguous)}
    with replacing(path) as partial:
        save_file(contiguous, partial, metadata=metadata)


def read(path: Path) -> tuple[EstimatorFacts, dict[str, np.ndarray]]:
    """Read what `write` wrote.

    Raises:
        UserError: It is another file, or damaged.
        OSError: It cannot be opened.
    """
    path.open("rb").close()  # for the error of the operating system
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise not_saved(path, f"no safetensors: {error}") from None
    if FACTS not in metadata:
        raise not_saved(path, f"its header has no {FACTS!r}")
    text = metadata[FACTS]
    if metadata.get(DIGEST) != _digest(text, arrays):
        raise not_saved(path, f"damaged: its {DIGEST} is another")
    try:
        facts = EstimatorFacts.model_validate_json(text)
    except ValidationError as error:
        raise not_saved(path, str(user_error(error, EstimatorFacts, FACTS))) from None
    return facts, arrays


def not_saved(path: Path, reason: str) -> UserError:
    """An error about a file that `save` did not write as it is."""
    return UserError(f"{path}: not a saved estimator ({reason})")


def _digest(text: str, arrays: Mapping[str, np.ndarray]) -> str:
    """Digest of a text, and of names, types, shapes and contents of arrays."""
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
