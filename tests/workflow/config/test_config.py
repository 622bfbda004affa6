"""Reading config.yaml: valid configurations, and errors that name the key."""

import json
import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from npt.errors import UserError
from workflow.config.__main__ import SCHEMA
from workflow.config.folds import parse_folds
from workflow.config.models import Config, studies_of
from workflow.config.reading import as_yaml, parse, read, read_file
from workflow.config.resolution import resolve
from workflow.planning.plan import Plan

ROOT = Path(__file__).parents[3]
CONFIGS = [ROOT / "config.yaml", *sorted((ROOT / "workflow" / "configs").glob("*.yaml"))]

MINE = {"openml": 1, "target": "y", "task": "regression"}


def raw(**changes: Any) -> dict[str, Any]:
    plain = {
        "folds": "0-1",
        "datasets": ["yacht"],
        "methods": ["npt", "knn"],
        "studies": {"main": {}},
    }
    return {**plain, **changes}


def with_study(**keys: Any) -> dict[str, Any]:
    return raw(studies={"main": keys})


def with_variant(name: Any, changes: Any) -> dict[str, Any]:
    return with_study(variants={"npt": {name: changes}})


def with_options(kind: str, **options: Any) -> dict[str, Any]:
    return with_study(kind=kind, methods=["npt"], options=options)


def tuned(**changes: Any) -> dict[str, Any]:
    return raw(studies={"main": {"tuned": True}}, **changes)


def boosted(**settings: Any) -> dict[str, Any]:
    return raw(methods=["xgboost"], settings={"xgboost": settings})


def error_of(config: dict[str, Any]) -> str:
    with pytest.raises(UserError) as error:
        Plan.from_config(read(config))
    message = str(error.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("config", "key"),
    [
        (raw(datasets=[]), "datasets"),
        (raw(studies=None), "studies"),
        (raw(custom_datasets={2020: MINE}), "custom_datasets: 2020"),
        (raw(datasets=["yacht", "yacht"]), "datasets"),
        (raw(settings={"npt": {"updates": 10**30}}), "settings.npt.updates"),
        (with_options("deletion", limit=float("inf")), "studies.main.options.limit"),
        (
            with_options("lookup", compare_with={"knn": {"grid": {"n_neighbors": [-1]}}}),
            "studies.main.options.compare_with",
        ),
        (raw(folds="two"), "folds"),
        (raw(metrics={"regression": "accuracy"}), "metrics.regression"),
        (raw(settings={"knn": {"grid": {"k": [1]}}}), "settings.knn.grid.k"),
        (raw(studies={"a b": {}}), "studies"),
        (with_study(include_base=False), "studies.main.include_base"),
        (with_study(max_test_rows=0), "studies.main.max_test_rows"),
        (with_study(max_test_rows=5), "studies.main.max_test_rows: benchmark probes no rows"),
        (
            with_study(
                kind="processes",
                datasets=["gp_curves", "mnist_pixels"],
                methods=["npt_process"],
            ),
            "studies.main.datasets: processes takes one",
        ),
        (with_study(kind="attention", methods=["linear"]), "studies.main.methods"),
        (with_study(kind="lookup", methods=["npt"]), "studies.main.methods"),
        (with_study(kind="lookup", datasets=["wine"]), "studies.main.datasets"),
        (with_study(except_datasets=["yacht"]), "studies.main: can take none"),
        (
            with_study(except_datasets=["wine"], datasets=["yacht"]),
            "studies.main.except_datasets: not allowed",
        ),
        (with_study(external_results="nowhere"), "studies.main.external_results"),
        (
            with_study(kind="few_labels", methods=["knn"], external_results="nowhere.csv"),
            "studies.main.external_results: 'nowhere.csv'; allowed: none of the kind few_labels",
        ),
        (with_options("deletion", retries=0), "studies.main.options.retries"),
        (with_options("deletion", retries=10**9), "studies.main.options.retries"),
        (with_options("benefit", permutations=10**9), "studies.main.options.permutations"),
        (with_options("context", retrained=[]), "studies.main.options: retrained"),
        (with_options("context", shares=[1.0]), "studies.main.options: retrained"),
        (with_options("context", shares=[1.0, 0.1 + 1e-9, 0.1]), "studies.main.options.shares"),
        (
            with_options("dose_response", delete=[0.0, 0.1, 0.1 + 1e-9]),
            "studies.main.options.delete",
        ),
        (raw(seeds="0-9999", folds="all", methods=["npt", "knn", "mlp"]), "studies.main: 300000"),
        (
            raw(settings={"knn": {"grid": {"p": [1] * 1000, "n_neighbors": [1] * 101}}}),
            "settings.knn.grid: 101000",
        ),
        (with_variant("base", {}), "studies.main.variants.npt"),
        (with_variant("deep", {"layers": 7}), "studies.main.variants.npt.deep"),
        (raw(configurations={"yacht": {"npt": {"deep": {}}}}), "configurations.yacht.npt"),
        (tuned(configurations={"wine": {"npt": {"deep": {}}}}), "configurations.wine.npt"),
        (tuned(configurations={"yacht": {"npt": {"trial_01": {}}}}), "configurations.yacht.npt"),
        (
            tuned(configurations={"yacht": {"npt": {"deep": {"layers": 7}}}}),
            "configurations.yacht.npt.deep",
        ),
        (tuned(configurations={"yacht": {"knn": {"more": {}}}}), "configurations.yacht"),
        (tuned(configurations={"yacht": {"npt": {"a": {}, "b": {}}}}, budget=2), "budget"),
        (raw(budget=3), "budget"),
        (raw(budget={"knn": 10**6}), "budget.knn"),
        (raw(custom_datasets={"yacht": {}}), "custom_datasets.yacht"),
        (raw(custom_datasets={"mine": {**MINE, "path": "a\0b"}}), "custom_datasets.mine.path"),
        (raw(folds="0-2,5-3"), "folds"),
        (raw(seeds="1" * 5000), "seeds"),
        (raw(settings={"knn": {"fixed": {"no_such": 1}}}), "settings.knn.fixed: 'no_such'"),
        (
            raw(settings={"knn": {"grid": {"n_neighbors": [-1]}}}),
            "settings.knn.grid.n_neighbors: -1",
        ),
        (raw(settings={"mlp": {"gird": "quick"}}), "settings.mlp: 'gird'"),  # no study runs it
        (boosted(grid={"learning_rate": ["high"]}), "settings.xgboost.grid.learning_rate: 'high'"),
        (boosted(grid={"n_estimators": [0]}), "settings.xgboost.grid.n_estimators: 0"),
        (boosted(fixed={"gamma": [[{"a": 1}]]}), "settings.xgboost.fixed.gamma"),
        (raw(preset="a" * 101), "preset: 'a.* at most 100 characters"),
        (
            raw(methods=["tabr"], settings={"tabr": {"fixed": {"max_epochs": "many"}}}),
            "settings.tabr.fixed.max_epochs: 'many'",
        ),
        (boosted(fixed={"gamma": [date(2020, 1, 1)]}), "settings.xgboost.fixed.gamma"),
        (
            raw(methods=["mlp"], settings={"mlp": {"fixed": {"tol": date(2020, 1, 1)}}}),
            "settings.mlp.fixed.tol: datetime.date",
        ),
        (raw(foldz=1), "'foldz'.*mean 'folds'"),
        (raw(datasets=["yatch"]), "datasets.*mean 'yacht'"),
        (raw(settings={"npt": {"widht": 8}}), "settings.npt.*mean 'width'"),
        (raw(overrides={"yacht": {"npt": {"wdth": 1}}}), "overrides.yacht.npt.*mean 'width'"),
        (with_study(kind="corrupt"), "studies.main.kind.*mean 'corruption'"),
        (
            with_options("lookup", compare_with=["mpl"]),
            "studies.main.options.compare_with.*mean 'mlp'",
        ),
        (with_variant("deep", {"layer": 8}), "studies.main.variants.npt.deep.*mean 'layers'"),
        (with_study(variants={"kn": {"x": {}}}), "studies.main.variants.*mean 'knn'"),
    ],
)
def test_error_names_the_key(config: dict[str, Any], key: str) -> None:
    message = error_of(config)
    assert re.match(key, message), message


