"""The one reader of config.yaml: typed, frozen; an unknown key or name is refused with the nearest valid one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, get_args

from baselines import methods
from npt.data.datasets import datasets as declared_datasets
from npt.interface import UserError, unknown
from npt.metrics import METRICS, PAPER_METRICS
from npt.table import TASKS, Task
from workflow.config.custom_datasets import custom_datasets
from workflow.config.old_checks import (
    changes_by_method,
    list_of_names,
    mapping,
    require_keys,
    require_known,
)
from workflow.config.old_settings import Settings, require_settings, typed_settings
from workflow.config.old_study import Datasets, Study, named_changes, parse_study
from workflow.config.scoring import Ranking, Scoring

MOST_TRIALS = 10_000


@dataclass(frozen=True)
class Config:
    """All that a run of the workflow depends on, apart from where it runs.

    `datasets` are those declared and the user's own `tables`, by name. `settings` are changes to every method's defaults, by
    method; `overrides` further ones, by dataset and method. `configurations` are named changes that tuning chooses from, by
    dataset and method, and `budget` is the number of configurations to try in all, by method: those named and as many drawn
    ones as are wanting.
    """

    preset: str
    studies: tuple[Study, ...]
    settings: Mapping[str, Settings]
    overrides: Mapping[str, Mapping[str, Settings]]
    scoring: Scoring
    configurations: Mapping[str, Mapping[str, Mapping[str, Settings]]]
    budget: Mapping[str, int]
    datasets: Datasets

    def resolve(self, dataset: str, method: str, changes: Settings, where: str = "") -> Any:
        """Settings of a run: the method's defaults, then `settings`, `overrides` and the changes, which stand at `where`."""
        own = self.overrides.get(dataset, {}).get(method, {})
        where = (
            where
            if where and changes
            else f"overrides.{dataset}.{method}"
            if own
            else f"settings.{method}"
        )
        budget = (
            {"budget": self.budget[method]}
            if method in self.budget and not methods()[method].draw
            else {}
        )
        return typed_settings(
            method, {**budget, **self.settings.get(method, {}), **own, **changes}, where
        )

    def trials(self, dataset: str, method: str) -> dict[str, Settings]:
        """What tuning chooses from: the base, the named configurations, and drawn ones up to the budget."""
        found: dict[str, Settings] = {
            "base": {},
            **self.configurations.get(dataset, {}).get(method, {}),
        }
        draw, wanted = methods()[method].draw, self.budget.get(method, 0)
        if draw and wanted > len(found):
            base = self.resolve(dataset, method, {})
            for number in range(1, wanted - len(found) + 1):
                found[f"trial_{number:02d}"] = draw(base, f"{dataset} {method} {number}")
        return found


def read(raw: Mapping[str, Any]) -> Config:
    """Check a configuration as parsed from YAML.

    Raises:
        UserError: one line that names the key, what was found and what is allowed.
    """
    keys = (
        "preset", "folds", "tables", "datasets", "methods", "settings", "overrides", "configurations", "budget", "metrics",
        "ranking", "studies",
    )  # fmt: skip
    require_keys(raw, keys, "config")
    for key in ("folds", "datasets", "methods", "studies"):
        if not raw.get(key) and raw.get(key) != 0:
            raise UserError(f"config: {key} is missing or empty")
    datasets: Datasets = {
        **declared_datasets(),
        **custom_datasets(mapping(raw.get("tables"), "tables")),
    }
    settings = changes_by_method(raw.get("settings"), methods(), "settings")
    overrides = mapping(raw.get("overrides"), "overrides")
    require_known(overrides, datasets, "overrides")
    overrides = {
        name: changes_by_method(given, methods(), f"overrides.{name}")
        for name, given in overrides.items()
    }
    for where, by_method in {
        "settings": settings,
        **{f"overrides.{name}": given for name, given in overrides.items()},
    }.items():
        for method, changes in by_method.items():
            require_settings(method, changes, f"{where}.{method}")
    studies = mapping(raw["studies"], "studies")
    found = Config(
        preset=str(raw.get("preset", "custom")),
        studies=tuple(
            parse_study(str(name), mapping(study, f"studies.{name}"), raw, datasets)
            for name, study in studies.items()
        ),
        settings=settings,
        overrides=overrides,
        scoring=Scoring(
            _metrics(mapping(raw.get("metrics"), "metrics")), _ranking(raw.get("ranking", "shared"))
        ),
        configurations=_configurations(
            mapping(raw.get("configurations"), "configurations"), datasets
        ),
        budget=_budget(raw.get("budget"), _every_method(raw, studies)),
        datasets=datasets,
    )
    _check_tuning(found)
    return found


