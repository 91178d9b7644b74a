"""Runs a command as a user of its own: the box where no namespaces can be made, as in other people's containers.

    python3 -I -S user_box.py [--writable DIR]… [--setenv NAME=VALUE]… [--LIMIT N]… [--status-fd N] -- COMMAND …
    python3 -I -S user_box.py --clean

Theory of operation. Root starts this program; it takes a user id that no other box has, kills whatever that user still
runs, makes it an empty folder for temporary files, and starts the command as that user: without groups, capabilities or
the right to gain any (`no_new_privs`), with limits, and with a filter that refuses the system calls which a submission
has no use for: sockets, other processes' memory, namespaces, mounts, keys, io_uring. The network is unshared too where
the kernel lets root do it. This program stays as the parent: when the command ends, all that it left running is killed
and its files in world-writable folders are removed. If this program is killed, the command dies with it, and the next
box of that user cleans up, or `--clean`.

Only a file's mode keeps the command from reading it. Callers must close the folders that must not be read, and pass no
secret in an argument: /proc shows those of every process. docs/concepts/threat-model.md says what this box lacks.

Only the standard library and libseccomp are used, and nothing of this package: `-I -S` starts in 15 ms.
"""

import contextlib
import ctypes
import errno
import fcntl
import os
import platform
import resource
import signal
import struct
import sys
from pathlib import Path

FIRST_USER, USERS = 64100, 64
LOCKS = Path("/run/lockstep-boxes")
SHARED = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - where anybody may write
CANNOT_START = 125
_LIMITS = {
    "fsize": resource.RLIMIT_FSIZE,
    "nofile": resource.RLIMIT_NOFILE,
    "as": resource.RLIMIT_AS,
    "nproc": resource.RLIMIT_NPROC,
}
_PDEATHSIG, _CAPBSET_DROP = 1, 24
_NEW_NETWORK, _NEW_IPC = 0x40000000, 0x08000000
_NAMESPACES = (0x00020000, 0x02000000, 0x04000000, _NEW_IPC, 0x10000000, 0x20000000, _NEW_NETWORK)

# Constants of the header of libseccomp, which writes the filter of system calls.
_LIBRARY = "libseccomp.so.2"
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_FOREIGN_ARCHITECTURE, _MASKED_EQUAL = 2, 7
_MACHINES = ("x86_64", "aarch64")  # on some others clone has its arguments in another order
REFUSED = (
    "ptrace", "process_vm_readv", "process_vm_writev", "unshare", "setns", "mount", "umount2", "pivot_root", "keyctl",
    "add_key", "request_key", "bpf", "userfaultfd", "io_uring_setup", "io_uring_enter", "io_uring_register",
    "perf_event_open", "name_to_handle_at", "open_by_handle_at",
)  # fmt: skip


def why_not() -> str:
    """Empty if this kind of sandbox works here; else a sentence that says why not."""
    if os.geteuid() != 0:
        return "only root can start processes of another user"
    if platform.machine() not in _MACHINES:
        return f"its filter of system calls is not written for {platform.machine()}"
    try:
        ctypes.CDLL(_LIBRARY)
    except OSError:
        return f"{_LIBRARY} is missing; on Debian or Ubuntu type: apt-get install libseccomp2"
    return ""


def refuse_calls() -> None:
    """Blocks system calls for this process and its children; raises OSError if that is impossible."""
    library = ctypes.CDLL(_LIBRARY)
    library.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(library.seccomp_init(_ALLOW))
    # A filter can't read the flags of clone3; without clone3 the C library falls back to clone.
    rules = [("socket", errno.EACCES, 0), ("clone3", errno.ENOSYS, 0), *((name, errno.EPERM, 0) for name in REFUSED)]
    rules += [("clone", errno.EPERM, flag) for flag in _NAMESPACES]
    errors = [library.seccomp_attr_set(context, _FOREIGN_ARCHITECTURE, _KILL)]
    for name, error, flag in rules:
        number = library.seccomp_syscall_resolve_name(name.encode())
        condition = struct.pack("IIQQ", 0, _MASKED_EQUAL, flag, flag)  # of the first argument
        errors.append(library.seccomp_rule_add_array(context, _ERROR | error, number, flag != 0, condition))
    if any(errors) or library.seccomp_load(context):
        raise OSError("the filter of system calls is refused")


class Plan:
    """The parsed command line."""

    def __init__(self, words: list[str]) -> None:
        """Reads the arguments; raises ValueError for one that is unknown."""
        self.writable: list[Path] = []
        self.environment: dict[str, str] = {}
        self.limits: dict[str, int] = {}
        self.status_fd = -1
        at = words.index("--")
        self.command = words[at + 1 :]
        for name, value in zip(words[:at:2], words[1:at:2], strict=True):
            if name == "--writable":
                self.writable.append(Path(value))
            elif name == "--setenv":
                key, _, text = value.partition("=")
                self.environment[key] = text
            elif name == "--status-fd":
                self.status_fd = int(value)
            elif name[2:] in _LIMITS:
                self.limits[name[2:]] = int(value)
            else:
                raise ValueError(name)
        if not self.command:
            raise ValueError("no command")