def test_datasets_of_a_study_follow_the_configuration() -> None:
    studies = {
        "main": {},
        "some": {"except_datasets": ["wine", "yacht"]},
        "known": {"kind": "lookup", "methods": ["knn"]},  # takes regression alone
    }
    config = raw(datasets=["yacht", "wine", "concrete"], studies=studies)
    planned = Plan.from_config(read(config)).studies
    assert list(planned["main"].datasets) == ["yacht", "wine", "concrete"]
    assert list(planned["some"].datasets) == ["concrete"]
    assert list(planned["known"].datasets) == ["yacht", "concrete"]


def test_error_names_the_last_layer_with_the_setting() -> None:
    wide = {"npt": {"width": "wide"}}
    longer = {"yacht": {"npt": {"updates": 3}}}
    assert error_of(raw(settings=wide, overrides=longer)).startswith("settings.npt.width")
    assert error_of(raw(overrides={"yacht": wide})).startswith("overrides.yacht.npt.width")
    odd, narrow = {"npt": {"layers": 3}}, {"yacht": {"npt": {"width": 16}}}
    assert error_of(raw(settings=odd, overrides=narrow)).startswith("settings.npt: layers")
    settings = {"npt": {"updates": "many"}}
    assert Plan.from_config(read(raw(settings=settings, overrides=longer))).runs


def test_empty_keys_of_a_custom_dataset_are_optional() -> None:
    mine = {**MINE, "drop": None, "group": None, "missing": None}
    assert read(raw(custom_datasets={"mine": mine})) == read(raw(custom_datasets={"mine": MINE}))
    untargeted = raw(custom_datasets={"mine": {**MINE, "target": None}})
    assert error_of(untargeted) == "custom_datasets.mine.target: missing"


