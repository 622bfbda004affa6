"""What the document on performance shows is what was measured."""

from __future__ import annotations

import pytest

from benchmarks.document import DOCUMENT, TABLES, table


@pytest.mark.parametrize("name", TABLES)
def test_the_tables_are_those_of_the_measurements(name: str) -> None:
    assert f"<!-- {name} -->\n\n{table(name)}\n\n" in DOCUMENT.read_text()