def read_file(path: Path) -> Config:
    """Check the configuration in a YAML file.

    Raises:
        UserError: as of `parse` and of `read`.
    """
    return read(parse(path))


def parse(path: Path) -> Mapping[str, Any]:
    """The content of a YAML file; empty if it is no mapping.

    Raises:
        UserError: the file is not YAML, or a key stands twice in it.
    """
    import yaml

    try:
        raw = yaml.load(path.read_text(encoding="utf-8"), _loader())
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: not YAML ({' '.join(str(error).split())})") from None
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
    return raw if isinstance(raw, dict) else {}


@cache
def _loader() -> Any:
    """YAML's safe loader, which also refuses a key that stands twice in one mapping; the later would win in silence."""
    import yaml

    class Loader(yaml.SafeLoader):
        def compose_mapping_node(self, anchor: Any) -> Any:
            node, seen = super().compose_mapping_node(anchor), set()
            for key, _ in node.value:
                if key.tag == "tag:yaml.org,2002:merge":
                    continue
                if (name := (key.tag, str(key.value))) in seen:
                    raise UserError(
                        f"line {key.start_mark.line + 1}: key {key.value!r} stands twice in its block"
                    )
                seen.add(name)
            return node

    return Loader


def _configurations(
    raw: Mapping[str, Any], datasets: Datasets
) -> dict[str, dict[str, dict[str, Settings]]]:
    require_known(raw, datasets, "configurations")
    able = {name: method for name, method in methods().items() if method.draw}
    return {
        dataset: {
            method: named_changes(method, named, f"configurations.{dataset}.{method}")
            for method, named in changes_by_method(given, able, f"configurations.{dataset}").items()
        }
        for dataset, given in raw.items()
    }


def _check_tuning(config: Config) -> None:
    """Configurations that no study chooses from are a mistake, and so is a budget that does not hold those named."""
    tuned = {
        (d, m)
        for study in config.studies
        if study.tuned
        for d in study.datasets
        for m in study.methods
    }
    for method, number in config.budget.items():
        if methods()[method].draw and not any(method == m for _, m in tuned):
            raise UserError(
                f"budget: no study chooses among configurations of {method}; give one that runs it `tuned: true`"
            )
        for dataset, given in config.configurations.items():
            if methods()[method].draw and number < 1 + len(given.get(method, {})):
                raise UserError(
                    f"budget: {number} is less than the base and the {len(given[method])} configurations of {dataset}.{method}"
                )
    for dataset, given in config.configurations.items():
        for method, named in given.items():
            if (dataset, method) not in tuned:
                raise UserError(
                    f"configurations.{dataset}.{method}: no study chooses from them; give one `tuned: true`"
                )
            if taken := [name for name in named if re.fullmatch(r"trial_\d+", name)]:
                raise UserError(
                    f"configurations.{dataset}.{method}.{taken[0]}: this name is for drawn configurations"
                )


def _every_method(raw: Mapping[str, Any], studies: Mapping[str, Any]) -> list[str]:
    """The methods that some study runs, in order."""
    named = [
        mapping(study, f"studies.{name}").get("methods", raw["methods"])
        for name, study in studies.items()
    ]
    return list(
        dict.fromkeys(
            m for names in named for m in list_of_names(names, methods(), "config.methods", False)
        )
    )


def _budget(value: Any, chosen: list[str]) -> dict[str, int]:
    """One number for all methods, or a number by method."""
    given = (
        {}
        if value is None
        else value
        if isinstance(value, Mapping)
        else dict.fromkeys(chosen, value)
    )
    require_known(given, methods(), "budget")
    for method, number in given.items():
        if (
            not isinstance(number, int)
            or isinstance(number, bool)
            or not 1 <= number <= MOST_TRIALS
        ):
            raise UserError(
                f"budget: {number!r} is not a number of configurations from 1 to {MOST_TRIALS} ({method})"
            )
    return dict(given)


def _metrics(raw: Mapping[str, Any]) -> dict[Task, str]:
    require_keys(raw, TASKS, "metrics")
    chosen: dict[Task, str] = {**PAPER_METRICS, **raw}  # type: ignore[typeddict-item]
    for task, metric in chosen.items():
        allowed = {name: None for name, m in METRICS.items() if task in m.tasks}
        if not isinstance(metric, str) or metric not in allowed:
            raise UserError(f"metrics.{task}: {unknown(metric, allowed)}")
    return chosen


def _ranking(value: Any) -> Ranking:
    if value not in get_args(Ranking):
        raise UserError(f"ranking: {unknown(value, get_args(Ranking))}")
    return value