@pytest.mark.parametrize(
    ("value", "folds"), [("0-2", (0, 1, 2)), (3, (3,)), ([2, 0], (0, 2)), ("5,1", (1, 5))]
)
def test_folds_are_parsed(value: Any, folds: tuple[int, ...]) -> None:
    assert parse_folds(value) == folds
    assert studies_of(read(raw(folds=value)))["main"].folds["yacht"] == folds


def test_a_fixed_test_set_is_the_first_fold() -> None:
    studies = studies_of(read(raw(folds="0-2", datasets=["yacht", "poker_hand"])))
    assert studies["main"].folds == {"yacht": (0, 1, 2), "poker_hand": (0,)}
    error = error_of(raw(folds=1, datasets=["poker_hand"]))
    assert error.startswith("folds: 1 is outside the folds 0-0")


@pytest.mark.parametrize(
    "changes",
    [
        {"settings": {"npt": None}},
        {"overrides": {"yacht": None}},
        {"custom_datasets": None},
        {"studies": {"main": None}},
        {"studies": {"main": {"variants": {"npt": {"same": None}}}}},
        {"settings": {"npt": {"heads": 5}}, "overrides": {"yacht": {"npt": {"width": 20}}}},
        {
            "methods": ["linear"],
            "settings": {"linear": {"fixed": {"fit_intercept": False, "solver": "lbfgs"}}},
        },
        {
            "methods": ["label_spreading"],
            "datasets": ["breast_cancer"],
            "settings": {"label_spreading": {"fixed": {"gamma": 1}}},
        },
    ],
    ids=[
        "settings",
        "overrides",
        "datasets",
        "study",
        "variant",
        "heads",
        "other task",
        "classes alone",
    ],
)
def test_empty_values_and_settings_that_fit_where_used_are_valid(changes: dict[str, Any]) -> None:
    assert Plan.from_config(read(raw(**changes))).runs


def test_settings_come_in_layers() -> None:
    base = {"width": 16, "layers": 4, "heads": 4, "learning_rate": 5e-4}
    overrides = {"yacht": {"npt": {"width": 32}}}
    config = read(raw(settings={"npt": base}, overrides=overrides))
    resolved = resolve(config, "yacht", "npt", {"layers": 2})
    assert (resolved.width, resolved.layers) == (32, 2)
    assert (resolved.learning_rate, resolved.updates) == (5e-4, 100_000)
    assert resolve(config, "concrete", "npt", {}).width == 16


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_shipped_configuration_is_valid(path: Path) -> None:
    assert Plan.from_config(read_file(path)).runs
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(parse(path), json.loads(SCHEMA.read_text()))


def test_duplicate_key_names_its_line(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    common = "folds: 0\ndatasets: [yacht]\nmethods: [knn]\nstudies:\n"
    path.write_text(common + "  main: {}\n  main: {folds: 1}\n")
    with pytest.raises(UserError, match=r"config\.yaml: line 6.*'main'"):
        parse(path)


@pytest.mark.parametrize("written", ["0_2", "010", "1:30", "0x1f"])
def test_odd_whole_numbers_are_text(written: str, tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(f"folds: {written}\nrate: 5e-4\nseeds: [0, -12]\n")
    assert parse(path) == {"folds": written, "rate": 5e-4, "seeds": [0, -12]}


@pytest.mark.parametrize("value", ["1e5", "010", "1:30", "no", "-3", 1e5, 5e-7, True, None])
def test_written_values_keep_their_type(value: Any, tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(as_yaml({"target": value}))
    assert parse(path) == {"target": value}
    assert type(parse(path)["target"]) is type(value)


@pytest.mark.parametrize(
    "value",
    [
        "2020-13-45",
        "!!int abc",
        "!!float abc",
        "!!bool abc",
        "!!timestamp abc",
        "!!binary abc",
        "1" * 5000,
        "[" * 3000 + "]" * 3000,
        "!!python/object:os.system x",
        "{? [1]: 2}",
    ],
)
def test_a_value_that_cannot_be_read_is_one_line(value: str, tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(f"preset: {value}")
    with pytest.raises(UserError, match=r"config\.yaml: not YAML") as error:
        parse(path)
    assert "\n" not in str(error.value)


def test_a_value_that_contains_itself_is_refused() -> None:
    grid: list[Any] = [1]
    grid.append(grid)
    assert "contains itself" in error_of(raw(settings={"knn": {"grid": {"n_neighbors": grid}}}))


def test_merged_blocks_are_no_duplicates(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(
        "folds: 0\ndatasets: [yacht]\nmethods: [knn]\nstudies:\n"
        "  main: &main {folds: 1}\n"
        "  more: &more {<<: *main, folds: 2}\n"
        "  most: {<<: *more, folds: 3}\n"
    )
    studies = studies_of(read_file(path)).values()
    assert [study.folds["yacht"] for study in studies] == [(1,), (2,), (3,)]


def test_schema_file_is_current() -> None:
    """`python -m workflow.config` writes it."""
    keys = []
    for schema in (json.loads(SCHEMA.read_text()), Config.model_json_schema()):
        models = {**schema["$defs"], "Config": schema}
        keys.append({name: list(model.get("properties", ())) for name, model in models.items()})
    assert keys[0] == keys[1]
