"""Grading on a real Slurm: a cluster of a few nodes on this machine, its daemons from Debian's packages.

`make cluster-check` runs these. Each fault is one that a cluster has: nothing may be lost, graded twice, or a zero.
"""

import contextlib
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cluster import Cluster, why_no_cluster

from conftest import BUILD, ROOT, make_checkout
from grader.base import sandbox
from grader.base.layout import Layout

GRADER = ROOT / "grader/src"
pytestmark = [
    pytest.mark.skipif("LOCKSTEP_CLUSTER" not in os.environ, reason="takes minutes; type: make cluster-check"),
    pytest.mark.skipif(bool(why_no_cluster()), reason=why_no_cluster() or "there is a cluster"),
]
Make = Callable[..., Cluster]
SETTINGS = "[cpu]\nmemory_gb = 1\ncpus = 1\nsubmissions = 4\n[gpu]\npartition = 'gpu'\nmemory_gb = 1\ncpus = 1\n"


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """A checkout with one assignment."""
    return make_checkout(tmp_path)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Make]:
    """Starts a cluster, which ends with the test."""
    with contextlib.ExitStack() as stack:
        yield lambda *nodes, **options: stack.enter_context(
            Cluster(tmp_path / "slurm", nodes or ("n1", "n2"), **options)
        )


