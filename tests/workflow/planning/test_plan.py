"""Plans: runs are shared, cut into jobs, fingerprinted, and kept."""

import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from baselines import baselines
from baselines.grids import BaselineSettings
from npt.data.datasets import datasets
from npt.data.declaration import Dataset
from npt.errors import UserError
from tests import rows
from workflow.config.reading import read_file
from workflow.planning import kept, paths
from workflow.planning.plan import Plan

ROOT = Path(__file__).parents[3]
SMALL = {"breast_cancer", "boston_housing", "concrete", "yacht"}
CONFIGURATIONS = {
    "yacht": {
        "npt": {"deep": {"layers": 16}, "plain": {"tradeoff": "constant", "tradeoff_start": 0.5}}
    }
}


# Configurations that the paper searched (Table 16), for methods with different grids.
SEARCHED: dict[str, dict[str, int]] = {
    "tabnet": {
        **dict.fromkeys(SMALL, 48),
        **dict.fromkeys(("protein", "kick", "income"), 7),
        **dict.fromkeys(("poker_hand", "forest_cover", "higgs"), 1),
    },
    "mlp": {
        **dict.fromkeys(SMALL, 11_340),
        **dict.fromkeys(("protein", "kick", "income", "poker_hand", "forest_cover"), 270),
        "higgs": 6,
    },
    "knn": {
        **dict.fromkeys(SMALL, 480),
        **dict.fromkeys(("protein", "kick", "income", "poker_hand", "forest_cover"), 40),
    },
}


def plan(**changes: Any) -> Plan:
    return rows.plan(**{"methods": ["npt", "knn"], "studies": {"main": {}}, **changes})


@cache
def paper() -> Plan:
    return Plan.from_config(read_file(ROOT / "workflow" / "configs" / "paper.yaml"))


def train_rows(dataset: Dataset) -> int:
    rule = dataset.split_rule
    if rule.fixed_test_rows:
        return round((dataset.rows - rule.fixed_test_rows) * (1 - rule.validation_share))
    return round(dataset.rows * (1 - 1 / rule.folds - rule.validation_share))


@pytest.mark.parametrize("method", SEARCHED)
def test_the_paper_searches_as_many_configurations(method: str) -> None:
    counts = {}
    for run in paper().runs.values():
        dataset = datasets()[run.dataset]
        if run.method == method and run.dataset in SEARCHED[method]:
            settings = BaselineSettings(**run.settings)
            baseline = baselines()[method]
            grid = baseline.configurations(settings, dataset.task, train_rows(dataset))
            counts[run.dataset] = len(list(grid))
    assert counts == SEARCHED[method]


def test_planning_imports_nothing_heavy() -> None:
    code = "import sys, workflow.runtime.hooks; from workflow.studies import kinds; kinds(); "
    command = [sys.executable, "-c", code + "print(*sys.modules)"]
    modules = subprocess.check_output(command, text=True, cwd=ROOT).split()
    assert "workflow.studies.lookup" in modules
    assert not {"torch", "sklearn", "pandas", "xgboost", "scipy", "matplotlib"} & set(modules)


def test_folds_are_cut_into_jobs() -> None:
    blocks = ("knn/base/seed_0/folds_0-2", "npt/base/seed_0/folds_0")
    expected = {f"{dataset}/{block}" for dataset in ("yacht", "wine") for block in blocks}
    stems = set(plan().runs)
    assert expected < stems
    assert len(stems) == 2 * (1 + 3)


def test_shared_run_has_the_folds_of_all_studies() -> None:
    more = {"methods": ["knn"], "datasets": ["wine"], "folds": "2-4"}
    made = plan(studies={"main": {}, "more": more})
    stem = "wine/knn/base/seed_0/folds_0-4"
    assert stem in made.runs
    assert made.studies["more"].runs == {stem: (2, 3, 4)}


def test_variant_has_one_meaning() -> None:
    small = {"variants": {"npt": {"other": {"layers": 2}}}}
    large = {"variants": {"npt": {"other": {"layers": 4}}}}
    with pytest.raises(UserError, match=r"studies\.b\.variants\.npt\.other"):
        plan(studies={"a": small, "b": large})
    assert len(plan(studies={"a": small, "b": small}).runs) == 2 * (3 + 3 + 1)


