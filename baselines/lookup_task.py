"""Baselines in the lookup task (paper section 4.2): duplicates of the rows show their targets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from baselines import baselines
from baselines.deep_kernel_learning import FROM_DUPLICATES
from baselines.grids import BaselineSettings
from baselines.search import Search
from baselines.training_data import TrainingData, training_data
from baselines.tuned import SEED
from npt.data.encoding import statistics
from npt.interface import Resources
from npt.probing import Duplicates
from npt.table import Split, Table


def predict_originals(
    name: str,
    settings: BaselineSettings,
    table: Table,
    split: Split,
    duplicates: Duplicates,
    seed: int,
    resources: Resources,
) -> np.ndarray:
    """Predicted values (n,) of the originals, standardised as the duplicates' targets are.

    A baseline that `recalls` is trained and tuned on the table, or with `from_duplicates: true` on
    the duplicates, and then observes the duplicates. Others are fitted to the duplicates and
    tuned on them, on the CPU.

    Args:
        name: Name of the baseline.
        settings: Its grid, and whether features are standardised over all rows, as those of the
            duplicates are.
        table: A regression table, blind to the targets of test rows.
        split: Fold of the table.
        duplicates: Rows of the table and their duplicates, one-hot.
        seed: Seed of the training.
        resources: Threads, and the device of a baseline that recalls.

    Raises:
        Infeasible: No configuration could be fitted, or the fitted one cannot observe the
            duplicates.
    """
    baseline = baselines()[name]
    if baseline.recalls and not settings.fixed.get(FROM_DUPLICATES):
        known = statistics(table, split, transductive=settings.transductive)
        data = training_data(table, split, known, codes=False)
    else:
        rows = np.arange(len(duplicates.shown))
        data = TrainingData(
            features=duplicates.duplicates,
            target=duplicates.shown,
            train=rows,
            validation=rows,
            task="regression",
            classes=1,
        )
    if not baseline.recalls:
        resources = replace(resources, device="cpu")
    with threadpool_limits(resources.threads):
        grid = baseline.configurations(settings, data.task, len(data.train))
        winner = Search(baseline, data, settings, SEED + seed, resources).run(grid)
        predictor: Any = winner.predictor
        if baseline.recalls:
            return predictor.recall(duplicates, winner.parameters)
        predicted = predictor(duplicates.originals, winner.parameters)
    return data.over_all_classes(predicted)
