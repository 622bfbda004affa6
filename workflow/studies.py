"""Kinds of studies: what each one asks of its runs and shows of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from npt.probes.options import AttentionOptions, DeletionOptions, DoseOptions, LookupOptions, NoOptions

Kind = Literal["benchmark", "ablation", "corruption", "dose_response", "deletion", "attention", "lookup"]


@dataclass(frozen=True)
class StudyKind:
    """`probe` is the question asked of trained models, None if the runs themselves are the answer, with its `options`.

    One that `needs_weights` is put to the weights of an NPT; others also to methods that are fitted again as they were chosen.
    """

    probe: str | None
    tables: tuple[str, ...]
    figures: tuple[str, ...]
    options: type = NoOptions
    needs_weights: bool = True


KINDS: dict[str, StudyKind] = {
    "benchmark": StudyKind(None, ("ranks", "metrics", "cost"), ("ranks", "metrics")),
    "ablation": StudyKind(None, ("ablation", "validation_ranks", "cost"), ("ablation",)),
    "corruption": StudyKind("corruption", ("corruption",), ("corruption",), needs_weights=False),
    "dose_response": StudyKind("dose_response", ("dose_response",), ("dose_response",), DoseOptions, needs_weights=False),
    "deletion": StudyKind("deletion", ("deletion",), ("deletion",), DeletionOptions),
    "attention": StudyKind("attention", ("attention",), ("attention",), AttentionOptions),
    "lookup": StudyKind("lookup", ("lookup",), ("intervention",), LookupOptions),
}
