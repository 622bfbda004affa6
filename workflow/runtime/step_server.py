"""Processes that have imported what steps import, and fork for each step on this machine.

Importing torch takes longer than many a step. A server starts with the first step that needs its
libraries, and ends with the run. A step in a fork has the arguments, environment, folder and
outputs of the process that asks for it, and is killed with it. Servers are for Linux, for steps of
one thread, and for the code as it was when they started. All other steps start as usual.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import fcntl
import gc
import importlib
import json
import os
import random
import selectors
import shutil
import signal
import socket
import sys
import tempfile
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from workflow.runtime.step import (
    ACCEPTED,
    DECLINED,
    FOLDER,
    LENGTH,
    MODULES,
    STATUS,
    newest_source,
    socket_path,
)

STEPS = ("run", "probe", "collect")
RUN = "run"  # a file that the run locks until it ends
LOOK_SECONDS = 2.0  # between two looks whether the run has ended
ASKING_SECONDS = 10.0  # for a request to arrive
KILL_WITH_PARENT = 1  # Linux's PR_SET_PDEATHSIG
# A machine that shuts down sends these to all processes. A server outlives its steps, which then
# write their checkpoints.
IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_held: list[Any] = []


def offer() -> None:
    """Make the folder of the servers of this run, which end with this process."""
    if not sys.platform.startswith("linux"):
        return
    try:
        folder = Path(tempfile.mkdtemp(prefix="npt-steps-"))
    except OSError:  # no folder can be written to, and steps start as usual
        return
    lock = (folder / RUN).open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    _held.append(lock)
    os.environ[FOLDER] = str(folder)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)


def main() -> None:
    """`python -m workflow.runtime.step_server LIBRARY`, which `step` starts."""
    (library,) = sys.argv[1:]
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    Server(Path(os.environ[FOLDER]), library).serve()


@dataclass(frozen=True)
class Request:
    """A step that a process asks for."""

    step: str
    arguments: list[str]
    folder: str
    environment: dict[str, str]


class Server:
    """Listens for steps, and forks for each."""

    def __init__(self, folder: Path, library: str) -> None:
        self.folder = folder
        self.source = newest_source()
        _import(library)
        self.selector = selectors.DefaultSelector()
        self.children: dict[socket.socket, int] = {}
        self.path = socket_path(folder, library)
        self.listener = socket.socket(socket.AF_UNIX)
        unready = self.path.with_suffix(".unready")
        self.listener.bind(str(unready))
        self.listener.listen(1024)
        unready.rename(self.path)
        self.selector.register(self.listener, selectors.EVENT_READ)

    def serve(self) -> None:
        """Serve until the run has ended."""
        while self.children or not self._run_has_ended():
            for key, _ in self.selector.select(LOOK_SECONDS):
                if key.fileobj is self.listener:
                    self._accept()
                elif key.data is None:
                    self._hear(key.fileobj)
                else:
                    self._reap(key.fd, key.data)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run_has_ended(self) -> bool:
        """Whether nobody holds the lock of the run."""
        try:
            with (self.folder / RUN).open() as lock:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except FileNotFoundError:
            pass
        return True

    def _accept(self) -> None:
        """Begin a step, unless the code has changed since it was imported."""
        connection, _ = self.listener.accept()
        connection.settimeout(ASKING_SECONDS)
        outputs: list[int] = []
        try:
            request = _receive(connection, outputs)
            connection.settimeout(None)
            is_current = newest_source() == self.source
            connection.sendall(ACCEPTED if is_current else DECLINED)
            if is_current:
                self._fork(connection, request, outputs)
            else:
                connection.close()
        except (OSError, ValueError):
            connection.close()
        finally:
            for output in outputs:
                os.close(output)

    def _fork(
        self,
        connection: socket.socket,
        request: Request,
        outputs: Sequence[int],
    ) -> None:
        """Do a step in a fork."""
        child = os.fork()
        if not child:
            self._leave()
            connection.close()
            _do(request, outputs)
        self.children[connection] = child
        self.selector.register(connection, selectors.EVENT_READ)
        self.selector.register(os.pidfd_open(child), selectors.EVENT_READ, connection)

    def _leave(self) -> None:
        """Close what belongs to the server, in a fork of it."""
        descriptors = [key.fd for key in self.selector.get_map().values()]
        self.selector.close()
        for descriptor in descriptors:
            os.close(descriptor)

    def _hear(self, connection: Any) -> None:
        """Pass on a signal, or kill the step of a process that has ended."""
        child = self.children[connection]
        try:
            said = connection.recv(1)
        except OSError:
            said = b""
        if said:
            os.kill(child, said[0])
            return
        os.kill(child, signal.SIGKILL)
        self.selector.unregister(connection)

    def _reap(self, descriptor: int, connection: socket.socket) -> None:
        """Tell the status of a step that has ended."""
        self.selector.unregister(descriptor)
        os.close(descriptor)
        _, status = os.waitpid(self.children.pop(connection), 0)
        if connection in {key.fileobj for key in self.selector.get_map().values()}:
            self.selector.unregister(connection)
        with contextlib.suppress(OSError):
            connection.sendall(STATUS.pack(os.waitstatus_to_exitcode(status)))
        connection.close()


def _import(library: str) -> None:
    """Import as a step does: what has threads of its own comes after their limit."""
    for step in STEPS:
        importlib.import_module(f"workflow.steps.{step}")
    from workflow.runtime.command import limit_threads

    limit_threads(1)
    for module in MODULES[library]:
        importlib.import_module(module)
    gc.freeze()


def _receive(connection: socket.socket, outputs: list[int]) -> Request:
    """A request.

    Args:
        outputs: Gets the descriptors for its output and its errors.

    Raises:
        ValueError: it is not whole.
        OSError: nothing came.
    """
    header, descriptors, _, _ = socket.recv_fds(connection, LENGTH.size, 2)
    outputs += descriptors
    if len(header) < LENGTH.size or len(outputs) != 2:
        raise ValueError("no request")
    (length,) = LENGTH.unpack(header)
    content = b""
    while len(content) < length:
        part = connection.recv(length - len(content))
        if not part:
            raise ValueError("not a whole request")
        content += part
    return Request(**json.loads(content))


def _do(request: Request, outputs: Sequence[int]) -> NoReturn:
    """Run a step in this fork, which ends with it."""
    code = 1
    try:
        ctypes.CDLL(None).prctl(KILL_WITH_PARENT, signal.SIGKILL)
        for number in IGNORED:
            signal.signal(number, signal.SIG_DFL)
        for descriptor, output in enumerate(outputs, 1):
            os.dup2(output, descriptor)
            os.close(output)
        os.chdir(request.folder)
        os.environ.clear()
        os.environ.update(request.environment)
        _draw_anew()
        module = f"workflow.steps.{request.step}"
        sys.argv = [module, *request.arguments]
        from workflow.runtime.command import execute

        execute(importlib.import_module(module).main)
    except SystemExit as end:
        code = _exit_code(end)
    except BaseException:
        traceback.print_exc()
    finally:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _draw_anew() -> None:
    """Other random numbers than those of the other forks, as new processes have."""
    import numpy as np

    random.seed()
    np.random.seed()


def _exit_code(end: SystemExit) -> int:
    if end.code is None:
        return 0
    if isinstance(end.code, int):
        return end.code
    print(end.code, file=sys.stderr)
    return 1


if __name__ == "__main__":
    main()
