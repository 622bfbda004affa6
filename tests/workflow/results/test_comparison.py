from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from npt.interface import UserError
from tests.rows import row
from workflow.results.comparison import Comparison, compare_study, verdict
from workflow.results.study_file import write_study
from workflow.steps import compare

ROWS = [
    row(fold=fold, test_rmse=0.1 * fold, chosen={"k": fold}, fit_seconds=1.0) for fold in (0, 1)
]


def compared(folder: Path, *changes: dict[str, Any], excluded: tuple[str, ...] = ()) -> Comparison:
    """The rows compared with themselves after a change of each."""
    write_study(folder / "a" / "main.csv", ROWS, "main")
    changed = [result.changed(change) for result, change in zip(ROWS, changes, strict=False)]
    write_study(folder / "b" / "main.csv", changed, "main")
    return compare_study(folder / "a" / "main.csv", folder / "b" / "main.csv", excluded)


def test_measurements_versions_and_code_may_differ(tmp_path: Path) -> None:
    other = {"fit_seconds": 2.0, "revision": "s", "versions": {}, "fingerprint": "g"}
    comparison = compared(tmp_path, other, {"peak_memory_mb": 3.0, "device": "cuda"})
    assert comparison.equal
    assert set(comparison.columns) == {*other, "peak_memory_mb", "device"}


@pytest.mark.parametrize("change", [{"test_rmse": 1e-2}, {"data": "d"}, {"status": "failed"}])
def test_scores_data_and_status_must_be_equal(change: dict[str, Any], tmp_path: Path) -> None:
    assert not compared(tmp_path, change, {}).equal


def test_what_is_no_score_is_listed_and_may_differ(tmp_path: Path) -> None:
    comparison = compared(tmp_path, {"chosen": {"k": 7}}, {})
    assert comparison.equal
    assert comparison.columns == {"chosen": 1}


def test_verdict_has_the_largest_difference_of_each_method(tmp_path: Path) -> None:
    comparison = compared(tmp_path, {}, {"test_rmse": 0.1093})
    assert comparison.scores == {"knn": pytest.approx(0.093)}
    assert verdict([comparison]) == "scores equal but for knn (9.3 %)"
    assert verdict([compared(tmp_path, {}, {})]) == "scores equal"


def test_numbers_and_json_compare_by_value(tmp_path: Path) -> None:
    assert compared(tmp_path, {"chosen": {"k": 0.0}}, {}).columns == {}


def test_tolerance_holds_inside_json(tmp_path: Path) -> None:
    compared(tmp_path, {"test_rmse": 1e-12, "chosen": {"k": 1e-12}}, {"test_rmse": 0.2})
    files = [tmp_path / folder / "main.csv" for folder in ("a", "b")]
    assert compare_study(*files, tolerance=0.0).columns == {"test_rmse": 2, "chosen": 1}
    assert compare_study(*files, tolerance=1e-9).columns == {"test_rmse": 1}


def test_missing_and_additional_rows_are_different(tmp_path: Path) -> None:
    shorter = compared(tmp_path, {})
    assert [identity[-1] for identity in shorter.missing] == ["1"]
    assert not shorter.equal
    moved = compared(tmp_path, {}, {"fold": 7})
    assert len(moved.missing) == len(moved.additional) == 1


def test_excluded_methods_are_left_out(tmp_path: Path) -> None:
    assert compared(tmp_path, {"test_rmse": 9.0}, {}, excluded=("knn",)).equal


def test_step_exits_with_one_if_results_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [str(tmp_path / "a"), "--studies", str(tmp_path / "b")]
    monkeypatch.setattr("sys.argv", ["compare", *folders])
    for change, code in (({}, 0), ({"test_rmse": 9.0}, 1)):
        compared(tmp_path, change, {})
        with pytest.raises(SystemExit) as stopped:
            compare.main()
        assert stopped.value.code == code
    assert "but for knn" in capsys.readouterr().out


def test_missing_study_is_named(tmp_path: Path) -> None:
    compared(tmp_path, {}, {})
    with pytest.raises(UserError, match=r"other\.csv"):
        compare_study(tmp_path / "a" / "main.csv", tmp_path / "other.csv")


def test_csv_that_is_no_study_is_refused(tmp_path: Path) -> None:
    compared(tmp_path, {}, {})
    path = tmp_path / "table.csv"
    path.write_text("dataset,method,rank\nyacht,knn,1\n")
    with pytest.raises(UserError, match=r"table\.csv.*'variant'"):
        compare_study(path, tmp_path / "a" / "main.csv")
