"""Values of the paper's cells in committed rows, and what is smaller there than in the paper."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import pandas as pd

from workflow.config.fields import BASE, TUNED
from workflow.config.models import Study
from workflow.config.reading import read_file
from workflow.planning.plan import Plan
from workflow.presentation.published import in_standard_errors, paper_name, published
from workflow.presentation.statistics import MODEL, fold_means, standard_error
from workflow.presentation.titles import CONFIGS
from workflow.report.summary import REFERENCE, stored_study
from workflow.reproduction.cells import Cell, published_cells
from workflow.studies.ablation.view import paper_table
from workflow.studies.corruption.view import with_changes

FULL_SIZE = ("paper", "ablations", "lookup", "images")  # with the paper's settings
STATES = {
    "●": "regenerated",
    "◐": "regenerated, reduced",
    "○": "planned",
    "✕": "not possible",
    "△": "not planned",
}
REGENERATED, REDUCED, PLANNED, IMPOSSIBLE, UNPLANNED = STATES
COSTS = (
    "These are time and memory on the authors' machines. "
    "`paper.yaml: main` gives those of the machine it runs on, in the table `cost`."
)
REASONS = {
    (2, "cifar10"): "This NPT of the paper reads images through a convolutional encoder, whose "
    "code, optimiser and rate are not published. `images.yaml: corruption` plans the paper's NPT "
    "with linear patches, and `resnet_corruption` one with a ResNet-18, which permutes encodings "
    "instead of pixels.",
    (6, ""): COSTS,
    (7, ""): COSTS,
}
"""Why cells are not possible, by table and dataset."""
BASE_STANDS_FOR = (TUNED, "no_feature_masking")  # without a search, or without feature masking
SIZE_SETTINGS = {"updates", "evaluate_every", "budget", "precision"}
NEIGHBOURS = ("nearest_rmse", "neighbours_rmse")
SETTINGS_OF_NEIGHBOURS = {"lookup", "transductive"}


@dataclass(frozen=True)
class Model:
    """A method's variant on a dataset in a study.

    Attributes:
        source: File of the configuration and study, as on the page.
        settings: Of its run; a search has those of the base.
        variants: All of the method on the dataset in the study.
        folds: Number of planned folds.
        configurations: Number of configurations of which it is the best; else 1.
        rows: Committed rows over folds; empty if there are none.
    """

    source: str
    study: Study
    dataset: str
    method: str
    variant: str
    settings: dict[str, Any]
    variants: set[str]
    folds: int
    configurations: int
    rows: pd.DataFrame


@dataclass(frozen=True)
class Value:
    """A value of a cell from committed rows, in the units of the paper.

    Attributes:
        error: Standard error over the folds; NaN for one fold.
        reductions: What is smaller than in the paper; empty at full size.
        difference: From the paper in standard errors; NaN where it is not defined.
    """

    model: Model
    mean: float
    error: float
    reductions: list[str]
    difference: float

    @property
    def state(self) -> str:
        """Whether it is reduced."""
        return REDUCED if self.reductions else REGENERATED


@dataclass(frozen=True)
class Reproduced:
    """A cell with its state, which is that of its first value.

    Attributes:
        planned: Title of the first study with the paper's settings; empty if there is none.
        values: From committed rows, those at full size first.
    """

    cell: Cell
    state: str
    planned: str = ""
    values: Sequence[Value] = ()


@cache
def reproduced_cells() -> tuple[Reproduced, ...]:
    """All cells of the paper's tables."""
    smaller = []
    for path in sorted(CONFIGS.glob("*.yaml")):
        if (REFERENCE / path.stem).exists() and path.stem not in FULL_SIZE:
            smaller += models_of(path.stem)
    full_size = [model for name in FULL_SIZE for model in models_of(name)]
    return tuple(reproduced(cell, full_size, smaller) for cell in published_cells())


@cache
def models_of(configuration: str) -> tuple[Model, ...]:
    """Models of all studies of a configuration under `workflow/configs`."""
    config = read_file(CONFIGS / f"{configuration}.yaml")
    plan = Plan.from_config(config)
    folder = REFERENCE / configuration
    models = []
    for name, study in plan.studies.items():
        rows: dict[Any, pd.DataFrame] = {}
        if (folder / f"{name}.csv").exists():
            rows = rows_by_model(study.kind, stored_study(folder, name, config))
        runs = {(run.dataset, run.method, run.variant): run for run in plan.runs_of(study)}
        for key, run in runs.items():
            model = Model(
                f"{configuration}.yaml: {name}",
                study,
                *key,
                settings=run.settings,
                variants={variant for *model, variant in runs if model == [*key[:2]]},
                folds=len(study.folds[run.dataset]),
                configurations=len(run.trainings),
                rows=rows.get(key, pd.DataFrame()),
            )
            models.append(model)
    return tuple(models)


