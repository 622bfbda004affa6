"""Titles of datasets, methods and tasks as a reader sees them."""

from __future__ import annotations

import pandas as pd

from baselines import methods
from npt.data.datasets import datasets
from npt.table import Task

TASK_TITLES: dict[Task, str] = {
    "binary": "Binary classification",
    "multiclass": "Multi-class classification",
    "regression": "Regression",
}


def method_title(method: str, variant: str) -> str:
    """Title of a method, with the variant unless it is the base."""
    declared = methods().get(method)
    title = declared.title if declared else method
    return title if variant == "base" else f"{title} ({variant})"


def method_titles(frame: pd.DataFrame) -> list[str]:
    """Title of every row's method and variant."""
    pairs = zip(frame["method"], frame["variant"], strict=True)
    return [method_title(method, variant) for method, variant in pairs]


def dataset_title(name: str) -> str:
    """Title of a dataset; a star marks one that is not among the paper's ten."""
    declared = datasets().get(name)
    if declared is None:
        return f"{name}*"
    return declared.title if declared.in_paper else f"{declared.title}*"
