"""Errors that a user can correct, and results that cannot be."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from npt.interface import Trial

SHOWN_NAMES = 20
MOST_NAMED = 60  # allowed names that an error lists


class UserError(Exception):
    """An error that the user can correct.

    Its message is one line: the key or file, what was found and what is allowed.
    """


class Infeasible(Exception):
    """A method cannot produce a result (memory, unsupported data); the reason enters the tables.

    A search in which every configuration failed attaches its trials.
    """

    def __init__(self, reason: str, trials: Sequence[Trial] = ()) -> None:
        super().__init__(reason)
        self.trials = trials


@contextmanager
def errors_at(where: str) -> Generator[None]:
    """Errors of the user inside the block begin with the file, name or key."""
    try:
        yield
    except UserError as error:
        raise UserError(f"{where}: {error}") from None


def unknown(name: Any, allowed: Iterable[str]) -> str:
    """Part of an error message about an unknown name, with the nearest allowed one.

    Example:
        `'yact' is unknown; did you mean 'yacht'? allowed: concrete, yacht`
    """
    names = list(allowed)
    nearest = difflib.get_close_matches(str(name), names, n=1)
    hint = f"did you mean {nearest[0]!r}? " if nearest else ""
    return f"{name!r} is unknown; {hint}allowed: {listed(map(str, names), MOST_NAMED)}"


def require_known(name: Any, allowed: Collection[str], where: str) -> None:
    """Raise `UserError`, which begins with a key or a file, for a name that is not allowed."""
    if name not in allowed:
        raise UserError(f"{where}: {unknown(name, allowed)}")


def listed(names: Iterable[str], most: int = SHOWN_NAMES) -> str:
    """Names separated by commas, quoted if they have one or are blank; the first `most` of many."""
    names = [repr(name) if "," in name or not name.strip() else name for name in names]
    shown = names[:most]
    if len(names) > most:
        shown.append(f"and {len(names) - most:,} more")
    return ", ".join(shown) or "none"
