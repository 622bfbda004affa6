"""What a study consists of."""

from __future__ import annotations

from typing import Any

from baselines import methods
from npt.validation import Strict
from workflow.config.fields import BASE
from workflow.studies import kinds


class PlannedStudy(Strict):
    """Runs and rows of a study.

    Attributes:
        options: Those of the study kind, as plain values.
        max_test_rows: Limit of the probed test rows of a fold; None probes all.
        runs: Stems of its runs in the configuration's order, with the folds that it uses. Each
            fold is a row.
        external_results: Csv files with rows of other methods.
    """

    name: str
    kind: str
    datasets: tuple[str, ...]
    options: dict[str, Any]
    max_test_rows: int | None
    runs: dict[str, tuple[int, ...]]
    external_results: tuple[str, ...] = ()

    def is_probed(self, method: str, variant: str) -> bool:
        """Whether the rows of a variant of a method are those of a probe."""
        kind = kinds()[self.kind]
        if not kind.trains_variants:
            return kind.probes
        return kind.probes and variant == BASE and kind.can_probe(methods()[method])

    @property
    def number_of_rows(self) -> int:
        """Rows of its runs."""
        return sum(map(len, self.runs.values()))
