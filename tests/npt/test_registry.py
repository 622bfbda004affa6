"""Declarations of modules."""

import importlib
import sys
from pathlib import Path

import pytest

from npt.errors import UserError
from npt.registry import declarations


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("class D:\n    name = 'other'", "declares 'other'; the name must be that of the file"),
        ("\n1 / 0", "ZeroDivisionError in line 2: division by zero"),
        ("import nothing_here", "ModuleNotFoundError in line 1: No module named 'nothing_here'"),
        ("D = (", "SyntaxError: '(' was never closed"),
    ],
)
def test_a_wrong_file_is_named(
    content: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "declared"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "mine.py").write_text(content)
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("declared")
    try:
        with pytest.raises(UserError) as refusal:
            declarations("declared", "D")
    finally:
        for name in ("declared", "declared.mine"):
            sys.modules.pop(name, None)
    assert "declared/mine.py: " in str(refusal.value)
    assert message in str(refusal.value)
