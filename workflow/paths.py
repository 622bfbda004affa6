"""Where results are, from the folder of a run."""

from __future__ import annotations

RESULTS = "results"
ROWS = ".jsonl"  # ending of files of rows
CONFIG = f"{RESULTS}/config.yaml"  # the configuration of the last run, all of it in one file
INTERIM = f"{RESULTS}/interim"  # tables, figures and page of what there was when jobs failed
