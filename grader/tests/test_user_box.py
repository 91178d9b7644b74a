"""The sandbox by user id: what a command in it can do, and what remains afterwards."""

import ctypes
import os
import platform
import subprocess
import time
from pathlib import Path

import pytest

from conftest import needs
from grader.base import sandbox, user_box
from grader.base.sandbox import Box, Kind, user_prefix

pytestmark = [
    needs(not user_box.why_not(), f"run the tests as root: {user_box.why_not()}"),
    pytest.mark.usefixtures("alone_with_boxes"),
]
SYSTEM_PYTHON = Path("/usr/bin/python3")
SHARED = Path("/var/tmp")  # pytest's folders are closed to other users


def in_box(script: str, box: Box | None = None) -> "subprocess.CompletedProcess[str]":
    command = [*user_prefix(box or Box()), "/bin/sh", "-c", script]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_it_is_another_user_without_rights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADER_SECRET", "hidden")
    run = in_box("id -u; id -G; env; grep -E 'Cap|NoNewPrivs|Seccomp:' /proc/self/status; pwd; touch x && echo made")
    lines = run.stdout.splitlines()
    user = int(lines[0])
    assert user_box.FIRST_USER <= user < user_box.FIRST_USER + user_box.USERS
    assert lines[1] == str(user)
    assert "hidden" not in run.stdout
    assert {line.split()[1] for line in lines if line.startswith("Cap")} == {"0" * 16}
    assert "NoNewPrivs:\t1" in lines
    assert "Seccomp:\t2" in lines
    assert lines[-1] == "made"  # in a folder of its own
    assert not Path(lines[-2]).exists()


def test_files_that_others_remove_meanwhile_keep_nothing_of_a_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("left", "another"):
        (tmp_path / name).touch()
        os.chown(tmp_path / name, user_box.FIRST_USER, -1)

    def seen_too_late(folder: str) -> list["os.DirEntry[str]"]:
        entries = sorted(scandir(folder), key=lambda entry: entry.name)
        Path(entries[0].path).unlink()
        return entries

    scandir = os.scandir
    monkeypatch.setattr(user_box, "SHARED", (str(tmp_path), str(tmp_path / "missing")))
    monkeypatch.setattr(os, "scandir", seen_too_late)
    user_box.remove_files(user_box.FIRST_USER)
    assert not list(tmp_path.iterdir())


