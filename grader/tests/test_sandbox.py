"""The sandbox: what student code can see and do in it. And the runner: what can make it hang."""

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import needs_cgroups, needs_sandbox
from grader.base import cgroup, sandbox
from grader.base.process import CancelledError, run_command
from grader.base.sandbox import Box, box_prefix
from grader.commands.common import is_sandboxed


def in_box(script: str, box: Box) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*box_prefix(box), "/bin/sh", "-c", script], capture_output=True, text=True, timeout=30, check=False
    )


@needs_sandbox
def test_the_box_is_empty_and_read_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADER_SECRET", "hidden")
    (tmp_path / "seen").mkdir()
    (tmp_path / "seen" / "hidden").mkdir()
    (tmp_path / "seen" / "hidden" / "key").write_text("k")
    (tmp_path / "unseen").mkdir()
    (tmp_path / "out").mkdir()
    box = Box(read_only=(tmp_path / "seen",), writable=(tmp_path / "out",), covered=(tmp_path / "seen" / "hidden",))
    script = f"""
    id -u
    touch /x /usr/x /dev/x {tmp_path}/seen/x
    echo written > {tmp_path}/out/file
    ls {tmp_path} {tmp_path}/seen/hidden
    ls /root /home /work /etc/passwd /etc/shadow /sys /var
    cat /proc/1/environ
    cat /proc/net/dev | grep -v lo: | grep :
    unshare -U true && echo NESTED
    ls /proc | grep -c '^[0-9]'
    """
    run = in_box(script, box)
    lines = run.stdout.split()
    assert lines[0] == "65534"
    assert (tmp_path / "out" / "file").read_text() == "written\n"
    assert run.stderr.count("Read-only file system") == 4
    assert "unseen" not in run.stdout
    assert "key" not in run.stdout
    assert "hidden" not in run.stdout.replace(f"{tmp_path}/seen/hidden:", "")
    assert "GRADER_SECRET" not in run.stdout
    assert "NESTED" not in run.stdout or not sandbox._can_disable_userns()
    assert "passwd" not in run.stdout
    assert int(lines[-1]) < 8  # it sees only its own processes


@needs_sandbox
def test_the_box_does_not_show_the_judges_arguments() -> None:
    """The judge gets the seed of all inputs as an argument, and starts the sandbox the same way as this program."""
    judge = "import subprocess, sys; subprocess.run(sys.argv[2:], check=False)"
    script = "for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline; tr '\\0' ' ' < $p/environ; ls -l $p/fd; done"
    run = subprocess.run(
        [sys.executable, "-c", judge, "--seed=7777777", *box_prefix(Box()), "/bin/sh", "-c", script],
        env={"PATH": "/usr/bin:/bin", "SEED": "7777777"}, capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    assert "bwrap" in run.stdout  # it sees something
    assert "7777777" not in run.stdout


@needs_sandbox
def test_limits(tmp_path: Path) -> None:
    run = in_box("dd if=/dev/zero of=/tmp/big bs=1M count=30; ulimit -c; ulimit -n", Box())
    assert run.stdout.split() == ["0", str(sandbox.DESCRIPTORS)]
    assert "File size limit" in run.stderr or run.returncode == 0
    small = in_box("head -c 3000000 /dev/zero > /tmp/a; wc -c < /tmp/a", Box(tmp_bytes=1 << 20))
    assert int(small.stdout) <= 1 << 20


@needs_sandbox
@needs_cgroups
def test_control_groups_stop_bombs() -> None:
    with cgroup.group(16, 256 << 20) as groups:
        box = Box(cgroups=groups)
        forks = in_box("for i in $(seq 40); do sleep 5 & done; echo alive", box)
        assert "annot fork" in forks.stderr or "Resource temporarily unavailable" in forks.stderr
    with cgroup.group(16, 256 << 20) as groups:
        memory = in_box("head -c 1000000000 /dev/zero | tail; echo $?", Box(cgroups=groups))
        assert memory.stdout.strip() != "0"
    assert not any(group.exists() for group in groups)


MAKE_AND_WAIT = """
import sys, time
from grader.base import cgroup
with cgroup.group(16, 256 << 20) as groups:
    print(*groups, flush=True)
    time.sleep(60)
"""


@needs_cgroups
def test_groups_of_killed_graders_are_removed_and_no_others() -> None:
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1] / "src")}
    graders = [
        subprocess.Popen([sys.executable, "-c", MAKE_AND_WAIT], stdout=subprocess.PIPE, text=True, env=environment)
        for _ in range(3)
    ]
    killed, alive, occupied = (
        [Path(name) for name in grader.stdout.readline().split()] for grader in graders if grader.stdout
    )
    sleeper = subprocess.Popen(["/bin/sleep", "60"])
    try:
        for group in occupied:
            (group / "cgroup.procs").write_text(str(sleeper.pid))
        for index in (0, 2):
            graders[index].kill()
            graders[index].wait()
        cgroup.remove_leftovers.cache_clear()
        assert cgroup.remove_leftovers() >= len(killed)
        assert not any(group.exists() for group in killed)
        assert all(group.exists() for group in (*alive, *occupied))
    finally:
        for process in (sleeper, *graders):
            process.kill()
            process.wait()
        cgroup.remove_leftovers.cache_clear()
        cgroup.remove_leftovers()
    assert not any(group.exists() for group in (*alive, *occupied))


