"""The one reader of config.yaml: typed, frozen; an unknown key or name is refused with the nearest valid one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, cast, get_args

from baselines import methods
from baselines.declaration import BaselineSettings
from npt.datasets import datasets as declared_datasets
from npt.datasets.declaration import Dataset, SplitRule
from npt.datasets.own import OwnTable
from npt.interface import TASKS, Method, Resources, Task, UserError, unknown
from npt.metrics import METRICS, PAPER_METRICS
from npt.probes.options import LookupOptions, NoOptions
from workflow.checks import changes_by_method, list_of_names, mapping, require_identifier, require_keys, require_known, typed
from workflow.choices import Choices, Ranking
from workflow.own_tables import own_tables
from workflow.studies import KINDS, Kind, StudyKind

Settings = Mapping[str, Any]
Datasets = Mapping[str, Dataset | OwnTable]
MOST_FOLDS = 9999
MOST_TRIALS = 10_000
TUNED = "tuned"  # the variant that stands for the best configuration of each fold
NAME = re.compile(r"[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)*")


@dataclass(frozen=True)
class Study:
    """A selection of runs. `variants` are named changes of settings, by method; `base` has none and is in unless left out.

    `rows` caps the probed test rows of a fold, drawn by seed; None takes all. `options` are those of the kind. In a `tuned`
    study the base of a method is the best of its configurations on each fold, by validation loss. `also` are results folders
    of other machines whose run files are taken as they are.
    """

    name: str
    kind: Kind
    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    seeds: Mapping[str, tuple[int, ...]]
    variants: Mapping[str, Mapping[str, Settings]]
    base: bool = True
    rows: int | None = None
    tuned: bool = False
    options: Any = field(default_factory=NoOptions)
    also: tuple[str, ...] = ()


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
    choices: Choices
    configurations: Mapping[str, Mapping[str, Mapping[str, Settings]]]
    budget: Mapping[str, int]
    datasets: Datasets

    def resolve(self, dataset: str, method: str, changes: Settings, where: str = "") -> Any:
        """Settings of a run: the method's defaults, then `settings`, `overrides` and the changes, which stand at `where`."""
        own = self.overrides.get(dataset, {}).get(method, {})
        where = where if where and changes else f"overrides.{dataset}.{method}" if own else f"settings.{method}"
        budget = {"budget": self.budget[method]} if method in self.budget and not methods()[method].draw else {}
        return typed_settings(method, {**budget, **self.settings.get(method, {}), **own, **changes}, where)

    def trials(self, dataset: str, method: str) -> dict[str, Settings]:
        """What tuning chooses from: the base, the named configurations, and drawn ones up to the budget."""
        found: dict[str, Settings] = {"base": {}, **self.configurations.get(dataset, {}).get(method, {})}
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
        "preset", "seeds", "tables", "datasets", "methods", "settings", "overrides", "configurations", "budget", "metrics",
        "ranking", "studies",
    )  # fmt: skip
    require_keys(raw, keys, "config")
    for key in ("seeds", "datasets", "methods", "studies"):
        if not raw.get(key) and raw.get(key) != 0:
            raise UserError(f"config: {key} is missing or empty")
    datasets: Datasets = {**declared_datasets(), **own_tables(mapping(raw.get("tables"), "tables"))}
    settings = changes_by_method(raw.get("settings"), methods(), "settings")
    overrides = mapping(raw.get("overrides"), "overrides")
    require_known(overrides, datasets, "overrides")
    overrides = {name: changes_by_method(given, methods(), f"overrides.{name}") for name, given in overrides.items()}
    for where, by_method in {"settings": settings, **{f"overrides.{name}": given for name, given in overrides.items()}}.items():
        for method, changes in by_method.items():
            _known_settings(method, changes, f"{where}.{method}")
    studies = mapping(raw["studies"], "studies")
    found = Config(
        preset=str(raw.get("preset", "custom")),
        studies=tuple(_study(str(name), mapping(study, f"studies.{name}"), raw, datasets) for name, study in studies.items()),
        settings=settings,
        overrides=overrides,
        choices=Choices(_metrics(mapping(raw.get("metrics"), "metrics")), _ranking(raw.get("ranking", "shared"))),
        configurations=_configurations(mapping(raw.get("configurations"), "configurations"), datasets),
        budget=_budget(raw.get("budget"), _every_method(raw, studies)),
        datasets=datasets,
    )
    _check_tuning(found)
    return found


def read_file(path: Path) -> Config:
    """Check the configuration in a YAML file.

    Raises:
        UserError: the file is not YAML, or as of `read`.
    """
    import yaml

    try:
        raw = yaml.safe_load(path.read_text())
    except yaml.YAMLError as error:
        raise UserError(f"{path}: not YAML ({' '.join(str(error).split())})") from None
    return read(raw if isinstance(raw, dict) else {})


