"""Tightness, derivatives and inversions of attention, and their tables and figures."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
import pytest
import torch

from npt.errors import UserError
from npt.nn.probe import NPTProbe
from tests.rows import failed, row, study_frame
from tests.workflow.report.toy import SCORING
from tests.workflow.studies.models import small_npt
from workflow.config.reading import read
from workflow.planning.plan import Plan
from workflow.studies import kinds
from workflow.studies.certificates.line import (
    bound,
    by_distance,
    by_product,
    derivative_at_zero,
    first_row_norm,
    inversion_errors,
    largest_norm,
)
from workflow.studies.certificates.probe import probe
from workflow.studies.certificates.tables import inversion_rows, tightness_rows
from workflow.studies.query import ProbeQuery
from workflow.studies.study_kind import Facts

KIND = kinds()["certificates"]
SMALL = {
    "measure": "bounds",
    "positions": [2, 8],
    "restarts": 3,
    "line_steps": 200,
    "iterations": 60,
}
FOUND = {2: 1.60, 8: 3.96, 16: 5.39}  # with six restarts, by another implementation


def test_the_row_norm_is_that_of_the_jacobian() -> None:
    x = torch.tensor([0.0, 1.5, -0.3, 2.0], dtype=torch.double)
    jacobian = torch.autograd.functional.jacobian(by_distance, x)
    assert isinstance(jacobian, torch.Tensor)
    expected = jacobian[0].abs().sum().item()
    assert first_row_norm(x[1:]).item() == pytest.approx(expected)


@pytest.mark.parametrize(("positions", "found"), FOUND.items())
def test_the_ascent_comes_as_near_to_the_bound_as_known(positions: int, found: float) -> None:
    largest = largest_norm(positions, restarts=12, steps=1500, seed=0)
    assert found - 0.02 <= largest <= bound(positions)


def test_dot_products_are_as_steep_as_their_formula() -> None:
    assert derivative_at_zero(by_product, 10.0) == pytest.approx(25.5)


def test_inversion_of_a_contraction_converges() -> None:
    x = torch.randn(5, dtype=torch.double)
    errors = inversion_errors(lambda values: 0.5 * values.sin(), x, 60)
    assert errors[0] > 0.1
    assert errors[-1] < 1e-12


def probed(**changes: Any) -> Facts:
    model, table, split = small_npt("regression", kernel="l2_tied", **changes)
    options = KIND.options.model_validate(SMALL)
    query = ProbeQuery(NPTProbe(model), table, split, split.test[:4], seed=0, options=options)
    facts, _ = probe(query)
    return facts


def test_a_trained_network_is_within_its_bounds_and_inverts() -> None:
    facts = probed()
    trained = facts["trained"]
    assert 0 < trained["found"] <= trained["bound_of_sample"] < trained["bound"]
    last = {}
    for inversion in facts["inversions"]["maps"]:
        last[inversion["attention"], inversion["c"]] = inversion["error"][-1]
    assert all(last["L2", c] < 1e-6 for c in (0.5, 0.7, 0.9))
    assert all(last["trained L2", c] < 1e-6 for c in (0.5, 0.7, 0.9))
    assert last["dot product", 0.9] > 1e-3


def study() -> pd.DataFrame:
    return study_frame([row("npt", 0, **probed()), failed("npt", 0, variant="lost")], "lipschitz")


def test_tables_and_figures_are_of_the_facts() -> None:
    frame = study()
    assert list(tightness_rows(frame)["positions"]) == [2, 8]
    assert set(inversion_rows(frame)["attention"]) == {"L2", "dot product", "trained L2"}
    table = KIND.table("bounds", frame, SCORING)
    tightness, derivatives, trained, inversion = table.sections
    assert tightness.columns["Bound"][0].text == "2.11"
    assert [cell.text for cell in derivatives.columns["Dot product"]] == [
        "0.75",
        "25.50",
        "2500.50",
    ]
    assert len(trained.columns["Found"]) == 1
    assert len(inversion.columns["c"]) == 9
    assert not KIND.table("influence", frame, SCORING).sections
    assert KIND.view.shown_figures(frame, SCORING) == ["tightness", "inversion"]
    for name in KIND.figures:
        plt.close(KIND.figure(name, frame, SCORING))


def test_without_results_tables_and_figures_are_empty() -> None:
    frame = study_frame([failed("npt", 0)], "lipschitz")
    KIND.table("bounds", frame, SCORING)
    for name in KIND.figures:
        plt.close(KIND.figure(name, frame, SCORING))


def test_kernels_without_a_bound_are_refused() -> None:
    content = {
        "folds": 0,
        "datasets": ["yacht"],
        "methods": ["npt"],
        "studies": {"lipschitz": {"kind": "certificates", "options": {"measure": "bounds"}}},
    }
    with pytest.raises(UserError, match="kernel dot has no bound"):
        Plan.of(read(content))
