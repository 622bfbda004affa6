"""Lists of names in messages."""

from __future__ import annotations

from collections.abc import Iterable

SHOWN_NAMES = 20


def listed(names: Iterable[str], most: int = SHOWN_NAMES) -> str:
    """Names separated by commas, quoted if they have one; the first `most` of many."""
    names = [repr(name) if "," in name else name for name in names]
    shown = names[:most]
    if len(names) > most:
        shown.append(f"and {len(names) - most:,} more")
    return ", ".join(shown) or "none"
