"""Bring a dataset, check it, and write its table and splits."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from npt.data import store
from npt.data.assembly import assemble
from npt.data.custom import CustomDataset, folds_of, read_custom
from npt.data.datasets import datasets
from npt.data.declaration import Dataset
from npt.data.source import acquire
from npt.data.splits import splits
from npt.interface import UserError, unknown
from workflow.config.custom_datasets import custom_dataset
from workflow.runtime.command import execute, parser


def main() -> None:
    """Command line of the step."""
    options = parser(__doc__)
    options.add_argument(
        "--dataset", required=True, help="a declared dataset, or the name of --table"
    )
    options.add_argument(
        "--table",
        type=json.loads,
        default={},
        help="a table of your own as in a configuration, as JSON",
    )
    options.add_argument(
        "--downloads", type=Path, required=True, help="folder for downloaded files"
    )
    options.add_argument("--output", type=Path, required=True)
    given = options.parse_args()
    if given.table:
        prepared = prepare_custom(
            custom_dataset(given.dataset, given.table, "--table"), given.downloads
        )
    else:
        if given.dataset not in datasets():
            raise UserError(f"--dataset: {unknown(given.dataset, datasets())}")
        prepared = prepare(given.dataset, given.downloads)
    store.save(given.output, prepared)
    for key, value in _lines(prepared.facts):
        print(f"{key}: {value}")


def prepare(name: str, downloads: Path) -> store.Prepared:
    """The table and folds of the declared dataset of a name."""
    return prepare_declared(datasets()[name], downloads)


def prepare_declared(dataset: Dataset, downloads: Path) -> store.Prepared:
    """The table and folds of a dataset, from whatever source has its files."""
    acquired = acquire(dataset, downloads)
    table = assemble(acquired.reading.read(acquired.paths), dataset)
    folds = {split.fold: split for split in splits(table, dataset.split_rule)}
    files = {file.name: file.sha256 for file in acquired.reading.files}
    return store.Prepared(
        table, folds, _facts(dataset.name, dataset.licence, files, acquired.origins, table, folds)
    )


def prepare_custom(own: CustomDataset, downloads: Path) -> store.Prepared:
    """The table and folds of a table of the user's own."""
    content = read_custom(own, downloads)
    folds = folds_of(own, content)
    where = Path(own.path).name if own.path else own.where
    origins = {where: "your own" if own.path else "OpenML"}
    facts = _facts(own.name, own.licence, {where: content.sha256}, origins, content.table, folds)
    return store.Prepared(content.table, folds, {**facts, "description": list(content.description)})


def _facts(
    name: str,
    licence: str,
    files: Mapping[str, str],
    origins: Mapping[str, str],
    table: Any,
    folds: Mapping[int, Any],
) -> dict[str, Any]:
    return {
        "name": name,
        "licence": licence,
        "files": dict(files),
        "origins": dict(origins),
        "content": store.content_hash(table),
        "splits": store.split_hash(folds),
    }


def _lines(facts: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Facts to print, of which a description has a line for each of its own."""
    lines = [(key, value) for key, value in facts.items() if key != "description"]
    return [*lines, *(tuple(line.split(": ", 1)) for line in facts.get("description", []))]


if __name__ == "__main__":
    execute(main)
