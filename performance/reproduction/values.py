"""Values of the paper's cells in committed rows, and what is smaller there than in the paper."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pandas as pd

from npt.provenance import ROOT
from performance.reproduction.cells import Cell, published_cells
from workflow.config.fields import BASE, TUNED
from workflow.config.reading import read_file
from workflow.planning.plan import Plan
from workflow.planning.planned_study import PlannedStudy
from workflow.report.published import in_standard_errors, paper_name, published
from workflow.report.statistics import MODEL, fold_means, standard_error
from workflow.report.summary import REFERENCE, reference_study
from workflow.studies.ablation.paper import paper_table
from workflow.studies.corruption import CorruptionOptions
from workflow.studies.corruption.changes import change
from workflow.studies.corruption.selection import EVERYTHING
from workflow.studies.corruption.tables import with_changes

CONFIGURATIONS = ROOT / "workflow" / "configs"
FULL_SIZE = ("paper", "ablations", "lookup", "images")  # with the paper's settings
REGENERATED, REDUCED, PLANNED, IMPOSSIBLE, UNPLANNED = "●◐○✕△"
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
SIZE_SETTINGS = {"updates", "evaluate_every", "budget"}
NEIGHBOURS = ("nearest_rmse", "neighbours_rmse")
SETTINGS_OF_NEIGHBOURS = {"lookup", "transductive"}


@dataclass(frozen=True)
class Model:
    """A method's variant on a dataset, as a study plans it.

    Attributes:
        settings: Of its training; of the best of several configurations, those of the first.
        configurations: Variants of which it is the best, or itself.
    """

    dataset: str
    method: str
    variant: str
    settings: dict[str, Any]
    folds: set[int] = field(default_factory=set)
    configurations: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Source:
    """A study of a configuration.

    Attributes:
        title: File of the configuration and study, as on the page.
        models: Variants by dataset and method.
        rows: Committed rows by dataset, method and variant.
    """

    title: str
    study: PlannedStudy
    models: dict[tuple[str, str], dict[str, Model]]
    rows: dict[Any, pd.DataFrame] = field(default_factory=dict)


@dataclass(frozen=True)
class Value:
    """A value of a cell from committed rows, in the units of the paper.

    Attributes:
        source: Title of the study.
        error: Standard error over the folds; NaN for one fold.
        reductions: What is smaller than in the paper; empty at full size.
        difference: From the paper in standard errors; NaN where it is not defined.
    """

    source: str
    model: Model
    mean: float
    error: float
    folds: int
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
        reason: Why it is not possible; else empty.
    """

    cell: Cell
    state: str
    planned: str = ""
    values: tuple[Value, ...] = ()
    reason: str = ""


@cache
def reproduced_cells() -> tuple[Reproduced, ...]:
    """All cells of the paper's tables."""
    planned = [source for name in FULL_SIZE for source in studies(name)]
    committed = []
    for path in sorted(CONFIGURATIONS.glob("*.yaml")):
        if (REFERENCE / path.stem).exists():
            committed += studies(path.stem)
    return tuple(reproduced(cell, planned, committed) for cell in published_cells())


@cache
def studies(configuration: str) -> tuple[Source, ...]:
    """Studies of a configuration under `workflow/configs`, with their committed rows."""
    plan = Plan.of(read_file(CONFIGURATIONS / f"{configuration}.yaml"))
    sources = []
    for name, study in plan.studies.items():
        settings = {run.key: run.settings for run in plan.runs_of(study)}
        models: dict[tuple[str, str], dict[str, Model]] = {}
        for row in study.expected:
            variants = models.setdefault((row.dataset, row.method), {})
            for variant in (row.variant, TUNED) if row.trial_of else (row.variant,):
                model = Model(row.dataset, row.method, variant, settings[row.key])
                model = variants.setdefault(variant, model)
                model.folds.add(row.fold)
                model.configurations.add(row.variant)
        rows = {}
        if (REFERENCE / configuration / f"{name}.csv").exists():
            rows = rows_by_model(study.kind, reference_study(f"{configuration}/{name}"))
        sources.append(Source(f"{configuration}.yaml: {name}", study, models, rows))
    return tuple(sources)


