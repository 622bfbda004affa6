"""Walk a package and collect the declarations of its modules."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType
from typing import Any

from npt.interface import UserError


def declarations(package: ModuleType, attribute: str) -> dict[str, Any]:
    """Every module-level `attribute` in the modules of `package`, by its `name`.

    Raises:
        UserError: a declaration is named unlike its file, so two could claim one name.
    """
    found: dict[str, Any] = {}
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda info: info.name):
        declaration = getattr(
            importlib.import_module(f"{package.__name__}.{info.name}"), attribute, None
        )
        if declaration is None:
            continue
        if declaration.name != info.name:
            raise UserError(
                f"{package.__name__}/{info.name}.py declares {declaration.name!r}; the name must be the file's"
            )
        found[declaration.name] = declaration
    return found
