"""Preparing large tables, beside pandas.read_csv with scikit-learn's encoders; and the form in which tables are stored.

A job of the workflow opens what was prepared once and encodes it; the other way reads and encodes the text each time. Both end
with the same features: one-hot categories and standardised numbers in float64, missing ones as zeros. Income and Kick come from
the mirror; Forest Cover is its subset of 100,000 rows repeated to the 581,012 of the whole, Higgs is generated in its form.
Every measurement has a process of its own, and its peak of memory is that of the whole process, libraries included; `idle` is
that of a process that has done nothing but load them.
"""

from __future__ import annotations

import gzip
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from npt.data import store
from npt.data.datasets import datasets
from npt.data.declaration import Dataset, Reading
from npt.data.encoding import one_hot_features, statistics
from npt.data.source import MIRROR, sha256_of
from npt.evaluation import peak_memory_mb
from performance.machine import begin, facts, parser, write
from npt.data.preparation import prepare_declared

FOREST_ROWS, HIGGS_ROWS = 581_012, 2_000_000
ONE_HOT = [
    "income",
    "kick",
    "forest_cover",
]  # Higgs has nothing to encode, and is here for its streaming
TABLES = [*ONE_HOT, "higgs"]


def main() -> None:
    """Command line."""
    options = parser(__doc__)
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--tables", nargs="+", choices=TABLES, default=TABLES)
    options.add_argument(
        "--one",
        nargs=3,
        metavar=("WAY", "TABLE", "FOLDER"),
        help="a single measurement, for its own use",
    )
    given = options.parse_args()
    if given.one:
        print(json.dumps(measure(given.one[0], given.one[1], Path(given.one[2]))))
        return
    device = begin(given)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for table in given.tables:
            lay_out(table, Path(folder))
            rows += compared(table, Path(folder), given.repeats)
            shutil.rmtree(Path(folder, table))
    write(given.json, {**facts(device), "rows": rows})


