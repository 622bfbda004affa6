"""Kinds of studies, one folder each."""

from __future__ import annotations

import pkgutil
from functools import cache

from npt.errors import UserError
from npt.registry import imported
from workflow.studies.study_kind import StudyKind


@cache
def kinds() -> dict[str, StudyKind]:
    """Every study kind by name, in their order.

    Raises:
        UserError: The name of a kind is not that of its folder.
    """
    declared: list[StudyKind] = []
    for folder in pkgutil.iter_modules(__path__):
        if folder.ispkg:
            kind = imported(f"{__name__}.{folder.name}").KIND
            if kind.name != folder.name:
                raise UserError(
                    f"workflow/studies/{folder.name}: declares {kind.name!r}; the name must be "
                    "that of the folder"
                )
            declared.append(kind)
    declared.sort(key=lambda kind: (kind.order, kind.name))
    return {kind.name: kind for kind in declared}