def typed_settings(method: str, changes: Settings, where: str) -> Any:
    """An instance of the method's settings class."""
    _known_settings(method, changes, where)
    settings = typed(methods()[method].settings, changes, where)
    if isinstance(settings, BaselineSettings):
        _check_grid(method, settings)
    return settings


def as_json(settings: Any) -> dict[str, Any]:
    """Settings as plain values."""
    return asdict(settings)


def parse_seeds(value: Any, where: str) -> tuple[int, ...] | None:
    """Seeds from `all` (None), a number, a range such as `0-2`, ranges joined by `_` or `,`, or a list of numbers."""
    if value == "all":
        return None
    parts = value if isinstance(value, list) else str(value).replace("_", ",").split(",")
    seeds: set[int] = set()
    for part in parts:
        first, _, last = str(part).strip().partition("-")
        if not first.isdecimal() or not (last or "0").isdecimal():
            raise UserError(f"{where}: {value!r} is not a seed; allowed: all, 3, 0-2 or [0, 1, 2]")
        if int(last or first) > MOST_FOLDS:
            raise UserError(f"{where}: {value!r} goes beyond {MOST_FOLDS}")
        seeds.update(range(int(first), int(last or first) + 1))
    if not seeds:
        raise UserError(f"{where}: {value!r} is empty")
    return tuple(sorted(seeds))


def _check_grid(method: str, settings: BaselineSettings) -> None:
    baseline = methods()[method].build(settings, Resources()).baseline  # type: ignore[attr-defined]
    for task in TASKS:
        next(baseline.configurations(settings, task, 1))


def _study(name: str, raw: Mapping[str, Any], config: Mapping[str, Any], datasets: Datasets) -> Study:
    where = f"studies.{name}"
    require_identifier(name, where, "study")
    require_keys(raw, ("kind", "datasets", "methods", "seeds", "variants", "base", "rows", "tuned", "options", "also"), where)
    kind = raw.get("kind", "benchmark")
    if not isinstance(kind, str) or kind not in KINDS:
        raise UserError(f"{where}.kind: {unknown(kind, KINDS)}")
    chosen = list_of_names(raw.get("datasets", config["datasets"]), datasets, f"{where}.datasets", "datasets" in raw)
    entries = list_of_names(raw.get("methods", config["methods"]), methods(), f"{where}.methods", "methods" in raw)
    rules = {name: datasets[name].split_rule for name in chosen}
    seeds = _seeds(raw.get("seeds", config["seeds"]), rules, f"{where}.seeds" if "seeds" in raw else "seeds")
    variants: dict[str, dict[str, Settings]] = {}
    for method, named in changes_by_method(raw.get("variants"), dict.fromkeys(entries), f"{where}.variants").items():
        variants[method] = _named_changes(method, named, f"{where}.variants.{method}")
    rows = raw.get("rows")
    if rows is not None and (not isinstance(rows, int) or rows < 1):
        raise UserError(f"{where}.rows: {rows!r} is not a positive number of rows")
    base, tuned = raw.get("base", True), raw.get("tuned", False)
    for key, value in (("base", base), ("tuned", tuned)):
        if not isinstance(value, bool):
            raise UserError(f"{where}.{key}: {value!r} is neither true nor false")
    if tuned and (KINDS[kind].probe or not base):
        raise UserError(f"{where}.tuned: true is for studies that show the base of a method, and not for probes")
    if not base and (bare := [method for method in entries if not variants.get(method)]):
        raise UserError(f"{where}.base: false leaves nothing of {bare[0]}, which has no variants")
    options = typed(KINDS[kind].options, _known_options(raw, kind, where), f"{where}.options")
    if isinstance(options, LookupOptions) and options.beside:
        list_of_names(options.beside, {m: None for m in methods() if m != "npt"}, f"{where}.options.beside", True)
    study = Study(name, cast(Kind, kind), chosen, entries, seeds, variants, base, rows, tuned, options, _also(raw, kind, where))
    _check_support(study, {name: datasets[name].expected_task for name in chosen}, where)
    if kind == "lookup" and (other := [name for name in chosen if datasets[name].expected_task != "regression"]):
        raise UserError(f"{where}.datasets: {other[0]} is no regression, which lookup is for")
    return study


def _also(raw: Mapping[str, Any], kind: str, where: str) -> tuple[str, ...]:
    value = raw.get("also", [])
    folders = value if isinstance(value, list) else [value]
    if not all(isinstance(folder, str) and folder for folder in folders):
        raise UserError(f"{where}.also: {value!r} is not a results folder or a list of them")
    if folders and KINDS[kind].probe:
        raise UserError(f"{where}.also: is for studies that show runs; one of kind {kind} asks trained models")
    return tuple(folders)


def _known_options(raw: Mapping[str, Any], kind: str, where: str) -> Settings:
    given = mapping(raw.get("options"), f"{where}.options")
    allowed = [one.name for one in fields(KINDS[kind].options)]
    if given and not allowed:
        raise UserError(f"{where}.options: a study of kind {kind} has none")
    require_keys(given, allowed, f"{where}.options")
    return given


