"""What a search has found so far, in a file from which an interrupted one resumes."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from npt.checksum import json_line, without_checksum


@dataclass(frozen=True)
class Outcome:
    """Result of a model: its loss or why it has none, the number of its fit, and its seconds."""

    loss: float
    reason: str
    fit: int
    seconds: float


class Journal:
    """Outcomes by model in a file of JSON lines, those of several searches beside each other.

    Attributes:
        path: None keeps nothing.
        minutes: Time between two writes.
        stamp: Identity of the search; lines of others are not read.
    """

    def __init__(self, path: Path | None, minutes: float, stamp: str) -> None:
        self.path = path
        self.minutes = minutes
        self.stamp = stamp
        self._unwritten: list[str] = []
        self._written = time.monotonic()

    def read(self) -> dict[str, Outcome]:
        """Outcomes by model; a line that was cut off or damaged is left out."""
        outcomes: dict[str, Outcome] = {}
        if self.path is None or not self.path.exists():
            return outcomes
        for text in self.path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                line = json.loads(without_checksum(text))
                if line.pop("stamp") == self.stamp:
                    model = line.pop("model")
                    outcomes[model] = Outcome(**line)
            except (ValueError, LookupError, TypeError, AttributeError):
                continue
        return outcomes

    def add(self, outcomes: Mapping[str, Outcome]) -> None:
        """Note the outcomes of a fit, and write if it is time."""
        if self.path is None:
            return
        for model, outcome in outcomes.items():
            line = {"stamp": self.stamp, "model": model, **asdict(outcome)}
            self._unwritten.append(json_line(line))
        if time.monotonic() - self._written < 60 * self.minutes:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write("\n" + "".join(self._unwritten))  # after a line that was cut off
        self._unwritten.clear()
        self._written = time.monotonic()