def rows_by_model(kind: str, rows: pd.DataFrame) -> dict[Any, pd.DataFrame]:
    """Rows of a study over folds, with the changes of Table 2 or the ranks of Table 13."""
    rows = fold_means(rows)
    if kind == "corruption":
        rows = with_changes(rows)
        changes = change(rows["clean"], rows["corrupted"], rows["task"] == "regression")
        rows = rows.assign(change=changes)
    if kind == "ablation":
        losses = rows.groupby(["dataset", "method", "fold"])["validation_loss"]
        rows = rows.assign(validation_rank=losses.rank() - 1)
    return dict(list(rows.groupby(MODEL, sort=False)))


def reproduced(cell: Cell, planned: Iterable[Source], committed: Iterable[Source]) -> Reproduced:
    """State and values of a cell, given the studies at full size and those with rows."""
    reason = REASONS.get((cell.table, cell.dataset), "")
    if reason:
        return Reproduced(cell, IMPOSSIBLE, reason=reason)
    for source in planned:
        parts = [models_of(part, source) for part in cell.parts or (cell,)]
        if all(parts) and source.study.kind == (cell.kind or "benchmark"):
            values = values_of(cell, parts[0][0], committed)
            state = values[0].state if values else PLANNED
            return Reproduced(cell, state, source.title, tuple(values))
    return Reproduced(cell, UNPLANNED)


def models_of(cell: Cell, source: Source) -> list[Model]:
    """Models of a study that have the cell's value, on the paper's folds or on others."""
    models = []
    for (dataset, method), variants in source.models.items():
        if (paper_name(dataset), method) == (cell.dataset, cell.method):
            names = variants_of(cell, source.study, variants)
            models += [variants[name] for name in names if name in variants]
    return [model for model in models if len(model.folds) >= cell.folds]


def variants_of(cell: Cell, study: PlannedStudy, variants: dict[str, Model]) -> list[str]:
    """Variants that have the cell's value, of those of its method on a dataset of a study."""
    is_base = cell.variant in BASE_STANDS_FOR and cell.variant not in variants
    names = [BASE if is_base else cell.variant]
    if cell.kind == "benchmark":
        return names
    if cell.kind != study.kind:
        return []
    if cell.table == 2:
        options = CorruptionOptions.model_validate(study.options)
        return list(variants) if EVERYTHING in options.selections else []
    if cell.table == 3:
        compared = [f"{method}_rmse" for method in study.options["compare_with"]]
        names = [name for name in variants if variants[name].settings["lookup"] == cell.variant]
        return names if cell.measure in ("rmse", *NEIGHBOURS, *compared) else []
    if cell.table == 13:
        table = published()["table_13_configuration_rank"]["cells"][cell.dataset]
        return names if variants.keys() == table.keys() else []
    table = paper_table(cell.dataset, set(variants))
    return names if table == f"table_{cell.table}_ablation" else []


def values_of(cell: Cell, paper: Model, committed: Iterable[Source]) -> list[Value]:
    """Values in committed rows of a cell that a model at full size has, whole ones first."""
    values = []
    for source in committed:
        for model in models_of(cell, source):
            rows = source.rows.get((model.dataset, model.method, model.variant), pd.DataFrame())
            if rows.empty or (rows["status"] != "ok").any() or cell.measure not in rows:
                continue
            reductions = reductions_of(cell, model, paper, rows)
            measured = rows[cell.measure] / cell.scale
            if reductions is None or measured.isna().any():
                continue
            mean = measured.mean()
            error = standard_error(measured)
            difference = in_standard_errors(mean, error, cell.value, cell.error)
            value = Value(source.title, model, mean, error, len(rows), reductions, difference)
            values.append(value)
    return sorted(values, key=lambda value: bool(value.reductions))


def reductions_of(cell: Cell, model: Model, paper: Model, rows: pd.DataFrame) -> list[str] | None:
    """What is smaller than in the paper; None if other settings differ: it is another value."""
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
            reductions.append(f"`{name}`: {value:,} instead of {paper.settings[name]:,}")
    amounts = [
        ("configurations", len(model.configurations), len(paper.configurations)),
        ("folds", len(rows), len(paper.folds)),
    ]
    if "grid" in rows and rows["grid"].notna().all():
        tried = (int(rows["configurations"].min()), int(rows["grid"].max()))
        amounts.insert(0, ("configurations", *tried))
    for noun, amount, whole in amounts:
        if amount < whole:
            reductions.append(f"{noun}: {amount:,} of {whole:,}")
    return reductions
