"""External results: rows of csv files."""

from pathlib import Path
from typing import Any

import pytest

from npt.errors import UserError
from npt.metrics import PAPER_METRICS
from tests.rows import finish, plan, prepared, study_frame
from workflow.config.reading import read_file
from workflow.config.scoring import Scoring
from workflow.planning.plan import Plan
from workflow.results.collection import collect as collect_study
from workflow.results.external import external_rows
from workflow.results.row import Row
from workflow.results.study_file import read_study, write_study
from workflow.studies import kinds

ROOT = Path(__file__).parents[3]
YACHT = {"yacht": prepared("yacht")}
FOLDS = [("yacht", 0), ("yacht", 1)]
HEADER = "dataset,method,fold,rmse\n"
pytestmark = pytest.mark.usefixtures("folder")


def write_csv(text: str, name: str = "published.csv") -> Path:
    Path(name).write_text(text, encoding="utf-8-sig")
    return Path(name)


def planned(*external: str, **changes: Any) -> Plan:
    study = {"external_results": list(external)}
    content = {"folds": "0-1", "datasets": ["yacht"], "methods": ["knn"]}
    return plan(**{**content, "studies": {"main": study}, **changes})


def collect(made: Plan) -> list[Row]:
    for stem in made.runs:
        finish(made, stem)
    return collect_study(made.studies["main"], made)


def test_rows_of_a_csv_follow_those_of_the_runs() -> None:
    write_csv(f"{HEADER}yacht,Their Model,0,0.5\nyacht,Their Model,1,0.25\n")
    rows = collect(planned("published.csv"))
    assert [row.method for row in rows] == ["knn", "knn", "Their Model", "Their Model"]
    assert [row.source for row in rows] == ["", "", "published.csv", "published.csv"]
    assert rows[3].facts == {"test_rmse": 0.25}
    assert (rows[3].train_rows, rows[3].test_rows) == (2, 1)


def test_a_csv_without_the_ranked_metric_is_refused() -> None:
    write_csv(f"{HEADER}yacht,theirs,0,0.5\nyacht,theirs,1,0.25\n")
    with pytest.raises(UserError, match=r"published\.csv: has no mse, .*metrics\.regression"):
        collect(planned("published.csv", metrics={"regression": "mse"}))


def test_csv_may_name_variant_and_seed_and_leave_metrics_empty() -> None:
    path = write_csv("dataset,method,variant,fold,seed,rmse,mse\nyacht,theirs,big,0,3,0.5,\n")
    (row,) = external_rows(path, YACHT, FOLDS[:1])
    assert row.key == ("yacht/theirs/big", 3, 0)
    assert row.facts == {"test_rmse": 0.5}


def collected_study() -> Path:
    """A collected study of two methods, one with a row that was external there."""
    made = plan(folds="0-1", datasets=["yacht", "wine"], methods=["knn", "mlp"])
    for stem in made.runs:
        finish(made, stem, chosen={"weights": "distance"}, fits=3)
    rows = collect_study(made.studies["main"], made)
    write_study(Path("theirs.csv"), [*rows, rows[0].changed({"source": "x.csv"})], "main")
    return Path("theirs.csv")


def test_rows_of_a_collected_study_are_taken_as_they_are() -> None:
    collected_study()
    made = planned("theirs.csv", datasets=["yacht", "wine"], methods=["npt"])
    rows = collect(made)
    assert len(rows) == 4 + 8
    assert rows[4].chosen == {"weights": "distance"}
    study = study_frame(rows, "main")
    ranks = kinds()["benchmark"].view.table("ranks", study, Scoring(PAPER_METRICS)).tidy
    assert set(ranks["method"]) == {"npt", "knn", "mlp"}
    assert ranks["mean_rank"].notna().all()


def test_a_method_that_also_runs_here_is_refused() -> None:
    collected_study()
    with pytest.raises(UserError, match=r"theirs\.csv: yacht/knn/base fold 0 .*methods"):
        collect(planned("theirs.csv"))


def test_other_data_is_refused() -> None:
    path = collected_study()
    with pytest.raises(UserError, match=r"theirs\.csv:2: data: "):
        external_rows(path, {"yacht": prepared("yacht", content="other")}, FOLDS)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (f"{HEADER}yacht,theirs,x,1\n", "published.csv:2.fold"),
        (f"{HEADER}yacht,theirs,,1\n", "published.csv:2.fold"),
        ("dataset,method,rmse\nyacht,theirs,1\n", "published.csv: column fold"),
        (f"{HEADER}yacht,theirs,0,low\n", "published.csv:2.test_rmse: 'low'"),
        (f"{HEADER}yacht,theirs,0,-1\n", "published.csv:2.test_rmse: -1"),
        (f"{HEADER}yacht,theirs,0,true\n", "published.csv:2.test_rmse: "),
        ("dataset,method,fold,rsme\nyacht,theirs,0,1\n", "did you mean 'rmse'"),
        (f"{HEADER}yacht,theirs,0,1,2\n", "published.csv: more cells"),
        ("dataset,method,fold,accuracy\nyacht,theirs,0,1\n", "published.csv:2"),
        (f"{HEADER}yaht,theirs,0,1\n", "published.csv: "),
        ("dataset,method,fold,rmse,rmse\nyacht,theirs,0,1,2\n", "'rmse.1'"),
        (f"{HEADER}yacht,theirs,0,1\n", "0 rows of theirs (base) with seed 0 on yacht fold 1"),
        (f"{HEADER}yacht,theirs,0,1\nyacht,theirs,0,1\nyacht,theirs,1,1\n", "2 rows of theirs"),
        (f"{HEADER}yacht,theirs,0,inf\n", "published.csv:2.test_rmse: inf"),
        ("dataset,method,fold,rmse,status\nyacht,theirs,0,,failed\n", "published.csv:2: reason"),
        ("dataset,method,fold,accuracy,task\nyacht,theirs,0,1,binary\n", "published.csv:2: task"),
        ("dataset,method,fold,test_rmse,rmse\nyacht,theirs,0,1,2\n", "test_rmse and rmse"),
        ("dataset,method,fold,rmse,chosen\nyacht,theirs,0,1,5\n", "published.csv:2.chosen: 5"),
        ("", "published.csv"),
    ],
)
def test_wrong_csv_is_named(text: str, key: str) -> None:
    with pytest.raises(UserError) as error:
        external_rows(write_csv(text), YACHT, FOLDS)
    assert key in str(error.value)


@pytest.mark.parametrize("name", ["compact", "solved"])
def test_shipped_configurations_take_the_committed_rows(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    made = Plan.from_config(read_file(ROOT / "workflow" / "configs" / f"{name}.yaml"))
    study = made.studies["main"]
    folds = {(run.dataset, fold) for run in made.runs_of(study) for fold in study.runs[run.stem]}
    for file in study.external_results:
        rows = read_study(ROOT / file)
        assert folds <= set(zip(rows["dataset"], rows["fold"], strict=True))
        assert not set(rows["method"]) & {run.method for run in made.runs.values()}
