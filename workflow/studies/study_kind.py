"""What the folder of a study kind declares; importing it loads nothing heavy."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from npt.table import Task
from npt.validation import Strict, validated

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from matplotlib.figure import Figure

    from npt.interface import Ability, Method
    from workflow.config.scoring import Scoring
    from workflow.report.sections import Table
    from workflow.studies.query import ProbeQuery

Facts = dict[str, Any]


@dataclass(frozen=True)
class Card:
    """An answer on the first screen of the report.

    Attributes:
        question: What is asked of the models.
        verdict: The answer in a few words; empty if it is in the evidence alone.
        evidence: The answer in numbers.
        study: Name of the study that answers it.
    """

    question: str
    verdict: str
    evidence: str
    study: str = ""


class Options(Strict):
    """Options of a study kind; a kind without options uses this class as it is."""

    @classmethod
    def of(cls, study: pd.DataFrame) -> Self:
        """Options of a collected study; unfinished rows and those of variants have none."""
        if "options" in study:
            for options in study["options"].dropna():
                return validated(cls, json.loads(options), "options")
        return cls()


@dataclass(frozen=True)
class StudyKind:
    """Declaration of a study kind, the object `KIND` of the package `workflow.studies.<name>`.

    The package has these modules; their functions take the collected study and the scoring.

    * `tables.py`: a function for each name in `tables` that returns a `Table`.
    * `figures.py`: a function for each name in `figures` that returns a matplotlib figure, whose
      caption is `captions/<figure>.rst`. `CAPTIONS` adds, by figure and condition on the study,
      sentences on what is not drawn of all studies.
    * `summary.py`: `finding`, the sentence of the study's section in the report, and optionally
      `cards`, answers on the report's first screen.
    * `probe.py`, where `probes`: `probe(query)`.

    A kind with rules of its own is a subclass.

    Attributes:
        order: Position of the kind in lists and in the report's summary.
        probes: Whether the study probes trained models.
        trains_variants: Whether the kind names the variants of its runs itself (`variants_of`).
            The base alone is probed, and compared with them.
        needs: What the probed models must be able to do besides predicting perturbed rows.
        only_task: The task of all datasets, if it is restricted.
        realisations: Whether it probes models of many tables, or of one.
        version: Raised by hand when rows of its probe change, so that they are made anew.
        first_table: The table that the report's first screen shows; empty for none.
        first_figure: The figure that it shows; empty for none.
    """

    name: str
    title: str
    order: int
    tables: tuple[str, ...]
    figures: tuple[str, ...]
    options: type[Options] = Options
    probes: bool = False
    trains_variants: bool = False
    needs: Ability | None = None
    only_task: Task | None = None
    realisations: bool = False
    version: int = 1
    first_table: str = ""
    first_figure: str = ""

    def accepts(self, method: Method) -> bool:
        """Whether a method can be part of such a study."""
        return not self.probes or self.can_probe(method)

    def can_probe(self, method: Method) -> bool:
        """Whether models of a method can be asked what the kind's probe asks."""
        if method.load is None and method.refit is None:
            return False
        if method.realisations != self.realisations:
            return False
        return self.needs is None or self.needs in method.abilities

    def refuse(self, settings: Mapping[str, Any], options: Any) -> str | None:
        """Reason why a run with these resolved settings cannot be part of such a study, or None."""
        return None

    def variants_of(self, method: Method, options: Any) -> Mapping[str, Mapping[str, Any]]:
        """Variants that the kind trains of a method: changes of settings by name."""
        return {}

    def train_share(self, variant: str, options: Any) -> float:
        """Share of the train rows of a fold that a variant is trained on."""
        return 1.0

    @property
    def folder(self) -> Path:
        """Folder of the kind's package."""
        return Path(str(self._module("").__file__)).parent

    def caption_path(self, figure: str) -> Path:
        """Path of a figure's caption."""
        return self.folder / "captions" / f"{figure}.rst"

    def caption(self, figure: str, study: pd.DataFrame) -> str:
        """Caption of a study's figure as one line, with what is drawn of this study alone."""
        parts = [self.caption_path(figure).read_text(encoding="utf-8")]
        figures = self._module("figures")
        for condition, text in getattr(figures, "CAPTIONS", {}).get(figure, {}).items():
            if condition(study):
                parts.append(text)
        return " ".join(" ".join(parts).split())

    def table(self, name: str, study: pd.DataFrame, scoring: Scoring) -> Table:
        """One of the kind's tables, with a note if its methods are standardised unlike."""
        from workflow.report.notes import standardisation_notes
        from workflow.report.sections import with_notes
        from workflow.report.titles import titles_of

        table = self._made("tables", name, study, scoring)
        with titles_of(study):
            notes = standardisation_notes(study)
        return replace(table, sections=with_notes(table.sections, *notes))

    def figure(self, name: str, study: pd.DataFrame, scoring: Scoring) -> Figure:
        """One of the kind's figures."""
        return self._made("figures", name, study, scoring)

    def shown_figures(self, study: pd.DataFrame, scoring: Scoring) -> tuple[str, ...]:
        """Figures that the report shows of a study; all of them have files."""
        return self.figures

    def finding(self, study: pd.DataFrame, scoring: Scoring) -> str:
        """Result of a study in a sentence or two."""
        return self._made("summary", "finding", study, scoring)

    def cards(self, study: pd.DataFrame, scoring: Scoring) -> list[Card]:
        """Answers of a study on the report's first screen."""
        if not hasattr(self._module("summary"), "cards"):
            return []
        return self._made("summary", "cards", study, scoring)

    def probe(self, query: ProbeQuery) -> tuple[Facts, dict[str, np.ndarray]]:
        """Facts that enter the row of a fold, and arrays to save with it."""
        return self._module("probe").probe(query.with_shown_targets())

    def _made(self, module: str, name: str, study: pd.DataFrame, scoring: Scoring) -> Any:
        """What a function of a module makes of a study, whose trainings the titles are of."""
        from workflow.report.titles import titles_of

        with titles_of(study):
            return getattr(self._module(module), name)(study, scoring)

    def _module(self, name: str) -> Any:
        package = f"workflow.studies.{self.name}"
        return importlib.import_module(f"{package}.{name}" if name else package)
