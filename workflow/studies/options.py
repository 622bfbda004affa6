"""What can be chosen about a question, for those that leave a choice; imports nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass, field

from npt.interface import UserError
from npt.perturbation import Perturbation


@dataclass(frozen=True)
class NoOptions:
    """A question without scoring."""


@dataclass(frozen=True)
class LookupOptions:
    """`compare_with` are baselines that are fitted to the duplicates that show their targets, and asked for the originals."""

    compare_with: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class DoseOptions:
    """Shares of the other rows that are shuffled, and that are deleted; 0, the prediction as it is, comes first in both."""

    shuffle: list[float] = field(default_factory=lambda: [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0])
    delete: list[float] = field(default_factory=lambda: [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99])

    def __post_init__(self) -> None:
        for kind, shares in (("shuffle", self.shuffle), ("delete", self.delete)):
            if shares[:1] != [0.0] or sorted(set(shares)) != shares:
                raise UserError(f"{kind}: {shares} are not ascending shares that begin with 0")
            for share in shares:
                Perturbation(kind, share)  # type: ignore[arg-type]


@dataclass(frozen=True)
class DeletionOptions:
    """Constants of Algorithm 2; the defaults are the standard run's, the strict one's are 0.005 and 0.01 for first and last.

    A deletion is accepted below `tolerance`, which grows by `growth` after `retries` refusals in succession; the search ends
    when it would accept a change beyond `limit`, or when fewer than the share `left` of the rows remain.
    """

    tolerance: float = 0.01
    limit: float = 0.1
    growth: float = 1.1
    retries: int = 50
    left: float = 0.02

    def __post_init__(self) -> None:
        if not 0 < self.tolerance <= self.limit:
            raise UserError(
                f"tolerance: {self.tolerance} is outside 0 to the limit of {self.limit}"
            )
        if not self.growth > 1 or self.retries < 1:
            raise UserError(
                f"growth: {self.growth} with retries {self.retries}; it must be above 1, and retries at least 1"
            )
        if not 0 < self.left < 1:
            raise UserError(f"left: {self.left} is outside 0 to 1")


@dataclass(frozen=True)
class AttentionOptions:
    """`bins` of other rows, from near to far, that a head's map has."""

    bins: int = 20

    def __post_init__(self) -> None:
        if not 2 <= self.bins <= 200:
            raise UserError(f"bins: {self.bins} is outside 2 to 200")
