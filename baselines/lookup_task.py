"""Baselines in the lookup task (paper section 4.2): duplicates of the rows show their targets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from threadpoolctl import threadpool_limits

from baselines.baseline import Baseline
from baselines.grids import BaselineSettings
from baselines.search import Search
from baselines.training_data import TrainingData
from baselines.tuned import SEED
from npt.interface import Duplicates, Infeasible, Resources


def looked_up(
    baseline: Baseline, data: TrainingData, duplicates: Duplicates, seed: int, resources: Resources
) -> np.ndarray:
    """Standardised values (n,) of the originals, predicted by the best of the quick grid.

    Args:
        baseline: one that `recalls` is trained on `data` and then shown the duplicates; others are
            fitted to the duplicates, and tuned on them, on the CPU.
        data: one-hot features of a regression table.
        duplicates: the lookup task.
        seed: of the training.
        resources: threads, and the device of baselines that recall.

    Raises:
        Infeasible: no configuration could be fitted.
    """
    quick = BaselineSettings(grid="quick")
    if baseline.recalls:
        grid = list(baseline.configurations(quick, "regression", len(data.train)))
        parameters = {**baseline.fixed, **grid[0]}
        with threadpool_limits(resources.threads):
            return baseline.recall(data, duplicates, parameters, SEED + seed, resources)
    rows = np.arange(len(duplicates.shown))
    data = TrainingData(duplicates.duplicates, duplicates.shown, rows, rows, "regression", 1)
    grid = list(baseline.configurations(quick, "regression", len(rows)))
    search = Search(baseline, data, quick, SEED + seed, replace(resources, device="cpu"))
    with threadpool_limits(resources.threads):
        result = search.run(grid)
        if result.winner is None:
            reasons = [trial.reason for trial in result.trials if trial.reason]
            raise Infeasible(reasons[0], result.trials)
        (predicted,) = result.winner.predictor(duplicates.originals, [result.winner.parameters])
    return data.over_all_classes(predicted)
