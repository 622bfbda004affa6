"""Download a file; an interrupted download resumes from the bytes that arrived."""

from __future__ import annotations

import sys
import time
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    import requests

ATTEMPTS = 4
ATTEMPTS_TO_CONNECT = 2
TIMEOUT = 60  # seconds without a byte
CHUNK = 1 << 20


def download(url: str, stream: IO[bytes]) -> bool:
    """Append to `stream` what it lacks of the content of `url`.

    A server that cannot send a range sends everything, which replaces the beginning.

    Args:
        stream: A file opened for appending.

    Returns:
        Whether the content is complete.
    """
    import requests
    import urllib3

    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(2.0**attempt / 4)
        arrived = stream.seek(0, 2)
        try:
            _append(url, stream, arrived)
            return True
        except (requests.exceptions.RequestException, urllib3.exceptions.HTTPError) as error:
            _print(f"{url}: {type(error).__name__}")
            if _refused(error):
                return False
            unreachable = isinstance(error, requests.exceptions.ConnectionError)
            progress = stream.seek(0, 2) > arrived
            if unreachable and not progress and attempt + 1 == ATTEMPTS_TO_CONNECT:
                return False
    return False


def _append(url: str, stream: IO[bytes], start: int) -> None:
    import requests

    headers = {"Accept-Encoding": "identity"}  # a compressed file stays compressed
    if start:
        headers["Range"] = f"bytes={start}-"
        _print(f"downloading {url} from byte {start:,}")
    else:
        _print(f"downloading {url}")
    with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT) as response:
        if response.status_code == requests.codes.requested_range_not_satisfiable:
            return
        response.raise_for_status()
        if response.status_code != requests.codes.partial_content:
            stream.truncate(0)
        _receive(response, stream)


def _receive(response: requests.Response, stream: IO[bytes]) -> None:
    from tqdm import tqdm

    length = int(response.headers.get("Content-Length", 0)) or None
    hidden = not sys.stderr.isatty()
    with tqdm(total=length, unit="B", unit_scale=True, disable=hidden) as bar:
        for chunk in response.raw.stream(CHUNK, decode_content=False):
            stream.write(chunk)
            bar.update(len(chunk))
    stream.flush()


def _refused(error: Any) -> bool:
    """Whether the server answered with an error of the client, which no retry changes."""
    response = getattr(error, "response", None)
    return response is not None and response.status_code < 500


def _print(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
