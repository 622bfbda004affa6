"""Kinds of studies: what each one asks of its runs and shows of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from workflow.studies.options import (
    AttentionOptions,
    DeletionOptions,
    DoseOptions,
    LookupOptions,
    NoOptions,
)

Kind = Literal[
    "benchmark", "ablation", "corruption", "dose_response", "deletion", "attention", "lookup"
]


@dataclass(frozen=True)
class StudyKind:
    """What a reader asks (`title`), and which tables and figures answer it.

    `probe` is the question put to trained models, None if the runs themselves are the answer, with its `options`. One that
    `needs_weights` is put to the weights of an NPT; others also to methods that are fitted again as they were chosen.
    """

    title: str
    probe: str | None
    tables: tuple[str, ...]
    figures: tuple[str, ...]
    options: type = NoOptions
    needs_weights: bool = True


TABLE_ENDINGS, FIGURE_ENDINGS = ("csv", "md", "tex", "html"), ("svg", "pdf", "png")
BENCHMARK_TABLES = ("ranks", "rank_tests", "metrics", "fold_tests", "published", "cost")
BENCHMARK_FIGURES = ("ranks", "critical_difference", "metrics", "cost")
LOSS = "What is lost when all other datapoints are corrupted?"
SHARE = "How much of the skill comes from other datapoints?"
PARTS = "What does each part of NPT contribute?"
NEEDED = "Which datapoints does a prediction need?"
KINDS: dict[str, StudyKind] = {
    "benchmark": StudyKind(
        "How good are the methods?",
        None,
        BENCHMARK_TABLES,
        BENCHMARK_FIGURES,
    ),
    "ablation": StudyKind(
        PARTS,
        None,
        ("ablation", "validation_ranks", "cost"),
        ("ablation",),
    ),
    "corruption": StudyKind(
        LOSS,
        "corruption",
        ("corruption",),
        ("corruption",),
        NoOptions,
        False,
    ),
    "dose_response": StudyKind(
        SHARE, "dose_response", ("dose_response",), ("dose_response",), DoseOptions, False
    ),
    "deletion": StudyKind(
        NEEDED,
        "deletion",
        ("deletion",),
        ("deletion",),
        DeletionOptions,
    ),
    "attention": StudyKind(
        "Whom do the heads look at?", "attention", ("attention",), ("attention",), AttentionOptions
    ),
    "lookup": StudyKind(
        "Can NPT look another row up?", "lookup", ("lookup",), ("intervention",), LookupOptions
    ),
}
