"""The Slurm cluster that runs on one machine, for `make cluster-check` and the how-to: it is real, it fails, it ends.

What needs no grader is here; test_slurm.py has the rest.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from cluster import Cluster, main, why_no_cluster

from conftest import ROOT

pytestmark = [
    pytest.mark.skipif("LOCKSTEP_CLUSTER" not in os.environ, reason="takes half a minute; type: make cluster-check"),
    pytest.mark.skipif(bool(why_no_cluster()), reason=why_no_cluster() or "there is Slurm"),
]
SCRIPT = ROOT / "harness/dev/slurm/cluster.py"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """Not in pytest's folder, which other users can't pass through."""
    folder = Path(tempfile.mkdtemp(prefix="lockstep-slurm-"))
    try:
        with Cluster(folder, impatient=True) as one:
            yield one
        assert processes_of(folder) == []
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def processes_of(folder: Path) -> list[int]:
    """All processes that name the folder in their command line or their environment, except this one."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            text = (process / "cmdline").read_bytes() + b"\0" + (process / "environ").read_bytes()
            if f"{folder}/".encode() in text and int(process.name) != os.getpid():
                found.append(int(process.name))
    return found


def listening(pids: list[int]) -> list[str]:
    """Addresses on which these processes listen, in the kernel's hexadecimal."""
    sockets = set()
    for pid in pids:
        with suppress(OSError):
            sockets |= {str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir()}
    rows = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
    return [row[1] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in sockets]


def until(is_so: Callable[[], bool], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.1)


def submit(cluster: Cluster, script: str, *options: str, out: str = "/dev/null") -> str:
    words = ["sbatch", "--parsable", "--cpus-per-task=1", "--mem=1G", f"--output={out}", *options, f"--wrap={script}"]
    return cluster.command(*words).strip()


def rows(cluster: Cluster, job: str, form: str = "%T %N") -> list[str]:
    return cluster.command("squeue", "-h", "-r", "-t", "all", "-j", job, "-o", form).splitlines()


def wait(cluster: Cluster, job: str) -> list[str]:
    """What became of each task of an array, when all have ended."""
    until(lambda: not cluster.command("squeue", "-h", "-j", job, "-t", "pending,running,completing"))
    return rows(cluster, job)


def test_an_array(cluster: Cluster) -> None:
    ended = wait(cluster, submit(cluster, "sleep 0.5; exit $((SLURM_ARRAY_TASK_ID == 3))", "--array=0-5"))
    assert sorted(row.split()[0] for row in ended) == ["COMPLETED"] * 5 + ["FAILED"]
    assert {row.split()[1] for row in ended} == {"n1", "n2"}


def test_a_job_on_a_gpu(cluster: Cluster) -> None:
    script = "test $CUDA_VISIBLE_DEVICES = 0"
    assert wait(cluster, submit(cluster, script, "--partition=gpu", "--gres=gpu:1")) == ["COMPLETED g1"]


