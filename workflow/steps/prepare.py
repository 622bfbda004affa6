"""Bring a dataset, check it, and write its table and splits."""

from __future__ import annotations

from pathlib import Path

from npt.datasets import datasets, store
from npt.datasets.assembly import assemble
from npt.datasets.source import acquire
from npt.datasets.splits import splits
from npt.files import replacing
from workflow.steps.command import execute, parser


def main() -> None:
    """Command line of the step."""
    options = parser(__doc__)
    options.add_argument("--dataset", required=True, choices=datasets())
    options.add_argument("--downloads", type=Path, required=True, help="folder for downloaded files")
    options.add_argument("--output", type=Path, required=True)
    options.add_argument("--facts", type=Path, required=True, help="where to write what the table came from")
    given = options.parse_args()
    prepared = prepare(given.dataset, given.downloads)
    store.save(given.output, prepared)
    with replacing(given.facts) as partial:
        partial.write_text("".join(f"{key}: {value}\n" for key, value in prepared.facts.items()))


def prepare(name: str, downloads: Path) -> store.Prepared:
    """The table and folds of a dataset, from whatever source has its files."""
    dataset = datasets()[name]
    acquired = acquire(dataset, downloads)
    table = assemble(acquired.reading.read(acquired.paths), dataset)
    folds = {split.fold: split for split in splits(table, dataset.split_rule)}
    facts = {
        "name": name,
        "files": {file.name: file.sha256 for file in acquired.reading.files},
        "origins": dict(acquired.origins),
        "content": store.content_hash(table),
        "splits": store.split_hash(folds),
    }
    return store.Prepared(table, folds, facts)


if __name__ == "__main__":
    execute(main)
