from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from npt.interface import UserError
from tests.rows import finish, plan, prepare, prepared, row
from workflow.config.folds import format_folds
from workflow.planning.plan import Plan
from workflow.results.collection import Collected, Collector
from workflow.results.external import complete_methods, read_csv, require_metrics
from workflow.results.row_file import write_rows

YACHT = {"yacht": prepared("yacht")}
KNOWN = ("yacht", "wine")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of a run with a prepared dataset, and `there/results` of another machine."""
    monkeypatch.chdir(tmp_path)
    prepare("yacht")
    return tmp_path


def planned(*external: str, **changes: Any) -> Plan:
    study: dict[str, Any] = {"external_results": list(external)} if external else {}
    content = {
        "folds": "0-1",
        "datasets": ["yacht"],
        "methods": ["knn"],
        "studies": {"main": study},
    }
    return plan(**{**content, **changes})


def collect(of: Plan) -> Collected:
    return Collector(of).collect(of.studies["main"])


def finish_external(**changes: Any) -> None:
    """Results of our own method on another machine."""
    alone = planned()
    for stem in alone.runs:
        finish(alone, stem, folder="there", **changes)


def write_external_method(*folds: int, method: str = "theirs", **changes: Any) -> None:
    """Rows of a method that is unknown here, with metrics and without predictions."""
    metrics = {"test_rmse": 0.1, **changes}
    rows = [row(method, fold, variant="v2", **metrics) for fold in folds]
    runs = Path("there/results/runs/yacht", method, "v2/seed_0")
    write_rows(runs / f"folds_{format_folds(folds)}.jsonl", rows)


def test_external_rows_replace_missing_ones() -> None:
    finish_external()
    merged = planned("there/results")
    assert not merged.runs
    rows = collect(merged).rows
    assert [(result.fold, result.source) for result in rows] == [
        (0, "there/results"),
        (1, "there/results"),
    ]
    assert [result.facts["test_rmse"] for result in rows] == [0.75, 0.75]


def test_own_rows_win_over_later_external_ones() -> None:
    first = planned(folds="0")
    for stem in first.runs:
        finish(first, stem, folder="there")
    merged = planned("there/results")
    for stem in merged.runs:
        finish(merged, stem)
    second = planned(folds="1")
    for stem in second.runs:
        finish(second, stem, folder="there")
    sources = {result.fold: result.source for result in collect(merged).rows}
    assert sources == {0: "there/results", 1: ""}


def test_own_rows_have_no_source() -> None:
    alone = planned()
    for stem in alone.runs:
        finish(alone, stem)
    assert "source" not in collect(alone).rows[0].values()


@pytest.mark.parametrize("column", ["fingerprint", "data", "splits"])
def test_external_rows_of_other_settings_are_missing(column: str) -> None:
    finish_external(**{column: "other"})
    collected = collect(planned("there/results"))
    assert len(collected.unfinished) == 2
    reason = collected.unfinished[0].reason
    assert f"{column}: " in reason
    assert reason.endswith("out of there/results")


def test_external_methods_are_collected() -> None:
    finish_external()
    write_external_method(0, 1)
    collected = collect(planned("there/results"))
    collected.require_complete()
    assert [result.run_key for result in collected.rows[2:]] == ["yacht/theirs/v2"] * 2
    assert collected.rows[-1].source == "there/results"


@pytest.mark.parametrize(
    ("folds", "changes", "key"),
    [
        ((0, 1), {"data": "other"}, "data: "),
        ((0, 1), {"splits": "other"}, "out of there/results"),
        ((0, 1), {"test_rmse": None}, "test_rmse, test_mse"),
        ((0, 1), {"method": "k-nn"}, "method: "),
        ((0,), {}, "lacks fold 1 of yacht"),
    ],
)
def test_wrong_rows_of_external_methods_are_left_out(
    folds: tuple[int, ...], changes: dict[str, Any], key: str
) -> None:
    finish_external()
    write_external_method(*folds, **changes)
    collected = collect(planned("there/results"))
    assert len(collected.rows) == 2
    assert key in collected.problems[0]


def test_fold_twice_is_refused() -> None:
    rows = [row("theirs", fold, source="there") for fold in (0, 0)]
    with pytest.raises(UserError, match="fold 0 twice"):
        complete_methods(rows, [("yacht", 0)])


def test_every_seed_needs_all_folds() -> None:
    rows = [row("theirs", fold, seed=seed) for seed, fold in [(0, 0), (0, 1), (1, 0)]]
    with pytest.raises(UserError, match="lacks fold 1 of yacht with seed 1"):
        complete_methods(rows, [("yacht", 0), ("yacht", 1)])


def test_unneeded_fold_of_an_unknown_method_is_left_out() -> None:
    finish_external()
    write_external_method(0, 1, 12)
    collected = collect(planned("there/results"))
    assert not collected.problems
    assert [result.fold for result in collected.rows if result.method == "theirs"] == [0, 1]


def test_unprepared_dataset_leaves_external_methods() -> None:
    write_csv("dataset,method,fold,rmse\nyacht,theirs,0,0.5\nyacht,theirs,1,0.25\n")
    merged = planned("published.csv", datasets=["yacht", "wine"])
    collected = collect(merged)
    assert not collected.problems
    assert [result.dataset for result in collected.rows if result.source] == ["yacht", "yacht"]


@pytest.mark.parametrize("value", ["low", True, 97.1, float("nan"), None])
def test_metric_must_be_a_fraction(value: Any) -> None:
    with pytest.raises(UserError, match="test_accuracy"):
        require_metrics(row(dataset="breast_cancer", test_accuracy=value), "there")


def write_csv(text: str, name: str = "published.csv") -> Path:
    Path(name).write_text(text, encoding="utf-8-sig")
    return Path(name)


def test_plain_csv_is_an_external_result() -> None:
    write_csv("dataset,method,fold,rmse\nyacht,Their Model,0,0.5\nyacht,Their Model,1,0.25\n")
    merged = planned("published.csv")
    for stem in merged.runs:
        finish(merged, stem)
    collected = collect(merged)
    collected.require_complete()
    assert [result.method for result in collected.rows] == [
        "knn",
        "knn",
        "Their Model",
        "Their Model",
    ]
    assert collected.rows[3].facts == {"test_rmse": 0.25}
    assert collected.rows[3].source == "published.csv"
    assert (collected.rows[3].train_rows, collected.rows[3].test_rows) == (2, 1)


def test_csv_may_name_variant_and_seed_and_leave_metrics_empty() -> None:
    path = write_csv("dataset,method,variant,fold,seed,rmse,mse\nyacht,theirs,big,0,3,0.5,\n")
    (result,) = read_csv(path, YACHT, KNOWN)
    assert result.key == ("yacht/theirs/big", 3, 0)
    assert result.facts == {"test_rmse": 0.5}


def test_csv_lines_of_other_datasets_are_left_out() -> None:
    path = write_csv("dataset,method,fold,accuracy\nwine,theirs,0,1\n")
    assert read_csv(path, YACHT, KNOWN) == []


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("dataset,method,fold,rmse\nyacht,knn,0,1\n", "published.csv:2.method"),
        ("dataset,method,fold,rmse\nyacht,<img>,0,1\n", "published.csv:2.method"),
        ("dataset,method,fold,rmse\nyacht,theirs,x,1\n", "published.csv:2.fold"),
        ("dataset,method,rmse\nyacht,theirs,1\n", "published.csv:2.fold"),
        ("dataset,method,fold,rmse\nyacht,theirs,0,low\n", "published.csv:2.rmse"),
        ("dataset,method,fold,rsme\nyacht,theirs,0,1\n", "did you mean 'rmse'"),
        ("dataset,method,fold,rmse\nyacht,theirs,0\n", "published.csv:2"),
        ("dataset,method,fold,accuracy\nyacht,theirs,0,1\n", "test_rmse"),
        ("dataset,method,fold,rmse\nyaht,theirs,0,1\n", "published.csv:2.dataset"),
        ("dataset,method,fold,rmse\n\n\nyacht,knn,0,1\n", "published.csv:4.method"),
        ("dataset,method,fold,rmse,rmse\nyacht,theirs,0,1,2\n", "published.csv:1.rmse"),
        ("dataset,method,fold,rmse\n", "published.csv"),
        ("", "published.csv"),
        (f"dataset,method,fold,rmse\nyacht,{'a' * 200_000},0,1\n", "published.csv"),
    ],
)
def test_wrong_csv_is_named(text: str, key: str) -> None:
    with pytest.raises(UserError) as error:
        read_csv(write_csv(text), YACHT, KNOWN)
    assert key in str(error.value)


def test_a_folder_in_which_a_run_was_repeated_with_more_folds_is_taken() -> None:
    for folds in ("0-1", "0-2"):
        earlier = planned(folds=folds)
        for stem in earlier.runs:
            finish(earlier, stem, folder="there")
    merged = planned("there/results", folds="0-2")
    assert not merged.runs
    assert [row.fold for row in collect(merged).rows] == [0, 1, 2]
