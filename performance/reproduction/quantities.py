"""The quantities of the paper's tables."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from npt.nn.settings import NPTSettings
from performance.reproduction.quantity import (
    BASE,
    NPT,
    Measured,
    Quantity,
    folds_by_key,
    is_same_table,
    rows_of,
    scores,
    whole_variant,
)
from workflow.config.fields import TUNED
from workflow.config.scoring import Scoring
from workflow.planning.paths import run_key
from workflow.planning.plan import Plan
from workflow.planning.planned_study import PlannedStudy
from workflow.report.published import published
from workflow.report.statistics import standard_error
from workflow.studies.ablation.paper import paper_table
from workflow.studies.ablation.tables import validation_ranks
from workflow.studies.corruption import CorruptionOptions
from workflow.studies.corruption.changes import increase
from workflow.studies.corruption.selection import EVERYTHING
from workflow.studies.corruption.tables import with_changes


@dataclass(frozen=True)
class Score(Quantity):
    """A test metric of a method (Tables 8 to 12)."""

    dataset: str
    method: str
    metric: str
    variant: str = BASE
    least_folds: int = 1

    def planned_key(self, plan: Plan, study: PlannedStudy) -> str | None:
        """The run in a study without a probe."""
        if study.probes:
            return None
        for name, folds in folds_by_key(study).items():
            dataset, method, variant = name.split("/")
            if (method, variant) != (self.method, self.variant):
                continue
            if is_same_table(dataset, self.dataset) and len(folds) >= self.least_folds:
                return name
        return None

    def measured(self, study: pd.DataFrame) -> list[Measured]:
        """The method, or its base where a best configuration was not searched."""
        if f"test_{self.metric}" not in study:
            return []
        rows = rows_of(study, self.dataset, self.method)
        variant = self.variant
        if variant == TUNED and variant not in set(rows["variant"]):
            variant = BASE
        means = scores(rows[rows["variant"] == variant], self.metric)
        return [mean for mean in means if mean.folds >= self.least_folds]


@dataclass(frozen=True)
class Ablated(Quantity):
    """A test metric of a variant of NPT in an ablation (Tables 4 and 5)."""

    table: str
    dataset: str
    variant: str
    metric: str

    def planned_key(self, plan: Plan, study: PlannedStudy) -> str | None:
        """The variant in a study with the variants of the paper's table."""
        if study.kind != "ablation":
            return None
        runs = {run.key: run for run in plan.runs_of(study)}
        variants = {}
        for key, run in runs.items():
            if is_same_table(run.dataset, self.dataset):
                variants[run.variant] = key
        base = variants.get(BASE)
        if base and not runs[base].settings["feature_mask"]:
            variants.setdefault("no_feature_masking", base)
        if paper_table(self.dataset, set(variants)) != self.table:
            return None
        return variants.get(self.variant)

    def measured(self, study: pd.DataFrame) -> list[Measured]:
        """The variant in rows with the variants of the paper's table."""
        rows = rows_of(study, self.dataset, NPT)
        if paper_table(self.dataset, set(rows["variant"])) != self.table:
            return []
        return scores(rows[rows["variant"] == self.variant], self.metric)


@dataclass(frozen=True)
class MeanRank(Quantity):
    """A method's mean rank over datasets (Table 1)."""

    names: tuple[str, ...]
    method: str

    def planned_key(self, plan: Plan, study: PlannedStudy) -> str | None:
        """The method's run on the first dataset, in a study of all methods on all datasets."""
        planned = folds_by_key(study)
        methods = published()["table_1_average_rank"]["auroc"]["rank"]
        for name in self.names:
            for method in methods:
                if run_key(name, method, whole_variant(method)) not in planned:
                    return None
        return run_key(self.names[0], self.method, whole_variant(self.method))