def compared(table: str, folder: Path, repeats: int) -> list[dict[str, Any]]:
    """All ways with a table, in turn; medians of their seconds and largest peaks."""
    ways = ["idle", "prepare", *(["job", "plain", "forms"] if table in ONE_HOT else [])]
    runs: dict[str, list[dict[str, Any]]] = {way: [] for way in ways}
    for _, way in itertools.product(range(repeats), runs):
        command = [sys.executable, "-m", "performance.prepare", "--one", way, table, str(folder)]
        environment = {
            **os.environ,
            MIRROR: str(folder),
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
        runs[way].append(json.loads(done.stdout.splitlines()[-1]))
    rows = []
    for way, results in runs.items():
        row: dict[str, Any] = {"table": table, "way": way}
        for key in results[0]:
            values = [result[key] for result in results]
            row[key] = float(max(values) if key.endswith("mb") else np.median(values))
        rows.append(row)
        print(_line(row), flush=True)
    return rows


def _line(row: dict[str, Any]) -> str:
    cells = (
        f"{key} {value:,.2f}"
        for key, value in row.items()
        if isinstance(value, float) and key not in ("features", "sum")
    )
    return f"{row['table']:<13}{row['way']:<9}" + "  ".join(cells)


def lay_out(table: str, folder: Path) -> None:
    """The files of a table under the folder, as a mirror has them."""
    place = folder / table
    place.mkdir()
    if table == "forest_cover":
        lines = (
            Path(os.environ[MIRROR], table, "covtype.random100k.data")
            .read_bytes()
            .splitlines(keepends=True)
        )
        with gzip.open(place / "covtype.data.gz", "wb", compresslevel=6) as packed:
            packed.writelines(itertools.islice(itertools.cycle(lines), FOREST_ROWS))
    elif table == "higgs":
        generator = np.random.default_rng(0)
        with gzip.open(place / "HIGGS.csv.gz", "wt", compresslevel=1) as packed:
            for _ in range(HIGGS_ROWS // 100_000):
                values = generator.normal(size=(100_000, 29)).astype(np.float32)
                values[:, 0] = values[:, 0] > 0
                packed.writelines(
                    ",".join(map(str, row)) + "\n" for row in values.astype(np.float64).tolist()
                )
    else:
        for path in Path(os.environ[MIRROR], table).iterdir():
            (place / path.name).symlink_to(path.resolve())


def declared(table: str, folder: Path) -> Dataset:
    """The dataset with the content that was laid out."""
    one = datasets()[table]
    (reading,) = one.readings
    files = tuple(
        replace(file, sha256=sha256_of(folder / table / file.name)) for file in reading.files
    )
    rows = HIGGS_ROWS if table == "higgs" else one.rows
    rule = (
        replace(one.split_rule, fixed_test_rows=min(one.split_rule.fixed_test_rows, rows // 20))
        if table == "higgs"
        else one.split_rule
    )
    return replace(
        one, rows=rows, class_counts=(), readings=(Reading(files, reading.read),), split_rule=rule
    )


def measure(way: str, table: str, folder: Path) -> dict[str, float]:
    """One way with one table, in this process."""
    one, stored = declared(table, folder), folder / table / "prepared.arrow"
    started, result = time.perf_counter(), dict[str, float]()
    if way == "idle":
        import pandas as pd
        import pyarrow.csv  # noqa: F401
        import sklearn.compose  # noqa: F401

        pd.DataFrame()
        return {"seconds": time.perf_counter() - started, "peak_mb": peak_memory_mb()}
    if way == "prepare":
        prepared = prepare_declared(one, folder / "none")
        store.save(stored, prepared)
        result["disk_mb"] = stored.stat().st_size / 2**20
        result["table_mb"] = sum(cells.nbytes for cells in prepared.table.cells) / 2**20
        result["text_mb"] = (
            sum((folder / table / file.name).stat().st_size for file in one.readings[0].files)
            / 2**20
        )
    elif way == "job":
        prepared = store.load(stored)
        features = one_hot_features(prepared.table, statistics(prepared.table, prepared.splits[0]))
        result["features"], result["sum"] = float(features.shape[1]), float(features.sum())
    elif way == "plain":
        features = plain(one, folder)
        result["features"], result["sum"] = float(features.shape[1]), float(features.sum())
    else:
        return forms(stored)
    return {"seconds": time.perf_counter() - started, "peak_mb": peak_memory_mb(), **result}


def plain(one: Dataset, folder: Path) -> np.ndarray:
    """Features from pandas.read_csv and scikit-learn's encoders."""
    import pandas as pd
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    from npt.data.datasets import forest_cover, income, kick

    options: dict[str, dict[str, Any]] = {
        "income": {
            "header": None,
            "names": income.NAMES,
            "skipinitialspace": True,
            "keep_default_na": False,
        },
        "kick": {"na_values": ["?"], "dtype": dict.fromkeys(kick.CATEGORICAL, "str")},
        "forest_cover": {"header": None, "names": list(forest_cover.NAMES)},
    }
    paths = [folder / one.name / file.name for file in one.readings[0].files]
    frame = pd.concat([pd.read_csv(path, **options[one.name]) for path in paths]).drop(
        columns=one.target
    )
    categorical = [name for name in one.categorical if name != one.target]
    known = [sorted(frame[name].dropna().unique()) for name in categorical]
    encoder = make_column_transformer(
        (
            OneHotEncoder(categories=known, handle_unknown="ignore", sparse_output=False),
            categorical,
        ),
        (
            make_pipeline(StandardScaler(), SimpleImputer(strategy="constant", fill_value=0.0)),
            [c for c in frame if c not in categorical],
        ),
    )
    return encoder.fit_transform(frame)


def forms(stored: Path) -> dict[str, float]:
    """Size, writing, opening and reading whole of the same columns: mapped Arrow, compressed Parquet, compressed NumPy."""
    import pyarrow as pa
    from pyarrow import parquet

    result = dict[str, float]()
    arrow = pa.ipc.open_file(pa.memory_map(str(stored))).read_all()
    prepared = store.load(stored)
    values = prepared.table.values
    paths = {name: stored.with_name(f"form.{name}") for name in ("arrow", "parquet", "npz")}
    writers = {
        "arrow": lambda path: store.save(path, prepared),
        "parquet": lambda path: parquet.write_table(arrow, path, compression="zstd"),
        "npz": lambda path: np.savez_compressed(path, values=values),
    }
    readers = {
        "arrow": lambda path: store.load(path, check=False).table.cells,
        "parquet": lambda path: [
            column.to_numpy() for column in parquet.read_table(path, use_threads=False).columns
        ],
        "npz": lambda path: np.load(path)["values"],
    }
    for name, path in paths.items():
        started = time.perf_counter()
        writers[name](path)
        written = time.perf_counter()
        readers[name](path)
        opened = time.perf_counter()
        result |= {
            f"{name}_disk_mb": path.stat().st_size / 2**20,
            f"{name}_write": written - started,
            f"{name}_open": opened - written,
        }
        path.unlink()
    started = time.perf_counter()
    store.load(stored)
    return {**result, "arrow_checked": time.perf_counter() - started}


if __name__ == "__main__":
    main()
