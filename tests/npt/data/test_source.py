"""Files of datasets: where they come from, how they are unpacked and checked."""

import gzip
import hashlib
import io
import tarfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from npt.data.datasets import datasets, synthetic
from npt.data.declaration import Dataset, File, Reading
from npt.data.images import read_idx, read_records
from npt.data.source import MIRROR, Acquired, acquire
from npt.data.unpack import unpack
from npt.errors import UserError

CONTENT = b"1,2\n3,4\n" * 1000
SHA = hashlib.sha256(CONTENT).hexdigest()
PACKED = gzip.compress(CONTENT, mtime=0)


def tarred(*members: str) -> bytes:
    """A .tar.gz of files with the same content."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name in members:
            info = tarfile.TarInfo(name)
            info.size = len(CONTENT)
            archive.addfile(info, io.BytesIO(CONTENT))
    return packed.getvalue()


ARCHIVE = tarred("../../evil.csv", "toy/file.csv")
FILES = {
    "/file.csv": CONTENT,
    "/file.csv.gz": PACKED,
    "/wrong.csv": b"other",
    "/toy.tar.gz": ARCHIVE,
    "/broken.csv": CONTENT,
    "/broken.csv.gz": PACKED,
}


class Server(BaseHTTPRequestHandler):
    """Serves `FILES`, and `/broken...` of which each response ends after `limit` bytes."""

    served: ClassVar[list[str]] = []
    starts: ClassVar[list[int]] = []
    limit = 3000

    def do_GET(self) -> None:
        self.served.append(self.path)
        body = FILES.get(self.path, b"")
        start = 0
        end = len(body)
        if self.path.startswith("/broken"):
            start = int(self.headers.get("Range", "bytes=0-")[len("bytes=") : -1])
            end = start + self.limit
            self.starts.append(start)
        success = 206 if start else 200
        self.send_response(success if body else 404)
        self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        self.wfile.write(body[start:end])

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    Server.served.clear()
    Server.starts.clear()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()


@pytest.fixture(autouse=True)
def _no_mirror(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(MIRROR, raising=False)
    monkeypatch.setattr("time.sleep", lambda _: None)


def declared(*files: File) -> Dataset:
    return replace(synthetic.DATASET, name="toy", readings=(Reading(files, synthetic.read),))


def from_urls(*urls: str) -> Dataset:
    return declared(File("file.csv", SHA, urls=urls))


def content_of(acquired: Acquired) -> bytes:
    return acquired.paths["file.csv"].read_bytes()


def leftovers(folder: Path) -> list[str]:
    """Names of all files but locks."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return sorted(path.name for path in files if path.suffix != ".lock")


@pytest.mark.parametrize("name", ["file.csv", "file.csv.gz"])
def test_a_download_is_checked_unpacked_and_kept(name: str, address: str, tmp_path: Path) -> None:
    toy = from_urls(f"{address}/gone.csv", f"{address}/{name}")
    assert content_of(acquire(toy, tmp_path)) == CONTENT
    assert acquire(toy, tmp_path).origins == {"file.csv": "download"}
    assert Server.served == ["/gone.csv", f"/{name}"]
    assert leftovers(tmp_path) == ["file.csv"]


