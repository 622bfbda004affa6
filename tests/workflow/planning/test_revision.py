"""Revisions of the code, and results of other revisions."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from baselines import methods
from npt.provenance import ROOT
from workflow.config.reading import read
from workflow.planning import outdated, paths
from workflow.planning.outdated import outdated_folders
from workflow.planning.plan import Plan
from workflow.planning.revision import FITTING, METRICS, probe_sources, revision
from workflow.studies import kinds

# Modules that are imported by those that determine rows, and that determine none themselves.
INDEPENDENT = (
    "npt/atomic.py",
    "npt/data/store.py",
    *METRICS,  # rows name them apart
    "npt/nn/device.py",
    "npt/validation.py",
    "npt/workload.py",
    "baselines/grids.py",  # this and the next are sources where `compare_with` names baselines
    "baselines/lookup_task.py",
    "workflow/config/",
    "workflow/planning/",
    "workflow/report/",
    "workflow/results/predictions.py",
    "workflow/results/row",
)
CONFIG = {"folds": 0, "datasets": ["yacht"], "methods": ["knn"]}


def test_sources_of_methods_exist() -> None:
    for method in methods().values():
        for source in method.sources:
            assert (ROOT / source).exists(), (method.name, source)


@pytest.mark.parametrize("kind", [name for name, kind in kinds().items() if kind.probes])
def test_probe_sources_are_those_of_the_kind(kind: str) -> None:
    sources = probe_sources(kind)
    assert f"workflow/studies/{kind}/probe.py" in sources
    assert f"workflow/studies/{kind}/tables.py" not in sources
    assert "npt/metrics.py" in sources
    assert all((ROOT / source).exists() for source in sources)


def test_lookup_depends_on_the_compared_baselines() -> None:
    kind = kinds()["lookup"]
    alone = kind.sources(kind.options())
    compared = kind.sources(kind.options(compare_with=["mlp"]))
    assert alone == ()
    assert {"baselines/lookup_task.py", "baselines/mlp.py"} <= set(compared)
    assert all((ROOT / source).exists() for source in compared)


def modules_of(source: str) -> set[str]:
    """Modules of a file or folder."""
    path = ROOT / source
    files = path.rglob("*.py") if path.is_dir() else [path]
    return {file.relative_to(ROOT).as_posix() for file in files}


def imports_of(module: str) -> set[str]:
    """Modules of this project that a module imports by `from package.module import name`."""
    tree = ast.parse((ROOT / module).read_text(encoding="utf-8"))
    imported: set[str] = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or not node.module:
            continue
        package = node.module.replace(".", "/")
        names = [package, *(f"{package}/{alias.name}" for alias in node.names)]
        imported.update(f"{name}.py" for name in names)
    return {file for file in imported if (ROOT / file).exists()}


def missing_sources(sources: Iterable[str]) -> set[str]:
    """Modules that sources import, which are neither sources nor independent."""
    modules = set().union(*map(modules_of, sources))
    imported = set().union(*map(imports_of, modules))
    return {module for module in imported - modules if not module.startswith(INDEPENDENT)}


@pytest.mark.parametrize("method", methods())
def test_imports_of_sources_are_sources(method: str) -> None:
    assert missing_sources((*methods()[method].sources, *FITTING)) == set()


@pytest.mark.parametrize("kind", [name for name, kind in kinds().items() if kind.probes])
def test_imports_of_probe_sources_are_sources(kind: str) -> None:
    further = kinds()[kind].sources(kinds()[kind].options())
    method = next(method for method in methods().values() if kinds()[kind].accepts(method))
    sources = (*method.sources, *FITTING, *probe_sources(kind, further))
    assert missing_sources(sources) == set()


def test_revision_depends_on_the_sources() -> None:
    knn = methods()["knn"]
    assert revision(knn) != revision(methods()["npt"])
    assert revision(knn) != revision(knn, probe_sources("corruption"))


def test_results_of_other_revisions_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    probe = {"kind": "corruption"}
    plan = Plan.of(read({**CONFIG, "studies": {"main": {}, "probe": probe}}))
    (stem,) = plan.runs
    assert outdated_folders(plan) == []
    knn = methods()["knn"]
    revisions = {
        paths.run_rows(stem): revision(knn),
        paths.probe_rows("probe", stem): revision(knn, probe_sources("corruption")),
    }
    for path, current in revisions.items():
        Path(path).parent.mkdir(parents=True)
        Path(path).write_text(json.dumps({"revision": current}) + "\n")
    assert outdated_folders(plan) == []
    for path in revisions:
        Path(path).write_text('{"revision": "0"}\n')
    assert outdated_folders(plan) == ["results/runs/*/knn", "results/probes/probe/*/knn"]
    for path in revisions:
        Path(path).write_text("not JSON")
    assert outdated_folders(plan) == []


def test_some_of_many_results_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    plan = Plan.of(read({**CONFIG, "seeds": "0-349", "studies": {"main": {}}}))
    for stem in plan.runs:
        path = Path(paths.run_rows(stem))
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"revision": revision(methods()["knn"])}) + "\n")
    read_files: list[Path] = []
    revision_of = outdated._revision_of

    def recorded(path: Path) -> str:
        read_files.append(path)
        return revision_of(path)

    monkeypatch.setattr(outdated, "_revision_of", recorded)
    assert outdated_folders(plan) == []
    assert outdated.MOST_READ / 2 < len(set(read_files)) <= outdated.MOST_READ
    read_files[-1].write_text('{"revision": "0"}\n')
    assert outdated_folders(plan) == ["results/runs/*/knn"]
