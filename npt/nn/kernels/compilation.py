"""Functions that torch.compile must not trace into.

`torch.compiler.disable` loads torch's compiler, which takes seconds, so it is applied only when
something is compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import torch

Function = TypeVar("Function", bound=Callable[..., Any])

_deferred: list[Callable[[], None]] = []


def uncompiled(function: Function) -> Function:
    """Decorator: exclude the function from compilation, once `exclude_uncompiled` is called."""
    current: list[Callable[..., Any]] = [function]

    @wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        return current[0](*arguments, **named)

    def exclude() -> None:
        current[0] = torch.compiler.disable(function)

    _deferred.append(exclude)
    return call  # type: ignore[return-value]


def exclude_uncompiled() -> None:
    """Exclude all `uncompiled` functions from the compilation that follows."""
    for exclude in _deferred:
        exclude()
