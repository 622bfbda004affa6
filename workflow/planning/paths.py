"""Where results are, from the folder of a run."""

from __future__ import annotations

RESULTS = "results"
ROWS = ".jsonl"  # ending of files of rows
CONFIG = (
    f"{RESULTS}/config.yaml"  # the whole configuration of the last run that had something to do
)
INTERIM = f"{RESULTS}/interim"  # tables, figures and page of what there was when jobs failed
