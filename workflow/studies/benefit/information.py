"""Sources of information that a prediction may depend on, and benefit from."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from workflow.studies.corruption.selection import EVERYTHING, Selection


@dataclass(frozen=True)
class Information:
    """A source of information.

    Attributes:
        twin: Name of the twins that are trained without it.
        permuted: Cells of the other rows whose permutation destroys it; None if it is in the row.
    """

    title: str
    twin: str
    permuted: Selection | None = None


OTHER_ROWS = Information("other rows", "without_datapoints", EVERYTHING)
LABELS = Information("labels of other rows", "without_labels", Selection("target", "all"))
ATTRIBUTES = Information("other features", "without_attributes")
KNOWN = (OTHER_ROWS, LABELS, ATTRIBUTES)
PERMUTED = tuple(source.permuted for source in KNOWN if source.permuted is not None)


def sources_of(twins: Collection[str]) -> list[Information]:
    """What a model is asked about: what is in other rows, and what its twins are without."""
    sources = {source.twin: source for source in KNOWN if source.permuted or source.twin in twins}
    for twin in twins:
        title = twin.removeprefix("without_").replace("_", " ")
        sources.setdefault(twin, Information(title, twin))
    return list(sources.values())
