"""One training on one GPU: every process takes a card of its own, and waits while all are taken."""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from pathlib import Path

_held: list[int] = []


def device(name: str) -> str:
    """The torch device for this process: a free card for `auto` where there is one, else what was asked for."""
    if name != "auto":
        return name
    import torch

    cards = torch.cuda.device_count()
    return f"cuda:{claim(identities(cards))}" if cards else name


def identities(cards: int) -> list[str]:
    """What the visible cards are called on this machine, so that two processes that see different ones know them apart."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
    return (
        visible
        if len(visible) == cards and all(visible)
        else [str(number) for number in range(cards)]
    )


def claim(cards: list[str], folder: Path | None = None, seconds: float = 2.0) -> int:
    """The place of a card that no other process has, kept until this one ends; tried every few seconds."""
    folder = folder or Path(tempfile.gettempdir()) / f"npt-cards-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    told = False
    while True:
        for place, card in enumerate(cards):
            handle = os.open(
                folder / f"{card.replace('/', '_')}.lock", os.O_RDWR | os.O_CREAT, 0o600
            )
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(handle)
                continue
            _held.append(handle)
            return place
        if not told:
            print(f"waiting for a GPU: other trainings have {', '.join(cards)}", flush=True)
            told = True
        time.sleep(seconds)
