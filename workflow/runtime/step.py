"""Runs a step: `python -m workflow.runtime.step STEP ARGUMENTS`.

The step runs in a fork of the run's `step_server`, or else in a process of its own.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NoReturn

SOCKET = ".snakemake/npt.steps"  # where the server of a run in this folder listens
STATUS = struct.Struct("!i")  # exit code of a step; that of a signal is negative
FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGTSTP, signal.SIGCONT)
ONE_THREAD = ("--threads", "1")  # libraries must know their threads when they are loaded


def main() -> NoReturn:
    """Run the step; the process ends as the step does."""
    step, *arguments = sys.argv[1:]
    status = None
    if "--threads" not in arguments or ONE_THREAD in pairwise(arguments):
        status = _status_of_fork(step, arguments)
    if status is None:
        # A fork that still runs holds the lock of its run, and this process waits for it.
        os.execv(sys.executable, [sys.executable, "-m", f"workflow.steps.{step}", *arguments])
    if status < 0:
        if -status in FORWARDED:
            signal.signal(-status, signal.SIG_DFL)
        else:
            name = signal.Signals(-status).name
            print(f"error: killed by {name}, as where memory ends; run again to resume", flush=True)
        os.kill(os.getpid(), -status)
    sys.exit(status)


def _status_of_fork(step: str, arguments: Sequence[str]) -> int | None:
    """Exit code of the step in a fork of the server; None without a server."""
    request = {"step": step, "arguments": arguments, "environment": dict(os.environ)}
    outputs = [sys.stdout.fileno(), sys.stderr.fileno()]
    try:
        server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        server.connect(SOCKET)
        socket.send_fds(server, [json.dumps(request).encode()], outputs)
    except OSError:
        return None

    def forward(number: int, frame: Any) -> None:
        if number == signal.SIGTSTP:  # the fork has no terminal, where this would stop nothing
            server.send(bytes([signal.SIGSTOP]))
            os.kill(os.getpid(), signal.SIGSTOP)
        else:
            server.send(bytes([number]))

    for number in FORWARDED:
        signal.signal(number, forward)
    try:
        answer = server.recv(STATUS.size)
    except OSError:
        return None
    return STATUS.unpack(answer)[0] if answer else None


if __name__ == "__main__":
    main()
