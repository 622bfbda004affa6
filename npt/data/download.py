"""Download a file that may be large over a connection that may break: what has arrived is kept and gone on from."""

from __future__ import annotations

import sys
import time
from typing import IO, Any

ATTEMPTS, ATTEMPTS_TO_CONNECT = 4, 2
TIMEOUT = 60  # seconds without a byte
CHUNK = 1 << 20


def download(url: str, stream: IO[bytes]) -> bool:
    """Append to `stream`, a file opened for appending, what it lacks of `url`. Whether the whole of it has arrived.

    A server that cannot begin in the middle sends everything, which then replaces what was there.
    """
    import requests
    import urllib3

    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(2.0**attempt / 4)
        here = stream.seek(0, 2)
        print(
            f"downloading {url}" + (f" from byte {here:,}" if here else ""),
            file=sys.stderr,
            flush=True,
        )
        # Files are wanted as they are stored, compressed ones too.
        headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={here}-"} if here else {})}
        try:
            with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT) as answer:
                if answer.status_code == requests.codes.requested_range_not_satisfiable:
                    return True
                answer.raise_for_status()
                if answer.status_code != requests.codes.partial_content:
                    stream.truncate(0)
                _receive(answer, stream)
            return True
        except (requests.exceptions.RequestException, urllib3.exceptions.HTTPError) as error:
            print(f"{url}: {type(error).__name__}", file=sys.stderr, flush=True)
            status = getattr(getattr(error, "response", None), "status_code", None)
            refused = status is not None and status < 500
            unreachable = (
                isinstance(error, requests.exceptions.ConnectionError)
                and attempt + 1 == ATTEMPTS_TO_CONNECT
            )
            if refused or (unreachable and stream.seek(0, 2) == here):
                return False
    return False


def _receive(answer: Any, stream: IO[bytes]) -> None:
    from tqdm import tqdm

    length = int(answer.headers.get("Content-Length", 0)) or None
    with tqdm(total=length, unit="B", unit_scale=True, disable=not sys.stderr.isatty()) as bar:
        for chunk in answer.raw.stream(CHUNK, decode_content=False):
            stream.write(chunk)
            bar.update(len(chunk))
    stream.flush()
