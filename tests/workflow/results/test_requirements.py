"""Requirements of rows of probes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from npt.table import Split
from tests.rows import plan, prepared, row
from workflow.results.requirements import planned_probe

SPLIT = Split(0, np.array([0]), np.array([1]), np.array([2, 3]))


@pytest.mark.parametrize(("limit", "planned_rows"), [(None, 2), (1, 1), (5, 2)])
def test_probe_has_the_planned_number_of_rows(limit: int | None, planned_rows: int) -> None:
    study = plan().studies["corruption"].model_copy(update={"max_test_rows": limit})
    dataset = replace(prepared(), splits={0: SPLIT})
    planned = planned_probe(row(), study, dataset)
    assert (planned["options"], planned["rows"]) == (study.options, planned_rows)
