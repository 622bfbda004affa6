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
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from filelock import FileLock, Timeout
from tabulate import tabulate

from baselines import methods
from npt.atomic import replacing, write_text
from npt.data.custom.dataset import CustomDataset, CustomTask
from npt.data.custom.options import add_options, given_options
from npt.data.custom.reading import CustomTable, read_custom, split_custom
from npt.data.datasets import datasets
from npt.data.frames import features_of, values_of
from npt.data.source import DOWNLOADS
from npt.errors import UserError, require_known
from npt.table import Split, Table
from npt.validation import validated
from workflow.config.reading import as_yaml, parse, read_file
from workflow.planning import paths
from workflow.report.formats import markdown_table
from workflow.report.page import failures
from workflow.report.study import reported_studies
from workflow.results.study_file import read_study
from workflow.runtime.command import count, execute, parser
from workflow.runtime.terminal import print_address

if TYPE_CHECKING:
    from npt.estimator import NPTClassifier, NPTRegressor

SNAKEFILE = Path(__file__).parent / "Snakefile"
STAGES = (
    ("constant", "linear", "knn", "random_forest", "catboost"),
    ("gaussian_process", "npt_solved"),
    ("npt_compact",),
)
GROWTH = 4  # how many times as long as the stage before it a stage may take
QUICK_GRIDS = ("gaussian_process", "random_forest", "catboost", "knn")
SETTINGS = {
    **{name: {"grid": "quick"} for name in QUICK_GRIDS},
    "npt_compact": {"members": 4, "updates": 200, "rate_scale": [1]},
}
PROBED_ROWS = 40
FEW_CLASSES = 10  # whole numbers with at most so many values are classes
OWN = ("task", "folds")  # options of another meaning than in the declaration of a table
EXPLAINED = 3  # rows
RESTING_ON = 3  # fitted rows for each explained one
MOST_FITTED = 10_000  # rows, of the model that predicts and explains
STOP_SECONDS = 30.0
LOG = "log.txt"
LOCK = ".lock"
CLASS_COLUMNS = ("truth", "predicted", "of target")  # in whose names 3.10 is not 3.1
PRESET = "one table"
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
        return dataset, read_custom(dataset, DOWNLOADS)

    if options.task:
        return as_task(options.task)
    try:
        dataset, custom = as_task("regression")
    except UserError as regression_error:
        try:
            dataset, custom = as_task("classification")
        except UserError as error:
            messages = dict.fromkeys((str(regression_error), str(error)))
            raise UserError("; or: ".join(messages)) from None
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


