"""Arguments of an estimator: threads, seeds, and errors as scikit-learn raises them."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from numbers import Integral
from typing import Any

import numpy as np
import torch
from joblib import cpu_count, effective_n_jobs
from sklearn.utils import check_random_state

from npt.errors import Infeasible, UserError

LARGEST_SEED = 2**31 - 1
PROCESS = os.getpid()  # that imported torch


@contextmanager
def value_errors() -> Generator[None]:
    """Errors of the user as those that users of scikit-learn expect."""
    try:
        yield
    except (UserError, Infeasible) as error:
        raise ValueError(str(error)) from None


@contextmanager
def computing(n_jobs: int | None) -> Generator[None]:
    """Torch computes with the threads of an `n_jobs` inside the block; see `value_errors`.

    Numbers may overflow: infinities are refused later.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(threads_of(n_jobs))
    try:
        with value_errors(), np.errstate(over="ignore"):
            yield
    finally:
        torch.set_num_threads(before)


def threads_of(n_jobs: int | None) -> int:
    """CPU threads of an `n_jobs`, as joblib counts them: None is one, -1 all processors.

    There are at most as many as processors. In a forked process it is one, because OpenMP waits
    there for threads that only its parent has.
    """
    if n_jobs is None or os.getpid() != PROCESS:
        return 1
    threads: Any = effective_n_jobs(int(n_jobs))
    return min(threads, cpu_count())


def seed_of(random_state: Any) -> int:
    """A seed: the number itself, or one drawn from a generator of numpy."""
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(LARGEST_SEED))
