from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

import workflow.config.study as study_module
from baselines import methods
from npt.interface import UserError
from workflow.config.reading import parse, read, read_file
from workflow.config.folds import parse_folds
from workflow.planning.paths import CONFIG
from workflow.runtime.start import keep

ROOT = Path(__file__).parents[3]


def raw(**changes: Any) -> dict[str, Any]:
    plain = {
        "folds": "0-1",
        "datasets": ["yacht"],
        "methods": ["npt", "knn"],
        "studies": {"main": {}},
    }
    return {**plain, **changes}


def message(found: dict[str, Any]) -> str:
    with pytest.raises(UserError) as error:
        plan_of(found)
    assert "\n" not in str(error.value)
    return str(error.value)


def plan_of(found: dict[str, Any]) -> Any:
    from workflow.planning.old_plan import Plan

    return Plan(read(found))


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({"foldz": 1}, ["config", "'foldz'", "did you mean 'folds'?", "allowed:"]),
        (
            {"datasets": ["yatch"]},
            ["datasets", "'yatch'", "did you mean 'yacht'?", "breast_cancer"],
        ),
        ({"datasets": []}, ["datasets is missing or empty"]),
        ({"datasets": ["yacht", "yacht"]}, ["datasets", "yacht occurs twice"]),
        ({"methods": ["xgbost"]}, ["methods", "'xgbost'", "did you mean 'xgboost'?"]),
        ({"folds": "0-12"}, ["folds", "12", "outside the folds 0-9 of yacht"]),
        ({"folds": "two"}, ["folds", "'two'", "allowed: all, 3, 0-2"]),
        ({"folds": -1}, ["folds", "-1"]),
        ({"metrics": {"binary": "aurok"}}, ["metrics.binary", "'aurok'", "did you mean 'auroc'?"]),
        (
            {"metrics": {"regression": "accuracy"}},
            ["metrics.regression", "'accuracy'", "allowed: rmse, mse"],
        ),
        (
            {"metrics": {"tertiary": "auroc"}},
            ["metrics", "'tertiary'", "allowed: binary, multiclass, regression"],
        ),
        ({"settings": {"npt": {"widht": 8}}}, ["settings.npt", "'widht'", "did you mean 'width'?"]),
        ({"settings": {"npt": {"width": "wide"}}}, ["settings.npt.width", "'wide'", "integer"]),
        (
            {"settings": {"npt": {"width": 10}}},
            ["settings.npt", "width: 10", "multiple of heads (8)"],
        ),
        (
            {"settings": {"npt": {"feature_mask": 1.5}}},
            ["settings.npt", "feature_mask: 1.5 is outside 0 to 1"],
        ),
        (
            {"settings": {"npt": {"schedule": "step"}}},
            ["settings.npt.schedule", "'step'", "flat_then_cosine"],
        ),
        ({"settings": {"knn": {"grid": "fast"}}}, ["knn.grid", "'fast'", "paper, quick"]),
        ({"settings": {"knn": {"grid": {"k": [1]}}}}, ["knn.grid.k", "n_neighbors"]),
        ({"settings": {"npt": []}}, ["settings.npt", "not a mapping"]),
        ({"settings": {"knn": {"grid": {}}}}, ["knn.grid", "is empty"]),
        ({"settings": {"knn": {"grid": {"p": []}}}}, ["knn.grid.p", "has no values"]),
        (
            {"overrides": {"wine": {"npt": {"wdth": 1}}}},
            ["overrides.wine.npt", "did you mean 'width'?"],
        ),
        ({"studies": {"main": {"kind": []}}}, ["studies.main.kind", "[]"]),
        ({"studies": {2021: {}}}, ["studies.2021", "a letter"]),
        ({"studies": {"é": {}}}, ["studies.é", "a letter"]),
        ({"studies": {"main": {"variants": {"npt": {"..": {}}}}}}, ["'..' cannot name a variant"]),
        ({"studies": {"main": {"variants": {"npt": {None: {}}}}}}, ["None cannot name a variant"]),
        ({"datasets": [[]]}, ["datasets", "[]"]),
        (
            {"ranking": "papr"},
            ["ranking", "'papr'", "did you mean 'paper'?", "allowed: shared, paper"],
        ),
        ({"ranking": ["paper"]}, ["ranking", "['paper']", "allowed: shared, paper"]),
        ({"metrics": {"binary": ["auroc"]}}, ["metrics.binary", "['auroc']"]),
        ({"folds": "0-999999999"}, ["folds", "goes beyond"]),
        ({"settings": ["npt"]}, ["settings", "not a mapping"]),
        ({"overrides": {"yacth": {}}}, ["overrides", "'yacth'", "did you mean 'yacht'?"]),
        (
            {"overrides": {"yacht": {"npt": {"updats": 3}}}},
            ["npt", "'updats'", "did you mean 'updates'?"],
        ),
        ({"studies": {}}, ["studies is missing or empty"]),
        ({"studies": {"a b": {}}}, ["studies.a b", "letters"]),
        ({"studies": {"main": {"kid": 1}}}, ["studies.main", "'kid'", "did you mean 'kind'?"]),
        (
            {"studies": {"main": {"kind": "corrupt"}}},
            ["studies.main.kind", "did you mean 'corruption'?"],
        ),
        (
            {"studies": {"c": {"kind": "attention", "methods": ["knn"]}}},
            ["studies.c.methods", "knn cannot be asked by attention", "allowed: npt"],
        ),
        (
            {"studies": {"c": {"kind": "attention", "options": {"bin": 3}}}},
            ["studies.c.options", "did you mean 'bins'?"],
        ),
        (
            {"studies": {"c": {"kind": "attention", "options": {"bins": 1}}}},
            ["studies.c.options", "bins: 1 is outside"],
        ),
        (
            {"studies": {"c": {"kind": "attention", "options": {"bins": "x"}}}},
            ["studies.c.options.bins", "'x'"],
        ),
        (
            {"studies": {"c": {"kind": "corruption", "options": {"bins": 3}}}},
            ["studies.c.options", "corruption has none"],
        ),
        (
            {"studies": {"c": {"kind": "deletion", "options": {"left": 2}}}},
            ["studies.c.options", "left: 2.0 is outside"],
        ),
        (
            {"studies": {"c": {"kind": "dose_response", "options": {"delete": [0, 1]}}}},
            ["studies.c.options", "outside 0 to"],
        ),
        (
            {"studies": {"c": {"kind": "dose_response", "options": {"shuffle": [0.5]}}}},
            ["begin with 0"],
        ),
        (
            {"studies": {"c": {"kind": "lookup", "options": {"beside": ["mpl"]}}}},
            ["options.beside", "did you mean 'mlp'?"],
        ),
        (
            {"studies": {"l": {"kind": "lookup", "methods": ["npt"]}}},
            ["studies.l: npt (base) is not trained for it", "a variant with `lookup`"],
        ),
        (
            {"studies": {"l": {"kind": "lookup", "methods": ["npt"], "datasets": ["wine"]}}},
            ["studies.l.datasets: wine is no regression"],
        ),
        ({"studies": {"main": {"methods": ["nptt"]}}}, ["studies.main.methods", "'nptt'"]),
        ({"studies": {"main": {"base": "no"}}}, ["studies.main.base", "'no'"]),
        ({"studies": {"main": {"base": False}}}, ["studies.main.base", "leaves nothing of npt"]),
        ({"settings": {"npt": {"target_mask": 0}}}, ["target_mask: 0 hides no target"]),
        ({"studies": {"main": {"rows": 0}}}, ["studies.main.rows", "0"]),
        (
            {"studies": {"main": {"variants": {"npt": {"base": {}}}}}},
            ["'base' cannot name a variant"],
        ),
        (
            {"studies": {"main": {"variants": {"npt": {"../x": {}}}}}},
            ["'../x' cannot name a variant"],
        ),
        (
            {"studies": {"main": {"variants": {"npt": {"deep": {"layer": 8}}}}}},
            ["main.variants.npt.deep", "did you mean 'layers'?"],
        ),
        (
            {"studies": {"main": {"variants": {"npt": {"deep": {"layers": 7}}}}}},
            ["layers: 7 is odd"],
        ),
        ({"studies": {"main": {"tuned": 1}}}, ["studies.main.tuned", "1"]),
        (
            {"studies": {"main": {"tuned": True, "kind": "corruption", "methods": ["npt"]}}},
            ["studies.main.tuned", "probes"],
        ),
        (
            {"configurations": {"yacht": {"npt": {"deep": {}}}}},
            ["configurations.yacht.npt", "tuned: true"],
        ),
        ({"budget": 3}, ["budget", "npt", "tuned: true"]),
        (
            {"budget": {"npt": 3}, "studies": {"main": {"tuned": True, "methods": ["knn"]}}},
            ["budget", "npt", "tuned: true"],
        ),
        (
            {
                "studies": {"main": {"tuned": True}},
                "configurations": {"wine": {"npt": {"deep": {}}}},
            },
            ["configurations.wine.npt", "no study"],
        ),
        (
            {
                "studies": {"main": {"tuned": True}},
                "configurations": {"yacht": {"npt": {"trial_01": {}}}},
            },
            ["configurations.yacht.npt.trial_01", "drawn"],
        ),
        (
            {
                "studies": {"main": {"tuned": True}},
                "configurations": {"yacht": {"npt": {"a": {}, "b": {}}}},
                "budget": 2,
            },
            ["budget: 2 is less than", "2 configurations of yacht.npt"],
        ),
        ({"budget": {"nptt": 3}}, ["budget", "did you mean 'npt'?"]),
        ({"budget": {"knn": 0}}, ["budget: 0", "knn"]),
        ({"budget": "many"}, ["budget: 'many'"]),
        ({"budget": 10**6}, ["budget: 1000000", "10000"]),
        ({"methods": 3, "budget": 2}, ["methods", "3"]),
        ({"methods": [["npt"]], "budget": 2}, ["methods", "npt"]),
        (
            {
                "studies": {"main": {"tuned": True}},
                "configurations": {"yacht": {"npt": {"deep": {"layers": 7}}}},
            },
            ["configurations.yacht.npt.deep", "layers: 7 is odd"],
        ),
        (
            {
                "studies": {"main": {"tuned": True}},
                "configurations": {"yacht": {"knn": {"more": {}}}},
            },
            ["configurations.yacht", "'knn'", "allowed: npt"],
        ),
        (
            {"studies": {"main": {"variants": {"mlp": {"x": {}}}}}},
            ["main.variants", "'mlp'", "allowed: npt, knn"],
        ),
    ],
)
def test_a_mistake_is_one_line_with_the_key_and_what_is_allowed(
    changes: dict[str, Any], parts: list[str]
) -> None:
    found = message(raw(**changes))
    assert all(part in found for part in parts), found


