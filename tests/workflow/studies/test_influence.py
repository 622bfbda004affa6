"""Influence of one other row: the search, the certificate, tables and figure."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from npt.nn.probe import NPTProbe
from npt.nn.trained import TrainedNPT, query_batches
from npt.table import Split, Table, Task
from tests.rows import failed, row, study_frame
from tests.workflow.report.toy import SCORING
from tests.workflow.studies.models import small_npt
from workflow.studies import kinds
from workflow.studies.certificates.probe import probe
from workflow.studies.certificates.search import cell_range, largest_influence
from workflow.studies.certificates.view import influences
from workflow.studies.query import ProbeQuery
from workflow.studies.study_kind import Facts

KIND = kinds()["certificates"]
CONTRACTIVE = {"kernel": "l2_contractive", "layer_norm": "none"}
BOUNDS = ("bound_maximum", "bound_euclidean")


def query(model: TrainedNPT, table: Table, split: Split, **options: Any) -> ProbeQuery:
    chosen = KIND.options.model_validate(options)
    return ProbeQuery(NPTProbe(model), table, split, split.test[:4], seed=0, options=chosen)


def facts_of(task: Task = "regression", **changes: Any) -> Facts:
    model, table, split = small_npt(task, **changes)
    facts, arrays = probe(query(model, table, split))
    assert len(arrays["influence"]) == 4
    assert (arrays["influence"] >= 0).all()
    return facts


@pytest.mark.parametrize("task", ["regression", "multiclass"])
def test_what_is_found_is_within_the_certificate(task: Task) -> None:
    facts = facts_of(task, **CONTRACTIVE)
    for bound in BOUNDS:
        assert 0 < facts["largest_influence"] <= facts[bound]
        assert task == "regression" or facts[bound] <= 1  # a probability
    assert facts["corruption"] > 0
    assert "test_rmse" in facts or "test_nll" in facts


@pytest.mark.parametrize("changes", [{}, {"kernel": "l2_tied"}])
def test_others_have_no_certificate(changes: dict[str, Any]) -> None:
    facts = facts_of(**changes)
    assert all(facts[bound] is None for bound in BOUNDS)
    assert facts["largest_influence"] > 0


@pytest.mark.parametrize(
    "changes",
    [
        {"between_datapoints": False, "kernel": "l2_tied", "layer_norm": "none"},
        {"contraction": 0, "kernel": "l2_contractive"},
    ],
    ids=["no blocks", "no attention"],
)
def test_without_attention_there_is_no_influence(changes: dict[str, Any]) -> None:
    facts = facts_of(**changes)
    assert facts["largest_influence"] == pytest.approx(0, abs=1e-14)
    assert all(facts[bound] == 0 for bound in BOUNDS)


def test_the_search_finds_more_than_random_rows_of_the_range() -> None:
    model, _, split = small_npt("regression")
    (batch,) = query_batches(model, split.test)
    index = int(batch.queries[0])
    most = largest_influence(model, batch, index, rows=3, steps=12)
    lowest, highest = cell_range(batch.inputs)
    generator = torch.Generator().manual_seed(0)
    before = model.model.predict_target(batch.inputs, torch.tensor([[index]]))
    largest = 0.0
    others = [other for other in range(batch.shape[0]) if other != index]
    for other in others[:20]:
        scale = batch.inputs.scale.clone()
        uniform = torch.rand(scale.shape[2], generator=generator)
        visible = model.data.continuous & (batch.inputs.mask[0, other] == 0)
        scale[0, other, visible] = (lowest + uniform * (highest - lowest))[visible]
        changed = batch.inputs._replace(scale=scale)
        after = model.model.predict_target(changed, torch.tensor([[index]]))
        largest = max(largest, (after - before).abs().item())
    assert most > largest


def study() -> pd.DataFrame:
    rows = [failed("npt", variant="lost")]
    bounds = {"base": (None, None), "contractive": (5e6, 50.0), "span": (None, None)}
    for variant, certificates in bounds.items():
        certified = dict(zip(BOUNDS, certificates, strict=True))
        for fold in (0, 1):
            facts = {"largest_influence": 1.0 + fold, "corruption": 0.1, "test_rmse": 2.0}
            rows.append(row("npt", fold, variant=variant, **facts, **certified))
    return study_frame(rows, "influence")


def test_table_and_figure_have_the_largest_of_the_folds() -> None:
    means = influences(study()).set_index("variant")
    assert means.loc["contractive", "bound"] == 50
    assert np.isnan(means.loc["base", "bound"])  # type: ignore[arg-type]
    assert means.loc["base", "largest_influence"] == 2
    assert np.isnan(means.loc["lost", "largest_influence"])  # type: ignore[arg-type]
    (axis,) = KIND.view.figure("influence", study(), SCORING).axes
    certified, largest, _ = axis.collections
    assert largest.get_offsets()[:, 0].tolist() == [2, 2, 2]
    assert np.nanmax(certified.get_offsets()[:, 0]) == 50
    labels = [label.get_text() for label in axis.get_yticklabels()]
    assert labels == ["NPT, 2.00", "NPT (contractive), 2.00", "NPT (span), 2.00"]
    KIND.view.figure("influence", study_frame([failed("npt")], "influence"), SCORING)
