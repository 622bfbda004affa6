"""Kinds of studies, one folder each."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from workflow.studies.study_kind import StudyKind


@cache
def kinds() -> dict[str, StudyKind]:
    """Every study kind by name, in their order."""
    declared: list[StudyKind] = []
    for folder in pkgutil.iter_modules(__path__):
        if folder.ispkg:
            declared.append(importlib.import_module(f"{__name__}.{folder.name}").KIND)
    declared.sort(key=lambda kind: (kind.order, kind.name))
    return {kind.name: kind for kind in declared}
