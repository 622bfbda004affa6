"""Packages import those that stand before them alone."""

import ast
from pathlib import Path

import pytest

from npt.provenance import ROOT

PACKAGES = ("npt", "baselines", "workflow", "performance", "tests")
OF_WORKFLOW = (
    "config",
    "planning",
    "results",
    "presentation",
    "studies",
    "report",
    "reproduction",
    "runtime",
    "steps",
    "table",
)


def imported(package: Path) -> set[str]:
    """Names of the modules that files of a package import."""
    names = set()
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_imports_no_later_one(package: str) -> None:
    later = PACKAGES[PACKAGES.index(package) + 1 :]
    assert {name.split(".")[0] for name in imported(ROOT / package)}.isdisjoint(later)


@pytest.mark.parametrize("package", OF_WORKFLOW)
def test_a_package_of_the_workflow_imports_no_later_one(package: str) -> None:
    later = set(OF_WORKFLOW[OF_WORKFLOW.index(package) + 1 :])
    if package == "config":
        later.remove("studies")  # which kinds there are
    names = imported(ROOT / "workflow" / package)
    inside = {name.split(".")[1] for name in names if name.startswith("workflow.")}
    assert inside.isdisjoint(later)


def test_every_package_of_the_workflow_has_its_place() -> None:
    found = {path.parent.name for path in (ROOT / "workflow").glob("*/__init__.py")}
    assert found == set(OF_WORKFLOW)
