"""Prepared datasets of a plan."""

from __future__ import annotations

from pathlib import Path

from npt.data import store
from npt.interface import UserError
from npt.table import Task
from workflow.planning import paths
from workflow.planning.plan import Plan
from workflow.results.missing import why_unprepared


class PreparedDatasets:
    """Prepared datasets of a plan.

    Attributes:
        available: By name.
        problems: Reasons why others are missing or damaged, by name.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self.available: dict[str, store.Prepared] = {}
        self.problems: dict[str, str] = {}
        for name in plan.datasets:
            try:
                self.available[name] = store.load(Path(paths.prepared(name)), check=False)
            except FileNotFoundError:
                self.problems[name] = why_unprepared(name)
            except (UserError, OSError) as error:
                self.problems[name] = str(error)

    def get(self, name: str) -> store.Prepared:
        """A prepared dataset.

        Raises:
            UserError: it is missing or damaged.
        """
        if name in self.problems:
            raise UserError(self.problems[name])
        return self.available[name]

    def task(self, name: str) -> Task:
        """Task of a dataset, the declared one if it is not prepared."""
        if name in self.available:
            return self.available[name].table.task
        return self._plan.dataset(name).expected_task
