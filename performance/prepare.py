"""Preparation of large tables, compared with pandas.read_csv and scikit-learn's encoders.

A job of the workflow opens the prepared table and encodes it; the plain way reads and encodes the
text in every job. Both end with the same features: one-hot categories and standardised numbers in
float64, with zeros for missing ones. The formats in which a table could be stored are measured too.

Every measurement has a process of its own. Its peak of memory is that of the whole process with
the libraries; `idle` is a process that only loads them.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from npt.data import store
from npt.data.declaration import Dataset
from npt.data.encoding import one_hot_features, statistics
from npt.data.preparation import prepare_declared
from npt.data.source import MIRROR
from npt.evaluation import peak_memory_mb
from performance.large_tables import ONE_HOT, TABLES, declared, write_files
from performance.machine import parser, start, write

Measurements = dict[str, float]


def main() -> None:
    """Command line of the benchmark."""
    options = parser(__doc__)
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--tables", nargs="+", choices=TABLES, default=TABLES)
    options.add_argument(
        "--single", nargs=3, metavar=("WAY", "TABLE", "FOLDER"), help="one measurement, as JSON"
    )
    arguments = options.parse_args()
    if arguments.single:
        way, table, folder = arguments.single
        dataset = declared(table, Path(folder))
        print(json.dumps(measure(way, dataset, Path(folder))))
        return
    start(arguments)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for table in arguments.tables:
            write_files(table, Path(folder))
            rows.extend(compare(table, Path(folder), arguments.repeats))
            shutil.rmtree(Path(folder, table))
    write(arguments, "prepare", rows)


def compare(
    table: str,
    folder: Path,
    repeats: int,
) -> list[dict[str, Any]]:
    """All ways with a table, by turns: medians of their seconds, and largest peaks."""
    ways = ["idle", "prepare"]
    if table in ONE_HOT:
        ways += ["job", "plain", "forms"]
    runs: dict[str, list[Measurements]] = {way: [] for way in ways}
    for _ in range(repeats):
        for way in ways:
            runs[way].append(_in_own_process(way, table, folder))
    rows = []
    for way, measured in runs.items():
        row = {"table": table, "way": way} | _summary(measured)
        print(json.dumps(row), flush=True)
        rows.append(row)
    return rows


def _in_own_process(
    way: str,
    table: str,
    folder: Path,
) -> Measurements:
    command = [sys.executable, "-m", "performance.prepare", "--single", way, table, str(folder)]
    single_threaded = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    environment = os.environ | single_threaded | {MIRROR: str(folder)}
    output = subprocess.check_output(command, text=True, env=environment)
    return json.loads(output.splitlines()[-1])


def _summary(measured: list[Measurements]) -> Measurements:
    summary = {}
    for name in measured[0]:
        values = [measurements[name] for measurements in measured]
        is_peak = name.endswith("mb")
        summary[name] = max(values) if is_peak else float(np.median(values))
    return summary


def measure(
    way: str,
    dataset: Dataset,
    folder: Path,
) -> Measurements:
    """Measurements of one way in this process."""
    started = time.perf_counter()
    measurements = WAYS[way](dataset, folder)
    elapsed = time.perf_counter() - started
    return {"seconds": elapsed, "peak_mb": peak_memory_mb()} | measurements


def idle(dataset: Dataset, folder: Path) -> Measurements:
    """Load the libraries."""
    import pandas as pd
    import pyarrow.csv  # noqa: F401
    import sklearn.compose  # noqa: F401

    pd.DataFrame()
    return {}


def prepare(dataset: Dataset, folder: Path) -> Measurements:
    """Read and store a table, once per table."""
    stored = _stored(dataset, folder)
    prepared = prepare_declared(dataset, folder / "none")
    store.save(stored, prepared)
    text_bytes = sum([path.stat().st_size for path in _text_files(dataset, folder)])
    table_bytes = sum([cells.nbytes for cells in prepared.table.cells])
    return {
        "disk_mb": stored.stat().st_size / 2**20,
        "table_mb": table_bytes / 2**20,
        "text_mb": text_bytes / 2**20,
    }


def job(dataset: Dataset, folder: Path) -> Measurements:
    """Open and encode a stored table, in every job."""
    prepared = store.load(_stored(dataset, folder))
    known = statistics(prepared.table, prepared.splits[0])
    return _of_features(one_hot_features(prepared.table, known))


def plain(dataset: Dataset, folder: Path) -> Measurements:
    """Features from pandas.read_csv and scikit-learn's encoders."""
    import pandas as pd
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    options = _csv_options(dataset.name)
    paths = _text_files(dataset, folder)
    parts = [pd.read_csv(path, **options) for path in paths]
    frame = pd.concat(parts).drop(columns=dataset.target)
    categorical = [name for name in dataset.categorical if name != dataset.target]
    continuous = [name for name in frame if name not in categorical]
    known = [np.unique(frame[name].dropna()) for name in categorical]
    one_hot = OneHotEncoder(categories=known, handle_unknown="ignore", sparse_output=False)
    impute = SimpleImputer(strategy="constant", fill_value=0.0)
    encoder = make_column_transformer(
        (one_hot, categorical),
        (make_pipeline(StandardScaler(), impute), continuous),
    )
    return _of_features(encoder.fit_transform(frame))


