"""Studies of the configurations: those that plan the paper's cells, and those with rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pandas as pd

from workflow.config.reading import read_file
from workflow.planning.plan import Plan
from workflow.planning.planned_study import PlannedStudy
from workflow.planning.run import Run
from workflow.report.summary import REFERENCE, reference_study

CONFIGURATIONS = Path(__file__).parents[2] / "workflow" / "configs"
FULL_SIZE = ("paper", "ablations", "lookup", "images")
"""Configurations with the paper's settings; the others there are smaller."""


@dataclass(frozen=True)
class Source:
    """A study of a configuration under `workflow/configs`."""

    configuration: str
    plan: Plan
    study: PlannedStudy

    @property
    def title(self) -> str:
        """File of the configuration and study, as on the page."""
        return f"{self.configuration}.yaml: {self.study.name}"

    @property
    def rows_name(self) -> str:
        """Name of its rows under `results/reference`."""
        return f"{self.configuration}/{self.study.name}"

    def run(self, key: str) -> Run | None:
        """The first run of the study with a key."""
        for run in self.plan.runs_of(self.study):
            if run.key == key:
                return run
        return None


@dataclass(frozen=True)
class Committed:
    """A study with its rows under `results/reference`."""

    source: Source
    rows: pd.DataFrame


@cache
def plan_of(configuration: str) -> Plan:
    """Plan of a configuration under `workflow/configs`."""
    return Plan.of(read_file(CONFIGURATIONS / f"{configuration}.yaml"))


@cache
def planned_sources() -> tuple[Source, ...]:
    """Studies with the paper's settings."""
    sources = []
    for configuration in FULL_SIZE:
        sources += _studies(configuration)
    return tuple(sources)


@cache
def committed_sources() -> tuple[Committed, ...]:
    """Studies with rows, of the configurations whose name a folder of rows has."""
    committed = []
    for path in sorted(CONFIGURATIONS.glob("*.yaml")):
        for source in _studies(path.stem):
            if (REFERENCE / f"{source.rows_name}.csv").exists():
                committed.append(Committed(source, reference_study(source.rows_name)))
    return tuple(committed)


def _studies(configuration: str) -> list[Source]:
    plan = plan_of(configuration)
    return [Source(configuration, plan, study) for study in plan.studies.values()]
