"""What a search has found so far, in a file from which an interrupted one resumes."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path


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
        parts: Files of finished parts of the search, which are read alone.
        minutes: Time between two writes.
        stamp: Identity of the search; lines of others are not read.
    """

    def __init__(
        self, path: Path | None, minutes: float, stamp: str, parts: Sequence[Path] = ()
    ) -> None:
        self.path = path
        self.minutes = minutes
        self.stamp = stamp
        self.parts = parts
        self._unwritten: list[str] = []
        self._written = time.monotonic()

    def read(self) -> dict[str, Outcome]:
        """Outcomes by model; a line that was cut off is left out."""
        return dict(self._lines())

    def add(self, outcomes: Mapping[str, Outcome]) -> None:
        """Note the outcomes of a fit, and write if it is time."""
        if self.path is None:
            return
        for model, outcome in outcomes.items():
            line = {"stamp": self.stamp, "model": model, **asdict(outcome)}
            self._unwritten.append(json.dumps(line) + "\n")
        if time.monotonic() - self._written >= 60 * self.minutes:
            self._write(self.path)

    def _write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as stream:
            stream.write("\n" + "".join(self._unwritten))  # after a line that was cut off
        self._unwritten.clear()
        self._written = time.monotonic()

    def _lines(self) -> Iterator[tuple[str, Outcome]]:
        if self.path is None:
            return
        fits = 0
        for part in self.parts:  # each counts its fits from 1
            found = list(self._lines_of(part))
            for model, outcome in found:
                yield model, replace(outcome, fit=outcome.fit and fits + outcome.fit)
            fits += max((outcome.fit for _, outcome in found), default=0)
        yield from self._lines_of(self.path)

    def _lines_of(self, path: Path) -> Iterator[tuple[str, Outcome]]:
        if not path.exists():
            return
        for text in path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                line = json.loads(text)
                if line.pop("stamp") == self.stamp:
                    yield line.pop("model"), Outcome(**line)
            except (ValueError, LookupError, TypeError, AttributeError):
                continue
