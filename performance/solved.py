"""Seconds and peak memory of solved NPT: a fit and 1,000 predictions of a generated regression.

`exact` solves for all rows; `landmarks` attends through the settings' number of them.
"""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import torch
from sklearn.datasets import make_friedman1
from torch.utils.benchmark import timer

from npt.evaluation import reset_peak_memory
from npt.solved.model import fit
from npt.solved.settings import SolvedSettings
from performance.machine import parser, peak_megabytes, report, start

ROWS = (1000, 4000, 20_000)
COLUMNS = 20
QUERIES = 1000


def main() -> None:
    """Command line of the benchmark."""
    options = parser(__doc__)
    options.add_argument("--exact", type=int, default=4000, help="most rows that are solved for")
    arguments = start(options)
    settings = SolvedSettings(exact_rows=arguments.exact)
    fitted(200, settings, arguments.device)  # warm up
    report(arguments, [fitted(size, settings, arguments.device) for size in ROWS])


def fitted(size: int, settings: SolvedSettings, device: torch.device) -> dict[str, Any]:
    """Measurements of a fit to so many rows and of the predictions after it."""
    features, labels = make_friedman1(size + QUERIES, COLUMNS, noise=1.0, random_state=0)
    categorical = np.zeros(COLUMNS, bool)
    gc.collect()
    if not reset_peak_memory():
        raise OSError("this system cannot reset the peak of memory")
    started = timer()
    model = fit(features[:size], labels[:size], categorical, settings=settings, device=device)
    fit_end = timer()
    predictions = model.predict(features[size:])
    predict_end = timer()
    return {
        "rows": size,
        "system": "exact" if model.is_exact else "landmarks",
        "fit_seconds": fit_end - started,
        "predict_seconds": predict_end - fit_end,
        "peak_mb": peak_megabytes(),
        "rmse": float(np.sqrt(np.mean((predictions - labels[size:]) ** 2))),
    }


if __name__ == "__main__":
    main()