def test_fingerprint_follows_settings_of_its_run() -> None:
    before = plan()
    after = plan(overrides={"yacht": {"npt": {"updates": 7}}})
    same = {run.fingerprint for run in before.runs.values()}
    changed = {stem for stem, run in after.runs.items() if run.fingerprint not in same}
    assert changed == {f"yacht/npt/base/seed_0/folds_{fold}" for fold in range(3)}


def test_fingerprint_does_not_follow_the_order_of_keys() -> None:
    grid = {"n_neighbors": [2, 5], "p": [1]}
    turned = dict(reversed(grid.items()))
    first, second = (plan(settings={"knn": {"grid": keys}}) for keys in (grid, turned))
    fingerprints = [[run.fingerprint for run in one.runs.values()] for one in (first, second)]
    assert fingerprints[0] == fingerprints[1]


def test_paper_has_its_datasets_methods_folds_and_widths() -> None:
    base = [run for run in paper().runs.values() if run.variant == "base"]
    assert len({run.method for run in base}) == 9
    folds: dict[str, list[int]] = {}
    wide: set[str] = set()
    for run in base:
        if run.method == "npt":
            folds.setdefault(run.dataset, []).extend(run.folds)
            if run.settings["width"] == 128:
                wide.add(run.dataset)
    assert len(folds) == 10
    for dataset, numbers in folds.items():
        assert numbers == (list(range(10)) if dataset in SMALL else [0])
    assert wide == {"boston_housing", "concrete", "yacht", "protein"}


def test_paper_tunes_on_the_small_datasets() -> None:
    made = paper()
    updates: dict[tuple[str, str], int] = {}
    for run in made.runs.values():
        if run.method == "npt":
            updates[run.dataset, run.variant] = run.settings["updates"]
    for run in made.runs_of(made.studies["main"]):
        if run.method == "npt":
            assert len(run.trials) == (8 if run.dataset in SMALL else 1)
    assert updates["yacht", "base"] == updates["yacht", "target_mask_0.5"] == 10_000
    assert updates["boston_housing", "base"] == 2_000
    assert updates["boston_housing", "target_mask_0.5"] == 4_000
    assert updates["boston_housing", "target_mask_0.1"] == 20_000


def test_a_search_is_one_run() -> None:
    tuned = {"tuned": True}
    probe = {"kind": "corruption", "methods": ["npt"], **tuned}
    facts: dict[str, Any] = {
        "configurations": CONFIGURATIONS,
        "budget": {"npt": 4},
        "studies": {"main": tuned, "probe": probe},
        "folds": "0-1",
    }
    made = plan(**facts)
    for study in made.studies.values():
        stems = [stem for stem in study.runs if "/npt/" in stem]
        assert stems
        assert all("/npt/tuned/" in stem for stem in stems)
    run = made.runs["yacht/npt/tuned/seed_0/folds_0"]
    assert list(run.trials) == ["base", "deep", "plain", "trial_01"]
    assert run.changes_of("deep") == {"layers": 16}
    fewer = plan(**{**facts, "budget": {"npt": 3}})
    assert fewer.runs[run.stem].fingerprint != run.fingerprint


def test_study_has_runs_of_its_own_seeds_only() -> None:
    made = plan(
        methods=["knn"],
        datasets=["wine"],
        studies={"first": {"seeds": 0}, "both": {"seeds": "0-1"}},
    )
    stems = [f"wine/knn/base/seed_{seed}/folds_0-2" for seed in (0, 1)]
    assert list(made.studies["first"].runs) == stems[:1]
    assert list(made.studies["both"].runs) == stems


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[: len(content) // 2],
        lambda content: content.replace(b"yacht", b"wine", 1),
        lambda content: b"\xff" + content,
        lambda content: b"{}",
        lambda content: b"",
    ],
    ids=["half", "edited", "no text", "empty mapping", "empty"],
)
def test_damaged_plan_is_a_user_error(
    damage: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = paths.PLAN
    with pytest.raises(UserError, match=r"plan\.json: missing"):
        kept.load()
    studies = {"main": {"tuned": True}, "corruption": {"kind": "corruption"}}
    made = plan(configurations=CONFIGURATIONS, studies=studies)
    kept.keep(made)
    assert kept.load() == made
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(UserError, match=r"plan\.json: damaged"):
        kept.load()