def _csv_options(table: str) -> dict[str, Any]:
    from npt.data.datasets import forest_cover, income, kick

    if table == "income":
        return {
            "header": None,
            "names": income.NAMES,
            "skipinitialspace": True,
            "keep_default_na": False,
        }
    if table == "kick":
        return {"na_values": ["?"], "dtype": dict.fromkeys(kick.CATEGORICAL, "str")}
    return {"header": None, "names": list(forest_cover.NAMES)}


def _of_features(features: np.ndarray) -> Measurements:
    """Facts by which the features of both ways are compared."""
    return {
        "features": float(features.shape[1]),
        "sum": float(features.sum()),
    }


def forms(dataset: Dataset, folder: Path) -> Measurements:
    """Size, writing and reading of a table as mapped Arrow, compressed Parquet and NumPy."""
    import pyarrow as pa
    from pyarrow import parquet

    stored = _stored(dataset, folder)
    prepared = store.load(stored)
    mapped = pa.memory_map(str(stored))
    arrow = pa.ipc.open_file(mapped).read_all()
    values = prepared.table.values

    def read_parquet(path: Path) -> list[np.ndarray]:
        columns = parquet.read_table(path, use_threads=False).columns
        return [column.to_numpy() for column in columns]

    measurements = _form(
        stored.with_name("form.arrow"),
        lambda path: store.save(path, prepared),
        lambda path: store.load(path, check=False).table.cells,
    )
    measurements |= _form(
        stored.with_name("form.parquet"),
        lambda path: parquet.write_table(arrow, path, compression="zstd"),
        read_parquet,
    )
    measurements |= _form(
        stored.with_name("form.npz"),
        lambda path: np.savez_compressed(path, values=values),
        lambda path: np.load(path)["values"],
    )
    started = time.perf_counter()
    store.load(stored)
    measurements["arrow_checked"] = time.perf_counter() - started
    return measurements


def _form(
    path: Path,
    save: Callable[[Path], Any],
    load: Callable[[Path], Any],
) -> Measurements:
    """Size on disk and seconds of one format."""
    started = time.perf_counter()
    save(path)
    saved = time.perf_counter()
    load(path)
    loaded = time.perf_counter()
    size = path.stat().st_size / 2**20
    path.unlink()
    name = path.suffix.removeprefix(".")
    return {
        f"{name}_disk_mb": size,
        f"{name}_write": saved - started,
        f"{name}_open": loaded - saved,
    }


def _text_files(dataset: Dataset, folder: Path) -> list[Path]:
    (reading,) = dataset.readings
    return [folder / dataset.name / file.name for file in reading.files]


def _stored(dataset: Dataset, folder: Path) -> Path:
    return folder / dataset.name / "prepared.arrow"


WAYS: dict[str, Callable[[Dataset, Path], Measurements]] = {
    "idle": idle,
    "prepare": prepare,
    "job": job,
    "plain": plain,
    "forms": forms,
}


if __name__ == "__main__":
    main()
