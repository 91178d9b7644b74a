"""Runs a command that may hang, crash or flood its output, and always returns."""

import contextlib
import os
import selectors
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_TICK_SECONDS = 0.1
_CHUNK = 1 << 16


class CancelledError(Exception):
    """The person at the keyboard stopped the grader."""


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit status (negative: a signal), what it printed, and whether time ran out.

    `output` holds the first half of the cap and, where there was more, the last half. `processor_seconds` is the
    command's own processor time, without children, when it was stopped; 0 if it ended by itself.
    """

    status: int
    output: str
    timed_out: bool
    seconds: float
    processor_seconds: float = 0.0


class _Tail:
    """Keeps the beginning and the end of a stream within a fixed size."""

    def __init__(self, cap: int) -> None:
        self._half = cap // 2
        self._head = bytearray()
        self._end = bytearray()
        self._dropped = 0

    def add(self, data: bytes) -> None:
        room = self._half - len(self._head)
        self._head += data[:room]
        self._end += data[room:] if room < len(data) else b""
        excess = len(self._end) - self._half
        if excess > 0:
            del self._end[:excess]
            self._dropped += excess

    def text(self) -> str:
        gap = f"\n… ({self._dropped:,} bytes left out)\n".encode() if self._dropped else b""
        return (bytes(self._head) + gap + bytes(self._end)).decode("utf-8", "replace")


def run_command(
    command: Sequence[str],
    *,
    seconds: float,
    output_cap: int,
    cwd: Path,
    environment: Mapping[str, str],
    pass_fds: Sequence[int] = (),
    stop: threading.Event | None = None,
    on_tick: Callable[[], bool] | None = None,
) -> Ended:
    """Runs `command` for at most `seconds`, draining all that it prints and keeping at most `output_cap` bytes.

    `on_tick` is called periodically and returns whether to go on; False ends the command as if time had run out. The
    command gets a session of its own and is killed as a group; it also dies with this process. Raises CancelledError
    when `stop` is set, and OSError where the command can't be started.
    """
    start = time.monotonic()
    process = subprocess.Popen(
        [*_die_with_parent(), *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=cwd,
        env=dict(environment),
        pass_fds=pass_fds,
        start_new_session=True,
    )
    tail = _Tail(output_cap)
    timed_out = False
    processor_seconds = 0.0
    try:
        with selectors.DefaultSelector() as selector:
            assert process.stdout is not None  # noqa: S101
            selector.register(process.stdout, selectors.EVENT_READ)
            is_open = True
            while is_open or process.poll() is None:
                is_open = is_open and _drain(selector, process.stdout.fileno(), tail)
                if not is_open:
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        process.wait(_TICK_SECONDS)
                if process.poll() is not None:
                    while is_open and selector.select(0):
                        is_open = _drain(selector, process.stdout.fileno(), tail)
                    break  # a child that outlives the command may hold the pipe open: don't wait for it
                if stop is not None and stop.is_set():
                    raise CancelledError
                if time.monotonic() - start > seconds or (on_tick is not None and not on_tick()):
                    timed_out = True
                    processor_seconds = _processor_seconds(process.pid)
                    break
    finally:
        _kill_group(process)
    return Ended(process.returncode, tail.text(), timed_out, time.monotonic() - start, processor_seconds)


def _drain(selector: selectors.BaseSelector, fd: int, tail: _Tail) -> bool:
    """Reads what is available; False at the end of the stream."""
    if not selector.select(_TICK_SECONDS):
        return True
    data = os.read(fd, _CHUNK)
    tail.add(data)
    return bool(data)


def _processor_seconds(process: int) -> float:
    """User and system time of a process over all its threads; 0 if the system doesn't say."""
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0.0
    user, system = text.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


@cache
def _die_with_parent() -> tuple[str, ...]:
    """A command prefix that makes the kernel kill the command when this process dies."""
    setpriv = shutil.which("setpriv")
    return (setpriv, "--pdeathsig", "KILL") if setpriv else ()
