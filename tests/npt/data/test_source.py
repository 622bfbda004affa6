from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from npt.data.datasets import datasets, synthetic
from npt.data.declaration import Archive, Dataset, File, Reading
from npt.data.source import MIRROR, acquire
from npt.data.unpack import expand, take_out
from npt.interface import UserError

CONTENT = b"1,2\n3,4\n" * 1000
SHA = hashlib.sha256(CONTENT).hexdigest()
PACKED = gzip.compress(CONTENT, mtime=0)


def tarred(*members: tuple[str, bytes | str]) -> bytes:
    """A .tar.gz of files with their content, or links to a name."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            if isinstance(content, str):
                info.type, info.linkname = tarfile.SYMTYPE, content
                archive.addfile(info)
            else:
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
    return gzip.compress(packed.getvalue(), mtime=0)


ARCHIVE = tarred(("../../evil.csv", b"evil"), ("toy/file.csv", CONTENT))


class Server(BaseHTTPRequestHandler):
    served: ClassVar[list[str]] = []
    asked: ClassVar[list[int]] = []
    most = 3000

    def do_GET(self) -> None:
        self.served.append(self.path)
        body = {
            "/file.csv": CONTENT,
            "/file.csv.gz": PACKED,
            "/wrong.csv": b"other",
            "/toy.tar.gz": ARCHIVE,
        }.get(self.path)
        if self.path.startswith("/broken"):
            self.break_off(PACKED if self.path.endswith(".gz") else CONTENT)
            return
        self.send_response(200 if body else 404)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def break_off(self, body: bytes) -> None:
        """Send no more than `most` bytes of what was asked for; `/broken-always` begins at the start each time."""
        wanted = self.headers.get("Range")
        start = (
            int(wanted.removeprefix("bytes=").removesuffix("-"))
            if wanted and "always" not in self.path
            else 0
        )
        self.asked.append(start)
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        self.wfile.write(body[start : start + self.most])

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    Server.served.clear()
    Server.asked.clear()
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


def leftovers(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("name", ["file.csv", "file.csv.gz"])
def test_a_download_is_checked_expanded_and_kept(name: str, address: str, tmp_path: Path) -> None:
    found = acquire(from_urls(f"{address}/{name}"), tmp_path)
    assert found.paths["file.csv"].read_bytes() == CONTENT
    assert acquire(from_urls(f"{address}/{name}"), tmp_path).origins == {"file.csv": "download"}
    assert Server.served == [f"/{name}"]
    assert leftovers(tmp_path) == ["file.csv"]


def test_the_next_address_is_tried(address: str, tmp_path: Path) -> None:
    found = acquire(from_urls(f"{address}/gone.csv", f"{address}/file.csv"), tmp_path)
    assert found.origins["file.csv"].endswith("/file.csv")


def test_wrong_content_is_refused_with_both_hashes_and_nothing_kept(
    address: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError) as error:
        acquire(from_urls(f"{address}/wrong.csv"), tmp_path)
    assert hashlib.sha256(b"other").hexdigest() in str(error.value)
    assert SHA in str(error.value)
    assert "\n" not in str(error.value)
    assert leftovers(tmp_path) == []


def test_a_connection_that_breaks_is_gone_on_from(address: str, tmp_path: Path) -> None:
    found = acquire(from_urls(f"{address}/broken.csv"), tmp_path)
    assert found.paths["file.csv"].read_bytes() == CONTENT
    assert Server.asked == [0, 3000, 6000]
    assert leftovers(tmp_path) == ["file.csv"]


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_what_a_killed_download_left_is_gone_on_from(
    ending: str, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Server, "most", 5)
    with pytest.raises(UserError, match=r"no source could be reached for file\.csv"):
        acquire(from_urls(f"{address}/broken.csv{ending}"), tmp_path)
    assert leftovers(tmp_path) == [f".file.csv{ending}.part"]
    assert Server.asked == [0, 5, 10, 15]
    monkeypatch.setattr(Server, "most", 10_000)
    found = acquire(from_urls(f"{address}/broken.csv{ending}"), tmp_path)
    assert found.paths["file.csv"].read_bytes() == CONTENT
    assert Server.asked == [0, 5, 10, 15, 20]
    assert leftovers(tmp_path) == ["file.csv"]


def test_a_server_that_cannot_go_on_begins_anew(address: str, tmp_path: Path) -> None:
    left = tmp_path / "toy" / ".file.csv.part"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"something else")
    assert (
        acquire(from_urls(f"{address}/file.csv"), tmp_path).paths["file.csv"].read_bytes()
        == CONTENT
    )


def test_a_beginning_that_does_not_fit_is_not_kept(address: str, tmp_path: Path) -> None:
    left = tmp_path / "toy" / ".file.csv.part"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"x" * 6000)
    with pytest.raises(UserError, match="sha256"):
        acquire(from_urls(f"{address}/broken.csv"), tmp_path)
    assert leftovers(tmp_path) == []
    acquire(from_urls(f"{address}/file.csv"), tmp_path)


def test_two_processes_fetch_a_file_once(address: str, tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        found = list(
            pool.map(lambda _: acquire(from_urls(f"{address}/file.csv"), tmp_path), range(4))
        )
    assert {one.paths["file.csv"].read_bytes() for one in found} == {CONTENT}
    assert Server.served == ["/file.csv"]


def test_a_member_of_an_archive(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = Archive("toy.tar.gz", hashlib.sha256(ARCHIVE).hexdigest(), (f"{address}/toy.tar.gz",))
    toy = declared(File("file.csv", SHA, archive=archive, member="toy/file.csv"))
    assert acquire(toy, tmp_path / "one").paths["file.csv"].read_bytes() == CONTENT
    assert leftovers(tmp_path) == ["file.csv", "toy.tar.gz"]
    monkeypatch.setenv(MIRROR, str(tmp_path / "one"))
    (tmp_path / "one/toy/file.csv").unlink()
    assert acquire(toy, tmp_path / "two").origins == {"file.csv": "toy.tar.gz, mirror"}
    assert Server.served == ["/toy.tar.gz"]


def test_a_compressed_copy_in_the_mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mirror/toy").mkdir(parents=True)
    (tmp_path / "mirror/toy/file.csv.gz").write_bytes(PACKED)
    monkeypatch.setenv(MIRROR, str(tmp_path / "mirror"))
    assert acquire(from_urls(), tmp_path / "here").paths["file.csv"].read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (tarred(("toy/file.csv", "/etc/passwd")), "is a link or a folder"),
        (tarred(("toy/file.csv", "../../../etc/passwd")), "is a link or a folder"),
        (tarred(("other.csv", CONTENT)), "has no member toy/file.csv"),
        (
            tarred(("toy/file.csv", bytes(10_000_000))),
            "unpacks to more than the 1,000 bytes allowed",
        ),
        (ARCHIVE[:100], "not a whole tar archive"),
        (b"not an archive", "not a whole tar archive"),
        (b"", "not a whole tar archive"),
    ],
)
def test_hostile_archives(content: bytes, message: str, tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b" / "c"
    folder.mkdir(parents=True)
    (folder / "toy.tar.gz").write_bytes(content)
    with pytest.raises(UserError, match=message):
        take_out(folder / "toy.tar.gz", "toy/file.csv", folder / "out", 1000)
    assert leftovers(tmp_path) in (["toy.tar.gz"], ["out", "toy.tar.gz"])
    assert not (folder / "out").exists() or (folder / "out").stat().st_size <= 1000


@pytest.mark.parametrize(
    "content", [gzip.compress(bytes(10_000_000)), PACKED[:50], b"plain", PACKED[:-4] + b"abcd"]
)
def test_hostile_gzip_files(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "file.gz").write_bytes(content)
    with pytest.raises(
        UserError, match=r"unpacks to more than the 100,000 bytes allowed|not a whole gzip file"
    ):
        expand(tmp_path / "file.gz", tmp_path / "file", 100_000)
    assert not (tmp_path / "file").exists() or (tmp_path / "file").stat().st_size <= 100_000


def test_a_download_that_rotted_on_disk_is_refused_and_a_file_put_there_by_hand_is_not_lost(
    tmp_path: Path,
) -> None:
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "file.csv").write_bytes(b"rot")
    with pytest.raises(UserError, match="remove it to fetch it anew"):
        acquire(from_urls(), tmp_path)
    assert leftovers(tmp_path) == ["file.csv"]


def test_the_mirror_comes_first_and_its_files_stay(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror = tmp_path / "mirror" / "toy"
    mirror.mkdir(parents=True)
    (mirror / "file.csv").write_bytes(CONTENT)
    monkeypatch.setenv(MIRROR, str(tmp_path / "mirror"))
    found = acquire(from_urls(f"{address}/file.csv"), tmp_path / "downloads")
    assert (found.origins, Server.served) == ({"file.csv": "mirror"}, [])
    (mirror / "file.csv").write_bytes(CONTENT[:-1])
    with pytest.raises(UserError, match="left as it is"):
        acquire(from_urls(f"{address}/file.csv"), tmp_path / "downloads")
    assert (mirror / "file.csv").exists()
    monkeypatch.setenv(MIRROR, str(tmp_path / "nowhere"))
    with pytest.raises(UserError, match="not a directory"):
        acquire(from_urls(f"{address}/file.csv"), tmp_path / "downloads")


def test_a_file_inside_an_installed_package(tmp_path: Path) -> None:
    assert (
        acquire(datasets()["wine"], tmp_path).origins["wine_data.csv"].startswith("scikit-learn ")
    )


def test_a_reading_at_hand_is_preferred_to_a_download(address: str, tmp_path: Path) -> None:
    file = replace(datasets()["wine"].readings[0].files[0])
    toy = replace(
        declared(),
        readings=(
            Reading((File("x", SHA, (f"{address}/file.csv",)),), synthetic.read),
            Reading((file,), synthetic.read),
        ),
    )
    assert acquire(toy, tmp_path).reading.files == (file,)
    assert Server.served == []


def test_no_source_names_the_file_the_address_and_the_place(tmp_path: Path) -> None:
    with pytest.raises(UserError) as error:
        acquire(from_urls("http://127.0.0.1:9/file.csv"), tmp_path)
    for part in ("file.csv", "http://127.0.0.1:9/file.csv", str(tmp_path / "toy"), MIRROR):
        assert part in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["file.csv", "file.csv.gz"])
def test_many_at_once_never_take_a_file_from_each_other(
    name: str, address: str, tmp_path: Path
) -> None:
    for attempt in range(20):
        with ThreadPoolExecutor(8) as pool:
            found = list(
                pool.map(
                    lambda _, here=tmp_path / str(attempt): acquire(
                        from_urls(f"{address}/{name}"), here
                    ),
                    range(8),
                )
            )
        assert {one.paths["file.csv"].read_bytes() for one in found} == {CONTENT}
    assert Server.served == [f"/{name}"] * 20


def test_who_waited_for_a_failed_download_begins_anew(address: str, tmp_path: Path) -> None:
    def attempt(_: int) -> str:
        try:
            acquire(from_urls(f"{address}/wrong.csv"), tmp_path)
        except UserError as error:
            return str(error)
        return "no error"

    with ThreadPoolExecutor(4) as pool:
        messages = list(pool.map(attempt, range(4)))
    assert all("sha256" in message for message in messages)
    assert leftovers(tmp_path) == []
