"""Instrument: do the probes find what is known about models whose answer is known?

k-NN needs exactly its k rows; a linear model and a constant need none; the weights of a Gaussian
process are its derivatives with respect to the stored targets; a constant has no skill to lose.
"""

from __future__ import annotations

from workflow.studies.study_kind import Options, StudyKind

KNOWN = ("constant", "linear", "knn", "gaussian_process")  # methods whose answer is known


class Instrument(StudyKind):
    """A kind for baselines whose answer is known."""

    def accepts(self, method: object) -> bool:
        """Whether the answer of a method is known."""
        return getattr(method, "name", "") in KNOWN

    def forward_passes(self, options: Options) -> None:
        """Of baselines only measurements know."""
        return None


KIND = Instrument(
    name="instrument",
    title="Does the instrument read true?",
    order=9,
    tables=("instrument",),
    figures=(),
    probes=True,
    only_task="regression",
)
