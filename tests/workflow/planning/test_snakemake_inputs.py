"""What the rules bind."""

import os
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from baselines import methods
from tests import rows
from workflow.config.reading import read_file
from workflow.planning.plan import Plan
from workflow.planning.snakemake_inputs import Jobs, methods_of

ROOT = Path(__file__).parents[3]


class Wildcards(dict[str, str]):
    """Snakemake's wildcards: items that are attributes too."""

    __getattr__ = dict.__getitem__


def jobs(**changes: Any) -> Jobs:
    content = {"folds": 0, "datasets": ["yacht"], "methods": ["npt", "knn"]}
    return Jobs(rows.plan(**{**content, "studies": {"main": {}}, **changes}))


def shipped(path: str) -> Jobs:
    return Jobs(Plan.from_config(read_file(ROOT / path)))


def run(dataset: str, method: str, folds: str = "0", variant: str = "base") -> Wildcards:
    return Wildcards(dataset=dataset, method=method, variant=variant, seed="0", folds=folds)


def test_every_method_has_one_rule() -> None:
    patterns = [methods_of(rule) for rule in ("train", "fit", "fit_accelerated")]
    names = "|".join(patterns).split("|")
    assert sorted(names) == sorted(methods())
    accelerated = {"xgboost", "catboost", "tabnet", "deep_kernel_learning"}
    accelerated |= {"anp", "modern_nca", "npt_solved", "realmlp", "tabm", "tabr"}
    assert accelerated <= set(patterns[2].split("|"))


def test_a_target_that_is_not_planned_is_one_line() -> None:
    with pytest.raises(SystemExit, match=r"error: target: .* did you mean 'yacht/knn/base/seed_0"):
        jobs().fingerprint(run("yacht", "knn", folds="7"))


def test_study_is_collected_again_when_its_rows_change() -> None:
    main = Wildcards(study="main")
    base = jobs().contents(main)
    changes: list[dict[str, Any]] = [
        {"folds": "0-1"},
        {"methods": ["knn", "npt"]},
        {"settings": {"knn": {"grid": "quick"}}},
    ]
    for change in changes:
        assert jobs(**change).contents(main) != base
    assert jobs(preset="other", metrics={"regression": "mse"}).contents(main) == base


def test_external_csv_is_an_input(tmp_path: Path) -> None:
    file = tmp_path / "others.csv"
    file.touch()
    made = jobs(studies={"main": {"external_results": str(file)}})
    main = Wildcards(study="main")
    assert file in made.study_files(main)
    assert made.contents(main) != jobs().contents(main)


def test_the_content_of_a_custom_file_counts(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    mine = {"path": str(file), "target": "y", "task": "regression"}

    def fingerprint(content: str, time: int) -> str:
        file.write_text(content)
        os.utime(file, (time, time))
        made = jobs(custom_datasets={"mine": mine}, datasets=["mine", "yacht"])
        return made.dataset_fingerprint(Wildcards(dataset="mine"))

    original = fingerprint("x,y\n1,2\n", 10)
    assert fingerprint("x,y\n1,2\n", 20) == original
    assert fingerprint("x,y\n1,3\n", 0) != original


def test_large_custom_tables_have_minibatches(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    mine = {"path": str(file), "target": "y", "task": "regression"}
    for length, batch_rows in ((90, None), (20_000, 4096)):
        file.write_text("x,y\n" + "1.5,2.5\n" * length)
        made = jobs(custom_datasets={"mine": mine}, datasets=["mine"], methods=["npt"])
        (npt,) = made.plan.runs.values()
        assert npt.settings["batch_rows"] == batch_rows


def test_page_follows_preset_and_scoring() -> None:
    base = jobs()
    assert jobs(preset="other").page_contents != base.page_contents
    assert jobs(ranking="paper").page_contents != base.page_contents
    assert jobs(ranking="paper").scoring != base.scoring
    assert jobs(settings={"knn": {"grid": "quick"}}).page_contents == base.page_contents


def test_probe_is_repeated_when_its_options_change() -> None:
    def fingerprint(**keys: Any) -> str:
        settings = keys.pop("settings", {})
        study = {"kind": "deletion", "methods": ["npt"], **keys}
        made = jobs(studies={"probe": study}, settings=settings)
        return made.probe_fingerprint(Wildcards(run("yacht", "npt")))

    assert fingerprint() == fingerprint()
    assert fingerprint(max_test_rows=3) != fingerprint()
    assert fingerprint(options={"retries": 5}) != fingerprint()
    assert fingerprint(settings={"npt": {"updates": 7}}) != fingerprint()
    assert fingerprint(kind="attention") != fingerprint(kind="corruption")


def test_probe_is_repeated_when_its_folds_change() -> None:
    def fingerprint(folds: str) -> str:
        studies = {"main": {}, "probe": {"kind": "corruption", "methods": ["knn"], "folds": folds}}
        made = jobs(folds="0-2", studies=studies)
        return made.probe_fingerprint(run("yacht", "knn", "0-2"))

    assert len({fingerprint(folds) for folds in ("0", "0-1", "0-2", "0-2")}) == 3


def test_memory_grows_with_the_table_and_the_attempt() -> None:
    paper = shipped("workflow/configs/paper.yaml")
    for method in ("npt", "knn"):
        small = paper.memory(run("yacht", method), 1)
        assert paper.memory(run("yacht", method), 3) == 4 * small
        assert paper.memory(run("higgs", method), 1) > 10 * small
    higgs = Wildcards(dataset="higgs")
    assert paper.memory(higgs, 2) == 2 * paper.memory(higgs, 1)


@pytest.mark.parametrize("folder", ["quick", "row_models"])
def test_memory_covers_the_measured_peak(folder: str) -> None:
    made = shipped(f"results/reference/{folder}/config.yaml")
    peaks = pd.read_csv(ROOT / f"results/reference/{folder}/main.csv")
    for row in peaks.dropna(subset="peak_memory_mb").itertuples():
        wildcards = run(str(row.dataset), str(row.method), str(row.fold), str(row.variant))
        peak = float(row.peak_memory_mb)  # type: ignore[arg-type]
        assert peak < made.memory(wildcards, 1), row.method
