"""Runs a step: `python -m workflow.runtime.step LIBRARIES STEP ARGUMENTS`.

LIBRARIES are names with commas between them. The step runs in a fork of a process that has imported
the first of them that takes long (`step_server`), or else in a process of its own.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

FOLDER = "NPT_STEP_SERVERS"  # the environment's name for the folder of a run's servers
LENGTH = struct.Struct("!Q")  # of a request
STATUS = struct.Struct("!i")  # exit code of a step; that of a signal is negative
ACCEPTED, DECLINED = b"+", b"-"
# What a server has imported besides the steps, by the library that takes long.
MODULES = {
    "torch": ("npt.nn.training", "npt.nn.trained"),
    "scikit-learn": ("sklearn.ensemble", "sklearn.model_selection"),
    "matplotlib": ("matplotlib.pyplot", "workflow.steps.show", "workflow.steps.report"),
    "none": (),
}
FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
START_SECONDS = 60.0
LOOK_SECONDS = 0.02
ROOT = Path(__file__).parents[2]
PACKAGES = ("workflow", "npt", "baselines")


def main() -> NoReturn:
    """Run the step; the process ends as the step does."""
    libraries, step, *arguments = sys.argv[1:]
    server = None
    if not _has_threads(arguments):
        server = _connected(library_of(libraries))
    if server is None or not _accepts(server, step, arguments):
        module = f"workflow.steps.{step}"
        os.execv(sys.executable, [sys.executable, "-m", module, *arguments])
    for number in FORWARDED:
        signal.signal(number, lambda number, _: server.send(bytes([number])))
    answer = server.recv(STATUS.size, socket.MSG_WAITALL)
    if len(answer) < STATUS.size:
        sys.exit("error: the process that had forked this step was killed; run again to resume")
    (code,) = STATUS.unpack(answer)
    if code < 0:
        if -code in FORWARDED:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code)


def library_of(libraries: str) -> str:
    """The server for some libraries."""
    names = libraries.split(",")
    for library in MODULES:
        if library in names:
            return library
    return "none"


def socket_path(folder: Path, library: str) -> Path:
    """Where the server with a library listens."""
    return folder / f"{library}.socket"


def newest_source() -> int:
    """Time of the last change of the code, in nanoseconds, by which edits are noticed."""
    newest = 0
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            newest = max(newest, path.stat().st_mtime_ns)
    return newest


def _has_threads(arguments: Sequence[str]) -> bool:
    """Whether a step has several threads, which its libraries must know when they are loaded."""
    if "--threads" not in arguments:
        return False
    place = arguments.index("--threads") + 1
    return arguments[place : place + 1] != ["1"]


def _connected(library: str) -> socket.socket | None:
    """A connection to the server, which the first step starts; None if there is none."""
    name = os.environ.get(FOLDER)
    if not name or not Path(name).is_dir():
        return None
    folder = Path(name)
    connection = socket.socket(socket.AF_UNIX)
    try:
        if _listens(folder, library):
            connection.connect(str(socket_path(folder, library)))
            return connection
    except OSError:
        pass
    connection.close()
    return None


def _listens(folder: Path, library: str) -> bool:
    """Whether a server listens; the first process that asks starts it, others wait."""
    listening = socket_path(folder, library)
    failed = folder / f"{library}.failed"
    server: subprocess.Popen[bytes] | None = None
    try:
        (folder / f"{library}.starting").touch(exist_ok=False)
        server = _start(folder, library)
    except FileExistsError:
        pass
    deadline = time.monotonic() + START_SECONDS
    while not listening.exists():
        if server is not None and server.poll() is not None:
            failed.touch()
        has_ended = not folder.exists()  # the run, and its servers with it
        if has_ended or failed.exists() or time.monotonic() > deadline:
            return False
        time.sleep(LOOK_SECONDS)
    return True


def _start(folder: Path, library: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "workflow.runtime.step_server", library]
    with (folder / f"{library}.log").open("wb") as log:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def _accepts(server: socket.socket, step: str, arguments: Sequence[str]) -> bool:
    """Ask for a step; whether the server began it."""
    request = {
        "step": step,
        "arguments": list(arguments),
        "folder": str(Path.cwd()),
        "environment": dict(os.environ),
    }
    content = json.dumps(request).encode()
    outputs = [sys.stdout.fileno(), sys.stderr.fileno()]
    try:
        socket.send_fds(server, [LENGTH.pack(len(content))], outputs)
        server.sendall(content)
        return server.recv(1) == ACCEPTED
    except OSError:
        return False


if __name__ == "__main__":
    main()
