"""Titles of datasets, methods and tasks as a reader sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baselines import methods
from npt.data.datasets import datasets
from npt.table import Task

if TYPE_CHECKING:
    import pandas as pd

# The models that the benchmark is about: named in sentences, and drawn in colors of their own. The
# first of them in a study is the one that other methods are compared with.
NPTS = ("npt_compact", "npt")
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


def npt_of_title(title: str) -> str | None:
    """Name of the NPT that a title, perhaps with a variant, is of; None for other methods."""
    for name in NPTS:
        if title.split(" (")[0] == methods()[name].title:
            return name
    return None


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