class Head:
    """`grader grade` for one class on one cluster, as a process of its own."""

    def __init__(self, layout: Layout, cluster: Cluster, sources: dict[str, str], settings: str = SETTINGS) -> None:
        self.layout, self.cluster = layout, cluster
        self.folder = layout.root.parent / "class"
        for name, source in sources.items():
            (self.folder / name).mkdir(parents=True)
            (self.folder / name / "ladder.cu").write_text(f"// who {name}\n{source}\n")
        (self.folder / "cluster.toml").write_text(settings)
        self.sandbox = ("--no-sandbox",)

    def start(self, *options: str, out: str = "out", local: bool = False) -> subprocess.Popen[str]:
        where = () if local else ("--executor", "slurm")
        words = ["grade", str(self.folder), "--seed", "7", "--out", out, *self.sandbox, *where, *options]
        return subprocess.Popen(
            [sys.executable, "-m", "grader", *words],
            cwd=self.layout.root,
            env=os.environ | self.cluster.environment | {"PYTHONPATH": str(GRADER), "COLUMNS": "200"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def grade(self, *options: str, out: str = "out", local: bool = False) -> tuple[int, str]:
        process = self.start(*options, out=out, local=local)
        said, _ = process.communicate(timeout=240)
        return process.returncode, said

    def grades(self, *options: str) -> str:
        """What it prints; it succeeds."""
        status, said = self.grade(*options)
        assert status == 0, said
        return said

    def under_way(self, beginning: str = "test s", count: int = 1) -> subprocess.Popen[str]:
        """Starts, and waits until the log has this number of such lines."""
        process = self.start()
        self.wait_for(beginning, count)
        return process

    def goes_on(self, process: subprocess.Popen[str]) -> None:
        """It ends well, and all are graded."""
        said, _ = process.communicate(timeout=240)
        assert process.returncode == 0, said
        self.check(said)

    def log(self, beginning: str) -> list[str]:
        path = self.layout.build / "bin/runs.log"
        lines = path.read_text().splitlines() if path.exists() else []
        return [line for line in lines if line.startswith(beginning)]

    def wait_for(self, beginning: str, count: int = 1) -> None:
        """Waits until the log has this number of such lines."""
        until = time.monotonic() + 60
        while len(self.log(beginning)) < count:
            assert time.monotonic() < until, self.log("")
            time.sleep(0.05)

    def jobs(self, state: str = "all") -> list[str]:
        """The tasks, by array and index, that Slurm knows in a state."""
        return self.cluster.command("squeue", "-h", "-r", "-t", state, "-o", "%i").split()

    def records(self) -> dict[str, str]:
        with contextlib.closing(sqlite3.connect(self.layout.root / "out/journal.sqlite")) as database:
            rows = database.execute("SELECT folder, document FROM record").fetchall()
        return {folder: json.loads(document)["status"] for folder, document in rows}

    def check(self, said: str = "") -> None:
        """All submissions are graded, and the gradebook and the criteria equal those of this machine alone."""
        assert set(self.records().values()) == {"graded"}, said
        assert self.grade(out="local", local=True)[0] == 0
        for name in ("gradebook.csv", "criteria.csv"):
            assert (self.layout.root / "out" / name).read_text() == (self.layout.root / "local" / name).read_text()


def of_job(pattern: str) -> list[int]:
    """Job processes whose command line matches."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if re.search(pattern, words) and b"SLURM_JOB_ID=" in (folder / "environ").read_bytes():
                found.append(int(folder.name))
    return found


def run(*words: str) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


SLOW = {f"s{number}": "// slow 0.5" for number in range(8)} | {"wrong": "// fail beta_two WRONG"}


@pytest.mark.parametrize("device", ["vgpu", "cuda"])
def test_a_class(layout: Layout, start: Make, device: str) -> None:
    """Right, wrong, not compiling, missing; with a GPU in two arrays, of which one has whole GPU nodes."""
    head = Head(layout, start(), {"ada": "", "wrong": "// fail beta_two WRONG", "broken": "#error no"})
    (head.folder / "nothing").mkdir()
    head.grades("--device", device)
    partitions = head.cluster.command("squeue", "-h", "-r", "-t", "all", "-o", "%P %b %N").split("\n")
    assert {line.split()[0] for line in partitions if line} == ({"cpu"} if device == "vgpu" else {"cpu", "gpu"})
    assert all(line.split()[1:] == ["gres:gpu:1", "g1"] for line in partitions if line.startswith("gpu"))
    assert head.grade("--device", device, out="local", local=True)[0] == 0
    for name in ("gradebook.csv", "criteria.csv"):
        assert (layout.root / "out" / name).read_text() == (layout.root / "local" / name).read_text()
    assert not (layout.root / "out/cluster").exists()


def test_a_task_that_is_killed(layout: Layout, start: Make) -> None:
    head = Head(layout, start(), SLOW)
    process = head.under_way()
    victims = of_job(r"submitit\.core\._submit")
    assert victims
    for pid in victims[:1]:
        os.kill(pid, signal.SIGKILL)
    head.goes_on(process)


def test_a_node_that_is_drained_in_the_middle(layout: Layout, start: Make) -> None:
    head = Head(layout, start(), SLOW)
    process = head.under_way()
    head.cluster.drain("n1")
    head.goes_on(process)
    assert head.cluster.states()["n1"] in ("drain", "drng")


def test_a_node_whose_power_fails(layout: Layout, start: Make) -> None:
    head = Head(layout, start(), SLOW)
    process = head.under_way()
    head.cluster.stop_node("n1")
    head.goes_on(process)


def test_a_task_that_is_put_back_into_the_queue(layout: Layout, start: Make) -> None:
    head = Head(layout, start("n1"), SLOW)
    process = head.under_way(count=2)
    job, *_ = head.jobs("running")
    ran = head.log("test s")
    head.cluster.command("scontrol", "requeue", job)
    head.goes_on(process)
    again = [line for line in ran if head.log("test s").count(line) > 1]
    assert len(again) <= 1  # what was running


def test_a_task_that_takes_too_long(layout: Layout, start: Make) -> None:
    """Slurm's shortest limit is a minute, and it signals before: six tests of 10 s don't fit in."""
    head = Head(layout, start("n1"), {"ada": "// slow 10"}, SETTINGS.replace("submissions = 4", "minutes = 1", 1))
    head.grades()
    states = head.cluster.command("squeue", "-h", "-r", "-t", "all", "-o", "%T").split()
    assert len(states) == 2, states
    assert set(states) <= {"TIMEOUT", "FAILED", "COMPLETED", "COMPLETING"}
    tests = head.log("test ada")
    assert len(set(tests)) == 6
    assert len(tests) <= 7  # the one that was running is run twice
    assert head.records() == {"ada": "graded"}


def test_a_head_that_is_killed_finds_its_jobs(layout: Layout, start: Make) -> None:
    head = Head(layout, start(), SLOW)
    first = head.under_way("done s")
    first.kill()
    first.wait()
    arrays = {job.partition("_")[0] for job in head.jobs()}
    said = head.grades()
    assert {job.partition("_")[0] for job in head.jobs()} == arrays
    assert len(head.log("run s")) == len(SLOW) - 1
    head.check(said)


def test_a_controller_that_is_started_again(layout: Layout, start: Make) -> None:
    head = Head(layout, start(), SLOW)
    process = head.under_way()
    head.cluster.stop_controller()
    time.sleep(3)
    head.cluster.start_controller()
    head.goes_on(process)


def test_ctrl_c_and_cancel(layout: Layout, start: Make) -> None:
    head = Head(layout, start("n1"), SLOW)
    process = head.under_way()
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "The jobs on the cluster go on: " in said
    status, said = head.grade("--cancel")
    assert status == 0
    assert re.search(r"Ended \d+ jobs? on the cluster", said)
    until = time.monotonic() + 20
    while head.jobs("pending,running,completing") and time.monotonic() < until:
        time.sleep(0.2)
    assert not head.jobs("pending,running")
    head.check(head.grades())


@pytest.mark.skipif(bool(sandbox.why_no_sandbox()), reason="no sandbox here")
def test_a_node_without_bubblewrap(layout: Layout, start: Make) -> None:
    head = Head(layout, start("n1", "n2", without_bwrap=("n1",)), SLOW)
    head.sandbox = ()
    said = head.grades()
    assert re.search(r"Note: n1 grades nothing: no sandbox for student code: ", said)
    head.check(said)


def test_a_node_with_another_compiler(layout: Layout, start: Make) -> None:
    nvcc = Path((layout.build / "nvcc.txt").read_text().strip())
    head = Head(layout, start("n1", "n2", other_nvcc=("n2",), nvcc=nvcc), SLOW)
    said = head.grades()
    assert "Note: n2 grades nothing: not the same as where the class is graded from: nvcc (12.4.131 and not" in said
    head.check(said)


def test_no_node_that_may_grade(layout: Layout, start: Make) -> None:
    nvcc = Path((layout.build / "nvcc.txt").read_text().strip())
    head = Head(layout, start("n1", "n2", other_nvcc=("n1", "n2"), nvcc=nvcc), SLOW)
    status, said = head.grade()
    assert status == 1
    assert "no node of the cluster may grade (cpu in cluster.toml):\n  n1: not the same" in said
    assert not (layout.root / "out/gradebook.csv").exists()


def test_a_shared_disk_that_is_full(layout: Layout, start: Make, tmp_path: Path) -> None:
    cluster = start()
    disk = tmp_path / "disk"
    disk.mkdir()
    run("mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(disk))
    try:
        # The nodes were started earlier: they see a later mount only if it is in their namespace too.
        for node in ("n1", "n2"):
            cluster.stop_node(node)
            cluster.start_node(node)
        cluster.wait_for("idle", 60)
        head = Head(layout, cluster, SLOW, f"shared = '{disk}/lockstep'\n{SETTINGS}")
        process = head.under_way("run s")
        with contextlib.suppress(OSError), (disk / "filler").open("wb") as file:
            while True:
                file.write(b"\0" * 65536)
        said, _ = process.communicate(timeout=240)
        assert process.returncode == 1, said
        assert "Free some space" in said
        assert "not graded" not in head.records().values()
        (disk / "filler").unlink()
        head.check(head.grades())
    finally:
        run("umount", "--lazy", str(disk))


def test_an_array_has_a_limit_and_sbatch_says_what_is_wrong(layout: Layout, start: Make) -> None:
    head = Head(layout, start(array_most=5), {f"s{number:02}": "" for number in range(12)})
    status, said = head.grade()
    assert status == 1
    assert "sbatch failed: sbatch: error: Batch job submission failed: Invalid job array specification" in said
    (head.folder / "cluster.toml").write_text(SETTINGS + "[array]\nmost = 5\n")
    said = head.grades()
    assert len({job.partition("_")[0] for job in head.jobs()}) == 3
    head.check(said)


def test_the_scripts_of_a_dry_run_are_what_sbatch_takes(layout: Layout, start: Make, tmp_path: Path) -> None:
    settings = SETTINGS + "[cpu.options]\nnice = '5'\n"
    head = Head(layout, start(), {"ada": "", "grace": "// slow 0"}, settings)
    said = head.grades("--dry-run", "--device", "cuda")
    scripts = said.split("#!/bin/bash")[1:]
    assert len(scripts) == 2
    assert "#SBATCH --gres=gpu:1\n" in scripts[1]
    assert "#SBATCH --exclusive\n" in scripts[1]
    assert "#SBATCH --nice=5\n" in scripts[0]
    for text in scripts:
        path = tmp_path / "script.sh"
        path.write_text("#!/bin/bash" + text)
        head.cluster.command("sbatch", "--test-only", str(path))


def test_the_sample_class(start: Make, tmp_path: Path) -> None:
    """All assignments, with the real suites, in the sandbox: the same gradebook, criteria and board as locally."""
    cluster = start("n1", "n2", gpu_nodes=(), cpus=1)
    secret, settings = tmp_path / "secret", tmp_path / "cluster.toml"
    secret.write_text("0123456789abcdef0123456789abcdef")
    secret.chmod(0o600)
    settings.write_text("[cpu]\ncpus = 1\nmemory_gb = 6\nsubmissions = 4\n")
    written = {}
    for out, words in (("local", []), ("remote", ["--executor", "slurm", "--cluster", str(settings)])):
        command = [
            sys.executable, "-m", "grader", "grade", "reference/sample_class", "--build", str(BUILD), "--secret",
            str(secret), "--out", str(tmp_path / out), *words,
        ]  # fmt: skip
        environment = os.environ | cluster.environment | {"PYTHONPATH": str(GRADER), "COLUMNS": "200"}
        began = time.monotonic()
        ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        print(f"{out}: {time.monotonic() - began:.0f} s")
        assert ended.returncode in (0, 4), ended.stdout + ended.stderr
        names = ("gradebook.csv", "criteria.csv", "leaderboard.csv")
        moment = re.compile(r"\d{4}-\d\d-\d\dT[\d:]+\+00:00")
        written[out] = [moment.sub("then", (tmp_path / out / name).read_text()) for name in names]
    assert written["remote"] == written["local"]
