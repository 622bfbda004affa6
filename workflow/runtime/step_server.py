"""A process that has imported what steps import, and forks for each step on this machine.

Importing torch takes longer than many a step. The server ends with its run. A step in a fork has
the arguments, environment and outputs of the process that asks for it, and is killed with it.
Steps start as usual without a server: off Linux, and with several threads. An edit of the code
counts from the next run on.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn

from workflow.runtime.command import execute, limit_threads
from workflow.runtime.step import FORWARDED, SOCKET, STATUS

STEPS = ("run", "probe", "collect", "show", "report")
# What methods import besides the steps, by library.
MODULES = {
    "torch": ("npt.nn.training", "npt.nn.trained"),
    "scikit-learn": ("sklearn.ensemble", "sklearn.model_selection"),
}
MOST_BYTES = 1 << 20  # of a request
_started: list[subprocess.Popen[bytes]] = []


def offer(libraries: Iterable[str]) -> None:
    """Start the server of this run, for methods of some libraries and for this user alone."""
    umask = os.umask(0o077)
    try:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        Path(SOCKET).unlink(missing_ok=True)
        listener.bind(SOCKET)
        listener.listen(1024)  # requests wait until the libraries are imported
    except OSError:
        return
    finally:
        os.umask(umask)
    # Folders with sockets cannot be copied, and Snakemake leaves the folder before it ends.
    atexit.register(Path(SOCKET).absolute().unlink, missing_ok=True)
    number = listener.fileno()
    command = [sys.executable, "-m", "workflow.runtime.step_server", str(number), *libraries]
    with listener, Path(f"{SOCKET}.log").open("wb") as log:
        server = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,  # stays open until this process ends
            stdout=log,
            stderr=log,
            pass_fds=[number],
            start_new_session=True,
        )
    _started.append(server)


def main() -> None:
    """Serve until the standard input closes, with which the run has ended."""
    for number in (*FORWARDED, signal.SIGCHLD):
        signal.signal(number, signal.SIG_IGN)
    listener = socket.socket(fileno=int(sys.argv[1]))
    _import(sys.argv[2:])
    while True:
        ready, _, _ = select.select([listener, sys.stdin], [], [])
        if sys.stdin in ready:
            return
        connection, _ = listener.accept()
        try:
            supervisor = os.fork()
        except OSError:
            supervisor = None
        if supervisor == 0:
            listener.close()
            _supervise(connection)
        connection.close()


def _import(libraries: Iterable[str]) -> None:
    """Import as a step does: what has threads of its own comes after their limit."""
    limit_threads(1)
    for step in STEPS:
        importlib.import_module(f"workflow.steps.{step}")
    for library in libraries:
        for module in MODULES.get(library, ()):
            importlib.import_module(module)
    gc.freeze()


def _supervise(connection: socket.socket) -> NoReturn:
    """Do a step in another fork, pass on signals, and send its exit code."""
    content, outputs, _, _ = socket.recv_fds(connection, MOST_BYTES, 2)
    request = json.loads(content)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    step = os.fork()
    if not step:
        connection.close()
        for number in FORWARDED:
            signal.signal(number, signal.SIG_DFL)
        for descriptor, output in enumerate(outputs, 1):
            os.dup2(output, descriptor)
        os.environ.clear()
        os.environ.update(request["environment"])
        module = f"workflow.steps.{request['step']}"
        sys.argv = [module, *request["arguments"]]
        execute(importlib.import_module(module).main)
    threading.Thread(target=_forward, args=(connection, step), daemon=True).start()
    _, status = os.waitpid(step, 0)
    with contextlib.suppress(OSError):
        connection.send(STATUS.pack(os.waitstatus_to_exitcode(status)))
    os._exit(0)


def _forward(connection: socket.socket, step: int) -> None:
    """Pass on signals, and kill the step of a process that has ended."""
    with contextlib.suppress(OSError):
        while number := connection.recv(1):
            os.kill(step, number[0])
    with contextlib.suppress(ProcessLookupError):  # it has just ended
        os.kill(step, signal.SIGKILL)


if __name__ == "__main__":
    main()
