"""List the datasets, fetch their files, or show how a custom dataset would be read.

python -m npt.data                        datasets, and which of their files are available
python -m npt.data fetch higgs mnist      download now, for machines without internet
python -m npt.data fetch openml:42165
python -m npt.data inspect my.csv --target price --task regression
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from npt.data.custom import CustomDataset
from npt.data.custom.formats import read_openml
from npt.data.custom.options import add_options, given_options
from npt.data.custom.reading import prepare_custom
from npt.data.datasets import datasets
from npt.data.source import DOWNLOADS, MIRROR, acquire, available
from npt.errors import UserError, errors_at, unknown
from npt.table import PARTS
from npt.validation import validated

OPENML = "openml:"


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line."""
    options = _parser().parse_args(arguments)
    try:
        if options.action == "fetch":
            fetch(options.names, options.downloads)
        elif options.action == "inspect":
            inspect(options)
        else:
            print(listing(options.downloads))
        sys.stdout.flush()
    except UserError as error:
        sys.exit(f"error: {error}")
    except BrokenPipeError:  # of `head`; Python's flush at exit must not fail
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        path = error.filename or options.downloads
        sys.exit(f"error: {path}: {error.strerror or error}")
    except KeyboardInterrupt:
        sys.exit("\ninterrupted; a new download resumes from the bytes that arrived")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m npt.data",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--downloads",
        type=Path,
        default=DOWNLOADS,
        help=f"folder of downloads (default: {DOWNLOADS})",
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    actions.add_parser("list", help="list the datasets (the default)")
    fetch = actions.add_parser("fetch", help="download the files of datasets")
    fetch.add_argument("names", nargs="+", metavar="NAME", help=f"a dataset, or {OPENML}NUMBER")
    inspect = actions.add_parser(
        "inspect",
        help="check a custom dataset, print its column types",
        description="Check a custom dataset and print its column types.",
    )
    inspect.add_argument(
        "path", help=f"file of text, .parquet, .arff, .xlsx or .xls, or {OPENML}NUMBER"
    )
    add_options(inspect)
    return parser


def listing(downloads: Path) -> str:
    """A table with a row for each dataset."""
    from tabulate import tabulate
    from tqdm import tqdm

    rows = []
    for dataset in datasets().values():
        sizes = [file.size for file in dataset.readings[0].files]
        known = [size for size in sizes if size is not None]
        size = tqdm.format_sizeof(sum(known), "B") if len(known) == len(sizes) else "unknown"
        rows.append(
            {
                "name": dataset.name,
                "rows": f"{dataset.rows:,}",
                "columns": f"{dataset.columns:,}",
                "task": dataset.task,
                "size": size,
                "licence": dataset.licence,
                "available": available(dataset, downloads) or "no",
            }
        )
    table = tabulate(rows, headers="keys", colalign=("left", "right", "right"))
    places = f"${MIRROR}, {downloads} and installed packages"
    return f"{table}\n\nFiles are searched for in {places}."


def fetch(names: Sequence[str], downloads: Path) -> None:
    """Download the files that are not available yet.

    Raises:
        UserError: A name is unknown, or no source could be reached.
    """
    for name in names:
        if name not in datasets() and _openml_number(name) is None:
            raise UserError(f"{unknown(name, datasets())}, or {OPENML}NUMBER")
    for name in names:
        number = _openml_number(name)
        if number is not None:
            with errors_at(name):
                content = read_openml(number, downloads)
            rows = content.table.num_rows
            print(f"{name}: {rows:,} rows; columns {', '.join(content.names)}")
            continue
        acquired = acquire(datasets()[name], downloads)
        for file, path in acquired.paths.items():
            print(f"{name}: {path} ({acquired.origins[file]})")
        if not acquired.paths:
            print(f"{name}: is generated, has no files")


def _openml_number(name: str) -> int | None:
    number = name.removeprefix(OPENML)
    return int(number) if name.startswith(OPENML) and number.isdecimal() else None


def inspect(options: argparse.Namespace) -> None:
    """Read and split a table as the workflow would, and print its description."""
    number = _openml_number(options.path)
    source = {"path": options.path} if number is None else {"openml": number}
    block = {**given_options(options), **source, "name": Path(options.path).name}
    dataset = validated(CustomDataset, block, "")
    custom = prepare_custom(dataset, options.downloads)
    sizes = [str(len(custom.splits[0].rows(part))) for part in PARTS]
    for line in custom.facts["description"]:
        print(line)
    print(f"folds: {len(custom.splits)}, the first with {' / '.join(sizes)} rows")


if __name__ == "__main__":
    main()
