"""The declaration of a method: what the benchmark knows of it before it is imported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from npt.errors import UserError
from npt.interface import Learner, Resources, TrainedModel
from npt.probing import Probe
from npt.provenance import installed_version
from npt.table import Image, Split, Table, Task

Dependence = Literal["certain", "none", "unknown"]


def all_folds(settings: Mapping[str, Any]) -> int | None:
    """`folds_per_job` of a method whose fits are short."""
    return None


def one_fold(settings: Mapping[str, Any]) -> int | None:
    """`folds_per_job` of a method whose fits are long, or that saves weights."""
    return 1


def supports_every_task(task: Task) -> str | None:
    """`supports` of a method without limits."""
    return None


LoadModel = Callable[[Any, Resources, Path, Table, Split, int], TrainedModel]
CountOperations = Callable[[Any, int, int, Image | None], int]
RefitModel = Callable[[Any, Mapping[str, Any], Resources, Table, Split, int], TrainedModel]


@dataclass(frozen=True)
class Method:
    """Declaration of a method.

    Attributes:
        name: Identifier; that of its module.
        title: Name in tables and figures.
        settings: Class of its settings, whose defaults are the paper's.
        build: Returns a learner from an instance of `settings`.
        supports: Returns the reason for refusing a task, or None.
        draw: Returns random changes of settings for a tuning trial, by seed. A method without
            it tunes itself during `fit`, within the `budget` of its settings.
        folds_per_job: Returns the largest number of folds that share a process, by the
            resolved settings; None for no limit.
        saves_weights: Whether its learner is `Savable`.
        accelerated: Whether it computes on a GPU where the profile has one.
        searches: Whether it reports trials.
        version: Raised by hand when its predictions change, so that its runs are made anew.
        libraries: Distributions whose versions its rows record.
        test_settings: Changes of settings that make it small enough for tests.
        twins: Blind twins by name: changes of settings that train the same model without one
            source of information. They show whether a model benefits from what it depends on.
        load: Returns the trained model from saved weights.
        update_flop: Returns the operations of a training step, by an instance of `settings`, rows
            and columns of the table, and the layout of its images; for the exact NPT.
        refit: Returns that model by training with the hyper-parameters that a search chose
            (`chosen` of its row); for methods without weights.
        probe: Returns the probe of a trained model.
        reads_rows: Whether this is a `RowProbe`: the model predicts a row from others.
        dependence: What is known before any probe of whether predictions depend on other rows:
            `certain` for a method that predicts from them alone, `none` for one that predicts
            each row by itself. These are the controls of studies.
        realisations: Whether it learns from many tables, and takes datasets of them alone.
        extra: Extra of this project's installation that brings its `libraries`; empty if they are
            installed for all.
    """

    name: str
    title: str
    settings: type
    build: Callable[[Any, Resources], Learner]
    supports: Callable[[Task], str | None] = supports_every_task
    draw: Callable[[Any, str], dict[str, Any]] | None = None
    folds_per_job: Callable[[Mapping[str, Any]], int | None] = all_folds
    saves_weights: bool = False
    accelerated: bool = False
    searches: bool = False
    version: int = 1
    libraries: tuple[str, ...] = ()
    test_settings: Mapping[str, Any] = field(default_factory=dict)
    twins: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    load: LoadModel | None = None
    update_flop: CountOperations | None = None
    refit: RefitModel | None = None
    probe: Callable[[Any], Probe] = Probe
    reads_rows: bool = False
    dependence: Dependence = "unknown"
    realisations: bool = False
    extra: str = ""

    def __post_init__(self) -> None:
        assert not self.saves_weights or self.folds_per_job is one_fold, (
            "a file of weights holds those of one fold"
        )

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
