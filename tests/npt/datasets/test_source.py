from __future__ import annotations

import gzip
import hashlib
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from npt.datasets import datasets, synthetic
from npt.datasets.declaration import Dataset, File, Reading
from npt.datasets.source import MIRROR, acquire
from npt.interface import UserError

CONTENT = b"1,2\n3,4\n" * 1000
SHA = hashlib.sha256(CONTENT).hexdigest()


class Server(BaseHTTPRequestHandler):
    served: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.served.append(self.path)
        body = {"/file.csv": CONTENT, "/file.csv.gz": gzip.compress(CONTENT), "/wrong.csv": b"other"}.get(self.path)
        if self.path == "/short.csv":
            self.send_response(200)
            self.send_header("Content-Length", str(len(CONTENT)))
            self.end_headers()
            self.wfile.write(CONTENT[:100])
            return
        self.send_response(200 if body else 404)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    Server.served.clear()
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


def test_wrong_content_is_refused_with_both_hashes_and_nothing_kept(address: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as error:
        acquire(from_urls(f"{address}/wrong.csv"), tmp_path)
    assert hashlib.sha256(b"other").hexdigest() in str(error.value)
    assert SHA in str(error.value)
    assert "\n" not in str(error.value)
    assert leftovers(tmp_path) == []


def test_a_truncated_download_leaves_nothing(address: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"file\.csv"):
        acquire(from_urls(f"{address}/short.csv"), tmp_path)
    assert leftovers(tmp_path) == []


def test_what_a_killed_download_left_is_cleared(address: str, tmp_path: Path) -> None:
    left = tmp_path / "toy" / ".part-killed"
    left.mkdir(parents=True)
    (left / "file.csv").write_bytes(CONTENT[:50])
    acquire(from_urls(f"{address}/file.csv"), tmp_path)
    assert leftovers(tmp_path) == ["file.csv"]


def test_a_download_that_rotted_on_disk_is_refused_and_a_file_put_there_by_hand_is_not_lost(tmp_path: Path) -> None:
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "file.csv").write_bytes(b"rot")
    with pytest.raises(UserError, match="remove it to fetch it anew"):
        acquire(from_urls(), tmp_path)
    assert leftovers(tmp_path) == ["file.csv"]


def test_the_mirror_comes_first_and_its_files_stay(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    assert acquire(datasets()["wine"], tmp_path).origins["wine_data.csv"].startswith("scikit-learn ")


def test_a_reading_at_hand_is_preferred_to_a_download(address: str, tmp_path: Path) -> None:
    file = replace(datasets()["wine"].readings[0].files[0])
    toy = replace(
        declared(),
        readings=(Reading((File("x", SHA, (f"{address}/file.csv",)),), synthetic.read), Reading((file,), synthetic.read)),
    )
    assert acquire(toy, tmp_path).reading.files == (file,)
    assert Server.served == []


def test_no_source_names_the_file_the_address_and_the_place(tmp_path: Path) -> None:
    with pytest.raises(UserError) as error:
        acquire(from_urls("http://127.0.0.1:9/file.csv"), tmp_path)
    for part in ("file.csv", "http://127.0.0.1:9/file.csv", str(tmp_path / "toy"), MIRROR):
        assert part in str(error.value)
    assert "\n" not in str(error.value)
