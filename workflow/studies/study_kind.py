"""What the folder of a study kind declares; importing it loads nothing heavy."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import AfterValidator

from npt.table import Task
from npt.train_rows import TrainRows
from npt.validation import Strict, validated

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from npt.method import Method
    from workflow.presentation.sections import View
    from workflow.studies.query import ProbeQuery

Facts = dict[str, Any]
ProbeResult = tuple[Facts, dict[str, "np.ndarray"]]  # facts of a fold's row, and arrays to save
Share = Annotated[float, AfterValidator(lambda share: float(f"{share:g}"))]  # as names write it


def in_order(order: str, *first: float, reverse: bool = False) -> AfterValidator:
    """Requires distinct values in ascending order that begin with `first`.

    Args:
        order: What they should be, as an error says it.
        reverse: Whether they descend.
    """

    def check(values: list[Any]) -> list[Any]:
        if values != sorted(set(values), reverse=reverse) or values[: len(first)] != [*first]:
            raise ValueError(f"{values} are not {order}")
        return values

    return AfterValidator(check)


class Options(Strict):
    """Options of a study kind; a kind without options uses this class as it is."""

    @classmethod
    def from_study(cls, study: pd.DataFrame) -> Self:
        """Options of a collected study; rows of variants and external ones have none."""
        if "options" in study:
            for options in study["options"].dropna():
                return validated(cls, json.loads(options), "options")
        return cls()


@dataclass(frozen=True)
class StudyKind:
    """Declaration of a study kind, the object `KIND` of the package `workflow.studies.<name>`.

    The package has two more modules, which are imported when they are needed: `view` with a `VIEW`,
    and, where `probes`, `probe` with a function `probe(query)`.

    A kind with rules of its own is a subclass.

    Attributes:
        title: Heading of its section of the report, which kinds may share.
        order: Position of the kind in lists and in the report's summary.
        probes: Whether the study probes trained models.
        trains_variants: Whether the kind names the variants of its runs itself (`variants_of`).
            The base alone is probed, and compared with them.
        needs_rows: Whether the probed models must predict from other rows.
        only_task: The task of all datasets, if it is restricted.
        realisations: Whether it probes models of many tables, or of one.
        refuses_lookup: Whether models of the lookup task are refused, whose other rows are
            duplicates that hold the answer.
        version: Raised by hand when rows of its probe change, so that they are made anew.
    """

    name: str
    title: str
    order: int
    options: type[Options] = Options
    probes: bool = False
    trains_variants: bool = False
    needs_rows: bool = False
    only_task: Task | None = None
    realisations: bool = False
    refuses_lookup: bool = False
    version: int = 1

    def accepts(self, method: Method) -> bool:
        """Whether a method can be part of such a study."""
        return not self.probes or self.can_probe(method)

    def can_probe(self, method: Method) -> bool:
        """Whether models of a method can be asked what the kind's probe asks."""
        if method.realisations != self.realisations:
            return False
        return method.reads_rows or not self.needs_rows

    def refuse(self, settings: Mapping[str, Any], options: Any) -> str | None:
        """Reason why a run with these resolved settings cannot be part of such a study, or None."""
        if self.refuses_lookup and settings.get("lookup", "off") != "off":
            return "trained on the lookup task, whose other rows are duplicates"
        return None

    def variants_of(self, method: Method, options: Any) -> Mapping[str, Mapping[str, Any]]:
        """Variants that the kind trains of a method, by default its twins: changes of settings."""
        return method.twins

    def train_rows(self, variant: str) -> TrainRows:
        """What a variant is trained on of the train rows of a fold."""
        return TrainRows()

    @property
    def view(self) -> View:
        """Tables and figures of the kind, and its answer."""
        return importlib.import_module(f"workflow.studies.{self.name}.view").VIEW

    def probe(self, query: ProbeQuery) -> ProbeResult:
        """Facts that enter the row of a fold, and arrays to save with it."""
        module = importlib.import_module(f"workflow.studies.{self.name}.probe")
        return module.probe(query.with_shown_targets())
