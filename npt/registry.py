"""Collect the declarations of a package's modules."""

from __future__ import annotations

import importlib
import pkgutil
import sys
import traceback
from pathlib import Path
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
        try:
            module = importlib.import_module(f"{package}.{name}")
        except UserError:
            raise
        except Exception as error:  # any error of the file
            frames = traceback.extract_tb(error.__traceback__)
            lines = [frame.lineno for frame in frames if Path(frame.filename).stem == name]
            where = "".join(f" in line {line}" for line in lines[-1:])  # none if it has no syntax
            kind = type(error).__name__
            raise UserError(f"{package}/{name}.py: {kind}{where}: {error}") from error
        declaration = getattr(module, attribute, None)
        if declaration is None:
            continue
        if declaration.name != name:
            raise UserError(
                f"{package}/{name}.py: declares {declaration.name!r}; "
                "the name must be that of the file"
            )
        by_name[name] = declaration
    return by_name