def test_wrong_content_is_refused_and_deleted(address: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as error:
        acquire(from_urls(f"{address}/wrong.csv"), tmp_path)
    assert hashlib.sha256(b"other").hexdigest() in str(error.value)
    assert SHA in str(error.value)
    assert "\n" not in str(error.value)
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_a_later_process_resumes_a_download(
    ending: str, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy = from_urls(f"{address}/broken.csv{ending}")
    monkeypatch.setattr(Server, "limit", 5)
    with pytest.raises(UserError, match=r"file\.csv"):
        acquire(toy, tmp_path)
    assert leftovers(tmp_path) == [f".file.csv{ending}.part"]
    assert Server.starts == [0, 5, 10, 15]
    monkeypatch.setattr(Server, "limit", 10_000)
    assert content_of(acquire(toy, tmp_path)) == CONTENT
    assert Server.starts == [0, 5, 10, 15, 20]
    assert leftovers(tmp_path) == ["file.csv"]


def test_a_wrong_beginning_is_deleted(address: str, tmp_path: Path) -> None:
    part = tmp_path / "toy" / ".file.csv.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(b"x" * 6000)
    with pytest.raises(UserError, match="sha256"):
        acquire(from_urls(f"{address}/broken.csv"), tmp_path)
    assert leftovers(tmp_path) == []
    part.write_bytes(b"x" * 6000)  # a server without ranges sends everything
    assert content_of(acquire(from_urls(f"{address}/file.csv"), tmp_path)) == CONTENT


@pytest.mark.parametrize("name", ["file.csv", "file.csv.gz"])
def test_concurrent_jobs_download_a_file_once(name: str, address: str, tmp_path: Path) -> None:
    for attempt in range(3):
        folder = tmp_path / str(attempt)
        job = partial(acquire, from_urls(f"{address}/{name}"), folder)
        with ThreadPoolExecutor(8) as pool:
            jobs = [pool.submit(job) for _ in range(8)]
        assert {content_of(job.result()) for job in jobs} == {CONTENT}
    assert Server.served == [f"/{name}"] * 3


def test_members_of_archives(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sha256 = hashlib.sha256(ARCHIVE).hexdigest()
    archive = File("toy.tar.gz", sha256, (f"{address}/toy.tar.gz",))
    toy = declared(File("file.csv", SHA, archive=archive, member="toy/file.csv"))
    assert content_of(acquire(toy, tmp_path / "one")) == CONTENT
    assert leftovers(tmp_path) == ["file.csv", "toy.tar.gz"]
    monkeypatch.setenv(MIRROR, str(tmp_path / "one"))
    (tmp_path / "one/toy/file.csv").unlink()
    assert acquire(toy, tmp_path / "two").origins == {"file.csv": "toy.tar.gz, mirror"}
    assert Server.served == ["/toy.tar.gz"]


def test_a_gzipped_copy_in_the_mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MIRROR, str(tmp_path / "mirror"))
    with pytest.raises(UserError, match=MIRROR):
        acquire(from_urls(), tmp_path)
    (tmp_path / "mirror/toy").mkdir(parents=True)
    (tmp_path / "mirror/toy/file.csv.gz").write_bytes(PACKED)
    assert content_of(acquire(from_urls(), tmp_path / "here")) == CONTENT
    archive = File("toy.tar.gz", "", ())
    member = declared(File("file.csv", SHA, archive=archive, member="toy/file.csv"))
    assert content_of(acquire(member, tmp_path / "there")) == CONTENT


@pytest.mark.parametrize(
    ("member", "content"),
    [
        ("toy/file.csv", tarred("other.csv")),
        ("toy/file.csv", ARCHIVE[:100]),
        ("toy/file.csv", b"not an archive"),
        ("", PACKED[:50]),
        ("", b"plain"),
        ("", PACKED[:-4] + b"abcd"),
    ],
)
def test_damaged_archives_are_named(member: str, content: bytes, tmp_path: Path) -> None:
    packed = tmp_path / "packed.gz"
    packed.write_bytes(content)
    with pytest.raises(UserError, match=r"packed\.gz") as error:
        unpack(packed, member, tmp_path / "out", 10_000)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("member", ["toy/file.csv", ""])
def test_nothing_unpacks_to_more_than_is_allowed(member: str, tmp_path: Path) -> None:
    packed = tmp_path / "packed.gz"
    packed.write_bytes(ARCHIVE if member else PACKED)
    with pytest.raises(UserError, match="larger than the 100 bytes"):
        unpack(packed, member, tmp_path / "out", 100)
    assert (tmp_path / "out").stat().st_size <= 100


def test_a_link_in_an_archive_is_refused(tmp_path: Path) -> None:
    packed = tmp_path / "packed.gz"
    with tarfile.open(packed, "w:gz") as archive:
        link = tarfile.TarInfo("toy/file.csv")
        link.type = tarfile.SYMTYPE
        link.linkname = "/etc/passwd"
        archive.addfile(link)
    with pytest.raises(UserError, match="link"):
        unpack(packed, "toy/file.csv", tmp_path / "out", 100)


def test_the_mirror_comes_first_and_is_not_changed(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror = tmp_path / "mirror" / "toy"
    mirror.mkdir(parents=True)
    (mirror / "file.csv").write_bytes(CONTENT)
    monkeypatch.setenv(MIRROR, str(tmp_path / "mirror"))
    toy = from_urls(f"{address}/file.csv")
    assert acquire(toy, tmp_path / "downloads").origins == {"file.csv": "mirror"}
    assert Server.served == []
    (mirror / "file.csv").write_bytes(CONTENT[:-1])
    with pytest.raises(UserError, match="sha256"):
        acquire(toy, tmp_path / "downloads")
    assert (mirror / "file.csv").exists()


def test_an_available_reading_is_preferred(address: str, tmp_path: Path) -> None:
    (bundled,) = datasets()["wine"].readings[0].files
    remote = File("x", SHA, (f"{address}/file.csv",))
    readings = (Reading((remote,), synthetic.read), Reading((bundled,), synthetic.read))
    acquired = acquire(replace(declared(), readings=readings), tmp_path)
    assert acquired.reading.files == (bundled,)
    assert Server.served == []


def test_without_a_source_the_error_says_where_to_put_it(tmp_path: Path) -> None:
    url = "http://127.0.0.1:9/file.csv"
    with pytest.raises(UserError) as error:
        acquire(from_urls(url), tmp_path)
    for part in ("file.csv", url, str(tmp_path / "toy"), MIRROR):
        assert part in str(error.value)
    assert "\n" not in str(error.value)


def test_without_a_source_a_file_of_the_mirror_is_not_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror = tmp_path / "mirror"
    (mirror / "toy").mkdir(parents=True)
    (mirror / "toy" / "there.csv").write_bytes(CONTENT)
    monkeypatch.setenv(MIRROR, str(mirror))
    files = (File("there.csv", SHA), File("lost.csv", SHA))
    reading = replace(from_urls().readings[0], files=files)
    with pytest.raises(UserError, match=r"could be reached for lost\.csv; put"):
        acquire(replace(from_urls(), readings=(reading,)), tmp_path)


HEADER = b"\0\0\x08\1\0\0\0\6"  # six unsigned bytes in one dimension


def test_an_idx_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(HEADER + b"abcdef"))
    assert read_idx(path, (6,)).tobytes() == b"abcdef"


UNPACKED = [b"", bytes(8 + 6), HEADER + bytes(7), HEADER + bytes(5)]


@pytest.mark.parametrize("content", [*map(gzip.compress, UNPACKED), HEADER + bytes(6)])
def test_an_idx_file_of_another_shape(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.gz"
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"x\.gz"):
        read_idx(path, (6,))


def test_records_of_another_size(tmp_path: Path) -> None:
    path = tmp_path / "x.bin"
    path.write_bytes(bytes(7))
    with pytest.raises(UserError, match=r"x\.bin"):
        read_records(path, 2, 4)
