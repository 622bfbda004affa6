"""Files of large tables for the preparation benchmark.

Income and Kick come from the mirror. Forest Cover is its subset of 100,000 rows, repeated to the
581,012 rows of the whole table. Higgs is generated in its format.
"""

from __future__ import annotations

import gzip
import os
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path

import numpy as np

from npt.data.datasets import datasets
from npt.data.declaration import Dataset, Reading
from npt.data.source import MIRROR, sha256_of

FOREST_ROWS = 581_012
HIGGS_ROWS = 2_000_000
HIGGS_BLOCK = 100_000
ONE_HOT = ("income", "kick", "forest_cover")
TABLES = (*ONE_HOT, "higgs")
"""Higgs has no categories to encode; it measures reading as a stream."""


def write_files(table: str, folder: Path) -> None:
    """Write the files of a table into a folder that serves as the mirror."""
    files = folder / table
    files.mkdir()
    mirror = Path(os.environ[MIRROR], table)
    if table == "forest_cover":
        _write_forest(files, mirror)
    elif table == "higgs":
        _write_higgs(files)
    else:
        for path in mirror.iterdir():
            (files / path.name).symlink_to(path.resolve())


def declared(table: str, folder: Path) -> Dataset:
    """The declaration of a dataset with the checksums of the written files."""
    dataset = datasets()[table]
    (reading,) = dataset.readings
    files = []
    for file in reading.files:
        checksum = sha256_of(folder / table / file.name)
        files.append(replace(file, sha256=checksum))
    readings = (Reading(tuple(files), reading.read),)
    dataset = replace(dataset, readings=readings, class_counts=())
    if table != "higgs":
        return dataset
    test_rows = min(dataset.split_rule.fixed_test_rows, HIGGS_ROWS // 20)
    rule = replace(dataset.split_rule, fixed_test_rows=test_rows)
    return replace(dataset, rows=HIGGS_ROWS, split_rule=rule)


def _write_forest(files: Path, mirror: Path) -> None:
    subset = (mirror / "covtype.random100k.data").read_bytes()
    lines = subset.splitlines(keepends=True)
    with gzip.open(files / "covtype.data.gz", "wb", compresslevel=6) as stream:
        stream.writelines(islice(cycle(lines), FOREST_ROWS))


def _write_higgs(files: Path) -> None:
    generator = np.random.default_rng(0)
    with gzip.open(files / "HIGGS.csv.gz", "wt", compresslevel=1) as stream:
        for _ in range(HIGGS_ROWS // HIGGS_BLOCK):
            values = generator.normal(size=(HIGGS_BLOCK, 29)).astype(np.float32)
            values[:, 0] = values[:, 0] > 0
            for row in values.astype(np.float64).tolist():
                stream.write(",".join(map(str, row)) + "\n")
