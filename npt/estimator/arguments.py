"""Checked arguments of an estimator."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from joblib import cpu_count, effective_n_jobs
from sklearn.utils import check_random_state

from npt.errors import Infeasible, UserError

LARGEST_SEED = 2**31 - 1
LARGEST_STATE = 2**32 - 1  # of numpy's RandomState
PROCESS = os.getpid()  # that imported torch


@contextmanager
def value_errors() -> Generator[None]:
    """Errors of the user as those that users of scikit-learn expect."""
    try:
        yield
    except (UserError, Infeasible) as error:
        raise ValueError(str(error)) from None


@contextmanager
def torch_threads(count: int) -> Generator[None]:
    """Torch computes with so many threads inside the block."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def is_whole_number(value: Any) -> bool:
    """Whether a value is a whole number of Python or numpy, and no boolean."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def threads_of(n_jobs: Any) -> int:
    """CPU threads of an `n_jobs`, as joblib counts them: None is one, -1 all processors.

    There are at most as many as processors. In a forked process it is one, because OpenMP waits
    there for threads that only its parent has.
    """
    if n_jobs is None:
        return 1
    if not is_whole_number(n_jobs) or n_jobs == 0:
        raise UserError(f"n_jobs: {n_jobs!r}; None, -1 or a positive whole number is needed")
    if os.getpid() != PROCESS:
        return 1
    threads: Any = effective_n_jobs(int(n_jobs))
    return min(threads, cpu_count())


def seed_of(random_state: Any) -> int:
    """A seed: the number itself, or one drawn from a generator of numpy."""
    if is_whole_number(random_state):
        if not 0 <= random_state <= LARGEST_STATE:
            raise UserError(f"random_state: {random_state}; allowed: 0 to {LARGEST_STATE}")
        return int(random_state)
    try:
        generator = check_random_state(random_state)
    except ValueError:
        raise UserError(
            f"random_state: {random_state!r}; None, a whole number or a RandomState is needed"
        ) from None
    return int(generator.randint(LARGEST_SEED))


def positive_number(value: Any, name: str) -> int:
    """A whole number above 0."""
    if not is_whole_number(value) or value < 1:
        raise UserError(f"{name}: {value!r}; a positive whole number is needed")
    return int(value)


def fraction_of(value: Any, name: str) -> float:
    """A number between 0 and 1, both excluded."""
    if not isinstance(value, float | np.floating) or not 0 < value < 1:
        raise UserError(f"{name}: {value}; allowed: above 0, below 1")
    return float(value)


def choice_of(value: Any, name: str, default: bool) -> bool:
    """True or False; None takes the default."""
    if value is None:
        return default
    if not isinstance(value, bool | np.bool):
        raise UserError(f"{name}: {value!r}; True, False or None is needed")
    return bool(value)


def text_of(value: Any, name: str) -> str:
    """A text."""
    if not isinstance(value, str):
        raise UserError(f"{name}: {value!r}; a text is needed")
    return value


def visibility_of(verbose: Any) -> bool | None:
    """Whether a progress bar is shown; None where standard error is a terminal."""
    if verbose == "auto":
        return None
    if isinstance(verbose, int | np.integer) and verbose >= 0:
        return bool(verbose)
    raise UserError(f"verbose: {verbose!r}; allowed: auto, 0, 1")
