"""The sandbox ("box") in which student code is compiled and run.

Theory of operation. bubblewrap gives a process its own view of the system: the operating system's files read-only, an
empty /tmp in memory, no network, its own process table, an unprivileged user, no capabilities, and no way to create
another such view inside. Everything else that a box may see is listed explicitly, and never includes hidden files. A
box starts with an empty environment, because a process in it can read the environment of the process that created it.
It can read the arguments too, so no path in them reveals a secret.

bubblewrap limits no resources. prlimit sets per-process limits inside (file size, descriptors, no core dumps, address
space). A control group limits the number of processes and their total memory if this user may create one (see
`cgroup`). Without one, prlimit limits the number of processes, which works for an ordinary user (the kernel counts by
user and user namespace) but not for root.

Where no namespaces can be made, as in other people's containers, a process can have a box of another kind: a user of
its own (see `user_box`). Such a box sees all files that every user of the machine may read.
"""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

from grader.base import cgroup, user_box

PROCESSES = 64
DESCRIPTORS = 1024
_TMP_BYTES = 256 << 20
_SHM_BYTES = 16 << 20
_NOBODY = "65534"
_SYSTEM_FILES = ("/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d")
_SYSTEM_FOLDERS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_PROBE_SECONDS = 20
_PROBE_BYTES = 64 << 20
# The options that let a container create namespaces and mount /proc in them.
CONTAINER_FLAGS = " ".join(f"--security-opt {what}=unconfined" for what in ("seccomp", "apparmor", "systempaths"))
_CONTAINER_FILES = ("/.dockerenv", "/run/.containerenv")  # files that Docker and Podman create in every container


class Kind(StrEnum):
    """The kinds of sandbox: bubblewrap, with its own view of the system, or a separate user."""

    BWRAP = "bwrap"
    USER = "user"


class _Choice:
    """The kind of sandbox that this process uses."""

    kind = Kind.BWRAP


def choose(kind: Kind) -> None:
    """Sets the kind of sandbox that this process creates from now on."""
    _Choice.kind = kind


def is_of_user() -> bool:
    """Whether sandboxes are separate users: then a process inside sees real paths and all processes' arguments."""
    return _Choice.kind is Kind.USER


@dataclass(frozen=True)
class Box:
    """What one command may see and use.

    Paths keep their names inside, except in `renamed`, which maps a folder to its read-only name there. `covered`
    folders are hidden even inside a visible folder. `file_bytes` is the largest file it may write, `address_bytes` the
    address space (0: no limit). bubblewrap reports to descriptor `status_fd` whether the command was started at all.
    """

    read_only: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    renamed: tuple[tuple[Path, Path], ...] = ()
    covered: tuple[Path, ...] = ()
    gpu: bool = False
    environment: tuple[tuple[str, str], ...] = ()
    file_bytes: int = 16 << 20
    address_bytes: int = 0
    processes: int = PROCESSES
    tmp_bytes: int = _TMP_BYTES
    cgroups: tuple[Path, ...] = ()
    status_fd: int = -1


def limits_prefix(box: Box) -> list[str]:
    """The command that sets the process limits before what follows it; it works with and without a sandbox."""
    prlimit = shutil.which("prlimit")
    if not prlimit:
        return []
    limits = ["--core=0", f"--fsize={box.file_bytes}", f"--nofile={DESCRIPTORS}"]
    if box.address_bytes:
        limits.append(f"--as={box.address_bytes}")
    if os.geteuid() != 0 and not box.cgroups:
        limits.append(f"--nproc={box.processes}")
    return [prlimit, *limits]


def box_prefix(box: Box) -> list[str]:
    """The words to put before a command so that it runs in the box."""
    words = ["/usr/bin/env", "-i", _bwrap(), "--unshare-all", "--unshare-user", "--uid", _NOBODY, "--gid", _NOBODY]
    if _can_disable_userns():
        words.append("--disable-userns")
    words += ["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"]
    if box.status_fd >= 0:
        words += ["--json-status-fd", str(box.status_fd)]
    words += _system_words()
    words += ["--proc", "/proc", "--dev", "/dev"]
    words += ["--size", str(box.tmp_bytes), "--tmpfs", "/tmp"]  # noqa: S108
    words += ["--size", str(_SHM_BYTES), "--tmpfs", "/dev/shm"]  # noqa: S108
    if box.gpu:
        words += _gpu_words()
    for path in box.read_only:
        words += ["--ro-bind", str(path), str(path)]
    for path, inside in box.renamed:
        words += ["--ro-bind", str(path), str(inside)]
    for path in box.writable:
        words += ["--bind", str(path), str(path)]
    for path in box.covered:
        if _is_visible(path, box):
            words += ["--size", "4096", "--tmpfs", str(path)]
    words += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp"]  # noqa: S108
    for name, value in (("PATH", "/usr/bin:/bin"), ("HOME", "/tmp"), ("TMPDIR", "/tmp"), ("LANG", "C.UTF-8")):  # noqa: S108
        words += ["--setenv", name, value]
    for name, value in box.environment:
        words += ["--setenv", name, value]
    return [*join_prefix(box.cgroups), *words, "--", *limits_prefix(box)]


