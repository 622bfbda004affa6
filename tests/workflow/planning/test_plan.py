from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from baselines import methods
from npt.interface import UserError
from workflow.config.reading import read
from workflow.config.folds import format_folds
from workflow.planning.old_plan import Plan
from workflow.studies.kinds import KINDS

ROOT = Path(__file__).parents[3]


def plan(**changes: Any) -> Plan:
    plain = {
        "folds": "0-2",
        "datasets": ["yacht", "wine"],
        "methods": ["npt", "knn"],
        "studies": {"main": {}},
    }
    return Plan(read({**plain, **changes}))


def test_planning_imports_nothing_heavy() -> None:
    heavy = {"torch", "sklearn", "pandas", "xgboost", "scipy"}
    code = f"import sys, workflow.planning.plan, workflow.runtime.start; print(sorted({heavy} & set(sys.modules)))"
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert found.stdout.strip() == "[]"


def test_blocks_of_seeds() -> None:
    assert sorted(plan().runs) == sorted(
        f"{dataset}/{rest}"
        for dataset in ("yacht", "wine")
        for rest in ("knn/base/0-2", "npt/base/0", "npt/base/1", "npt/base/2")
    )


def test_slow_searches_of_whole_grids_have_a_job_for_each_fold() -> None:
    full = plan(datasets=["wine"], methods=["catboost", "knn"], folds="0-3", studies={"main": {}})
    assert [run.folds for run in full.runs.values() if run.method == "catboost"] == [
        (0,),
        (1,),
        (2,),
        (3,),
    ]
    assert [run.folds for run in full.runs.values() if run.method == "knn"] == [(0, 1, 2, 3)]
    quick = plan(
        datasets=["wine"],
        methods=["catboost"],
        folds="0-3",
        settings={"catboost": {"grid": "quick"}},
    )
    assert [run.folds for run in quick.runs.values()] == [(0, 1, 2, 3)]


def test_every_method_has_one_rule() -> None:
    rules = [set(plan().pattern(kind).split("|")) for kind in ("trained", "fitted", "accelerated")]
    assert set.union(*rules) == set(methods())
    assert sum(map(len, rules)) == len(methods())
    assert rules[2] == {"xgboost", "catboost", "tabnet", "deep_kernel_learning"}


def test_a_study_is_collected_anew_when_what_it_is_made_of_changes() -> None:
    main = SimpleNamespace(study="main")
    others = {"folds": "0-1"}, {"methods": ["knn", "npt"]}, {"settings": {"knn": {"grid": "quick"}}}
    found = [plan(**changes).contents(main) for changes in ({}, *others)]
    assert len(set(found)) == len(found)
    assert plan(preset="other", metrics={"regression": "mse"}).contents(main) == found[0]


def test_a_run_that_two_studies_need_is_made_once_with_all_their_seeds() -> None:
    made = plan(
        studies={"main": {}, "more": {"methods": ["knn"], "datasets": ["wine"], "folds": "2-4"}}
    )
    assert "wine/knn/base/0-4" in made.runs
    assert "wine/knn/base/0-2" not in made.runs
    assert [run.stem for run in made.runs_of(made.studies["more"])] == ["wine/knn/base/0-4"]
    assert made.expected(made.studies["more"])["wine/knn/base"]["folds"] == "2-4"


def test_two_meanings_of_one_variant_are_refused() -> None:
    small, large = ({"variants": {"npt": {"other": {"layers": n}}}} for n in (2, 4))
    with pytest.raises(
        UserError, match=r"studies\.b\.variants\.npt\.other: differs from studies\.a"
    ):
        plan(studies={"a": small, "b": large})
    assert len(plan(studies={"a": small, "b": small}).runs) == 2 * (3 + 3 + 1)


def test_a_fingerprint_follows_the_settings_of_its_own_run_only() -> None:
    before, after = plan(), plan(overrides={"yacht": {"npt": {"updates": 7}}})
    changed = {
        stem
        for stem in before.runs
        if before.runs[stem].fingerprint != after.runs[stem].fingerprint
    }
    assert changed == {f"yacht/npt/base/{fold}" for fold in range(3)}


