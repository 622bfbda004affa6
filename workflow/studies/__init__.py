"""Kinds of studies, one folder each."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from workflow.studies.study_kind import StudyKind


@cache
def kinds() -> dict[str, StudyKind]:
    """Every study kind by name, in their order.

    Raises:
        ValueError: a kind has another name than its folder.
    """
    declared: list[StudyKind] = []
    for folder in pkgutil.iter_modules(__path__):
        if not folder.ispkg:
            continue
        package = importlib.import_module(f"{__name__}.{folder.name}")
        kind = getattr(package, "KIND", None)
        if kind is None:
            continue
        if kind.name != folder.name:
            raise ValueError(f"{package.__name__} declares the kind {kind.name!r}")
        declared.append(kind)
    declared.sort(key=lambda kind: (kind.order, kind.name))
    return {kind.name: kind for kind in declared}
