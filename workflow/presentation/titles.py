"""Titles of datasets, methods and tasks as a reader sees them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from baselines import methods
from npt.data.datasets import datasets
from npt.table import Task

if TYPE_CHECKING:
    import pandas as pd

EXACT = "npt"
CONFIGS = Path(__file__).parents[1] / "configs"
PAPER_CONFIGS = (CONFIGS / "paper.yaml", CONFIGS / "images.yaml")
_UPDATES: ContextVar[Mapping[str, str]] = ContextVar("updates")  # parts of titles by variant
TASK_TITLES: dict[Task, str] = {
    "binary": "Binary classification",
    "multiclass": "Multi-class classification",
    "regression": "Regression",
}


def method_title(method: str, variant: str) -> str:
    """Title of a method, with the variant unless it is the base.

    That of an exact NPT has its number of updates within `titles_of`.
    """
    declared = methods().get(method)
    title = declared.title if declared else method
    if method == EXACT:
        title += _UPDATES.get({}).get(variant, "")
    return title if variant == "base" else f"{title} ({variant})"


@contextmanager
def titles_of(study: pd.DataFrame) -> Iterator[None]:
    """Within it, an exact NPT with fewer updates than the paper's on a dataset is titled by them.

    Of several numbers, the title of a variant has the range. Rows of earlier versions have none.
    """
    parts: dict[str, str] = {}
    if "updates" in study:
        rows = study[study["method"] == EXACT].dropna(subset=["updates"])
        for variant, part in rows.groupby("variant"):
            updates = part["updates"].astype(int)
            if (updates < part["dataset"].map(_paper_updates)).any():
                counts = sorted({updates.min(), updates.max()})
                listing = " to ".join(f"{count:,}" for count in counts)
                parts[str(variant)] = f", {listing} updates"
    token = _UPDATES.set(parts)
    try:
        yield
    finally:
        _UPDATES.reset(token)


@cache
def _paper_updates(dataset: str) -> int:
    """Updates of the paper's NPT on a dataset; on one that the paper has not, the default."""
    updates = methods()[EXACT].settings().updates
    for path in PAPER_CONFIGS:
        overrides = yaml.safe_load(path.read_text(encoding="utf-8"))["overrides"]
        changes = overrides.get(dataset.removesuffix("_legacy"), {})
        updates = changes.get(EXACT, {}).get("updates", updates)
    return updates


def method_titles(frame: pd.DataFrame) -> list[str]:
    """Title of every row's method and variant."""
    return list(map(method_title, frame["method"], frame["variant"]))


def dataset_title(name: str) -> str:
    """Title of a dataset; a star marks a declared one that is not among the paper's ten."""
    declared = datasets().get(name)
    if declared is None:
        return name
    return declared.title if declared.in_paper else f"{declared.title}*"


def model_title(row: Mapping[Any, Any] | pd.Series) -> str:
    """Dataset and method of a row, in two lines."""
    return f"{dataset_title(row['dataset'])}\n{method_title(row['method'], row['variant'])}"
