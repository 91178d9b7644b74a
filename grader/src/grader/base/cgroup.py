"""Control groups for sandboxes, if this user may create them.

Both version 1 hierarchies (one for each controller) and version 2 (one for all) are tried. A group is created inside
the group that the grader itself runs in, so limits from above still apply.

A grader that is killed leaves its groups behind. The next one removes them: a group's name identifies the process that
created it by pid, start time and pid namespace. Only groups of this user and this namespace are removed, and only if
that process is gone; the kernel refuses to remove a group with a process in it.
"""

import contextlib
import os
import time
from collections.abc import Iterator
from functools import cache
from itertools import count
from pathlib import Path

_ROOT = Path("/sys/fs/cgroup")
_PREFIX = "lockstep-"
_NAME_PARTS = 4
_CONTROLLERS = ("pids", "memory")
_DEEPEST = 12
_serial = count()


@contextlib.contextmanager
def group(processes: int, memory_bytes: int) -> Iterator[tuple[Path, ...]]:
    """The folders of new groups with these limits; none where they can't be made. They are removed at the end."""
    made: list[Path] = []
    try:
        made = _make(processes, memory_bytes)
        yield tuple(made)
    finally:
        for folder in made:
            _remove(folder)


def ran_out_of_memory(groups: tuple[Path, ...]) -> bool:
    """Whether the kernel's OOM killer ended a process of these groups."""
    for file in (group / name for group in groups for name in ("memory.events", "memory.oom_control")):
        try:
            counts = dict(line.split() for line in file.read_text(encoding="ascii").splitlines())
        except (OSError, ValueError):
            continue
        if counts.get("oom_kill", "0") != "0":
            return True
    return False


@cache
def remove_leftovers() -> int:
    """Removes empty groups left by killed graders of this user; returns how many. Runs once per process."""
    return sum(_remove_dead(folder) for root in _roots() for folder in _groups_below(root, _DEEPEST))


def _roots() -> list[Path]:
    """The folders in which this grader, or an earlier one in another cgroup, may have made groups."""
    return [folder for name in _CONTROLLERS if (folder := _ROOT / name).is_dir()] or [_ROOT]


def _groups_below(folder: Path, depth: int) -> Iterator[Path]:
    try:
        inner = [Path(entry) for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return
    for path in inner:
        if path.name.startswith(_PREFIX):
            yield path
        elif depth:
            yield from _groups_below(path, depth - 1)


def _remove_dead(folder: Path) -> bool:
    parts = folder.name.removeprefix(_PREFIX).split("-")
    if len(parts) != _NAME_PARTS or not all(part.isdecimal() for part in parts):
        return False
    namespace, process, start, _ = map(int, parts)
    if namespace != _namespace() or _start_of(process) == start:
        return False
    try:
        if folder.stat().st_uid != os.geteuid():
            return False
        folder.rmdir()
    except OSError:
        return False  # a process is in it, or another grader was faster
    return True


def _namespace() -> int:
    """Identifies the pid namespace of this process."""
    try:
        return Path("/proc/self/ns/pid").stat().st_ino
    except OSError:
        return 0


def _start_of(process: int) -> int | None:
    """When the process with this pid started, in ticks since boot; None if there is none."""
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return int(text.rpartition(")")[2].split()[19])


def _make(processes: int, memory_bytes: int) -> list[Path]:
    remove_leftovers()
    name = f"{_PREFIX}{_namespace()}-{os.getpid()}-{_start_of(os.getpid()) or 0}-{next(_serial)}"
    settings = {
        "pids": {"pids.max": processes},
        "memory": {"memory.limit_in_bytes": memory_bytes, "memory.max": memory_bytes, "memory.swap.max": 0},
    }
    made: list[Path] = []
    for controller, limits in settings.items():
        folder = _parent(controller) / name
        try:
            if folder not in made:
                folder.mkdir()
                made.append(folder)
            written = [_write(folder / file, value) for file, value in limits.items() if (folder / file).exists()]
        except OSError:
            written = []
        if not any(written):
            for unusable in made:
                _remove(unusable)
            return []
    return made


def _parent(controller: str) -> Path:
    """The folder of the group that this process is in."""
    unified = _ROOT
    for line in _own_groups():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            return _ROOT / controller / path.lstrip("/")
        if not controllers:
            unified = _ROOT / path.lstrip("/")
    return unified


@cache
def _own_groups() -> tuple[str, ...]:
    try:
        return tuple(Path("/proc/self/cgroup").read_text(encoding="utf-8").split())
    except OSError:
        return ()


def _write(file: Path, value: int) -> bool:
    try:
        file.write_text(str(value), encoding="ascii")
    except OSError:
        return False
    return True


def _remove(folder: Path) -> None:
    """Removes a group once its last process is gone, which may take the kernel a moment."""
    for _ in range(50):
        try:
            folder.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(0.02)
        else:
            return
