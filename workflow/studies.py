"""Kinds of studies: what each one asks of its runs and shows of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["benchmark", "corruption", "lookup"]


@dataclass(frozen=True)
class StudyKind:
    """`probe` is the question asked of trained models, None if the runs themselves are the answer."""

    probe: str | None
    tables: tuple[str, ...]
    figures: tuple[str, ...]


KINDS: dict[str, StudyKind] = {
    "benchmark": StudyKind(None, ("ranks", "metrics", "cost"), ("ranks", "metrics")),
    "corruption": StudyKind("corruption", ("corruption",), ("corruption",)),
    "lookup": StudyKind("lookup", ("lookup",), ("intervention",)),
}