def test_the_paper_s_plan_has_ten_tables_nine_methods_and_their_folds() -> None:
    paper = Plan(read(yaml.safe_load((ROOT / "workflow/configs/paper.yaml").read_text())))
    base = [run for run in paper.runs.values() if run.variant == "base"]
    assert len({run.dataset for run in base}) == 10
    assert len({run.method for run in base}) == 9
    folds = {
        d: sorted(s for run in base if (run.dataset, run.method) == (d, "npt") for s in run.folds)
        for d in paper.datasets
    }
    small = {"breast_cancer", "boston_housing", "concrete", "yacht"}
    assert folds == {d: list(range(10)) if d in small else [0] for d in paper.datasets}
    widths = {run.dataset: run.settings["width"] for run in base if run.method == "npt"}
    assert {d for d, width in widths.items() if width == 128} == {
        "boston_housing",
        "concrete",
        "yacht",
        "protein",
    }


def test_seeds_as_text() -> None:
    assert format_folds([0, 1, 2, 5, 7, 8]) == "0-2_5_7-8"
    assert format_folds([4]) == "4"


CONFIGURATIONS = {
    "yacht": {
        "npt": {"deep": {"layers": 16}, "plain": {"tradeoff": "constant", "tradeoff_start": 0.5}}
    }
}


def test_a_tuned_study_runs_named_and_drawn_configurations_in_the_place_of_one() -> None:
    studies = {"main": {"tuned": True}, "probe": {"kind": "corruption", "methods": ["npt"]}}
    made = plan(
        configurations=CONFIGURATIONS, budget={"npt": 5, "knn": 7}, studies=studies, folds="0-1"
    )
    variants = {
        d: {run.variant for run in made.runs_of(made.studies["main"]) if run.dataset == d}
        for d in ("yacht", "wine")
    }
    assert variants["yacht"] == {"base", "deep", "plain", "trial_01", "trial_02"}
    assert variants["wine"] == {"base", "trial_01", "trial_02", "trial_03", "trial_04"}
    assert {run.variant for run in made.runs_of(made.studies["probe"])} == {"base"}
    assert {run.settings["budget"] for run in made.runs.values() if run.method == "knn"} == {7}
    expected = made.expected(made.studies["main"])
    assert {facts.get("trial_of") for key, facts in expected.items() if "yacht/npt" in key} == {
        "yacht/npt/tuned"
    }
    assert json.loads(expected["yacht/npt/deep"]["changes"]) == {"layers": 16}
    assert "trial_of" not in expected["yacht/knn/base"]
    again = plan(
        configurations=CONFIGURATIONS, budget={"npt": 5, "knn": 7}, studies=studies, folds="0-1"
    )
    assert {stem: run.fingerprint for stem, run in made.runs.items()} == {
        s: r.fingerprint for s, r in again.runs.items()
    }


def test_with_nothing_to_choose_from_a_tuned_study_runs_the_base_and_calls_it_tuned() -> None:
    made = plan(studies={"main": {"tuned": True}})
    assert set(made.runs) == set(plan().runs)
    expected = made.expected(made.studies["main"])
    assert expected["yacht/npt/base"]["trial_of"] == "yacht/npt/tuned"


def test_the_paper_chooses_among_eight_configurations_on_the_small_tables() -> None:
    paper = Plan(read(yaml.safe_load((ROOT / "workflow/configs/paper.yaml").read_text())))
    runs = [run for run in paper.runs_of(paper.studies["main"]) if run.method == "npt"]
    counts = {d: len({run.variant for run in runs if run.dataset == d}) for d in paper.datasets}
    small = {"breast_cancer", "boston_housing", "concrete", "yacht"}
    assert counts == {d: 8 if d in small else 1 for d in paper.datasets}
    updates = {(run.dataset, run.variant): run.settings["updates"] for run in runs}
    assert [updates["yacht", name] for name in ("base", "target_mask_0.5", "target_mask_0.1")] == [
        10_000,
        10_000,
        20_000,
    ]
    assert [
        updates["boston_housing", name] for name in ("base", "target_mask_0.5", "target_mask_0.1")
    ] == [2000, 4000, 20_000]


def test_every_figure_of_a_study_has_a_caption_for_the_page_and_for_snakemake_s_report() -> None:
    rules, made = ROOT / "workflow" / "rules", plan()
    for kind, facts in KINDS.items():
        told = {path: made.in_report(path, kind) for path in made.shown("{study}", kind)}
        assert len([path for path, about in told.items() if about]) == len(facts.tables) + len(
            facts.figures
        )
        for about in filter(None, told.values()):
            assert (rules / about["caption"]).read_text().strip()
            assert about["category"] == facts.title
