"""The declaration of a method: what the benchmark knows of it before it is imported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from npt.errors import UserError
from npt.interface import Learner, Resources, TrainedModel
from npt.provenance import installed_version
from npt.table import Split, Table, Task

LoadModel = Callable[[Any, Resources, Path, Table, Split, int], TrainedModel]
RefitModel = Callable[[Any, Mapping[str, Any], Resources, Table, Split, int], TrainedModel]
ROW_ALONE = "npt.probing:Probe"  # probe of a model that predicts each row by itself


@dataclass(frozen=True)
class Method:
    """Declaration of a method.

    Attributes:
        name: Identifier; that of its module.
        title: Name in tables and figures.
        settings: Class of its settings; of the paper's methods, the defaults are the paper's.
        build: Returns a learner from an instance of `settings`.
        supports: Returns the reason for refusing a task, or None.
        draw: Returns random changes of settings for a tuning trial, by seed. Baselines, without it,
            tune themselves during `fit`, within the `budget` of their settings; processes are not
            tuned.
        slow: Of a method with a `grid`: whether each fold is a job, unless the grid is quick.
        accelerated: Whether it computes on a GPU where the profile has one.
        version: Raised by hand when its predictions change, so that its runs are made anew.
        libraries: Distributions whose versions its rows record.
        test_settings: Changes of settings that make it small enough for tests.
        twins: Blind twins by name: changes of settings that train the same model without one
            source of information. They show whether a model benefits from what it depends on.
        load: Returns the trained model from weights, which its learner has saved by `save(path)`.
        update_flop: Module and name of what returns the operations of a training step, by an
            instance of `settings`, rows and columns of the table, and the layout of its images;
            empty but for the exact NPT.
        refit: Returns the trained model by training with the hyper-parameters that a search chose
            (`chosen` of its row); for methods without weights.
        probe: Module and name of the probe of a trained model.
        realisations: Whether it learns from many tables, and takes datasets of them alone.
        extra: Extra of this project's installation that brings its `libraries`; empty if they are
            installed for all.
    """

    name: str
    title: str
    settings: type
    build: Callable[[Any, Resources], Learner]
    supports: Callable[[Task], str | None] = lambda task: None
    draw: Callable[[Any, str], dict[str, Any]] | None = None
    slow: bool = False
    accelerated: bool = False
    version: int = 1
    libraries: tuple[str, ...] = ()
    test_settings: Mapping[str, Any] = field(default_factory=dict)
    twins: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    load: LoadModel | None = None
    update_flop: str = ""
    refit: RefitModel | None = None
    probe: str = ROW_ALONE
    realisations: bool = False
    extra: str = ""

    @property
    def saves_weights(self) -> bool:
        """Whether trained models are loaded; others are refitted."""
        return self.load is not None

    @property
    def searches(self) -> bool:
        """Whether it tunes itself, and reports trials."""
        return self.refit is not None

    @property
    def reads_rows(self) -> bool:
        """Whether a row is predicted from others: its probe is a `RowProbe`."""
        return self.probe != ROW_ALONE

    def folds_per_job(self, settings: Mapping[str, Any]) -> int | None:
        """Largest number of folds that share a process, by its settings; None for no limit."""
        is_long = self.slow and settings["grid"] != "quick"
        return 1 if self.saves_weights or is_long else None  # a file has one fold's weights

    def refusal(self, task: Task, *, realisations: bool) -> str | None:
        """The reason for refusing a dataset, or None.

        Args:
            realisations: Whether the dataset is of many tables.
        """
        if self.realisations and not realisations:
            return "learns from many tables, and this is one"
        if realisations and not self.realisations:
            return "learns from one table, and these are many"
        return self.supports(task)

    def require_libraries(self) -> None:
        """Check that the libraries of the method's extra are installed.

        Raises:
            UserError: Names the first that is missing, and how to install it.
        """
        if not self.extra:
            return
        for library in self.libraries:
            if installed_version(library) is None:
                raise UserError(
                    f"{self.name}: needs the package {library}, which is not installed; "
                    f"pip install -c constraints.txt -e '.[{self.extra}]'"
                )
