from __future__ import annotations

from pathlib import Path

from tests.rows import plan
from workflow.planning.unused import notes_of_unused


def test_external_files_that_no_study_takes_are_named(tmp_path: Path) -> None:
    for name in ("wine/knn/base/seed_0/folds_1-8", "wine/knn/base/seed_3/folds_1", "wine/old/a/b"):
        file = (tmp_path / "runs" / name).with_suffix(".jsonl")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    main = {"external_results": [str(tmp_path)]}
    planned = plan(methods=["knn"], datasets=["wine"], studies={"main": main})
    (note,) = notes_of_unused(planned)
    assert note.startswith("studies.main.external_results: has no run of ")
    assert note.endswith("runs/wine/knn/base/seed_3/folds_1.jsonl")
    assert "folds_1-8" not in note


def test_nothing_is_noted_without_external_results() -> None:
    assert list(notes_of_unused(plan())) == []