@dataclass(frozen=True)
class ConfigurationRank(Quantity):
    """Mean rank of one of the eight configurations by validation loss (Table 13)."""

    dataset: str
    variant: str

    def planned_key(self, plan: Plan, study: PlannedStudy) -> str | None:
        """The configuration in an ablation of exactly the eight."""
        if study.kind != "ablation":
            return None
        variants = {}
        for run in plan.runs_of(study):
            if is_same_table(run.dataset, self.dataset):
                variants[run.variant] = run.key
        if set(variants) != configurations(self.dataset):
            return None
        return variants[self.variant]

    def measured(self, study: pd.DataFrame) -> list[Measured]:
        """The rank among exactly the eight."""
        rows = rows_of(study, self.dataset, NPT)
        if set(rows["variant"]) != configurations(self.dataset):
            return []
        tidy = validation_ranks(rows, Scoring({})).tidy
        (rank,) = tidy[tidy["variant"] == self.variant].to_dict("records")
        return [
            Measured(
                dataset=rank["dataset"],
                method=NPT,
                variant=self.variant,
                value=rank["mean_rank"],
                error=rank["standard_error"],
                folds=rank["folds"],
            )
        ]


@dataclass(frozen=True)
class Change(Quantity):
    """Change of NPT's test performance when all other rows are corrupted (Table 2)."""

    dataset: str
    free_settings = frozenset({"target_mask"})

    def planned_key(self, plan: Plan, study: PlannedStudy) -> str | None:
        """The run in a corruption study of all cells."""
        if study.kind != "corruption":
            return None
        options = CorruptionOptions.model_validate(study.options)
        if EVERYTHING not in options.selections:
            return None
        for run in plan.runs_of(study):
            if run.method == NPT and is_same_table(run.dataset, self.dataset):
                return run.key
        return None

    def measured(self, study: pd.DataFrame) -> list[Measured]:
        """The change of every NPT of a corruption study, with the paper's sign."""
        if "corrupted_nll" not in study and "corrupted_rmse" not in study:
            return []
        rows = with_changes(rows_of(study, self.dataset, NPT))
        is_regression = (rows["task"] == "regression").to_numpy()
        in_its_sign = increase(rows["change"].to_numpy(), is_regression)
        rows = rows.assign(change=in_its_sign)
        changes = []
        for (dataset, variant), part in rows.groupby(["dataset", "variant"], sort=False):
            if (part["status"] == "ok").all():
                change = Measured(
                    dataset=str(dataset),
                    method=NPT,
                    variant=str(variant),
                    value=part["change"].mean(),
                    error=standard_error(part["change"]),
                    folds=part["fold"].nunique(),
                )
                changes.append(change)
        return changes


@dataclass(frozen=True)
class LookedUp(Quantity):
    """Test RMSE of a method on a lookup task (Table 3)."""

    dataset: str
    task: str
    column: str
    compared: str = ""

    @property
    def irrelevant_settings(self) -> frozenset[str]:
        """Neighbours depend on the input, which few settings of NPT determine."""
        if self.column not in ("nearest_rmse", "neighbours_rmse"):
            return frozenset()
        return frozenset(NPTSettings.model_fields) - {"lookup", "transductive"}

    def planned_key(self, plan: Plan, study: PlannedStudy) -> str | None:
        """The NPT of the task, whose probe also computes the neighbours and compared baselines."""
        if study.kind != "lookup":
            return None
        if self.compared and self.compared not in study.options["compare_with"]:
            return None
        for run in plan.runs_of(study):
            if is_same_table(run.dataset, self.dataset) and run.settings["lookup"] == self.task:
                return run.key
        return None

    def measured(self, study: pd.DataFrame) -> list[Measured]:
        """The mean of the probe's column."""
        if "lookup" not in study or self.column not in study:
            return []
        rows = rows_of(study, self.dataset, NPT)
        rows = rows[rows["lookup"] == self.task]
        if rows.empty or not (rows["status"] == "ok").all() or rows[self.column].isna().any():
            return []
        return [
            Measured(
                dataset=rows["dataset"].iloc[0],
                method=NPT,
                variant=rows["variant"].iloc[0],
                value=rows[self.column].mean(),
                error=standard_error(rows[self.column]),
                folds=rows["fold"].nunique(),
            )
        ]


def configurations(dataset: str) -> set[str]:
    """The eight configurations of the paper's Table 13."""
    return set(published()["table_13_configuration_rank"]["cells"][dataset])
