"""A run: what one job of the workflow trains or fits."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workflow.config.folds import format_folds


@dataclass(frozen=True)
class Run:
    """One job: a method's variant on a block of folds of a dataset. `settings` are resolved, `data` is the fingerprint of the
    dataset."""

    dataset: str
    method: str
    variant: str
    folds: tuple[int, ...]
    settings: Mapping[str, Any]
    data: str

    @property
    def name(self) -> str:
        """dataset/method/variant, under which its rows are expected."""
        return f"{self.dataset}/{self.method}/{self.variant}"

    @property
    def stem(self) -> str:
        """dataset/method/variant/folds, the run's identity in paths."""
        return f"{self.name}/{format_folds(self.folds)}"

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits over everything in the configuration that determines the run's rows."""
        facts = [self.dataset, self.data, self.method, self.settings]
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]
