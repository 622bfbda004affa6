"""Collect the declarations of a package's modules."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from typing import Any

from npt.errors import UserError


def declarations(package: str, attribute: str) -> dict[str, Any]:
    """Module-level `attribute` of every module of `package` that has one, by its `name`.

    Raises:
        UserError: The name of a declaration is not that of its file.
    """
    by_name: dict[str, Any] = {}
    modules = sorted(info.name for info in pkgutil.iter_modules(sys.modules[package].__path__))
    for name in modules:
        module = importlib.import_module(f"{package}.{name}")
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
