"""Requirements of rows of probes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from npt.errors import UserError
from npt.table import Split
from tests.rows import plan, prepared, row
from workflow.results.requirements import require_query

SPLIT = Split(0, np.array([0]), np.array([1]), np.array([2, 3]))


@pytest.mark.parametrize(("limit", "planned_rows"), [(None, 2), (1, 1), (5, 2)])
def test_probe_has_the_planned_number_of_rows(limit: int | None, planned_rows: int) -> None:
    study = plan().studies["corruption"].model_copy(update={"max_test_rows": limit})
    dataset = replace(prepared(), splits={0: SPLIT})
    path = Path("rows.jsonl")
    require_query(row(options=study.options, rows=planned_rows), study, dataset, path)
    with pytest.raises(UserError, match="rows: "):
        other = row(options=study.options, rows=planned_rows + 1)
        require_query(other, study, dataset, path)
