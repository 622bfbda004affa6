"""Before and after a run of Snakemake."""

import json
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from snakemake.cli import parse_config
from snakemake.scheduling.job_scheduler import JobRateLimiter
from snakemake.settings.types import ConfigSettings, MaxJobsPerTimespan

from npt.errors import Infeasible, UserError
from workflow.config.reading import parse
from workflow.planning import kept, paths
from workflow.runtime import hooks
from workflow.runtime.command import execute

CONFIG = {"folds": 0, "datasets": ["yacht"], "methods": ["knn"], "studies": {"main": {}}}


def snakemake(
    *, dry_run: bool = True, is_main_process: bool = True, files: Iterable[str] = (), **changes: Any
) -> Any:
    quiet = dict.fromkeys(("quiet", "verbose", "printshellcmds", "debug_dag"), False)
    entries = [f"{name}={value}" for name, value in changes.items()]
    return SimpleNamespace(
        overwrite_configfiles=files,
        config_settings=ConfigSettings(config=parse_config(entries), config_args=entries),
        is_main_process=is_main_process,
        output_settings=SimpleNamespace(dryrun=dry_run, **quiet),
        local_exec=False,
        scheduler=SimpleNamespace(job_rate_limiter=JobRateLimiter(MaxJobsPerTimespan(100))),
    )


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("config.yaml").write_text(json.dumps(CONFIG))
    monkeypatch.setattr("logging.raiseExceptions", True)


def test_a_job_of_a_cluster_has_the_plan_of_its_run() -> None:
    """Whatever was edited since the run began."""
    paths.RESULTS.mkdir()
    config: dict[str, Any] = {}
    begun = hooks.plan_jobs(config, snakemake())
    assert not paths.PLAN.exists()
    hooks.started(begun, config, snakemake(dry_run=False))
    edited = {**CONFIG, "methods": ["linear"], "folds": "no number"}
    job = hooks.plan_jobs(edited, snakemake(dry_run=False, is_main_process=False))
    assert job.plan == begun.plan
    assert parse(paths.CONFIG) == CONFIG
    kept.keep_config({"target": "1e5"})
    assert parse(paths.CONFIG) == {"target": "1e5"}


def test_nested_values_of_the_command_line_have_types() -> None:
    """Snakemake reads them as text, and takes quotes away."""
    changes = {
        "settings": "{knn: {grid: {n_neighbors: [2, 5]}}}",
        "custom_datasets": '{t: {path: t.csv, target: "1e5", task: regression, openml: 31}}',
    }
    config: dict[str, Any] = {}
    with pytest.raises(SystemExit, match=r"custom_datasets\.t"):
        hooks.plan_jobs(config, snakemake(**changes))
    assert config["settings"] == {"knn": {"grid": {"n_neighbors": [2, 5]}}}
    assert config["custom_datasets"]["t"]["target"] == "1e5"
    assert config["custom_datasets"]["t"]["openml"] == 31
    twice = snakemake(settings="{knn: {}, knn: {}}")
    with pytest.raises(SystemExit, match="settings: line 1: duplicate key 'knn'"):
        hooks.plan_jobs({}, twice)
    with pytest.raises(SystemExit, match="settings: not YAML"):
        hooks.plan_jobs({}, snakemake(settings="{knn: 2020-13-45}"))


def test_changes_without_records_of_snakemake_are_a_warning(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """As where `results` was copied alone: nothing would be made again."""
    paths.RESULTS.mkdir()
    kept.keep(hooks.plan_jobs({}, snakemake()).plan)
    hooks.plan_jobs({}, snakemake(methods=["linear"]))
    assert not capsys.readouterr().err  # nothing is made yet
    prepared = paths.prepared("yacht")
    prepared.parent.mkdir()
    prepared.touch()
    hooks.plan_jobs({}, snakemake())
    assert not capsys.readouterr().err
    hooks.plan_jobs({}, snakemake(methods=["linear"]))
    assert "--forcerun prepare" in capsys.readouterr().err
    records = Path(".snakemake/metadata")
    records.mkdir(parents=True)
    (records / "a").touch()
    hooks.plan_jobs({}, snakemake(methods=["linear"]))
    assert not capsys.readouterr().err


@pytest.mark.parametrize("program", [["snakemake"], ["snakemake", "--no-hooks"]])
def test_plan_is_kept_early_without_hooks(
    program: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    paths.RESULTS.mkdir()
    monkeypatch.setattr("sys.argv", program)
    hooks.plan_jobs({}, snakemake(dry_run=False))
    assert paths.PLAN.exists() == ("--no-hooks" in program)


@pytest.mark.parametrize("files", [(), ("mine.yaml",)])
def test_files_are_below_the_command_line(files: tuple[str, ...]) -> None:
    Path("mine.yaml").write_text(json.dumps({**CONFIG, "folds": 1}))
    config: dict[str, Any] = {"folds": 2}  # of the importing workflow
    made = hooks.plan_jobs(config, snakemake(files=files, folds="0,2"))
    assert config == {**CONFIG, "folds": "0,2"}
    assert [run.folds for run in made.plan.runs.values()] == [(0, 2)]


@pytest.mark.parametrize(
    ("content", "key"),
    [
        (None, "config.yaml: "),
        ("folds: 0\nfolds: 1\n", "config.yaml: "),
        (json.dumps({**CONFIG, "folds": "x"}), "folds"),
    ],
)
def test_wrong_configuration_ends_in_one_line(content: str | None, key: str) -> None:
    Path("config.yaml").unlink()
    if content is not None:
        Path("config.yaml").write_text(content)
    with pytest.raises(SystemExit) as error:
        hooks.plan_jobs({}, snakemake())
    assert str(error.value).startswith(f"error: {key}")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UserError("folds: x"), "error: folds: x"),
        (Infeasible("out of memory on cpu"), "error: out of memory on cpu"),
        (MemoryError(), "error: out of memory"),
        (OSError(28, "No space left", "results/x"), "error: results/x: No space left"),
        (KeyboardInterrupt(), 130),
    ],
)
def test_step_ends_in_one_line(error: BaseException, code: int | str) -> None:
    def main() -> None:
        raise error

    with pytest.raises(SystemExit) as ended:
        execute(main)
    assert ended.value.code == code
