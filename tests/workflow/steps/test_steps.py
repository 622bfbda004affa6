"""Steps on the kept plan, in this process."""

import fcntl
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Timer

import pytest

from npt.errors import UserError
from tests.rows import finish_all, plan
from tests.workflow.tables import DATASETS, write_random_table
from workflow.planning import paths
from workflow.planning.kept import keep
from workflow.planning.plan import Plan
from workflow.planning.run import Run
from workflow.runtime.command import lock_of
from workflow.steps import collect, estimate, probe, run, show
from workflow.steps import prepare as prepare_step

Call = Callable[..., None]
NPT = "yacht/npt/base/seed_0/folds_{}"


@pytest.fixture
def planned(folder: Path) -> Plan:
    """A kept plan of two studies with prepared datasets."""
    kept = plan()
    keep(kept)
    return kept


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch) -> Call:
    """Calls the main function of a step with arguments."""

    def call_main(main: Callable[[], None], *arguments: str) -> None:
        monkeypatch.setattr("sys.argv", ["step", *arguments])
        main()

    return call_main


def test_study_without_a_planned_row_is_not_shown(planned: Plan, call: Call) -> None:
    finish_all(planned)
    call(collect.main, "--study", "main")
    path = paths.collected("main")
    header, _, *lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([header.replace("crc32", "x"), *lines]))
    with pytest.raises(UserError, match=r"main\.csv: its rows are not those of the plan"):
        call(show.main, "--study", "main")


@pytest.mark.parametrize(
    ("step", "arguments"),
    [(collect, ("--study", "mian")), (show, ("--study", "mian")), (run, ("--run", NPT.format(7)))],
)
def test_unknown_name_is_refused_with_the_nearest(
    step: object, arguments: tuple[str, str], planned: Plan, call: Call
) -> None:
    with pytest.raises(UserError, match=f"{arguments[0]}: .* did you mean"):
        call(step.main, *arguments)  # type: ignore[attr-defined]
    with pytest.raises(SystemExit):
        call(run.main, "--run", NPT.format(0), "--threads", "0")


def test_probe_refuses_what_is_not_probed(planned: Plan, call: Call) -> None:
    with pytest.raises(UserError, match="--run: "):
        call(probe.main, "--run", "yacht/mlp/base/seed_0/folds_0-2")


def plan_of_constant() -> Plan:
    """A kept plan of a single run, of the random table."""
    made = plan(**DATASETS, methods=["constant"], studies={"main": {}})
    keep(made)
    return made


@pytest.fixture
def random_run(tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> Run:
    """That run, whose table is prepared."""
    monkeypatch.chdir(tmp_path)
    write_random_table()
    (planned_run,) = plan_of_constant().runs.values()
    call(prepare_step.main, "--dataset", "random")
    return planned_run


def test_of_two_processes_one_fits_and_the_other_waits(random_run: Run) -> None:
    """As when Snakemake was killed and started again while a search goes on."""
    command = [sys.executable, "-m", "workflow.steps.run", "--run", random_run.stem]
    both = [subprocess.Popen(command, text=True, stdout=subprocess.PIPE) for _ in range(2)]
    outputs = [process.communicate(timeout=120)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert sum("complete already" in output for output in outputs) == 1
    assert all(Path(file).exists() for file in random_run.files)


def test_a_table_that_changes_is_not_taken_for_the_planned_one(random_run: Run, call: Call) -> None:
    path = Path("random.csv")
    path.write_text(path.read_text() + path.read_text().splitlines()[-1])
    with pytest.raises(UserError, match="random: changed since the run began"):
        call(prepare_step.main, "--dataset", "random")
    plan_of_constant()  # with what was prepared from the former file
    with pytest.raises(UserError, match=r"random\.arrow: fingerprint: .*; remove it and run again"):
        call(run.main, "--run", random_run.stem)


def test_who_waits_for_another_process_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    lock = paths.run_lock("a/run")
    lock.parent.mkdir(parents=True)
    other = lock.open("w")
    fcntl.flock(other, fcntl.LOCK_EX)
    Timer(0.2, other.close).start()
    with lock_of("a/run"):
        assert other.closed
    with lock_of("a/run"):
        pass
    waiting = "waiting for another process that fits or probes a/run\n"
    assert capsys.readouterr().out == waiting


def test_estimate_counts_jobs_and_operations(
    tmp_path: Path, call: Call, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "config.yaml"
    config = {
        "folds": "0-2",
        "datasets": ["yacht"],
        "methods": ["npt", "knn"],
        "settings": {"npt": {"width": 4, "layers": 2, "heads": 2, "updates": 10}},
        "studies": {"main": {}, "corruption": {"kind": "corruption", "methods": ["npt"]}},
    }
    file.write_text(json.dumps(config))
    call(estimate.main, "--configfile", str(file))
    lines = [line.split("|")[1:-1] for line in capsys.readouterr().out.splitlines()]
    cells = {name.strip(): [cell.strip() for cell in rest] for name, *rest in lines}
    assert cells["npt"][:2] == ["3", "3"]
    assert float(cells["npt"][2]) > 0
    assert cells["knn"] == ["1", "", ""]
    assert cells["all"][:2] == ["4", "3"]
