"""Download a file; an interrupted download resumes from the bytes that arrived."""

from __future__ import annotations

import sys
import time
from typing import IO

ATTEMPTS = 4
TIMEOUT = (10, 60)  # seconds to connect, and without a byte
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
        time.sleep(attempt)
        try:
            _append(url, stream, stream.seek(0, 2))
            return True
        except requests.exceptions.HTTPError as error:
            _print(f"{url}: {type(error).__name__}")
            if error.response is None or error.response.status_code < 500:  # no retry changes it
                return False
        except (requests.exceptions.RequestException, urllib3.exceptions.HTTPError) as error:
            _print(f"{url}: {type(error).__name__}")
    return False


def _append(url: str, stream: IO[bytes], start: int) -> None:
    import requests
    from tqdm import tqdm

    headers = {"Accept-Encoding": "identity"}  # a compressed file stays compressed
    if start:
        headers["Range"] = f"bytes={start}-"
    _print(f"downloading {url} from byte {start:,}")
    with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT) as response:
        if response.status_code == requests.codes.requested_range_not_satisfiable:
            return
        response.raise_for_status()
        if response.status_code != requests.codes.partial_content:
            stream.truncate(0)
        length = int(response.headers.get("Content-Length", 0)) or None
        with tqdm(total=length, unit="B", unit_scale=True, disable=None) as bar:
            for chunk in response.raw.stream(CHUNK, decode_content=False):
                stream.write(chunk)
                bar.update(len(chunk))
    stream.flush()


def _print(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