def take_user() -> tuple[int, int]:
    """A user id that no other sandbox has, and the lock that reserves it until this process ends."""
    LOCKS.mkdir(mode=0o700, exist_ok=True)
    LOCKS.chmod(0o700)
    for user in range(FIRST_USER, FIRST_USER + USERS):
        lock = os.open(LOCKS / str(user), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            continue
        return user, lock
    raise OSError(f"{USERS} boxes are in use already")


def become(user: int) -> None:
    """Irrevocably switches this process to that user."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    if os.getresuid() != (user, user, user) or os.getresgid() != (user, user, user) or os.getgroups():
        os._exit(CANNOT_START)


def clean(user: int) -> None:
    """Kills all processes of the user, and removes its files in world-writable folders."""
    end_processes(user)
    remove_files(user)


def end_processes(user: int) -> None:
    """Kills all of the user's processes at once."""
    child = os.fork()
    if child == 0:
        try:
            become(user)
            os.kill(-1, signal.SIGKILL)  # all that this user may signal, except this process
        finally:
            os._exit(0)  # there may be none
    os.waitpid(child, 0)


def _is_of(entry: "os.DirEntry[str]", user: int) -> bool:
    try:
        return entry.stat(follow_symlinks=False).st_uid == user
    except OSError:  # another program removed it meanwhile
        return False


def remove_files(user: int) -> None:
    """Removes the user's files in world-writable folders."""
    for folder in SHARED:
        try:
            entries = [entry for entry in os.scandir(folder) if _is_of(entry, user)]
        except OSError:
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                import shutil  # noqa: PLC0415 - a third of this program's start, and hardly ever needed

                shutil.rmtree(entry.path, ignore_errors=True)
            else:
                Path(entry.path).unlink(missing_ok=True)


def clean_all() -> None:
    """Cleans up after sandboxes whose parent was killed."""
    for path in LOCKS.glob("*") if LOCKS.is_dir() else ():
        lock = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        with contextlib.suppress(OSError):  # a sandbox that is in use
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            clean(int(path.name))
        os.close(lock)


def give(folder: Path, user: int, mode: int) -> None:
    """Gives the folder to the user, without following a link in its place."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        os.fchown(fd, user, user)
        os.fchmod(fd, mode)
    finally:
        os.close(fd)


def child(plan: Plan, user: int, home: Path, parent: int) -> None:
    """Execs the command; on failure the process exits."""
    libc = ctypes.CDLL(None, use_errno=True)
    os.setsid()
    libc.unshare(_NEW_NETWORK | _NEW_IPC)  # if root may not, only the filter blocks the network
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")  # if memory runs out, kill this process, not the judge
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for name, value in plan.limits.items():
        most = resource.getrlimit(_LIMITS[name])[1]
        least = value if most == resource.RLIM_INFINITY else min(value, most)
        resource.setrlimit(_LIMITS[name], (least, least))
    for capability in range(64):
        libc.prctl(_CAPBSET_DROP, capability, 0, 0, 0)
    become(user)
    libc.prctl(_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # after the change of users, which clears it
    if os.getppid() != parent:
        os._exit(CANNOT_START)
    os.umask(0o022)
    os.chdir(home)
    if plan.status_fd >= 0:
        os.close(plan.status_fd)
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(home), "LANG": "C.UTF-8"} | plan.environment
    environment["TMPDIR"] = str(home)
    refuse_calls()  # with no_new_privs
    os.execvpe(plan.command[0], plan.command, environment)  # noqa: S606


def main(words: list[str]) -> int:
    """Runs the command, and returns its status: 128 + N if signal N ended it."""
    plan = Plan(words)
    user, lock = take_user()
    clean(user)
    home = Path("/tmp") / f"box-{os.urandom(8).hex()}"  # noqa: S108
    home.mkdir(mode=0o700)  # fails if it exists already
    give(home, user, 0o700)
    for folder in plan.writable:
        give(folder, user, 0o700)
    parent = os.getpid()
    failed_read, failed_write = os.pipe()  # closed silently when the command has started
    process = os.fork()
    if process == 0:
        try:
            child(plan, user, home, parent)
        except BaseException as error:
            os.write(failed_write, str(error).encode())
        finally:
            os._exit(CANNOT_START)
    os.close(failed_write)
    if failure := os.read(failed_read, 1000):
        os.waitpid(process, 0)
        clean(user)
        raise OSError(failure.decode("utf-8", "replace"))
    if plan.status_fd >= 0:
        os.write(plan.status_fd, b'{"child-pid": %d}\n' % process)
    # The judge waits until the command's descriptors are closed: they must not stay open here too.
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    for fd in range(3, 256):
        if fd != lock:
            with contextlib.suppress(OSError):
                os.close(fd)
    _, ended = os.waitpid(process, 0)
    end_processes(user)
    for folder in plan.writable:
        give(folder, 0, 0o755)
    remove_files(user)
    code = os.waitstatus_to_exitcode(ended)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    if why_not():
        sys.exit(f"user_box: {why_not()}")
    try:
        if sys.argv[1:] == ["--clean"]:
            clean_all()
        else:
            sys.exit(main(sys.argv[1:]))
    except (OSError, ValueError) as error:
        sys.stderr.write(f"user_box: {error}\n")
        sys.exit(CANNOT_START)
