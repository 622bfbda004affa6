"""The tables in the documents are those of the measurements and of the reference rows."""

from __future__ import annotations

import pytest

from performance.document import DOCUMENTS, ROOT, filled
from performance.study_tables import reference_study, table_of


@pytest.mark.parametrize("document", DOCUMENTS)
def test_tables_of_the_documents_are_current(document: str) -> None:
    assert filled(document) == (ROOT / document).read_text(encoding="utf-8")


def test_every_reference_score_of_ten_folds_is_tested() -> None:
    tidy = table_of(reference_study("compact/main"), "scores").tidy
    assert not tidy["untested"].any()
    p_values = tidy.set_index(["dataset", "method"])["p_value"]
    boosting = ["xgboost", "gradient_boosting", "catboost", "lightgbm"]
    on_boston = p_values["boston_housing"][boosting].tolist()
    assert on_boston == pytest.approx([0.84, 0.79, 0.31, 0.09], abs=0.005)
    on_concrete = p_values["concrete"][boosting[:2]].tolist()
    assert on_concrete == pytest.approx([0.13, 0.13], abs=0.005)