def bare_prefix(box: Box) -> list[str]:
    """What remains without a sandbox: a clean environment and the process limits."""
    settings = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": "/tmp", "LANG": "C.UTF-8"}  # noqa: S108
    words = [f"{name}={value}" for name, value in (settings | dict(box.environment)).items()]
    return ["/usr/bin/env", "-i", *words, *limits_prefix(box)]


def prefix(box: Box, *, sandboxed: bool) -> list[str]:
    """The words before a command that runs student code."""
    if not sandboxed:
        return bare_prefix(box)
    return user_prefix(box) if is_of_user() else box_prefix(box)


def user_prefix(box: Box) -> list[str]:
    """The words to put before a command so that it runs as a separate user."""
    words = ["/usr/bin/env", "-i", sys.executable, "-I", "-S", str(Path(user_box.__file__))]
    for path in box.writable:
        words += ["--writable", str(path)]
    for name, value in box.environment:
        words += ["--setenv", f"{name}={value}"]
    limits = {"fsize": box.file_bytes, "nofile": DESCRIPTORS, "nproc": box.processes, "as": box.address_bytes}
    for name, number in limits.items():
        if number:
            words += [f"--{name}", str(number)]
    if box.status_fd >= 0:
        words += ["--status-fd", str(box.status_fd)]
    return [*join_prefix(box.cgroups), *words, "--"]


def end_boxes() -> None:
    """If sandboxes are separate users, kills leftover processes of sandboxes whose parent was killed."""
    if is_of_user():
        subprocess.run([sys.executable, "-I", "-S", str(Path(user_box.__file__)), "--clean"], check=False)


def admit(through: Path, *shown: Path) -> None:
    """If sandboxes are separate users, lets them pass through a folder and its parent, and read `shown`."""
    if not is_of_user():
        return
    for folder in (through, through.parent):
        folder.chmod(0o711)
    for path in shown:
        path.chmod(0o755 if path.is_dir() else 0o644)


@cache
def why_no_sandbox() -> str:
    """Empty if bubblewrap works here; else a sentence that says why not."""
    if not shutil.which("bwrap"):
        return "bubblewrap is not installed (Debian, Ubuntu: apt-get install bubblewrap)"
    if not shutil.which("prlimit"):
        return "prlimit is not installed (Debian, Ubuntu: apt-get install util-linux)"
    try:
        run = subprocess.run(
            [*box_prefix(Box()), "/bin/true"], capture_output=True, text=True, timeout=_PROBE_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap does not start: {error}"
    if run.returncode == 0:
        return ""
    reason = (run.stderr.strip().splitlines() or ["it says nothing"])[-1].rstrip(".")
    hint = ""
    if any(Path(name).exists() for name in _CONTAINER_FILES):
        hint = f"; this is a container: start it with {CONTAINER_FLAGS} (docs/how-to/try-in-a-container.md)"
    elif Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns").exists():
        hint = "; AppArmor may forbid user namespaces (sysctl kernel.apparmor_restrict_unprivileged_userns)"
    return f"bubblewrap can't make one here: {reason}{hint}"


@cache
def why_unbounded() -> str:
    """Empty if the number of processes in a sandbox is limited; else a sentence that says what to do."""
    if os.geteuid() != 0:
        return ""  # the kernel counts a user's processes
    with cgroup.group(PROCESSES, _PROBE_BYTES) as groups:
        if groups:
            return ""
    return (
        "nothing bounds the number of a submission's processes: root can make no control groups here, and no other "
        "limit holds for root.\nOne submission can take every process of this machine. Grade as an ordinary user, "
        "or where /sys/fs/cgroup is mounted for writing"
    )


def _bwrap() -> str:
    return shutil.which("bwrap") or "bwrap"


@cache
def _can_disable_userns() -> bool:
    try:
        run = subprocess.run([_bwrap(), "--help"], capture_output=True, text=True, timeout=_PROBE_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return "--disable-userns" in run.stdout + run.stderr


def join_prefix(cgroups: tuple[Path, ...]) -> list[str]:
    """A shell command that joins the control groups and then execs the command after it."""
    if not cgroups:
        return []
    script = 'n=$1; shift; while [ "$n" -gt 0 ]; do echo $$ > "$1" || exit 125; shift; n=$((n-1)); done; exec "$@"'
    files = [str(group / "cgroup.procs") for group in cgroups]
    return ["/bin/sh", "-c", script, "enter", str(len(files)), *files]


def _is_visible(path: Path, box: Box) -> bool:
    visible = (Path("/usr"), *box.read_only, *box.writable)
    return path.exists() and any(path.is_relative_to(folder) for folder in visible)


def _system_words() -> list[str]:
    """The operating system's files, read-only; /lib and its like are links into /usr on most systems."""
    words = ["--ro-bind", "/usr", "/usr"]
    for name in _SYSTEM_FOLDERS:
        folder = Path(name)
        if folder.is_symlink():
            words += ["--symlink", str(folder.readlink()), name]
        elif folder.is_dir():
            words += ["--ro-bind", name, name]
    for name in _SYSTEM_FILES:
        words += ["--ro-bind-try", name, name]
    return words


def _gpu_words() -> list[str]:
    words = []
    for device in sorted(Path("/dev").glob("nvidia*")):
        if device.is_char_device():
            words += ["--dev-bind", str(device), str(device)]
    for name in ("/sys/module/nvidia", "/sys/module/nvidia_uvm"):
        words += ["--ro-bind-try", name, name]
    return words
