"""A study of a configuration: what it selects, read and checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, cast, get_args

from baselines import methods
from npt.data.custom import CustomDataset
from npt.data.declaration import Dataset, SplitRule
from npt.interface import Method, UserError, unknown
from npt.table import Task
from workflow.config.folds import parse_folds
from workflow.config.old_checks import (
    changes_by_method,
    list_of_names,
    mapping,
    require_identifier,
    require_keys,
    typed,
)
from workflow.config.old_settings import Settings, require_settings
from workflow.studies.kinds import KINDS, Kind, StudyKind
from workflow.studies.options import LookupOptions, NoOptions

Datasets = Mapping[str, Dataset | CustomDataset]
TUNED = "tuned"  # the variant that stands for the best configuration of each fold
NAME = re.compile(r"[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)*")


@dataclass(frozen=True)
class Study:
    """A selection of runs. `variants` are named changes of settings, by method; `base` has none and is in unless left out.

    `rows` caps the probed test rows of a fold, drawn by fold; None takes all. `options` are those of the kind. In a `tuned`
    study the base of a method is the best of its configurations on each fold, by validation loss. `also` are results folders
    of other machines whose run files are taken as they are.
    """

    name: str
    kind: Kind
    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    folds: Mapping[str, tuple[int, ...]]
    variants: Mapping[str, Mapping[str, Settings]]
    base: bool = True
    rows: int | None = None
    tuned: bool = False
    options: Any = field(default_factory=NoOptions)
    also: tuple[str, ...] = ()


def parse_study(
    name: str, raw: Mapping[str, Any], config: Mapping[str, Any], datasets: Datasets
) -> Study:
    """The study of a name from its block, with datasets, methods and folds of the whole configuration where it names none.

    Raises:
        UserError: one line that names the key, what was found and what is allowed.
    """
    where = f"studies.{name}"
    require_identifier(name, where, "study")
    require_keys(
        raw,
        (
            "kind",
            "datasets",
            "methods",
            "folds",
            "variants",
            "base",
            "rows",
            "tuned",
            "options",
            "also",
        ),
        where,
    )
    kind = raw.get("kind", "benchmark")
    if not isinstance(kind, str) or kind not in KINDS:
        raise UserError(f"{where}.kind: {unknown(kind, KINDS)}")
    chosen = list_of_names(
        raw.get("datasets", config["datasets"]), datasets, f"{where}.datasets", "datasets" in raw
    )
    entries = list_of_names(
        raw.get("methods", config["methods"]), methods(), f"{where}.methods", "methods" in raw
    )
    rules = {name: datasets[name].split_rule for name in chosen}
    folds = _folds(
        raw.get("folds", config["folds"]), rules, f"{where}.folds" if "folds" in raw else "folds"
    )
    variants: dict[str, dict[str, Settings]] = {}
    for method, named in changes_by_method(
        raw.get("variants"), dict.fromkeys(entries), f"{where}.variants"
    ).items():
        variants[method] = named_changes(method, named, f"{where}.variants.{method}")
    rows = raw.get("rows")
    if rows is not None and (not isinstance(rows, int) or rows < 1):
        raise UserError(f"{where}.rows: {rows!r} is not a positive number of rows")
    base, tuned = raw.get("base", True), raw.get("tuned", False)
    for key, value in (("base", base), ("tuned", tuned)):
        if not isinstance(value, bool):
            raise UserError(f"{where}.{key}: {value!r} is neither true nor false")
    if tuned and (KINDS[kind].probe or not base):
        raise UserError(
            f"{where}.tuned: true is for studies that show the base of a method, and not for probes"
        )
    if not base and (bare := [method for method in entries if not variants.get(method)]):
        raise UserError(f"{where}.base: false leaves nothing of {bare[0]}, which has no variants")
    options = typed(KINDS[kind].options, _known_options(raw, kind, where), f"{where}.options")
    if isinstance(options, LookupOptions) and options.compare_with:
        list_of_names(
            options.compare_with,
            {m: None for m in methods() if m != "npt"},
            f"{where}.options.compare_with",
            True,
        )
    study = Study(
        name,
        cast(Kind, kind),
        chosen,
        entries,
        folds,
        variants,
        base,
        rows,
        tuned,
        options,
        _also(raw, kind, where),
    )
    _check_support(study, {name: datasets[name].expected_task for name in chosen}, where)
    if kind == "lookup" and (
        other := [name for name in chosen if datasets[name].expected_task != "regression"]
    ):
        raise UserError(f"{where}.datasets: {other[0]} is no regression, which lookup is for")
    return study


def _also(raw: Mapping[str, Any], kind: str, where: str) -> tuple[str, ...]:
    value = raw.get("also", [])
    folders = value if isinstance(value, list) else [value]
    if not all(isinstance(folder, str) and folder for folder in folders):
        raise UserError(f"{where}.also: {value!r} is not a results folder or a list of them")
    if folders and KINDS[kind].probe:
        raise UserError(
            f"{where}.also: is for studies that show runs; one of kind {kind} asks trained models"
        )
    return tuple(folders)


def _known_options(raw: Mapping[str, Any], kind: str, where: str) -> Settings:
    given = mapping(raw.get("options"), f"{where}.options")
    allowed = [one.name for one in fields(KINDS[kind].options)]
    if given and not allowed:
        raise UserError(f"{where}.options: a study of kind {kind} has none")
    require_keys(given, allowed, f"{where}.options")
    return given


def named_changes(method: str, named: Settings, where: str) -> dict[str, Settings]:
    """Changes of a method's settings by the names of variants, checked."""
    found: dict[str, Settings] = {}
    for variant, changes in named.items():
        if (
            not isinstance(variant, str)
            or not NAME.fullmatch(variant)
            or variant in ("base", TUNED)
        ):
            raise UserError(
                f"{where}: {variant!r} cannot name a variant; use letters, digits, _ and ."
            )
        found[variant] = mapping(changes, f"{where}.{variant}")
        require_settings(method, found[variant], f"{where}.{variant}")
    return found


def _check_support(study: Study, tasks: Mapping[str, Task], where: str) -> None:
    """A method with no dataset to run on, or nothing for the probe to question, is a mistake; one that lacks some is not."""
    for method in study.methods:
        reasons = {dataset: methods()[method].supports(task) for dataset, task in tasks.items()}
        if all(reasons.values()):
            raise UserError(
                f"{where}.methods: {method} supports none of {', '.join(reasons)}: {next(iter(reasons.values()))}"
            )
        asked = KINDS[study.kind]
        if asked.probe and not able_to_answer(methods()[method], asked):
            able = ", ".join(name for name, m in methods().items() if able_to_answer(m, asked))
            raise UserError(
                f"{where}.methods: {method} cannot be asked by {study.kind}; allowed: {able}"
            )


def able_to_answer(method: Method, kind: StudyKind) -> bool:
    """Whether a kind of probe can be put to a method."""
    return method.saves_weights or (method.searches and not kind.needs_weights)


def _folds(value: Any, rules: Mapping[str, SplitRule], where: str) -> dict[str, tuple[int, ...]]:
    wanted = None if value == "all" else parse_folds(value)
    by_dataset = {}
    for name, rule in rules.items():
        folds = 1 if rule.fixed_test_rows or rule.by_time else rule.folds
        by_dataset[name] = tuple(range(min(rule.used, folds))) if wanted is None else wanted
        if by_dataset[name][-1] >= folds:
            raise UserError(
                f"{where}: {by_dataset[name][-1]} is outside the folds 0-{folds - 1} of {name}; `all` takes its own"
            )
    return by_dataset


assert set(get_args(Kind)) == set(KINDS)
