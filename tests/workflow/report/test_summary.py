"""The README beside rows: tables of the studies, as the module writes them now."""

from pathlib import Path

import pytest

from npt.errors import UserError
from tests.rows import finish_all, plan
from workflow.config.reading import read
from workflow.report.summary import CONFIG, README, REFERENCE, folder_summary, stored_study
from workflow.results.collection import collect
from workflow.results.study_file import write_study


@pytest.mark.parametrize(
    "name",
    [
        "quick",
        "mechanisms",
        "paper_small",
        "paper_tenth",
        "training_length",
        "solved",
        "compact_ablation",
        "lookup_cpu",
        "images",
    ],
)
def test_readmes_of_the_reference_are_current(name: str) -> None:
    folder = REFERENCE / name
    assert folder_summary(folder) == (folder / README).read_text(encoding="utf-8")


def test_external_results_that_a_study_has_are_not_read_again(
    folder: Path,
) -> None:
    Path("theirs.csv").write_text("dataset,method,fold,rmse\nyacht,theirs,0,1\n")
    study = {"external_results": ["theirs.csv"]}
    config = {"folds": 0, "datasets": ["yacht"], "methods": ["knn"], "studies": {"main": study}}
    made = plan(**config)
    finish_all(made)
    write_study(Path("main.csv"), collect(made.studies["main"], made), "main")
    rows = stored_study(folder, "main", read({"preset": "toy", **config}))
    assert rows["method"].tolist() == ["knn", "theirs"]
    assert (rows["status"] == "ok").all()


def test_every_reference_has_a_readme() -> None:
    for path in REFERENCE.glob(f"*/{CONFIG}"):
        assert path.with_name(README).exists(), path


def test_a_folder_without_configuration_is_refused() -> None:
    with pytest.raises(UserError, match=CONFIG):
        folder_summary(REFERENCE / "defaults")