def test_what_it_cannot_do(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s")
    script = f"""
    cat {secret}; cat /proc/1/environ; cat /proc/{os.getpid()}/environ; ls /proc/{os.getpid()}/fd
    kill -0 {os.getpid()}; kill -0 $PPID; touch /x /usr/x /etc/x {tmp_path}/x; su -c id; unshare -U true
    """
    run = in_box(script)
    assert run.stdout == ""
    assert run.stderr.count("ermission denied") >= 7
    assert run.stderr.count("Operation not permitted") + run.stderr.count("ot permitted") >= 2


@needs(SYSTEM_PYTHON.exists(), "/usr/bin/python3 is missing; type: apt-get install python3")
@needs(Path("/usr/bin/cpp").exists(), "/usr/bin/cpp is missing; type: apt-get install cpp")
def test_the_filter_of_system_calls() -> None:
    script = """
import ctypes, os, socket
libc = ctypes.CDLL(None, use_errno=True)
for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, socket.AF_NETLINK):
    try:
        socket.socket(family, socket.SOCK_STREAM if family != socket.AF_NETLINK else socket.SOCK_RAW)
        print("socket", family)
    except PermissionError:
        pass
a, b = socket.socketpair()  # what the judge made works
a.send(b"x"); assert b.recv(1) == b"x"
for flag in (0x10000000, 0x00020000, 0x20000000, 0x40000000):
    if libc.unshare(flag) == 0: print("unshare", flag)
for number in NUMBERS:
    if libc.syscall(number, 0, 0, 0, 0, 0) != -1 or ctypes.get_errno() != 1: print("syscall", number)
if libc.syscall(CLONE, 0x10000011, 0, 0, 0, 0) != -1: print("clone")
import threading
thread = threading.Thread(target=lambda: print("thread")); thread.start(); thread.join()
os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
"""
    clone, *numbers = _numbers("clone", *user_box.REFUSED)
    script = script.replace("NUMBERS", str(numbers)).replace("CLONE", str(clone))
    run = subprocess.run(
        [*user_prefix(Box()), str(SYSTEM_PYTHON), "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert (run.stdout, run.returncode) == ("thread\n", 0), run.stderr


@needs(Path("/usr/bin/cpp").exists(), "/usr/bin/cpp is missing; type: apt-get install cpp")
@pytest.mark.parametrize(("machine", "header"), [(0xC000003E, "asm/unistd_64.h"), (0xC00000B7, "asm-generic/unistd.h")])
def test_each_call_has_the_kernels_number(machine: int, header: str) -> None:
    """On x86-64 and on arm64, which has the kernel's general table."""
    names = ("socket", "clone3", "clone", *user_box.REFUSED)
    library = ctypes.CDLL(user_box._LIBRARY)
    numbers = [library.seccomp_syscall_resolve_name_arch(ctypes.c_uint32(machine), name.encode()) for name in names]
    assert numbers == _numbers(*names, header=header)
    assert min(numbers) > 0


def _numbers(*names: str, header: str = "sys/syscall.h") -> list[int]:
    """Numbers of system calls, from a header of the C library or the kernel."""
    source = f"#define __ARCH_WANT_SYS_CLONE3\n#include <{header}>\n" + "\n".join(f"__NR_{name}" for name in names)
    run = subprocess.run(["/usr/bin/cpp", "-P"], input=source, capture_output=True, text=True, check=True)
    return [int(word) for word in run.stdout.split()[-len(names) :]]


def test_limits() -> None:
    run = in_box("ulimit -c; ulimit -n; dd if=/dev/zero of=big bs=1M count=30", Box(file_bytes=1 << 20))
    assert run.stdout.split() == ["0", str(sandbox.DESCRIPTORS)]
    assert "ile too large" in run.stderr or "File size limit" in run.stderr or run.returncode != 0
    forks = in_box("for i in $(seq 80); do sleep 5 & done 2>&1; echo alive", Box(processes=20))
    assert "annot fork" in forks.stdout + forks.stderr or "Resource temporarily" in forks.stdout + forks.stderr
    memory = in_box("head -c 500000000 /dev/zero | tail -c 400000000 | wc -c", Box(address_bytes=200 << 20))
    assert memory.stdout.strip() != "400000000"


def test_nothing_is_left_behind() -> None:
    mark = f"left-{os.getpid()}"
    run = in_box(f"(setsid sleep 987 &) ; mkdir -p /var/tmp/{mark}/a; echo x > /var/tmp/{mark}/a/b; touch /tmp/{mark}")
    assert run.returncode == 0
    assert not Path(f"/var/tmp/{mark}").exists()
    assert not Path(f"/tmp/{mark}").exists()
    assert not _runs("987")
    # A killed parent can't clean up: the command dies with it, and escaped processes are killed by the next sandbox.
    process = subprocess.Popen([*user_prefix(Box()), "/bin/sh", "-c", "(setsid sleep 986 &); exec sleep 985"])
    _until(lambda: _runs("986") and _runs("985"))
    process.kill()
    process.wait()
    _until(lambda: not _runs("985"))
    assert _runs("986")
    before = sandbox._Choice.kind
    sandbox.choose(Kind.USER)
    try:
        sandbox.end_boxes()
    finally:
        sandbox.choose(before)
    _until(lambda: not _runs("986"))


def _runs(seconds: str) -> bool:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes() == f"sleep\0{seconds}\0".encode():
                return True
        except OSError:
            continue
    return False


def _until(condition: object) -> None:
    for _ in range(200):
        if condition():  # type: ignore[operator]
            return
        time.sleep(0.05)
    raise AssertionError("it did not come about in ten seconds")


def test_statuses_and_the_judges_descriptors() -> None:
    for script, status in (("exit 7", 7), ("kill -SEGV $$", 128 + 11), ("exit 0", 0)):
        assert in_box(script).returncode == status
    read_end, write_end = os.pipe()
    shell = ["/bin/bash", "-c", 'exec 3>&"$0" && exec "$@"', str(write_end)]
    run = subprocess.run(
        [*shell, *user_prefix(Box()), "/bin/sh", "-c", "echo through >&3"],
        pass_fds=(write_end,),
        timeout=30,
        check=False,
    )
    os.close(write_end)
    assert run.returncode == 0
    assert os.read(read_end, 100) == b"through\n"
    os.close(read_end)


def test_what_is_given_can_be_written_and_is_taken_back() -> None:
    folder = SHARED / f"given-{os.getpid()}"
    folder.mkdir(mode=0o700)
    try:
        run = in_box(f"echo x > {folder}/file && ln -s /etc {folder}/link && echo done", Box(writable=(folder,)))
        assert run.stdout == "done\n"
        assert folder.stat().st_uid == 0
        assert folder.stat().st_mode & 0o777 == 0o755
        assert Path("/etc").stat().st_uid == 0
        # A link in the folder's place is not followed.
        trap = folder / "trap"
        trap.symlink_to("/etc")
        assert in_box("true", Box(writable=(trap,))).returncode == user_box.CANNOT_START
        assert Path("/etc").stat().st_uid == 0
    finally:
        subprocess.run(["/bin/rm", "-rf", str(folder)], check=True)


def test_it_is_said_whether_the_command_was_started() -> None:
    for command, started in (("/bin/true", True), ("/no/such/program", False)):
        read_end, write_end = os.pipe()
        words = [*user_prefix(Box(status_fd=write_end)), command]
        run = subprocess.run(words, pass_fds=(write_end,), capture_output=True, text=True, timeout=30, check=False)
        os.close(write_end)
        said = os.read(read_end, 100)
        os.close(read_end)
        assert (b"child-pid" in said) == started
        assert (run.returncode == user_box.CANNOT_START) == (not started)
        assert started or "No such file" in run.stderr


def test_two_at_once_are_two_users() -> None:
    processes = [
        subprocess.Popen([*user_prefix(Box()), "/bin/sh", "-c", "id -u; sleep 1"], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    assert len({process.communicate(timeout=30)[0] for process in processes}) == 3


def test_another_machine_has_no_box(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    assert "not written for riscv64" in user_box.why_not()
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "only root" in user_box.why_not()


def test_without_its_library_it_says_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user_box, "_LIBRARY", "libnot-there.so.2")
    assert user_box.why_not() == "libnot-there.so.2 is missing; on Debian or Ubuntu type: apt-get install libseccomp2"


def test_a_call_that_the_library_does_not_know_is_no_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user_box, "REFUSED", (*user_box.REFUSED, "not_a_call"))
    with pytest.raises(OSError, match="refused"):
        user_box.refuse_calls()
