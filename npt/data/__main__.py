"""List the datasets, bring their files ahead of time, or tell what a table of your own would be taken for.

python -m npt.data                           what there is, and what of it is here
python -m npt.data fetch higgs mnist         download now, for machines that compute without internet
python -m npt.data fetch openml:42165
python -m npt.data inspect my.csv --target price --task regression
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlparse

from npt.data.custom import CustomDataset, Wanted, folds_of, read_custom
from npt.data.datasets import datasets
from npt.data.declaration import Dataset, File
from npt.data.formats import read_openml
from npt.data.source import DOWNLOADS, MIRROR, acquire, at_hand
from npt.interface import UserError, unknown

OPENML = "openml:"


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line."""
    options = argparse.ArgumentParser(
        prog="python -m npt.data",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    options.add_argument(
        "--downloads",
        type=Path,
        default=DOWNLOADS,
        help=f"folder of downloads (default: {DOWNLOADS})",
    )
    actions = options.add_subparsers(dest="action", metavar="ACTION")
    actions.add_parser("list", help="what there is (the default)")
    fetch = actions.add_parser("fetch", help="bring the files of datasets")
    fetch.add_argument("names", nargs="+", metavar="NAME", help="a dataset, or openml:NUMBER")
    inspect = actions.add_parser(
        "inspect", help="check a table of your own and print the kinds of its columns"
    )
    inspect.add_argument("path", help=f".csv, .tsv, .parquet or .arff, or {OPENML}NUMBER")
    inspect.add_argument("--target", required=True)
    inspect.add_argument("--task", required=True, choices=get_args(Wanted))
    for role in ("categorical", "continuous", "drop", "missing"):
        inspect.add_argument(f"--{role}", nargs="+", default=[], metavar="NAME")
    for role in ("separator", "group", "time"):
        inspect.add_argument(f"--{role}", default="")
    for role, kind in (("folds", int), ("validation-share", float), ("test-rows", int)):
        inspect.add_argument(f"--{role}", type=kind, default=argparse.SUPPRESS)
    given = options.parse_args(arguments)
    try:
        if given.action == "fetch":
            bring(given.names, given.downloads)
        elif given.action == "inspect":
            inspected(given)
        else:
            print(listing(given.downloads))
    except UserError as error:
        sys.exit(f"error: {error}")
    except OSError as error:
        sys.exit(f"error: {error.filename or given.downloads}: {error.strerror or error}")
    except KeyboardInterrupt:
        sys.exit("\nstopped; what has arrived is kept, and gone on from")


def listing(downloads: Path) -> str:
    """A line for each table: those that differ in reading or folds only follow the one whose files they share."""
    from tabulate import tabulate

    rows = []
    for one in datasets().values():
        if one.place != one.name:
            continue
        others = [
            other.name
            for other in datasets().values()
            if other.place == one.name and other is not one
        ]
        hosts = dict.fromkeys(
            urlparse(url).netloc for file in _files(one) for url in file.addresses
        )
        packages = dict.fromkeys(file.package[0] for file in _files(one) if file.package)
        rows.append(
            {
                "name": one.name,
                "rows": f"{one.rows:,}",
                "columns": f"{one.columns:,}",
                "task": one.task,
                "size": _size(one),
                "from": "\n".join([*packages, *hosts]) or "generated",
                "licence": one.licence,
                "here": at_hand(one, downloads) or "no",
                "also as": "\n".join(name.removeprefix(one.name) for name in others),
            }
        )
    table = tabulate(rows, headers="keys", colalign=("left", "right", "right"))
    return f"{table}\n\nFiles are looked for under ${MIRROR}, in {downloads}, and in installed packages."


def bring(names: Sequence[str], downloads: Path) -> None:
    """Fetch what is not here yet.

    Raises:
        UserError: a name is unknown, or no source could be reached.
    """
    for name in names:
        number = name.removeprefix(OPENML)
        if name not in datasets() and not (name.startswith(OPENML) and number.isdecimal()):
            raise UserError(f"{unknown(name, datasets())}, or {OPENML}NUMBER")
    for name in names:
        if name in datasets():
            acquired = acquire(datasets()[name], downloads)
            for file, path in acquired.paths.items():
                print(f"{name}: {path} ({acquired.origins[file]})")
            if not acquired.paths:
                print(f"{name}: is generated, there is nothing to fetch")
        else:
            frame = read_openml(int(name.removeprefix(OPENML)), downloads).frame
            print(f"{name}: {len(frame):,} rows; columns {', '.join(map(str, frame.columns))}")


def inspected(given: argparse.Namespace) -> None:
    """Read and part a table as the workflow would, and print what it was taken for."""
    words: dict[str, Any] = {
        role: tuple(getattr(given, role))
        for role in ("categorical", "continuous", "drop", "missing")
    }
    words |= {role: getattr(given, role) for role in ("separator", "group", "time")}
    words |= {
        role: getattr(given, role)
        for role in ("folds", "validation_share", "test_rows")
        if hasattr(given, role)
    }
    number = given.path.removeprefix(OPENML)
    place = (
        {"openml": int(number)}
        if given.path.startswith(OPENML) and number.isdecimal()
        else {"path": given.path}
    )
    own = CustomDataset(
        name=Path(given.path).name, target=given.target, task=given.task, **place, **words
    )
    content = read_custom(own, given.downloads)
    folds = folds_of(own, content)
    sizes = [len(getattr(folds[0], part)) for part in ("train", "validation", "test")]
    print(
        "\n".join(
            [
                *content.description,
                f"folds: {len(folds)}, the first with {' / '.join(map(str, sizes))} rows",
            ]
        )
    )


def _files(dataset: Dataset) -> tuple[File, ...]:
    """The files of all readings, first those of the best."""
    return tuple(dict.fromkeys(file for reading in dataset.readings for file in reading.files))


def _size(dataset: Dataset) -> str:
    """Bytes of the files of the first reading, as far as they are known."""
    sizes = [file.size for file in dataset.readings[0].files]
    if any(size is None for size in sizes):
        return "unknown"
    total = float(sum(size for size in sizes if size))
    for unit in ("B", "kB", "MB"):
        if total < 1000:
            return f"{total:.0f} {unit}" if unit == "B" else f"{total:.1f} {unit}"
        total /= 1000
    return f"{total:.1f} GB"


if __name__ == "__main__":
    main()
