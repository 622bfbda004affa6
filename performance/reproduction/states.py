"""State of every value and cell: regenerated, reduced, planned, not possible, or not planned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any

from performance.reproduction.cells import PublishedCell, published_cells
from performance.reproduction.quantity import Measured, Quantity, folds_by_key
from performance.reproduction.sources import (
    Committed,
    Source,
    committed_sources,
    planned_sources,
)

SIZE_SETTINGS = frozenset({"updates", "evaluate_every", "budget"})
OWN_COSTS = (
    "These are time and memory on the authors' machines. "
    "`paper.yaml: main` gives those of the machine it runs on, in the table `cost`."
)
IMPOSSIBLE: Mapping[tuple[int, str], str] = {
    (2, "CIFAR-10"): "This NPT of the paper reads images through a convolutional encoder, whose "
    "code, optimiser and rate are not published. `images.yaml: corruption` plans the paper's NPT "
    "with linear patches, and `resnet_corruption` one with a ResNet-18, which permutes encodings "
    "instead of pixels.",
    (6, ""): OWN_COSTS,
    (7, ""): OWN_COSTS,
}
"""Reasons by table and row; an empty row stands for all."""


class State(Enum):
    """State of a value or of a cell, with its symbol on the page."""

    REGENERATED = "●"
    REDUCED = "◐"
    PLANNED = "○"
    IMPOSSIBLE = "✕"
    UNPLANNED = "△"

    @property
    def title(self) -> str:
        """Title of the state."""
        return STATE_TITLES[self]


STATE_TITLES = {
    State.REGENERATED: "regenerated",
    State.REDUCED: "regenerated, reduced",
    State.PLANNED: "planned",
    State.IMPOSSIBLE: "not possible",
    State.UNPLANNED: "not planned",
}


@dataclass(frozen=True)
class Result:
    """A value of a cell from committed rows.

    Attributes:
        source: Title of the study.
        reductions: What is smaller than in the paper; empty at full size.
    """

    source: str
    measured: Measured
    reductions: tuple[str, ...]

    @property
    def state(self) -> State:
        """Whether it is reduced."""
        return State.REDUCED if self.reductions else State.REGENERATED


@dataclass(frozen=True)
class CellState:
    """A cell with its state.

    Attributes:
        state: That of its first value, if it has any.
        results: Values from committed rows, those at full size first.
        planned: The study that plans it at full size, if there is one.
        reason: Why it is not possible; else empty.
    """

    cell: PublishedCell
    state: State
    results: tuple[Result, ...] = ()
    planned: Source | None = None
    reason: str = ""


@cache
def cell_states() -> tuple[CellState, ...]:
    """All cells of the paper's tables with their states."""
    committed = committed_sources()
    return tuple(state_of(cell, committed) for cell in published_cells())


def state_of(cell: PublishedCell, committed: tuple[Committed, ...]) -> CellState:
    """State of a cell, given the studies with rows."""
    reason = IMPOSSIBLE.get((cell.table, cell.row)) or IMPOSSIBLE.get((cell.table, ""))
    if reason:
        return CellState(cell, State.IMPOSSIBLE, reason=reason)
    assert cell.quantity is not None
    planned = planning(cell.quantity)
    if planned is None:
        return CellState(cell, State.UNPLANNED)
    results = _results(cell.quantity, planned, committed)
    state = results[0].state if results else State.PLANNED
    return CellState(cell, state, results, planned)


def planning(quantity: Quantity) -> Source | None:
    """The first study with the paper's settings that gives a quantity."""
    for source in planned_sources():
        if quantity.planned_key(source.plan, source.study):
            return source
    return None


def _results(
    quantity: Quantity, planned: Source, committed: tuple[Committed, ...]
) -> tuple[Result, ...]:
    results = []
    for study in committed:
        for measured in quantity.measured(study.rows):
            reductions = _reductions(quantity, measured, study.source, planned)
            if reductions is not None:
                results.append(Result(study.source.title, measured, reductions))
    results.sort(key=lambda result: bool(result.reductions))
    return tuple(results)


def _reductions(
    quantity: Quantity, measured: Measured, source: Source, planned: Source
) -> tuple[str, ...] | None:
    """What is smaller than planned; None if other settings differ, so that it is another value."""
    key = quantity.planned_key(planned.plan, planned.study)
    assert key is not None
    run = source.run(measured.key)
    paper_run = planned.run(key)
    if run is None or paper_run is None:
        return None
    differences = _differences(run.settings, paper_run.settings)
    for name in quantity.irrelevant_settings:
        differences.pop(name, None)
    if not set(differences) <= SIZE_SETTINGS | quantity.free_settings:
        return None
    differences.pop("budget", None)  # the configurations tell its effect
    reductions = [f"`{name}`: {text}" for name, text in differences.items()]
    folds = len(folds_by_key(planned.study)[key])
    amounts = [
        ("configurations", *(measured.searched or (1, 1))),
        ("configurations", len(run.trainings), len(paper_run.trainings)),
        ("folds", measured.folds, folds),
    ]
    for noun, amount, whole in amounts:
        if amount < whole:
            reductions.append(f"{noun}: {amount:,} of {whole:,}")
    return tuple(reductions)


def _differences(settings: Mapping[str, Any], paper: Mapping[str, Any]) -> dict[str, str]:
    """Settings that differ from the paper's, as text."""
    differences = {}
    for name, value in settings.items():
        if value != paper[name]:
            differences[name] = f"{_text(value)} instead of {_text(paper[name])}"
    return differences


def _text(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return str(value)
