"""What the documents show is what was measured."""

from __future__ import annotations

import pytest

from performance.document import DOCUMENTS, ROOT, filled


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_tables_are_those_of_the_measurements(document: str) -> None:
    assert filled(document) == (ROOT / "docs" / document).read_text()
