"""Collect the declarations of a package's modules."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys
import traceback
from typing import Any

from npt.errors import UserError


def declarations(package: str, attribute: str) -> dict[str, Any]:
    """Module-level `attribute` of every module of `package` that has one, by its `name`.

    Raises:
        UserError: A module cannot be imported, or the name of its declaration is not that of its
            file.
    """
    by_name: dict[str, Any] = {}
    modules = sorted(info.name for info in pkgutil.iter_modules(sys.modules[package].__path__))
    for name in modules:
        declaration = declared(f"{package}.{name}", attribute)
        if declaration is not None:
            by_name[name] = declaration
    return by_name


def declared(module: str, attribute: str) -> Any:
    """Module-level `attribute` of a module; None if it has none.

    Raises:
        UserError: The module cannot be imported, or the name of the declaration is not that of its
            file or folder.
    """
    spec = importlib.util.find_spec(module)
    path = spec.origin if spec else module
    try:
        declaration = getattr(importlib.import_module(module), attribute, None)
    except UserError:
        raise
    except Exception as error:  # any error of the file
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == path]
        line = f" in line {lines[-1]}" if lines else ""  # the text of a syntax error has it
        raise UserError(f"{path}: {type(error).__name__}{line}: {error}") from error
    if declaration is not None and declaration.name != module.rpartition(".")[2]:
        raise UserError(
            f"{path}: declares {declaration.name!r}; the name must be that of the file or folder"
        )
    return declaration
