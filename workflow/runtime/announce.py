"""Say where the results are, or what there is of them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from workflow.planning.paths import CONFIG, INTERIM, RESULTS

LATER = "NPT_ANNOUNCE_LATER"  # set by the Makefile, which says where the results are also where there was nothing to do
INTERRUPTED = re.compile(
    r"Terminating processes on user request|died with <Signals\.SIGINT|returned non-zero exit status 130\b"
)


def announce(folder: Path) -> None:
    """Print the paths of the page, the tables and the figures under `folder`, if the page has been made."""
    page = (folder / RESULTS / "report" / "index.html").resolve()
    if page.is_file():
        results = page.parents[1]
        print(
            f"\nResults\n  page     {page}\n  tables   {results / 'tables'}\n  figures  {results / 'figures'}"
        )


def finished() -> None:
    """After a run in this folder: no interim page any more once there is a newer one of all, and where the results are,
    unless `make` says so."""
    page, interim = (Path(folder) / "report" / "index.html" for folder in (RESULTS, INTERIM))
    if page.exists() and interim.exists() and page.stat().st_mtime > interim.stat().st_mtime:
        shutil.rmtree(INTERIM, ignore_errors=True)
    if LATER not in os.environ:
        announce(Path.cwd())


def failed(logs: Iterable[str]) -> None:
    """After a run in this folder in which jobs failed: a page of what there is, with the reasons for what there is not.

    After Ctrl-C, which Snakemake's logs tell of itself or of a job, nothing is made.
    """
    if any(INTERRUPTED.search(Path(log).read_text(errors="replace")) for log in logs):
        return
    subprocess.run(
        [sys.executable, "-m", "workflow.steps.interim", "--configfile", CONFIG], check=False
    )


if __name__ == "__main__":
    announce(Path(*sys.argv[1:2]))
