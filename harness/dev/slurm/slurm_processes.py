"""The processes of a cluster on this machine: started detached, known by pid files, and ended for certain.

A node runs in a PID and a mount namespace of its own. When the namespace's first process is killed, the kernel kills
all others in it, and the one that waits for it returns only when they are gone. So a node can fail as a machine
does, and nothing of a job is left, whatever that job has done to its environment, its session or its parents.
"""

import os
import random
import shlex
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

_END_SECONDS = 10.0
_TICK = 0.02
_LOWEST_PORT = 10000


def start_daemon(words: Sequence[str], environment: Mapping[str, str], log: Path, seconds: float) -> None:
    """Starts a daemon that goes into the background by itself; raises SubprocessError."""
    with log.open("ab") as file:
        subprocess.run(
            words, env=os.environ | environment, stdin=subprocess.DEVNULL, stdout=file, stderr=file, check=True,
            timeout=seconds,
        )  # fmt: skip


def start_in_namespace(
    mounts: Sequence[Sequence[str]], words: Sequence[str], environment: Mapping[str, str], pid_file: Path, log: Path
) -> None:
    """Starts a program with these mounts, which nobody else sees, and with its own process numbers.

    The pid file gets the number of `unshare`, which waits outside of the namespace. Inside, a shell is the first
    process: it takes the exit statuses of orphans, which a daemon does not, so that no zombie keeps a job alive.
    """
    inner = "\n".join(["set -eu", *(shlex.join(command) for command in mounts), f"{shlex.join(words)} &", "wait"])
    pid_file.unlink(missing_ok=True)
    outer = 'echo $$ >"$1"; shift; exec unshare --mount --pid --fork --kill-child --mount-proc "$@"'
    start_daemon(
        ["setsid", "--fork", "sh", "-c", outer, "sh", str(pid_file), "sh", "-c", inner, *words],
        environment, log, _END_SECONDS,
    )  # fmt: skip
    until = time.monotonic() + _END_SECONDS
    while not (pid_file.exists() and pid_file.read_text(encoding="ascii").endswith("\n")):
        if time.monotonic() > until:
            raise TimeoutError(f"{words[0]} was not started; see {log}")
        time.sleep(_TICK)


def can_make_namespaces() -> bool:
    """Whether a node can have a namespace here; root of a container often may not make one."""
    words = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "true"]
    with suppress(OSError):
        return subprocess.run(words, capture_output=True, check=False).returncode == 0
    return False


def running(pid_file: Path, word: str) -> int | None:
    """The process of a pid file, if it is there and its command line has this word: pids are reused."""
    with suppress(OSError, ValueError):
        pid = int(pid_file.read_text(encoding="ascii"))
        if word in Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0"):
            return pid
    return None


def end_daemon(pid_file: Path, word: str) -> None:
    """Ends the daemon of a pid file: asks it to end, and kills it if it is still there after a while."""
    if (pid := running(pid_file, word)) is not None:
        _send(pid, signal.SIGTERM)
        if not _is_gone(pid, _END_SECONDS):
            _send(pid, signal.SIGKILL)
            _is_gone(pid, _END_SECONDS)
    pid_file.unlink(missing_ok=True)


def end_namespace(pid_file: Path, word: str) -> None:
    """Kills all that runs in a namespace at once, and returns when it is gone."""
    if (pid := running(pid_file, word)) is not None:
        # Kills the namespace's first process, a child of `pid`, which waits until the namespace is empty. The child
        # may not exist yet.
        until = time.monotonic() + _END_SECONDS
        while _is_there(pid):
            for child in _children(pid):
                _send(child, signal.SIGKILL)
            if time.monotonic() > until:
                _send(pid, signal.SIGKILL)
                break
            _is_gone(pid, 10 * _TICK)
    pid_file.unlink(missing_ok=True)


def free_ports(count: int) -> list[int]:
    """Ports of the loopback interface that nobody listens on now.

    They are below those that the kernel gives to connections: else srun could take the port of a node that is down.
    """
    lowest = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text(encoding="ascii").split()[0])
    free: list[int] = []
    for port in random.sample(range(_LOWEST_PORT, lowest), lowest - _LOWEST_PORT):
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            free.append(port)
        if len(free) == count:
            return free
    raise OSError(f"no {count} free ports from {_LOWEST_PORT} to {lowest}")


def _send(pid: int, what: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, what)


def _is_gone(pid: int, seconds: float) -> bool:
    """Whether a process ends within this time; a zombie has ended."""
    until = time.monotonic() + seconds
    while _is_there(pid):
        if time.monotonic() > until:
            return False
        time.sleep(_TICK)
    return True


def _is_there(pid: int) -> bool:
    return _stat(pid)[0] not in ("", "Z")


def _children(pid: int) -> list[int]:
    numbers = [int(folder.name) for folder in Path("/proc").glob("[0-9]*")]
    return [number for number in numbers if _stat(number)[1] == str(pid)]


def _stat(pid: int) -> tuple[str, str]:
    """State and parent of a process; empty if it is gone."""
    with suppress(OSError):
        # The name, in brackets, may have spaces and brackets.
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        return fields[0], fields[1]
    return "", ""
