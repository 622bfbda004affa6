"""Revision of the code that determines a result: a hash of source files."""

from __future__ import annotations

from collections.abc import Sequence

from npt.interface import Method
from npt.provenance import ROOT, hash_of_files

# What all rows depend on.
FITTING = ("workflow/results/fitting.py", "workflow/results/job.py")
# What computes metrics. Rows of runs name it besides their revision, as it does not train.
METRICS = ("npt/metrics.py", "npt/likelihood.py")
# What all probes depend on.
PROBING = (
    *METRICS,
    "workflow/results/best_trials.py",
    "workflow/studies/probing.py",
    "workflow/studies/query.py",
    "workflow/studies/study_kind.py",
)
# Modules of a study kind that only declare or show; options are in the rows.
NOT_PROBING = (
    "__init__.py",
    "by_fold.py",
    "effects.py",
    "figures.py",
    "summary.py",
    "tables.py",
)


def revision(method: Method, sources: Sequence[str] = ()) -> str:
    """Sixteen hex digits over the sources of a method, its fitting, and further files.

    The declarations of datasets are left out, since rows carry the hash of their table.
    """
    return hash_of_files((*method.sources, *FITTING, *sources))


def metrics_revision() -> str:
    """Sixteen hex digits over the code that computes metrics."""
    return hash_of_files(METRICS)


def probe_sources(kind: str, further: Sequence[str] = ()) -> tuple[str, ...]:
    """Files that determine the rows of a probe, besides those of the method.

    Args:
        further: Those that the kind names for its options.
    """
    folder = f"workflow/studies/{kind}"
    names = sorted(file.name for file in (ROOT / folder).glob("*.py"))
    probing = [f"{folder}/{name}" for name in names if name not in NOT_PROBING]
    return (*PROBING, *probing, *further)
