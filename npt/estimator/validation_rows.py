"""Rows of a fit that select its best weights."""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import train_test_split

FEWEST_TRAIN_ROWS = 2  # a row is trained beside another one
FEWEST_ROWS = FEWEST_TRAIN_ROWS + 1


def validation_rows(
    rows: int, fraction: float, classes: np.ndarray | None, seed: int
) -> np.ndarray:
    """Sorted indices of the validation rows.

    Classes have their shares in them where each has two rows or more, and all classes fit in both
    parts. A class of one row is left to training.

    Args:
        rows: Number of rows, three or more.
        fraction: Fraction of them.
        classes: Codes of classes (rows,), if there are any.
    """
    count = max(1, min(round(rows * fraction), rows - FEWEST_TRAIN_ROWS))
    candidates = np.arange(rows)
    stratify = None
    if classes is not None:
        sizes = np.bincount(classes)[classes]
        frequent = candidates[sizes > 1]
        if len(frequent) >= count + FEWEST_TRAIN_ROWS:
            candidates = frequent
        different = len(np.unique(classes[candidates]))
        smaller_part = min(count, len(candidates) - count)
        if sizes[candidates].min() > 1 and different <= smaller_part:
            stratify = classes[candidates]
    _, chosen = train_test_split(candidates, test_size=count, random_state=seed, stratify=stratify)
    return np.sort(chosen)