def test_a_method_that_supports_no_dataset_of_a_study_is_refused_and_one_that_lacks_some_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from dataclasses import replace

    picky = replace(
        methods()["knn"], supports=lambda task: None if task == "binary" else f"no {task}"
    )
    monkeypatch.setattr(study_module, "methods", lambda: {**methods(), "knn": picky})
    assert "studies.main.methods: knn supports none of yacht: no regression" in message(raw())
    assert read(raw(datasets=["yacht", "breast_cancer"])).studies[0].methods == ("npt", "knn")


@pytest.mark.parametrize(
    ("text", "folds"),
    [
        ("0-2", (0, 1, 2)),
        (3, (3,)),
        ([2, 0], (0, 2)),
        ("0-1_4", (0, 1, 4)),
        ("5,1", (1, 5)),
        ("all", None),
        (0, (0,)),
    ],
)
def test_seeds(text: Any, folds: tuple[int, ...] | None) -> None:
    assert parse_folds(text, "folds") == folds


@pytest.mark.parametrize(
    "empty",
    [
        {"settings": {"npt": None}},
        {"overrides": {"yacht": None}},
        {"studies": {"main": {"variants": {"npt": {"same": None}}}}},
    ],
)
def test_an_empty_value_changes_nothing(empty: dict[str, Any]) -> None:
    assert plan_of(raw(**empty)).runs


