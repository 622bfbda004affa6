"""Every path under `results/`, relative to the folder of a run; braces are Snakemake's wildcards.

A run's stem is `dataset/method/variant/seed_0/folds_0-2`. The functions take a stem or the
pattern `RUN`, so that rules and steps share one definition.
"""

from __future__ import annotations

RESULTS = "results"
ROWS = ".jsonl"
PREDICTIONS = ".predictions.npz"
TRIALS = ".scores.parquet"
PLAN = f"{RESULTS}/plan.json"  # plan of the last run that had something to do
CONFIG = f"{RESULTS}/config.yaml"  # configuration of that run, for readers of the report
REPORT = f"{RESULTS}/report/index.html"
DOWNLOADS = f"{RESULTS}/data/raw"
NEW_ROWS = f"{RESULTS}/predictions.csv"  # of rows without a target, by `npt-benchmark`

RUN = "{dataset}/{method}/{variant}/seed_{seed}/folds_{folds}"


def prepared(dataset: str = "{dataset}") -> str:
    """Prepared dataset."""
    return f"{RESULTS}/data/{dataset}.arrow"


def run_rows(stem: str = RUN) -> str:
    """Rows of a run, one JSON object per fold."""
    return f"{RESULTS}/runs/{stem}{ROWS}"


def run_predictions(stem: str = RUN) -> str:
    """Predictions of a run for validation and test rows."""
    return f"{RESULTS}/runs/{stem}{PREDICTIONS}"


def run_weights(stem: str = RUN) -> str:
    """Weights of a trained network."""
    return f"{RESULTS}/runs/{stem}.pt"


def run_checkpoint(stem: str) -> str:
    """State of a training that is not finished."""
    return f"{RESULTS}/runs/{stem}.checkpoint"


def run_lock(stem: str) -> str:
    """Lock of a run, which one process at a time fits or probes."""
    return f"{RESULTS}/logs/locks/{stem}.lock"


def run_metrics(stem: str) -> str:
    """Metrics of a training after every evaluation."""
    return f"{RESULTS}/runs/{stem}.metrics.csv"


def trial_of_run(stem: str, fold: int, name: str) -> str:
    """Stem of a configuration of a search on a fold, whose files stay until the search ends."""
    return f"{stem}.trials/{fold}_{name}"


def run_trials(stem: str = RUN) -> str:
    """Validation scores of all configurations of a search."""
    return f"{RESULTS}/runs/{stem}{TRIALS}"


def probes(stem: str = RUN) -> str:
    """Folder of the probes of a run, with two files for each study."""
    return f"{RESULTS}/probes/{stem}"


def probe_rows(study: str, stem: str) -> str:
    """Rows of a study's probe of a run."""
    return f"{probes(stem)}/{study}{ROWS}"


def probe_predictions(study: str, stem: str) -> str:
    """Predictions and other arrays of a study's probe of a run."""
    return f"{probes(stem)}/{study}{PREDICTIONS}"


def collected(study: str = "{study}") -> str:
    """Collected rows of a study."""
    return f"{RESULTS}/studies/{study}.csv"


def tables(study: str = "{study}") -> str:
    """Folder of the tables of a study."""
    return f"{RESULTS}/tables/{study}"


def figures(study: str = "{study}") -> str:
    """Folder of the figures of a study."""
    return f"{RESULTS}/figures/{study}"


def log(rule: str, key: str) -> str:
    """Log of a job; `key` is what its rule's wildcards name, such as a stem or `{study}`."""
    return f"{RESULTS}/logs/{rule}/{key}.log"
