"""Baselines in the lookup task (paper section 4.2): duplicates of the rows show their targets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from threadpoolctl import threadpool_limits

from baselines import baselines
from baselines.baseline import Baseline
from baselines.grids import BaselineSettings
from baselines.search import Search
from baselines.training_data import TrainingData, training_data
from baselines.tuned import SEED
from npt.interface import Duplicates, Infeasible, Resources
from npt.table import Split, Table

QUICK = BaselineSettings(grid="quick")


def predict_originals(
    name: str,
    table: Table,
    split: Split,
    duplicates: Duplicates,
    seed: int,
    resources: Resources,
) -> np.ndarray:
    """Predicted values (n,) of the originals, standardised as the duplicates' targets are.

    A baseline that `recalls` is trained on the table and then observes the duplicates. Others are
    fitted to the duplicates with the quick grid and tuned on them, on the CPU.

    Args:
        name: Name of the baseline.
        table: A regression table, blind to the targets of test rows.
        split: Fold of the table.
        duplicates: Rows of the table and their duplicates, one-hot.
        seed: Seed of the training.
        resources: Threads, and the device of a baseline that recalls.

    Raises:
        Infeasible: No configuration could be fitted.
    """
    baseline = baselines()[name]
    with threadpool_limits(resources.threads):
        if not baseline.recalls:
            return _fitted(baseline, duplicates, SEED + seed, resources)
        data = training_data(table, split, codes=False)
        grid = baseline.configurations(QUICK, data.task, len(data.train))
        parameters = {**baseline.fixed, **next(grid)}
        return baseline.recall(data, duplicates, parameters, SEED + seed, resources)


def _fitted(
    baseline: Baseline, duplicates: Duplicates, seed: int, resources: Resources
) -> np.ndarray:
    rows = np.arange(len(duplicates.shown))
    data = TrainingData(
        features=duplicates.duplicates,
        target=duplicates.shown,
        train=rows,
        validation=rows,
        task="regression",
        classes=1,
    )
    grid = list(baseline.configurations(QUICK, data.task, len(rows)))
    search = Search(baseline, data, QUICK, seed, replace(resources, device="cpu"))
    result = search.run(grid)
    if result.winner is None:
        reasons = [trial.reason for trial in result.trials if trial.reason]
        raise Infeasible(reasons[0], result.trials)
    winner = result.winner
    (predicted,) = winner.predictor(duplicates.originals, [winner.parameters])
    return data.over_all_classes(predicted)
