"""The tables in the documents are those of the measurements and of the reference rows."""

from __future__ import annotations

import pytest

from performance.document import DOCUMENTS, ROOT, filled


@pytest.mark.parametrize("document", DOCUMENTS)
def test_tables_of_the_documents_are_current(document: str) -> None:
    assert filled(document) == (ROOT / document).read_text(encoding="utf-8")
