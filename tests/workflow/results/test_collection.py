from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from npt.interface import UserError
from workflow.results.collection import check, read_rows, select, write
from workflow.results.rows import write_rows
from workflow.results.study_file import read_study

EXPECTED = {"yacht/knn/base": {"folds": "0-1", "fingerprint": "f"}}


def row(fold: int, **changes: Any) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "dataset": "yacht",
        "task": "regression",
        "method": "knn",
        "variant": "base",
        "fold": fold,
    }
    plain |= {
        "status": "ok",
        "reason": "",
        "preset": "toy",
        "fingerprint": "f",
        "revision": "r",
        "test_rmse": 1.0,
    }
    plain |= {"versions": {"numpy": "2"}, "file": "a.jsonl"}
    return {**plain, **changes}


def test_expected_rows_come_in_order_and_others_are_left_out() -> None:
    rows = [row(1), row(0), row(7), row(0, method="mlp")]
    assert [r["fold"] for r in check(rows, EXPECTED, mixed=False)] == [0, 1]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([row(0)], "yacht/knn/base fold 1: 0 rows in no file"),
        ([row(0), row(1), row(1, file="b.jsonl")], "fold 1: 2 rows in a.jsonl, b.jsonl"),
        ([row(0), row(1, fingerprint="g")], "made with other settings"),
        ([row(0), row(1, status="failed")], "failed without a reason"),
        ([row(0), row(1, revision="s")], "different code revisions"),
    ],
)
def test_holes_duplicates_and_mixtures_are_refused(
    rows: list[dict[str, Any]], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        check(rows, EXPECTED, mixed=False)


def test_mixed_revisions_on_request_and_between_methods() -> None:
    assert check([row(0), row(1, revision="s")], EXPECTED, mixed=True)
    two = {**EXPECTED, "yacht/mlp/base": {"folds": "0", "fingerprint": "f"}}
    assert check([row(0), row(1), row(0, method="mlp", revision="s")], two, mixed=False)


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "0.jsonl"
    path.write_text(json.dumps(row(0)) + '\n{"dataset": "ya')
    with pytest.raises(UserError, match=r"0\.jsonl:2: not JSON"):
        read_rows([path])
    path.write_text("{}\n")
    with pytest.raises(UserError, match=r"0\.jsonl:1: lacks dataset"):
        read_rows([path])
    path.write_text("3\n")
    with pytest.raises(UserError, match=r"0\.jsonl:1: not an object"):
        read_rows([path])
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(UserError, match=r"0\.jsonl: not text in UTF-8"):
        read_rows([path])


def test_a_row_or_a_study_that_is_not_what_its_checksum_says_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "0.jsonl"
    write_rows(path, [{name: value for name, value in row(0).items() if name != "file"}])
    assert read_rows([path])[0] == row(0, file=str(path))
    path.write_text(path.read_text().replace('"test_rmse": 1.0', '"test_rmse": 1.2'))
    with pytest.raises(UserError, match=r"0\.jsonl:1: damaged"):
        read_rows([path])
    study = tmp_path / "main.csv"
    write([row(0), row(1)], "main", study)
    assert len(read_study(study)) == 2
    study.write_text(study.read_text().rsplit("\n", 2)[0] + "\n")
    with pytest.raises(
        UserError, match=r"main\.csv: damaged \(it is not what main\.csv\.sha256 says\); remove it"
    ):
        read_study(study)


def test_the_csv_holds_every_row(tmp_path: Path) -> None:
    write(check([row(0), row(1)], EXPECTED, mixed=False), "main", tmp_path / "main.csv")
    frame = pd.read_csv(tmp_path / "main.csv")
    assert list(frame["fold"]) == [0, 1]
    assert json.loads(frame["versions"][0]) == {"numpy": "2"}
    assert set(frame["study"]) == {"main"}


def test_the_best_trial_of_each_fold_by_validation_loss_stands_for_the_method() -> None:
    trials = [
        row(
            fold,
            variant=variant,
            validation_loss=loss,
            test_rmse=error,
            fit_seconds=2.0,
            fits=1,
            chosen={"update": 9},
        )
        for fold, variant, loss, error in (
            (0, "base", 0.3, 1),
            (0, "deep", 0.2, 5),
            (1, "base", 0.3, 2),
            (1, "deep", 0.4, 0),
        )
    ]
    trials += [
        row(
            1,
            variant="wide",
            status="failed",
            reason="out of memory",
            validation_loss=None,
            chosen=None,
            fits=None,
        )
    ]
    expected = {
        f"yacht/knn/{name}": {
            "trial_of": "yacht/knn/tuned",
            "changes": json.dumps({"layers": 8} if name == "deep" else {}),
        }
        for name in ("base", "deep", "wide")
    }
    alone = row(0, method="mlp", validation_loss=1.0)
    found = select([*trials, alone], {**expected, "yacht/mlp/base": {}})
    assert [(r["method"], r["fold"], r["variant"], r["test_rmse"]) for r in found] == [
        ("knn", 0, "tuned", 5), ("knn", 1, "tuned", 2), ("mlp", 0, "base", 1.0),
    ]  # fmt: skip
    assert found[0]["chosen"] == {"configuration": "deep", "layers": 8, "update": 9}
    assert (found[0]["fits"], found[0]["fit_seconds"]) == (2, 4.0)
    assert found[2] == alone
    none = [
        row(0, variant=name, status="failed", reason=name, validation_loss=None)
        for name in ("base", "deep")
    ]
    assert select(none, expected)[0]["reason"] == "base"
