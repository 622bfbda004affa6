"""Steps on the kept plan, in this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from npt.interface import UserError
from tests.rows import finish_all, plan, prepare
from workflow.planning import paths
from workflow.planning.kept import keep
from workflow.planning.plan import Plan
from workflow.results.study_file import read_study
from workflow.steps import collect, estimate, probe, run, show

Call = Callable[..., None]
NPT = "yacht/npt/base/seed_0/folds_{}"


@pytest.fixture
def planned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plan:
    """A kept plan of two studies with prepared datasets, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    prepare("yacht")
    prepare("wine")
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


def test_collect_writes_the_study(planned: Plan, call: Call) -> None:
    finish_all(planned)
    call(collect.main, "--study", "main")
    study = read_study(Path(paths.collected("main")))
    assert len(study) == 18
    assert {"test_rmse", "validation_accuracy"} <= set(study)


def test_collect_refuses_a_study_with_a_missing_row(planned: Plan, call: Call) -> None:
    finish_all(planned, NPT.format(1))
    with pytest.raises(UserError, match="yacht/npt/base seed 0 fold 1"):
        call(collect.main, "--study", "main")
    assert not Path(paths.collected("main")).exists()


@pytest.mark.parametrize(
    ("step", "arguments"),
    [
        (collect, ("--study", "mian")),
        (show, ("--study", "mian")),
        (run, ("--run", NPT.format(7))),
    ],
)
def test_unknown_name_is_refused_with_the_nearest(
    step: object, arguments: tuple[str, str], planned: Plan, call: Call
) -> None:
    with pytest.raises(UserError, match=f"{arguments[0]}: .* did you mean"):
        call(step.main, *arguments)  # type: ignore[attr-defined]


def test_probe_refuses_what_is_not_probed(planned: Plan, call: Call) -> None:
    with pytest.raises(UserError, match="--run: "):
        call(probe.main, "--run", "yacht/mlp/base/seed_0/folds_0-2")


def test_estimate_counts_jobs_and_operations(
    tmp_path: Path, call: Call, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "config.yaml"
    config = {
        "folds": "0-2",
        "datasets": ["yacht"],
        "methods": ["npt", "knn"],
        "settings": {"npt": {"width": 16, "layers": 2, "heads": 4, "updates": 10}},
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
