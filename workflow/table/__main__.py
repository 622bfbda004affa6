"""Benchmark one table: which model predicts it best, do other rows matter, and which ones.

    npt-benchmark houses.csv --target price

Methods run from cheap to expensive while the time lasts. The configuration, all results and the
report stay in the output folder.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import signal
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from filelock import FileLock, Timeout

from baselines import methods
from npt.data.custom.dataset import CustomDataset, CustomTask
from npt.data.custom.options import add_options, given_options
from npt.data.custom.reading import CustomTable, read_custom, split_custom
from npt.data.datasets import datasets
from npt.data.source import DOWNLOADS
from npt.errors import UserError, require_known
from npt.table import PARTS
from npt.validation import validated
from workflow.config.reading import read_file
from workflow.planning import paths
from workflow.report.formats import markdown_table
from workflow.report.page import failures
from workflow.report.study import reported_studies
from workflow.results.study_file import read_study
from workflow.runtime.command import count, execute, parser
from workflow.runtime.terminal import print_address
from workflow.table.benchmark import Benchmark
from workflow.table.explanation import explained

STAGES = (
    ("constant", "linear", "knn", "random_forest", "catboost"),
    ("gaussian_process", "npt_solved"),
    ("npt_compact",),
)
FEW_CLASSES = 10  # whole numbers with at most so many values are classes
OWN = ("task", "folds")  # options of another meaning than in the declaration of a table
LOCK = ".lock"
LONGEST = 64  # letters of the name of a table


def main() -> None:
    """Command line."""
    for ending in (signal.SIGTERM, signal.SIGHUP):  # Snakemake has a session of its own
        signal.signal(ending, signal.default_int_handler)
    execute(run)


def run() -> None:
    """Read the table, run the methods, print the answers."""
    options = _parser().parse_args()
    chosen = _methods(options.methods)
    dataset, read = read_table(options)
    custom = split_custom(dataset, read)
    folds = custom.splits
    for line in custom.facts["description"]:
        print(line)
    print(f"folds: {len(folds)}")
    output = options.output or Path(f"{Path(options.path).stem}_benchmark")
    output.mkdir(parents=True, exist_ok=True)
    benchmark = Benchmark(output, dataset, min(options.folds, len(folds)), options.cores)
    benchmark.require_own_folder()
    try:
        with FileLock(output / LOCK, blocking=False):
            benchmark.run([chosen] if chosen else STAGES, options.minutes)
            for line in answers(benchmark):
                print(line)
            with warnings.catch_warnings(record=True) as caught:
                lines = list(explained(custom.table, folds[0], output))
            messages = dict.fromkeys(str(warning.message) for warning in caught)
            notes = [f"note: {text[3:]}" for text in messages if text.startswith("X: ")]
            print(*lines, *notes, sep="\n")
    except Timeout:
        raise UserError(f"--output: another benchmark uses {output}; wait or stop it") from None
    print_address(output)
    print(f"configuration: {benchmark.config}")


def _parser() -> argparse.ArgumentParser:
    arguments = parser(__doc__)
    arguments.add_argument("path", help="file of text, .parquet, .arff, .xlsx or .xls")
    add_options(arguments, but=OWN)
    arguments.add_argument("--task", choices=("regression", "classification"))
    arguments.add_argument(
        "--methods",
        nargs="+",
        default=[],
        metavar="METHOD",
        help="separated by blanks or commas, instead of those that fit into the time: "
        + ", ".join(methods()),
    )
    arguments.add_argument("--folds", type=count, default=3, help="folds to run (default: 3)")
    arguments.add_argument("--cores", type=count, default=os.cpu_count() or 1)
    arguments.add_argument("--minutes", type=minutes, default=2.0, help="time limit (default: 2)")
    arguments.add_argument("--output", type=Path, help="folder (default: NAME_benchmark)")
    return arguments


def _methods(words: Sequence[str]) -> list[str]:
    """Names that blanks or commas separate, each once."""
    names = list(dict.fromkeys(re.findall(r"[^\s,]+", " ".join(words))))
    for name in names:
        require_known(name, methods(), "--methods")
        methods()[name].require_libraries()
    return names


def minutes(text: str) -> float:
    """A positive time."""
    time_limit = float(text)
    if not 0 < time_limit < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number of minutes")
    return time_limit


def read_table(options: argparse.Namespace) -> tuple[CustomDataset, CustomTable]:
    """The declaration, with the task that its target suggests, and the table."""
    block = {**given_options(options, but=OWN), "path": str(Path(options.path).resolve())}
    name = re.sub(r"[^a-z0-9_]+", "_", Path(options.path).stem.lower()).strip("_") or "table"
    if name in datasets() or not name[0].isalpha():
        name = f"table_{name}"
    name = name[:LONGEST]

    def as_task(task: CustomTask) -> tuple[CustomDataset, CustomTable]:
        dataset = validated(CustomDataset, {**block, "task": task, "name": name}, "")
        custom = read_custom(dataset, DOWNLOADS)
        if custom.table.groups is not None:
            known = custom.table.groups[~np.isnan(custom.table.truth)]
            folds = min(dataset.folds, max(len(PARTS), len(np.unique(known))))
            dataset = dataset.model_copy(update={"folds": folds})
        return dataset, custom

    if options.task:
        return as_task(options.task)
    try:
        dataset, custom = as_task("regression")
    except UserError as regression_error:
        try:
            dataset, custom = as_task("classification")
        except UserError as error:
            if str(error) == str(regression_error):
                raise
            raise UserError(
                f"with --task regression: {regression_error}; with --task classification: {error}"
            ) from None
        levels = pd.Series(custom.table.columns[custom.table.target].levels)
        if pd.to_numeric(levels, errors="coerce").count() > FEW_CLASSES:  # numbers with a word
            raise UserError(f"{regression_error}; or say --task classification") from None
        return dataset, custom
    truth = custom.table.truth
    values = np.unique(truth[~np.isnan(truth)])
    if len(values) > FEW_CLASSES or (values % 1 != 0).any():
        return dataset, custom
    try:
        return as_task("classification")
    except UserError as error:
        raise UserError(f"{error}; if these numbers are no classes, --task regression") from None


def answers(benchmark: Benchmark) -> Iterator[str]:
    """Question, answer and first table of each study, and what has no result."""
    config = read_file(benchmark.config)
    studies = {}
    for name in config.studies:
        studies[name] = read_study(benchmark.output / paths.collected(name))
    for study in reported_studies(studies, config.studies, config.scoring):
        yield ""
        yield study.kind.title
        if study.answer:
            yield study.answer
        for section in study.sections[:1]:
            yield markdown_table(section)
    yield from failures(studies, config.scoring)


if __name__ == "__main__":
    main()
