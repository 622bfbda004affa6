"""Say where the results are."""

from __future__ import annotations

import sys
from pathlib import Path


def announce(folder: Path) -> None:
    """Print the paths of the page, the tables and the figures under `folder`, if the page has been made."""
    page = (folder / "results" / "report" / "index.html").resolve()
    if page.is_file():
        results = page.parents[1]
        print(f"\nResults\n  page     {page}\n  tables   {results / 'tables'}\n  figures  {results / 'figures'}")


if __name__ == "__main__":
    announce(Path(*sys.argv[1:2]))