def test_settings_need_to_fit_together_only_where_they_are_used() -> None:
    found = raw(settings={"npt": {"heads": 5}}, overrides={"yacht": {"npt": {"width": 20}}})
    assert plan_of(found).runs
    assert "settings.npt.width: 64 is not a multiple of heads (5)" in message(
        raw(settings={"npt": {"heads": 5}})
    )


def test_settings_come_in_layers() -> None:
    found = read(
        raw(
            settings={"npt": {"width": 16, "layers": 4, "heads": 4, "learning_rate": "5e-4"}},
            overrides={"yacht": {"npt": {"width": 32}}},
        )
    )
    resolved = found.resolve("yacht", "npt", {"layers": 2})
    assert (resolved.width, resolved.layers, resolved.learning_rate, resolved.updates) == (
        32,
        2,
        5e-4,
        100_000,
    )
    assert found.resolve("concrete", "npt", {}).width == 16


@pytest.mark.parametrize(
    "path",
    [
        "config.yaml",
        *(
            f"workflow/configs/{name}.yaml"
            for name in ("paper", "smoke", "baselines", "images", "ablations")
        ),
    ],
)
def test_the_configurations_that_come_with_it_are_valid(path: str) -> None:
    assert plan_of(yaml.safe_load((ROOT / path).read_text())).runs


def test_a_key_that_stands_twice_is_named_with_its_line_and_merged_blocks_are_not_refused(
    tmp_path: Path,
) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(
        "folds: 0\ndatasets: [yacht]\nmethods: [knn]\nstudies:\n  main: {}\n  main: {folds: 1}\n"
    )
    with pytest.raises(
        UserError, match=r"config\.yaml: line 6: key 'main' stands twice in its block"
    ):
        read_file(path)
    path.write_text(
        "folds: 0\ndatasets: [yacht]\nmethods: [knn]\nstudies:\n"
        "  main: &main {folds: 1}\n  more: &more {<<: *main, folds: 2}\n  most: {<<: *more, folds: 3}\n"
    )
    assert [study.folds["yacht"] for study in read_file(path).studies] == [(1,), (2,), (3,)]


def test_the_configuration_that_a_run_keeps_reads_back_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").mkdir()
    mlp = {"tol": 1e-6, "alpha": [0.1, 1e22], "x": None}
    config = {"preset": "r\N{GRINNING FACE}n: 1e-6", "folds": 3, "settings": {"mlp": mlp}}
    keep(config)
    assert parse(Path(CONFIG)) == config
    before = Path(CONFIG).stat()
    keep(config)
    assert Path(CONFIG).stat() == before