def test_what_is_not_a_dead_graders_own_group_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroup, "_ROOT", tmp_path)
    own, here, started = cgroup._namespace(), os.getpid(), cgroup._start_of(os.getpid())
    gone = subprocess.Popen(["/bin/true"])
    gone.wait()
    kept = [
        f"lockstep-{own}-{here}-{started}-0",  # alive
        f"lockstep-{own + 1}-{gone.pid}-5-0",  # a container's: its numbers mean nothing here
        f"lockstep-{gone.pid}-0",  # no such name is made
        f"lockstep-{own}-{gone.pid}-x-0",
        f"lockstep-{own}-{gone.pid}-5-0-0",
        "lockstep-",
        f"other-{own}-{gone.pid}-5-0",
    ]
    removed = [f"lockstep-{own}-{gone.pid}-5-0", f"lockstep-{own}-{here}-{(started or 0) + 1}-7"]
    for name in (*kept, *removed):
        (tmp_path / "pids" / "slice" / name).mkdir(parents=True)
    (tmp_path / "pids" / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / removed[0]).mkdir(parents=True)
    full = tmp_path / "pids" / f"lockstep-{own}-{gone.pid}-5-1"
    (full / "inner").mkdir(parents=True)
    cgroup.remove_leftovers.cache_clear()
    assert cgroup.remove_leftovers() == len(removed)
    assert sorted(path.name for path in (tmp_path / "pids" / "slice").iterdir()) == sorted(kept)
    assert full.exists()
    assert (tmp_path / "elsewhere" / removed[0]).exists()
    cgroup.remove_leftovers.cache_clear()


def test_no_sandbox_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    sandbox.why_no_sandbox.cache_clear()
    assert "apt-get install bubblewrap" in sandbox.why_no_sandbox()
    sandbox.why_no_sandbox.cache_clear()


def run(script: str, **settings: object) -> tuple[int, str, bool]:
    ended = run_command(
        [sys.executable, "-c", script],
        **{"seconds": 10, "output_cap": 1000, "cwd": Path.cwd(), "environment": dict(os.environ)} | settings,  # type: ignore[arg-type]
    )
    return ended.status, ended.output, ended.timed_out


def test_output_is_capped() -> None:
    status, output, _ = run("print('begin' + 'x' * 10_000_000 + 'end')")
    assert status == 0
    assert output.startswith("begin")
    assert output.rstrip().endswith("end")
    assert len(output) < 1100


def test_a_hang_ends() -> None:
    start = time.monotonic()
    status, output, timed_out = run("print('x', flush=True); import time; time.sleep(60)", seconds=3)
    assert (status, output, timed_out) == (-9, "x\n", True)
    assert time.monotonic() - start < 25


def test_a_child_that_lives_on_is_not_waited_for() -> None:
    start = time.monotonic()
    status, _, timed_out = run("import subprocess; subprocess.Popen(['sleep', '30'])")
    assert (status, timed_out) == (0, False)
    assert time.monotonic() - start < 25


def test_stopping() -> None:
    stop = threading.Event()
    threading.Timer(0.3, stop.set).start()
    with pytest.raises(CancelledError):
        run("import time; time.sleep(60)", stop=stop)


@needs_sandbox
def test_the_socket_gets_in_and_the_status_out() -> None:
    """The judge's socket is descriptor 3, and a worker's death by a signal must be distinguishable from an exit."""
    with cgroup.group(16, 256 << 20) as groups:
        words = box_prefix(Box(cgroups=groups))
        for script, status in (("echo through >&3", 0), ("exit 7", 7), ("kill -SEGV $$", 128 + 11)):
            read_end, write_end = os.pipe()
            shell = ["/bin/bash", "-c", 'exec 3>&"$0" && exec "$@"', str(write_end)]
            run = subprocess.run(
                [*shell, *words, "/bin/sh", "-c", script], pass_fds=(write_end,), timeout=30, check=False
            )
            os.close(write_end)
            assert run.returncode == status
            assert os.read(read_end, 100) == (b"through\n" if status == 0 else b"")
            os.close(read_end)


def test_root_without_control_groups_is_told_before_anything_starts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Root's processes have no other limit; for an ordinary user the kernel has one."""

    @contextlib.contextmanager
    def no_group(processes: int, memory_bytes: int) -> Iterator[tuple[Path, ...]]:
        assert processes == sandbox.PROCESSES
        assert memory_bytes > 0
        yield ()

    monkeypatch.setattr(cgroup, "group", no_group)
    monkeypatch.setattr(sandbox, "why_no_sandbox", lambda: "")
    for user, said in ((1000, ""), (0, "Warning: nothing bounds the number of a submission's processes")):
        monkeypatch.setattr(os, "geteuid", lambda user=user: user)
        sandbox.why_unbounded.cache_clear()
        assert is_sandboxed(no_sandbox=False)
        error = capsys.readouterr().err
        assert error.startswith(said)
        assert bool(error) == bool(said)
    sandbox.why_unbounded.cache_clear()
