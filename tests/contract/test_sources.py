"""Every module of `baselines` that a method imports is one of its sources."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import npt
from baselines import baselines, methods

ROOT = Path(npt.__file__).parents[1]
REGISTRY = {"baselines/__init__.py"}  # lists the methods, and determines no result


def imported_files(file: str) -> set[str]:
    """Files of `baselines` that a file imports, with those that they import."""
    files: set[str] = set()
    waiting = [file]
    while waiting:
        current = waiting.pop()
        if current in files:
            continue
        files.add(current)
        tree = ast.parse((ROOT / current).read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            waiting += _files_of(node)
    return files


def _files_of(node: ast.AST) -> list[str]:
    if not isinstance(node, ast.ImportFrom) or not node.module:
        return []
    package, _, module = node.module.partition(".")
    if package != "baselines":
        return []
    names = [module.replace(".", "/")] if module else [alias.name for alias in node.names]
    files = [f"baselines/{name}.py" for name in names]
    return [file for file in files if (ROOT / file).exists()]


@pytest.mark.parametrize("name", baselines())
def test_sources_have_all_imports(name: str) -> None:
    imported = imported_files(f"baselines/{name}.py") | imported_files("baselines/tuned.py")
    assert imported - REGISTRY <= set(methods()[name].sources)