def rows_by_model(kind: str, rows: pd.DataFrame) -> dict[Any, pd.DataFrame]:
    """Rows of a study over folds, with the changes of Table 2 or the ranks of Table 13."""
    rows = fold_means(rows)
    if kind == "corruption":
        rows = with_changes(rows)
    if kind == "ablation":
        losses = rows.groupby(["dataset", "method", "fold"])["validation_loss"]
        rows = rows.assign(validation_rank=losses.rank() - 1)
    return dict(list(rows.groupby(MODEL, sort=False)))


def reproduced(cell: Cell, full_size: Iterable[Model], smaller: Iterable[Model]) -> Reproduced:
    """State and values of a cell, given models with the paper's settings and others."""
    if (cell.table, cell.dataset) in REASONS:
        return Reproduced(cell, IMPOSSIBLE)
    papers = []
    for part in cell.parts or (cell,):
        planned = (model for model in full_size if model.study.kind == part.kind)
        papers.append(next((model for model in planned if measures(model, part)), None))
    paper = papers[0]
    if paper is None or {model and model.source for model in papers} != {paper.source}:
        return Reproduced(cell, UNPLANNED)
    distinct: dict[tuple[str, float], Value] = {}
    for model in (*full_size, *smaller):
        value = value_of(cell, model, paper) if measures(model, cell) else None
        if value is not None:
            configuration, _, _ = model.source.partition(":")  # whose studies may share runs
            distinct.setdefault((configuration, value.mean), value)
    known = sorted(distinct.values(), key=lambda value: bool(value.reductions))
    state = known[0].state if known else PLANNED
    return Reproduced(cell, state, paper.source, known)


def measures(model: Model, cell: Cell) -> bool:
    """Whether a cell's value is one of a model, on the paper's folds or on others."""
    if model.method != cell.method or paper_name(model.dataset) != cell.dataset:
        return False
    is_base = cell.variant in BASE_STANDS_FOR and cell.variant not in model.variants
    is_variant = model.variant == (BASE if is_base else cell.variant)
    if cell.kind == "benchmark":
        return is_variant and model.folds >= cell.folds
    if cell.kind != model.study.kind:
        return False
    if cell.table == 2:
        return True
    if cell.table == 3:
        compared = [f"{method}_rmse" for method in model.study.options["compare_with"]]
        is_measured = cell.measure in ("rmse", *NEIGHBOURS, *compared)
        return is_measured and model.settings["lookup"] == cell.variant
    if cell.table == 13:
        table = published()["table_13_configuration_rank"]["cells"][cell.dataset]
        return is_variant and model.variants == set(table)
    table = paper_table(cell.dataset, model.variants)
    return is_variant and table == f"table_{cell.table}_ablation"


def value_of(cell: Cell, model: Model, paper: Model) -> Value | None:
    """A model's value of a cell; None if it failed, or differs from the paper's in more than size.

    Args:
        paper: The model at full size.
    """
    reductions = reductions_of(cell, model, paper)
    if reductions is None or cell.measure not in model.rows:
        return None
    measured = model.rows[cell.measure] / cell.scale
    if measured.isna().any():
        return None
    mean = measured.mean()
    error = standard_error(measured)
    difference = in_standard_errors(mean, error, cell.value, cell.error)
    return Value(model, mean, error, reductions, difference)


def shown(value: Any) -> str:
    """A setting in words, or with a comma after its thousands."""
    return value if isinstance(value, str) else f"{value:,}"


def reductions_of(cell: Cell, model: Model, paper: Model) -> list[str] | None:
    """What is smaller than in the paper; None if other settings differ."""
    settings = model.settings.items()
    different = {name for name, value in settings if value != paper.settings[name]}
    if cell.measure in NEIGHBOURS:
        different &= SETTINGS_OF_NEIGHBOURS
    unprinted = {"target_mask"} if cell.table == 2 else set()
    if different - SIZE_SETTINGS - unprinted:
        return None
    reductions = []
    for name, value in settings:
        if name in different and name != "budget":  # the configurations tell its effect
            change = f"{shown(value)} instead of {shown(paper.settings[name])}"
            reductions.append(f"`{name}`: {change}")
    rows = model.rows
    amounts = [("configurations", model.configurations, paper.configurations)]
    if "grid" in rows and rows["grid"].notna().all():
        amounts = [("configurations", int(rows["configurations"].min()), int(rows["grid"].max()))]
    amounts.append(("folds", len(rows), paper.folds))
    for noun, amount, whole in amounts:
        if amount < whole:
            reductions.append(f"{noun}: {amount:,} of {whole:,}")
    return reductions
