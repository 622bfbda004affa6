"""Kinds of studies, one folder each."""

from __future__ import annotations

import pkgutil
from functools import cache

from npt.registry import declared
from workflow.studies.study_kind import StudyKind


@cache
def kinds() -> dict[str, StudyKind]:
    """Every study kind by name, in their order.

    Raises:
        UserError: A kind cannot be imported, or its name is not that of its folder.
    """
    found = []
    for folder in pkgutil.iter_modules(__path__):
        if folder.ispkg:
            found.append(declared(f"{__name__}.{folder.name}", "KIND"))
    found.sort(key=lambda kind: (kind.order, kind.name))
    return {kind.name: kind for kind in found}