def _named_changes(method: str, named: Settings, where: str) -> dict[str, Settings]:
    """Changes of a method's settings by the names of variants."""
    found: dict[str, Settings] = {}
    for variant, changes in named.items():
        if not isinstance(variant, str) or not NAME.fullmatch(variant) or variant in ("base", TUNED):
            raise UserError(f"{where}: {variant!r} cannot name a variant; use letters, digits, _ and .")
        found[variant] = mapping(changes, f"{where}.{variant}")
        _known_settings(method, found[variant], f"{where}.{variant}")
    return found


def _configurations(raw: Mapping[str, Any], datasets: Datasets) -> dict[str, dict[str, dict[str, Settings]]]:
    require_known(raw, datasets, "configurations")
    able = {name: method for name, method in methods().items() if method.draw}
    return {
        dataset: {
            method: _named_changes(method, named, f"configurations.{dataset}.{method}")
            for method, named in changes_by_method(given, able, f"configurations.{dataset}").items()
        }
        for dataset, given in raw.items()
    }


def _check_tuning(config: Config) -> None:
    """Configurations that no study chooses from are a mistake, and so is a budget that does not hold those named."""
    tuned = {(d, m) for study in config.studies if study.tuned for d in study.datasets for m in study.methods}
    for method, number in config.budget.items():
        if methods()[method].draw and not any(method == m for _, m in tuned):
            raise UserError(f"budget: no study chooses among configurations of {method}; give one that runs it `tuned: true`")
        for dataset, given in config.configurations.items():
            if methods()[method].draw and number < 1 + len(given.get(method, {})):
                raise UserError(
                    f"budget: {number} is less than the base and the {len(given[method])} configurations of {dataset}.{method}"
                )
    for dataset, given in config.configurations.items():
        for method, named in given.items():
            if (dataset, method) not in tuned:
                raise UserError(f"configurations.{dataset}.{method}: no study chooses from them; give one `tuned: true`")
            if taken := [name for name in named if re.fullmatch(r"trial_\d+", name)]:
                raise UserError(f"configurations.{dataset}.{method}.{taken[0]}: this name is for drawn configurations")


def _every_method(raw: Mapping[str, Any], studies: Mapping[str, Any]) -> list[str]:
    """The methods that some study runs, in order."""
    named = [mapping(study, f"studies.{name}").get("methods", raw["methods"]) for name, study in studies.items()]
    return list(dict.fromkeys(m for names in named for m in list_of_names(names, methods(), "config.methods", False)))


def _budget(value: Any, chosen: list[str]) -> dict[str, int]:
    """One number for all methods, or a number by method."""
    given = {} if value is None else value if isinstance(value, Mapping) else dict.fromkeys(chosen, value)
    require_known(given, methods(), "budget")
    for method, number in given.items():
        if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= MOST_TRIALS:
            raise UserError(f"budget: {number!r} is not a number of configurations from 1 to {MOST_TRIALS} ({method})")
    return dict(given)


def _check_support(study: Study, tasks: Mapping[str, Task], where: str) -> None:
    """A method with no dataset to run on, or nothing for the probe to question, is a mistake; one that lacks some is not."""
    for method in study.methods:
        reasons = {dataset: methods()[method].supports(task) for dataset, task in tasks.items()}
        if all(reasons.values()):
            raise UserError(f"{where}.methods: {method} supports none of {', '.join(reasons)}: {next(iter(reasons.values()))}")
        asked = KINDS[study.kind]
        if asked.probe and not able_to_answer(methods()[method], asked):
            able = ", ".join(name for name, m in methods().items() if able_to_answer(m, asked))
            raise UserError(f"{where}.methods: {method} cannot be asked by {study.kind}; allowed: {able}")


def able_to_answer(method: Method, kind: StudyKind) -> bool:
    """Whether a kind of probe can be put to a method."""
    return method.saves_weights or (method.searches and not kind.needs_weights)


def _seeds(value: Any, rules: Mapping[str, SplitRule], where: str) -> dict[str, tuple[int, ...]]:
    wanted = parse_seeds(value, where)
    by_dataset = {}
    for name, rule in rules.items():
        folds = 1 if rule.fixed_test_rows or rule.by_time else rule.folds
        by_dataset[name] = tuple(range(min(rule.used, folds))) if wanted is None else wanted
        if by_dataset[name][-1] >= folds:
            raise UserError(
                f"{where}: {by_dataset[name][-1]} is outside the folds 0-{folds - 1} of {name}; `all` takes its own"
            )
    return by_dataset


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


def _known_settings(method: str, changes: Settings, where: str) -> None:
    require_keys(changes, [one.name for one in fields(methods()[method].settings)], where)


assert set(get_args(Kind)) == set(KINDS)