@dataclass(frozen=True)
class Benchmark:
    """Runs of Snakemake in the output folder, within a time limit."""

    output: Path
    dataset: CustomDataset
    folds: int
    cores: int

    @property
    def config(self) -> Path:
        """Configuration of the runs."""
        return self.output / "config.yaml"

    def require_own_folder(self) -> None:
        """Spare the folder of another run.

        Raises:
            UserError: It has the configuration of another run, table or target.
        """
        if not self.config.exists():
            return
        kept = parse(self.config)
        try:
            table = kept["custom_datasets"][self.dataset.name]
            facts = [kept["preset"], table["path"], table["target"]]
        except (LookupError, TypeError):  # of another table, or of another form
            facts = []
        if facts != [PRESET, self.dataset.path, self.dataset.target]:
            text = "is of another run, table or target; choose another folder"
            raise UserError(f"--output: {self.config} {text}")

    def run(self, stages: Sequence[Sequence[str]], minutes: float) -> None:
        """Run stage after stage while the time lasts, and write the report of those that ended.

        Raises:
            UserError: A run failed, or not even the first stage ended.
        """
        deadline = time.monotonic() + 60 * minutes
        finished: list[str] = []
        seconds = 0.0
        for stage in stages:
            left = deadline - time.monotonic()
            if finished and GROWTH * seconds > left:
                break
            began = time.monotonic()
            print(f"running {', '.join(stage)}", flush=True)
            studies = self._write([*finished, *stage])
            if not self._snakemake(left, [paths.collected(study) for study in studies]):
                break
            finished += stage
            seconds = time.monotonic() - began
        if not finished:
            raise UserError(f"--minutes: too few for {', '.join(stages[0])}")
        left_out = [name for stage in stages for name in stage if name not in finished]
        if left_out:
            print(f"left out: {', '.join(left_out)}; more --minutes, or --methods, include them")
        self._write(finished)
        self._snakemake(None, [paths.REPORT])

    def _write(self, names: Sequence[str]) -> list[str]:
        """Write the configuration of some methods; the names of its studies."""
        probed = {
            "corruption": [name for name in names if methods()[name].reads_rows],
            "benefit": [name for name in names if methods()[name].twins],
        }
        studies: dict[str, Any] = {"main": {}}
        for kind, models in probed.items():
            if models:
                studies[kind] = {"kind": kind, "methods": models, "max_test_rows": PROBED_ROWS}
        block = self.dataset.model_dump(exclude_defaults=True, exclude={"name"}, mode="json")
        config = {
            "preset": PRESET,
            "folds": f"0-{self.folds - 1}",
            "custom_datasets": {self.dataset.name: block},
            "datasets": [self.dataset.name],
            "methods": list(names),
            "settings": {name: SETTINGS[name] for name in names if name in SETTINGS},
            "studies": studies,
        }
        write_text(self.config, as_yaml(config))
        return list(studies)

    def _snakemake(self, seconds: float | None, targets: Sequence[Path]) -> bool:
        """Make some files; whether that ended within a time.

        Raises:
            UserError: It failed.
        """
        command = [sys.executable, "-m", "snakemake", "--snakefile", str(SNAKEFILE)]
        command += ["--workflow-profile", "none", "--nolock", "--rerun-incomplete"]
        command += ["--scheduler", "greedy"]
        command += ["--directory", str(self.output), "--configfile", str(self.config)]
        command += ["--cores", str(self.cores), *map(str, targets)]
        with (self.output / LOG).open("ab") as log:
            begin = log.tell()
            process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
            try:
                code = process.wait(seconds)
            except subprocess.TimeoutExpired:
                return False
            finally:
                if process.poll() is None:
                    _stop(process)
        if code:
            lines = (self.output / LOG).read_bytes()[begin:].decode(errors="replace").splitlines()
            errors = [line for line in lines if line.startswith("error: ")]
            reason = f" ({errors[0].removeprefix('error: ')})" if errors else ""
            raise UserError(f"the run failed{reason}; see {self.output / LOG}")
        return True


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End Snakemake and its jobs, for which it would wait."""
    os.killpg(process.pid, signal.SIGINT)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        pass
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


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


def explained(table: Table, split: Split, output: Path) -> Iterator[str]:
    """Predictions of solved NPT, and which rows they rest on.

    Rows without a target are predicted from all others, and written to a file of the output folder.
    If all targets are known, some test rows are predicted from the rows that are not tested.
    """
    from npt.estimator import NPTClassifier, NPTRegressor

    file = output / paths.NEW_ROWS
    file.unlink(missing_ok=True)  # of an earlier state of the table
    is_fitted = ~np.isnan(table.truth)
    predicted = np.flatnonzero(~is_fitted)
    is_new = len(predicted) > 0
    if not is_new:
        predicted = split.rows("test")
        is_fitted[predicted] = False
    shown = predicted[:EXPLAINED]
    fitted_rows = np.flatnonzero(is_fitted)
    unexplained = "No prediction is explained"
    failure = "No row without a target is predicted" if is_new else unexplained
    if len(fitted_rows) > MOST_FITTED:
        yield f"{failure}: {len(fitted_rows):,} rows to fit, at most {MOST_FITTED:,} are allowed"
        return
    features = features_of(table)
    target = values_of(table, table.target)
    estimator = NPTRegressor if table.task == "regression" else NPTClassifier
    is_categorical = [table.columns[j].kind == "categorical" for j in table.features]
    model = estimator(architecture="solved", verbose=0, categorical=is_categorical)
    try:
        model.fit(features.iloc[fitted_rows], target[fitted_rows])
        if is_new:
            frame = predictions(model, features.iloc[predicted])
            frame.insert(0, "row", predicted + 1)
            with replacing(file) as partial:
                frame.to_csv(partial, index=False)
            yield ""
            yield f"Predictions of {len(frame):,} rows without a target, by solved NPT: {file}"
            failure = unexplained
        frame = model.explain(features.iloc[shown], rows=RESTING_ON).frame
    except ValueError as error:  # such as for features that are equal in all rows
        yield f"{failure}: {str(error).removeprefix('explain: ')}"
        return
    rows = shown[frame["row"]]
    columns = {"row": rows + 1}
    if not is_new:
        columns["truth"] = target[rows]
    columns |= {
        "predicted": frame["prediction"],
        "rests on row": fitted_rows[frame["fitted_row"]] + 1,
        "of target": frame["target"],
        "weight": frame["weight"],
    }
    as_text = []
    if table.task != "regression":
        as_text = [place for place, name in enumerate(columns) if name in CLASS_COLUMNS]
        columns["probability"] = frame["score"]
    columns["without it"] = frame["without_row"]
    fitted = "all rows with a target" if is_new else "rows that are not tested"
    yield ""
    yield f"Which rows do predictions rest on? By solved NPT, fitted to {fitted}:"
    yield tabulate(columns, headers="keys", floatfmt=".4g", disable_numparse=as_text)
    yield "Row 1 is the first one below the header."


def predictions(model: NPTRegressor | NPTClassifier, features: pd.DataFrame) -> pd.DataFrame:
    """Predictions of new rows: a number with its 90 % interval, or a class with probabilities."""
    from npt.estimator import NPTClassifier

    frame = pd.DataFrame({"prediction": model.predict(features)})
    if isinstance(model, NPTClassifier):
        columns = [f"probability of {name}" for name in model.classes_]
        return frame.join(pd.DataFrame(model.predict_proba(features), columns=columns))
    with suppress(ValueError):  # fewer rows than intervals need
        frame[["lower", "upper"]] = model.predict_interval(features, 0.9)
    return frame


if __name__ == "__main__":
    main()