def test_another_user_has_jobs(cluster: Cluster) -> None:
    command = ["sbatch", "--parsable", "--output=/dev/null", "--wrap=test $(id -un) = nobody"]
    environment = os.environ | cluster.environment
    run = subprocess.run(
        [shutil.which("runuser") or "", "-u", "nobody", "--", *command],
        cwd="/",
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert [row.split()[0] for row in wait(cluster, run.stdout.strip())] == ["COMPLETED"]
    key = cluster.folder / "munge/key"
    assert key.stat().st_mode & 0o077 == 0


def test_a_node_that_is_drained(cluster: Cluster) -> None:
    cluster.drain("n1", "tired")
    assert cluster.states()["n1"] == "drain"
    assert wait(cluster, submit(cluster, "true", "--array=0-2")) == ["COMPLETED n2"] * 3
    cluster.resume("n1")
    cluster.wait_for("idle")


def test_a_node_that_fails(cluster: Cluster) -> None:
    """All that ran there is gone, even what hid from Slurm; the job begins again elsewhere."""
    job = submit(cluster, "env -i setsid sleep 54321 & wait", "--nodelist=n1")
    until(lambda: bool(sleeping()))
    cluster.command("scontrol", "update", f"JobId={job}", "Comment=known")
    cluster.stop_node("n1")
    assert sleeping() == []
    cluster.restart_controller()  # which doesn't wait for n1, and knows the job
    assert rows(cluster, job, "%T %N %k") == ["RUNNING n1 known"]
    until(lambda: rows(cluster, job, "%T") == ["PENDING"])
    assert cluster.states()["n1"] == "down*"
    cluster.start_node("n1")
    cluster.wait_for("idle")
    until(lambda: rows(cluster, job) == ["RUNNING n1"])
    assert re.search(r" Restarts=1 ", cluster.command("scontrol", "show", "job", job))
    cluster.command("scancel", job)
    wait(cluster, job)
    assert sleeping() == []


def sleeping() -> list[str]:
    found = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if process.read_bytes() == b"sleep\x0054321\0":
                found.append(process.parent.name)
    return found


def test_all_listen_on_the_loopback_interface(cluster: Cluster) -> None:
    """While a step runs: srun and the daemons."""
    job = ["srun", "--cpus-per-task=1", "--mem=1G", "sleep", "20"]
    with subprocess.Popen(job, env=os.environ | cluster.environment) as step:
        until(lambda: "RUNNING" in cluster.command("squeue", "-h", "-o", "%T"))
        addresses = listening(processes_of(cluster.folder))
        step.terminate()
    assert len(addresses) > 1 + len(cluster.nodes)
    assert {address.partition(":")[0] for address in addresses} == {"0100007F"}


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="no bubblewrap, which a node could lack")
def test_nodes_with_faults(tmp_path: Path) -> None:
    """Next to nodes without: this machine is as it was."""
    nvcc, disk = tmp_path / "toolkit/bin/nvcc", tmp_path / "disk"
    nvcc.parent.mkdir(parents=True)
    nvcc.write_text('#!/bin/sh\necho "release 13.0, V13.0.88; $0 $*"\n')
    nvcc.chmod(0o755)
    disk.mkdir()
    script = (
        f"command -v bwrap >/dev/null && echo bwrap; "
        f"{nvcc} --version | grep -o 'V1[23]'; {nvcc} -c a.cu | grep -o 'c a.cu'; "
        f"echo words > {disk}/$SLURMD_NODENAME && echo room"
    )
    names = ("n1", "n2", "n3", "n4")
    with Cluster(
        tmp_path / "slurm", names, (), without_bwrap=("n2",), other_nvcc=("n3",), nvcc=nvcc, full_disk=("n4",),
        full_folder=disk,
    ) as cluster:  # fmt: skip
        said = {node: cluster.command("srun", "-w", node, "sh", "-c", f"({script}) 2>&1 || true") for node in names}
    assert said["n1"].split("\n") == ["bwrap", "V13", "c a.cu", "room", ""]
    assert said["n2"].split("\n") == ["V13", "c a.cu", "room", ""]
    assert said["n3"].split("\n") == ["bwrap", "V12", "c a.cu", "room", ""]
    assert "No space left on device" in said["n4"] or "I/O error" in said["n4"]
    assert "room" not in said["n4"]
    assert sorted(path.name for path in disk.iterdir()) == ["n1", "n2", "n3"]
    assert "V13" in subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=True).stdout


def test_options_that_do_not_fit(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no such node: n9; there are n1, n2, g1"):
        Cluster(tmp_path, without_bwrap=("n9",))
    with pytest.raises(ValueError, match="which nvcc it is was not said"):
        Cluster(tmp_path, other_nvcc=("n1",))
    with pytest.raises(ValueError, match="it can't be on the full disk"):
        Cluster(tmp_path / "slurm", full_disk=("n1",), full_folder=tmp_path)
    with pytest.raises(ValueError, match="a node has a processor"):
        Cluster(tmp_path, cpus=0)
    with pytest.raises(ValueError, match="a cluster has a node"):
        Cluster(tmp_path, (), ()).up()
    assert list(tmp_path.iterdir()) == []


def command_line(*words: object) -> tuple[int, str]:
    run = subprocess.run(
        [sys.executable, SCRIPT, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return run.returncode, run.stdout


def test_the_command_line(tmp_path: Path) -> None:
    folder = tmp_path / "slurm"
    assert command_line("status", folder) == (1, f"error: there is no cluster in {folder}\n")
    status, said = command_line("up", folder, "--nodes", 1, "--gpu-nodes", 0, "--array-most", 5)
    try:
        assert status == 0, said
        assert f"1 nodes are up. Type:\n  export SLURM_CONF={folder}/slurm.conf\n" in said
        assert command_line("status", folder) == (0, "n1  idle\n")
        status, said = command_line("up", folder)
        assert status == 1
        assert f"error: the cluster in {folder} is up. To end it, type:  " in said
        assert command_line("status", folder) == (0, "n1  idle\n")
        (folder / "mine").write_text("kept")
    finally:
        assert command_line("down", folder) == (0, "")
    assert processes_of(folder) == []
    assert [path.name for path in folder.iterdir()] == ["mine"]
    status, said = command_line("up", folder)
    assert status == 1
    assert "choose a folder that is new or empty" in said


def test_a_number_that_belongs_to_another_process_now(tmp_path: Path) -> None:
    """After the machine was started again, a pid file names anything."""
    (tmp_path / "pids").mkdir()
    (tmp_path / "slurm.conf").touch()
    with subprocess.Popen(["/bin/sleep", "60"]) as stranger:
        for name in ("munged", "slurmctld", "n1"):
            (tmp_path / "pids" / name).write_text(f"{stranger.pid}\n")
        assert main(["down", str(tmp_path)]) == 0
        assert stranger.poll() is None
        stranger.kill()
    assert not tmp_path.exists()
