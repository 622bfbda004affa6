"""A fence around libraries that seed global generators and print."""

from __future__ import annotations

import contextlib
import io
import logging
import random
import warnings
from collections.abc import Iterator

import numpy as np

from baselines.baseline import Predictor
from baselines.estimators import PredictFunction, of_one_model


@contextlib.contextmanager
def fenced() -> Iterator[None]:
    """Restore the global random states afterwards; show neither messages nor warnings."""
    import torch

    python_state = random.getstate()
    numpy_state = np.random.get_state()
    lightning = logging.getLogger("pytorch_lightning")
    level = lightning.level
    lightning.setLevel(logging.ERROR)
    try:
        with (
            torch.random.fork_rng(),
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        lightning.setLevel(level)
        random.setstate(python_state)
        np.random.set_state(numpy_state)


def fenced_predictor(predict: PredictFunction) -> Predictor:
    """A predictor of a model that serves a single configuration, behind the fence."""

    def predict_fenced(features: np.ndarray) -> np.ndarray:
        with fenced():
            return predict(features)

    return of_one_model(predict_fenced)
