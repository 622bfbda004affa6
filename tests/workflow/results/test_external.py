"""Rows of other machines in a study's table."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from baselines import methods
from npt.data import store
from npt.interface import UserError
from npt.table import Column, Split, Table
from tests.workflow.results.test_collection import EXPECTED, row
from workflow.config.reading import read
from workflow.planning.old_plan import Plan
from workflow.planning.revision import revision
from workflow.results.collection import check
from workflow.results.external import _require_metrics, foreign, require_sound, with_source
from workflow.results.rows import write_rows
from workflow.results.study_file import read_study
from workflow.steps import collect


def config(also: Path | None, **more: Any) -> dict[str, Any]:
    study = {} if also is None else {"also": str(also)}
    return {
        "folds": "0-1",
        "datasets": ["yacht"],
        "methods": ["knn", "npt"],
        "studies": {"main": study},
        **more,
    }


def placed(folder: Path, method: str, folds: str, variant: str = "base") -> Path:
    path = folder / "runs" / "yacht" / method / variant / f"{folds}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
    return path


def test_what_others_made_is_not_made_again(tmp_path: Path) -> None:
    files = [
        placed(tmp_path, "knn", "0-1"),
        placed(tmp_path, "npt", "0"),
        placed(tmp_path, "theirs", "0-1", "v2"),
    ]
    placed(tmp_path, "mlp", "0-1")  # known here, and not asked for
    plan, main = Plan(read(config(tmp_path))), argparse.Namespace(study="main")
    assert list(plan.runs) == ["yacht/npt/base/1"]
    assert plan.collect_inputs(main) == [
        "results/runs/yacht/npt/base/1.jsonl",
        *map(str, (files[0], files[1], files[2])),
    ]
    assert plan.collect_data(main) == ["results/data/yacht.arrow"]
    alone = Plan(read(config(None)))
    assert plan.expected(plan.studies["main"]) == alone.expected(
        alone.studies["main"]
    )  # the same is asked of both
    assert plan.contents(main) != alone.contents(main)
    assert plan.datasets == ["yacht"]
    assert alone.collect_data(main) == []


def test_a_run_that_another_study_needs_is_made_here_too(tmp_path: Path) -> None:
    placed(tmp_path, "npt", "0-1")
    studies = {
        "main": {"methods": ["npt"], "also": str(tmp_path)},
        "corruption": {"kind": "corruption", "methods": ["npt"]},
    }
    plan = Plan(read(config(None, studies=studies)))
    assert set(plan.runs) == {"yacht/npt/base/0", "yacht/npt/base/1"}
    assert plan.collect_inputs(argparse.Namespace(study="main")) == [
        str(tmp_path / "runs/yacht/npt/base/0-1.jsonl")
    ]


@pytest.mark.parametrize(
    ("also", "message"),
    [
        ("nowhere", r"studies\.main\.also: nowhere has no runs/DATASET"),
        (3, r"studies\.main\.also: 3 is not a results folder"),
        ([""], r"studies\.main\.also: \[''\] is not"),
    ],
)
def test_folders_without_runs_are_refused(also: Any, message: str) -> None:
    with pytest.raises(UserError, match=message):
        Plan(read({**config(None), "studies": {"main": {"also": also}}}))


def test_a_probe_takes_no_rows_of_others_and_a_seed_comes_once(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"studies\.c\.also: is for studies that show runs"):
        read(config(None, studies={"c": {"kind": "corruption", "methods": ["npt"], "also": "x"}}))
    placed(tmp_path, "knn", "0-1")
    placed(tmp_path, "knn", "1")
    with pytest.raises(
        UserError, match=r"fold 1 of yacht/knn/base is in .*0-1\.jsonl and in .*1\.jsonl"
    ):
        Plan(read(config(tmp_path)))


def test_rows_say_where_they_come_from() -> None:
    rows = with_source(
        [row(0, file="there/runs/a.jsonl"), row(1, file="results/runs/a.jsonl")], ["there"]
    )
    assert [one["source"] for one in rows] == ["there", ""]


def test_other_settings_are_refused_with_both_fingerprints() -> None:
    with pytest.raises(
        UserError,
        match=r"t/a\.jsonl: made with other settings or data \(g, here f\); take it out of that folder",
    ):
        check(
            [row(0, fingerprint="g", file="t/a.jsonl", source="t"), row(1)], EXPECTED, mixed=False
        )


GOOD: dict[str, Any] = {"data": "a" * 16, "splits": "b" * 16, "source": "t", "file": "t/a.jsonl"}


@pytest.fixture
def yacht(tmp_path: Path) -> list[Path]:
    store.save(tmp_path / "yacht.arrow", prepared("a" * 64, "b" * 64))
    return [tmp_path / "yacht.arrow"]


@pytest.mark.parametrize("column", ["data", "splits", "task"])
def test_other_splits_data_or_task_are_refused(column: str, yacht: list[Path]) -> None:
    good, other = row(0, **GOOD), "binary" if column == "task" else "c"
    require_sound([good], yacht)
    with pytest.raises(
        UserError,
        match=rf"a\.jsonl: made with other {column} \({other}, here {good[column]}\); take it out",
    ):
        require_sound([{**good, column: other}], yacht)
    require_sound(
        [{**good, column: other, "source": ""}], yacht
    )  # rows made here have their fingerprint


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"fold": "0"}, "fold: '0':"),
        ({"fold": True}, "fold: True:"),
        ({"variant": ""}, "variant: '':"),
        ({"method": None}, "method: None:"),
        ({"method": "<img>"}, "method: '<img>':"),
        ({"method": "k-nn"}, "'k-nn' is what another is called here"),
        ({"task": "classification"}, "task: 'classification':"),
        ({"reason": 3}, "reason: 3:"),
        ({"versions": "torch 2"}, "versions: 'torch 2':"),
        ({"chosen": [3]}, r"chosen: \[3\]:"),
        ({"fit_seconds": "12 s"}, "fit_seconds: '12 s':"),
        ({"train_rows": 0}, "train_rows: 0:"),
        ({"study": "main"}, "study: a column of this name is the table's"),
        ({"test_rmse": "low"}, "test_rmse: 'low' is not a number"),
        ({"test_rmse": None}, "is ok and has none of test_rmse, test_mse"),
        ({"test_rmse": float("nan")}, "is ok and has none of test_rmse, test_mse"),
    ],
)
def test_what_is_not_as_it_should_be_is_named(
    changes: dict[str, Any], message: str, yacht: list[Path]
) -> None:
    with pytest.raises(UserError, match=rf"^t/a\.jsonl: .*{message}"):
        require_sound([row(0, method="theirs", **GOOD) | changes], yacht)


def test_a_percentage_is_no_share() -> None:
    with pytest.raises(UserError, match=r"test_accuracy: 97\.1 is not a share from 0 to 1"):
        _require_metrics(row(0, task="binary", test_accuracy=97.1))


def test_another_revision_of_the_code_is_refused_unless_asked_for() -> None:
    here = revision(methods()["knn"])
    theirs = [row(fold, revision="r", source="t", file="t/a.jsonl") for fold in (0, 1)]
    with pytest.raises(
        UserError, match=rf"t/a\.jsonl: made by another revision of the code \(r, here {here}\)"
    ):
        check(theirs, EXPECTED, mixed=False)
    assert check(theirs, EXPECTED, mixed=True) == theirs
    assert check([{**one, "revision": here} for one in theirs], EXPECTED, mixed=False)


def test_a_run_is_not_merged_with_itself_and_a_probe_by_hand_with_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    placed(tmp_path / "results", "knn", "0-1")
    with pytest.raises(UserError, match="results are the results of this run itself"):
        Plan(read(config(Path("results"))))
    content = config(None, studies={"asked": {"kind": "corruption", "methods": ["npt"]}})
    (tmp_path / "config.yaml").write_text(json.dumps(content))
    monkeypatch.setattr("sys.argv", ["collect", "--study", "asked", "--also", "elsewhere"])
    with pytest.raises(
        UserError, match="--also: is for studies that show runs; asked asks trained models"
    ):
        collect.main()
    monkeypatch.setattr("sys.argv", ["collect", "--study", "askd"])
    with pytest.raises(UserError, match="study 'askd' is unknown; did you mean 'asked'"):
        collect.main()


def test_by_hand_rows_of_others_take_the_place_of_those_that_are_not_here_and_a_changed_plan_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    content = config(None, datasets=["wine"], studies={"main": {"methods": ["knn"]}})
    (tmp_path / "config.yaml").write_text(json.dumps(content))
    (run,) = Plan(read(content)).runs.values()
    facts = {
        "dataset": "wine",
        "task": "multiclass",
        "fingerprint": run.fingerprint,
        "data": "c",
        "splits": "s",
    }
    made = [row(fold, **facts, test_accuracy=0.5) for fold in (0, 1)]
    made = [{k: v for k, v in one.items() if k not in ("file", "test_rmse")} for one in made]
    theirs = tmp_path / "theirs/runs/wine/knn/base"
    theirs.mkdir(parents=True)
    write_rows(theirs / "0-1.jsonl", made)
    store.save(tmp_path / "results/data/wine.arrow", wine())
    by_hand = ["collect", "--study", "main", "--also", "theirs", "--allow-mixed-revisions"]
    monkeypatch.setattr("sys.argv", by_hand)
    collect.main()
    found = read_study(tmp_path / "results/studies/main.csv")
    assert list(found["source"]) == ["theirs", "theirs"]
    monkeypatch.setattr("sys.argv", [*by_hand, "--contents", "0" * 16])
    with pytest.raises(
        UserError, match=r"main: config\.yaml, or a folder of `also`, is not what it was"
    ):
        collect.main()


def wine() -> store.Prepared:
    table = Table(
        (Column("y", "categorical", ("a", "b", "c")),), (np.array([0, 1, 2, 1], np.int32),), 0
    )
    split = Split(0, np.array([0, 1]), np.array([2]), np.array([3]))
    return store.Prepared(table, {0: split}, {"content": "c", "splits": "s", "name": "wine"})


def test_a_study_is_collected_by_hand_from_files_that_hold_the_folds_of_others_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    content = config(
        None, studies={"main": {"methods": ["knn"]}, "more": {"methods": ["knn"], "folds": "1-3"}}
    )
    (tmp_path / "config.yaml").write_text(json.dumps(content))
    plan = Plan(read(content))
    (run,) = plan.runs.values()
    path = Path(plan.rows_of(plan.studies["main"], run))
    assert path.name == "0-3.jsonl"
    path.parent.mkdir(parents=True)
    write_rows(
        path,
        [
            {
                key: value
                for key, value in row(fold, fingerprint=run.fingerprint).items()
                if key != "file"
            }
            for fold in range(4)
        ],
    )
    monkeypatch.setattr("sys.argv", ["collect", "--study", "main"])
    collect.main()
    assert list(read_study(tmp_path / "results/studies/main.csv")["fold"]) == [0, 1]


def prepared(content: str, splits: str) -> store.Prepared:
    columns = (Column("x", "continuous", ()), Column("y", "continuous", ()))
    cells = (np.arange(4.0), np.arange(4.0))
    split = Split(0, np.array([0, 1]), np.array([2]), np.array([3]))
    return store.Prepared(
        Table(columns, cells, 1),
        {0: split},
        {"content": content, "splits": splits, "name": "yacht"},
    )


def test_methods_of_others_stand_beside_ours_if_they_have_all_of_it() -> None:
    theirs = [row(fold, method="theirs", file="t/a.jsonl", source="t") for fold in (0, 1)]
    others = [
        row(0, method="mlp"),
        row(0, method="theirs", dataset="wine", file="t/b.jsonl"),
        row(7, method="theirs"),
    ]
    assert foreign([row(0), row(1), *theirs, *others], EXPECTED) == theirs
    with pytest.raises(UserError, match=r"t: theirs \(base\) lacks fold 1 of yacht"):
        foreign(theirs[:1], EXPECTED)
    with pytest.raises(
        UserError, match=r"t/b\.jsonl: theirs on yacht, fold 0, is in t/a\.jsonl too"
    ):
        foreign([*theirs, {**theirs[0], "file": "t/b.jsonl"}], EXPECTED)
    with pytest.raises(UserError, match=r"t: theirs \(base\) is of several revisions: r, s"):
        foreign([theirs[0], {**theirs[1], "revision": "s"}], EXPECTED)
    assert len(foreign([theirs[0], {**theirs[1], "revision": "s"}], EXPECTED, mixed=True)) == 2
    with pytest.raises(UserError, match="fold 1 is failed without a reason"):
        foreign([theirs[0], {**theirs[1], "status": "failed"}], EXPECTED)


def test_expected_runs_keep_their_order_with_rows_of_others() -> None:
    plan = Plan(read(config(None)))
    assert list(plan.expected(plan.studies["main"])) == ["yacht/knn/base", "yacht/npt/base"]
