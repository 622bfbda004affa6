"""Certificates: how far can one row move another's prediction, and how tight is the bound?

Attention by tied distances has a Lipschitz constant (Kim, Papamakarios and Mnih 2021), so that a
network without LayerNorm, or with its centring alone, has a certificate: no change of the visible
cells of one row within the range of their columns moves another's prediction further. It is
compared with the largest movement that a search finds, and with the mean one under corruption.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from npt.method import Method
from workflow.results.row import LINEAR
from workflow.studies.study_kind import Options, StudyKind


class CertificatesOptions(Options):
    """Size of the search.

    Attributes:
        rows: Other rows that are changed, one at a time, of each probed row: those with the
            largest gradients.
        steps: Steps of an ascent.
    """

    rows: int = Field(default=2, ge=1, le=1000)
    steps: int = Field(default=12, ge=1, le=10_000)


class Certificates(StudyKind):
    """A kind for NPT, whose gradients and bounds it takes."""

    def accepts(self, method: Method) -> bool:
        """NPT alone."""
        return method.name == "npt"

    def refuse(self, settings: Mapping[str, Any], options: Any) -> str | None:
        """Refuses the lookup task and encoded images."""
        encoder = settings.get("encoder", LINEAR)
        if encoder != LINEAR:
            return f"encoder {encoder} has no bound; allowed: {LINEAR}"
        return super().refuse(settings, options)


KIND = Certificates(
    name="certificates",
    title="How far can one row move another's prediction?",
    order=10,
    options=CertificatesOptions,
    probes=True,
    refuses_lookup=True,
)
