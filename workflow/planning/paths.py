"""Every path under `results/`, relative to the folder of a run; braces are Snakemake's wildcards.

A run's stem is `dataset/method/variant/seed_0/folds_0-2`. The functions take a stem or the
pattern `RUN`, so that rules and steps share one definition.
"""

from __future__ import annotations

from pathlib import Path

RESULTS = Path("results")
ROWS = ".jsonl"
PREDICTIONS = ".predictions.npz"
PLAN = RESULTS / "plan.json"  # plan of the last run that had something to do
CONFIG = RESULTS / "config.yaml"  # configuration of that run, for readers of the report
REPORT = RESULTS / "report/index.html"
NEW_ROWS = RESULTS / "predictions.csv"  # of rows without a target, by `npt-benchmark`

RUN = "{dataset}/{method}/{variant}/seed_{seed}/folds_{folds}"


def prepared(dataset: str = "{dataset}") -> Path:
    """Prepared dataset."""
    return RESULTS / f"data/{dataset}.arrow"


def run_rows(stem: str = RUN) -> Path:
    """Rows of a run, one JSON object per fold."""
    return RESULTS / f"runs/{stem}{ROWS}"


def run_predictions(stem: str = RUN) -> Path:
    """Predictions of a run for validation and test rows."""
    return RESULTS / f"runs/{stem}{PREDICTIONS}"


def run_weights(stem: str = RUN) -> Path:
    """Weights of a trained network."""
    return RESULTS / f"runs/{stem}.pt"


def run_checkpoint(stem: str) -> Path:
    """State of a training that is not finished."""
    return RESULTS / f"runs/{stem}.checkpoint"


def run_lock(stem: str) -> Path:
    """Lock of a run, which one process at a time fits or probes."""
    return RESULTS / f"logs/locks/{stem}.lock"


def run_metrics(stem: str) -> Path:
    """Metrics of a training after every evaluation."""
    return RESULTS / f"runs/{stem}.metrics.csv"


def trial_of_run(stem: str, fold: int, name: str) -> str:
    """Stem of a configuration of a search on a fold, whose files stay until the search ends."""
    return f"{stem}.trials/{fold}_{name}"


def run_trials(stem: str = RUN) -> Path:
    """Validation scores of all configurations of a search."""
    return RESULTS / f"runs/{stem}.scores.parquet"


def probes(stem: str = RUN) -> Path:
    """Folder of the probes of a run, with two files for each study."""
    return RESULTS / f"probes/{stem}"


def probe_rows(study: str, stem: str) -> Path:
    """Rows of a study's probe of a run."""
    return probes(stem) / f"{study}{ROWS}"


def probe_predictions(study: str, stem: str) -> Path:
    """Predictions and other arrays of a study's probe of a run."""
    return probes(stem) / f"{study}{PREDICTIONS}"


def collected(study: str = "{study}") -> Path:
    """Collected rows of a study."""
    return RESULTS / f"studies/{study}.csv"


def tables(study: str = "{study}") -> Path:
    """Folder of the tables of a study."""
    return RESULTS / f"tables/{study}"


def figures(study: str = "{study}") -> Path:
    """Folder of the figures of a study."""
    return RESULTS / f"figures/{study}"


def log(rule: str, key: str) -> Path:
    """Log of a job; `key` is what its rule's wildcards name, such as a stem or `{study}`."""
    return RESULTS / f"logs/{rule}/{key}.log"
