"""Say where the results are, or what there is of them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def announce(folder: Path) -> None:
    """Print the paths of the page, the tables and the figures under `folder`, if the page has been made."""
    page = (folder / "results" / "report" / "index.html").resolve()
    if page.is_file():
        results = page.parents[1]
        print(f"\nResults\n  page     {page}\n  tables   {results / 'tables'}\n  figures  {results / 'figures'}")


def finished(folder: Path) -> None:
    """After a run: no interim page any more, and where the results are."""
    shutil.rmtree(folder / "results" / "interim", ignore_errors=True)
    announce(folder)


def failed(config: Mapping[str, Any]) -> None:
    """After a run in which jobs failed: a page of what there is in this folder, with the reasons for what there is not."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as resolved:
        json.dump(config, resolved)
        resolved.flush()
        step = [sys.executable, "-m", "workflow.steps.interim", "--configfile", resolved.name]
        subprocess.run(step, check=False)


if __name__ == "__main__":
    announce(Path(*sys.argv[1:2]))
