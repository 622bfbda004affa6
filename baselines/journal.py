"""What a search has found so far, in a file from which an interrupted one resumes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from npt.checksum import json_line, without_checksum
from npt.interface import Trial


@dataclass(frozen=True)
class Journal:
    """Trials by model in a file of JSON lines, those of several searches beside each other.

    Attributes:
        path: None keeps nothing.
        stamp: Identity of the search; lines of others are not read.
    """

    path: Path | None
    stamp: str

    def read(self) -> dict[str, Trial]:
        """Trials by model; a line that was cut off is left out."""
        trials: dict[str, Trial] = {}
        if self.path is None or not self.path.exists():
            return trials
        for text in self.path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                line = json.loads(without_checksum(text))
                if line.pop("stamp") == self.stamp:
                    model = line.pop("model")
                    trials[model] = Trial(**line)
            except (ValueError, LookupError, TypeError, AttributeError):
                continue
        return trials

    def add(self, trials: Mapping[str, Trial]) -> None:
        """Append the trials of a fit."""
        if self.path is None:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write("\n")  # after a line that was cut off
            for model, trial in trials.items():
                line = {"stamp": self.stamp, "model": model, **asdict(trial)}
                stream.write(json_line(line))
