"""Packages import those below them alone."""

import ast
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
ROOMS = ("npt", "baselines", "workflow")
FLOORS = (
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
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_no_later_one(room):
    later = ROOMS[ROOMS.index(room) + 1 :]

    roots = {name.split(".")[0] for name in imported(PROJECT / room)}

    assert roots.isdisjoint({*later, "performance", "tests"})


@pytest.mark.parametrize("floor", FLOORS)
def test_a_package_of_the_workflow_imports_no_higher_one(floor):
    higher = FLOORS[FLOORS.index(floor) + 1 :]
    if floor == "config":  # reads which kinds of studies there are
        higher = [name for name in higher if name != "studies"]

    names = imported(PROJECT / "workflow" / floor)

    assert not [name for name in names for above in higher if name.startswith(f"workflow.{above}.")]
