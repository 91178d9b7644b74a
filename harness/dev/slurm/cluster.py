#!/usr/bin/env python3
"""A real Slurm cluster on this one machine, to try `grader grade --executor slurm` on, and to test it.

  harness/dev/slurm/cluster.py up DIR       starts it: munge, a controller, and a daemon for each node
  harness/dev/slurm/cluster.py status DIR   says how the nodes are
  harness/dev/slurm/cluster.py down DIR     ends it, with the jobs, and deletes what it wrote

All that it writes is in DIR, and its daemons listen on the loopback interface only. It has the partitions cpu, with the
nodes n1, n2, …, and gpu, with g1, …; their GPUs are this machine's in turn, or /dev/null where it has none. There is no
accounting, as on many small clusters: squeue shows jobs that have ended for 5 minutes, and sacct shows nothing.

Try it:

  harness/dev/slurm/cluster.py up /tmp/cluster --without-bwrap n2
  export SLURM_CONF=/tmp/cluster/slurm.conf
  sbatch --array=0-3 --wrap 'echo $SLURMD_NODENAME'
  squeue -r -t all -o '%i %T %N'
  scontrol update NodeName=n1 State=DRAIN Reason=tired       # it begins nothing more
  scontrol update NodeName=n1 State=RESUME
  harness/dev/slurm/cluster.py down /tmp/cluster

It needs root and Debian's packages:  apt-get install munge slurmctld slurmd slurm-client
"""

import argparse
import os
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

from slurm_conf import Size, cover_nvcc, cover_program, cover_with_full_disk, write_configuration
from slurm_processes import (
    can_make_namespaces,
    end_daemon,
    end_namespace,
    free_ports,
    running,
    start_daemon,
    start_in_namespace,
)

PROGRAMS = ("munged", "slurmctld", "slurmd", "sinfo", "sbatch", "srun")
PACKAGES = "munge slurmctld slurmd slurm-client"
_START_SECONDS = 30.0
_TICK = 0.05
_LOG_LINES = 5
_FOLDERS = ("munge", "state", "spool", "log", "node", "pids")
_FILES = ("slurm.conf", "gres.conf", "cgroup.conf")


class Cluster:
    """A cluster in a folder. As a context manager it is up inside the block, and down after it.

    On the nodes `without_bwrap` there is no bubblewrap; on those in `other_nvcc` the compiler `nvcc` says that it is of
    another version; on those in `full_disk` nothing can be written in `full_folder`.

    Slurm notices after some 30 s that a node has failed, and after 15 s if it is `impatient`: then it may mistake
    a busy node for a failed one. What ran there may begin again 6 s later.

    Users other than root can run jobs if they can reach munge's socket: they need to search (`x`) every folder above
    this one, and folders made by mkdtemp don't permit that. Their jobs start and log in the folder from which they call
    sbatch, so they must be able to write there.
    """

    def __init__(  # noqa: PLR0913 - what a test may want to change
        self,
        folder: Path,
        nodes: Sequence[str] = ("n1", "n2"),
        gpu_nodes: Sequence[str] = ("g1",),
        *,
        without_bwrap: Sequence[str] = (),
        other_nvcc: Sequence[str] = (),
        nvcc: Path | None = None,
        full_disk: Sequence[str] = (),
        full_folder: Path | None = None,
        array_most: int = 1001,
        remembers_seconds: int = 300,
        cpus: int = 2,
        memory: int | None = None,
        impatient: bool = False,
    ) -> None:
        """Starts nothing yet; raises ValueError for options that don't fit together."""
        self.folder = folder.resolve()
        self.nodes = (*nodes, *gpu_nodes)
        self._cpu_nodes, self._gpu_nodes = tuple(nodes), tuple(gpu_nodes)
        self._without_bwrap, self._other_nvcc, self._nvcc = without_bwrap, other_nvcc, nvcc
        self._full_disk, self._full_folder = full_disk, full_folder
        self._size = Size(cpus=cpus, array_most=array_most, remembers_seconds=remembers_seconds)
        if memory is not None:
            self._size = replace(self._size, memory=memory)
        if impatient:
            self._size = replace(self._size, node_timeout_seconds=5, message_timeout_seconds=3)
        self._check()

    @property
    def environment(self) -> dict[str, str]:
        """The environment that makes Slurm's commands use this cluster."""
        return {"SLURM_CONF": str(self._conf)}

    def __enter__(self) -> Self:
        try:
            self.up()
        except BaseException:
            self.down()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.down()

    def up(self) -> None:
        """Starts munge, the controller and the nodes; returns when all nodes are idle."""
        if not self.nodes:
            raise ValueError("a cluster needs a node")
        for name in _FOLDERS:
            # Every user's jobs must be able to pass through these, whatever our umask.
            (self.folder / name).mkdir(parents=True, exist_ok=True)
            (self.folder / name).chmod(0o755)
        self.folder.chmod(0o755)
        write_configuration(self.folder, self._cpu_nodes, self._gpu_nodes, self._size, free_ports(1 + len(self.nodes)))
        munge = self.folder / "munge"
        key = munge / "key"
        key.touch(mode=0o600)
        key.write_bytes(secrets.token_bytes(1024))
        # --force: munged refuses if others can write to a folder above, such as /tmp.
        self._start(
            "munged", "--force", f"--socket={munge}/socket", f"--key-file={key}", f"--pid-file={self._pid('munged')}",
            f"--log-file={munge}/log", f"--seed-file={munge}/seed",
        )  # fmt: skip
        self.start_controller()
        for node in self.nodes:
            self.start_node(node)
        self.wait_for("idle")

    def down(self) -> None:
        """Ends all processes that it started, and those of jobs. What it wrote stays."""
        for node in self.nodes:
            self.stop_node(node)
        self.stop_controller()
        end_daemon(self._pid("munged"), f"--pid-file={self._pid('munged')}")

    def delete(self) -> None:
        """Deletes what it wrote, and the folder if nothing else is in it."""
        for name in _FOLDERS:
            shutil.rmtree(self.folder / name, ignore_errors=True)  # a toolkit's mount in it is read-only
        for name in _FILES:
            (self.folder / name).unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()

    def is_up(self) -> bool:
        """Whether its controller runs."""
        return running(self._pid("slurmctld"), str(self._conf)) is not None

    def was_here(self) -> bool:
        """Whether the folder has a cluster, up or not."""
        return (self.folder / "pids").is_dir() and self._conf.is_file()

    def start_controller(self) -> None:
        """Starts the controller, which takes over the previous one's jobs."""
        self._start("slurmctld", "-f", str(self._conf))

    def stop_controller(self) -> None:
        """Ends the controller; jobs run on."""
        end_daemon(self._pid("slurmctld"), str(self._conf))

    def start_node(self, node: str) -> None:
        """Starts a node's daemon, with what the node lacks hidden from it. Does not wait until the node is idle."""
        own = self.folder / "node"
        mounts = []
        if node in self._without_bwrap and (bwrap := shutil.which("bwrap")):
            mounts += cover_program(own, Path(bwrap))
        if node in self._other_nvcc and self._nvcc:
            mounts += cover_nvcc(own, self._nvcc)
        if node in self._full_disk and self._full_folder:
            mounts += cover_with_full_disk(self._full_folder)
        start_in_namespace(
            mounts,
            ["slurmd", "-D", "-N", node, "-f", str(self._conf)],
            self.environment, self._pid(node), self.folder / "log/started",
        )  # fmt: skip

    def stop_node(self, node: str) -> None:
        """Ends a node as a power failure does: its daemon, and all that runs on it. Slurm notices later."""
        end_namespace(self._pid(node), str(self._conf))

    def drain(self, node: str, reason: str = "test") -> None:
        """Lets a node begin no more jobs; those that run come to their end."""
        self.command("scontrol", "update", f"NodeName={node}", "State=DRAIN", f"Reason={reason}")

    def states(self) -> dict[str, str]:
        """Each node's state in sinfo's words; with `*` if the node does not answer."""
        lines = self.command("sinfo", "-h", "-N", "-o", "%N %t").splitlines()
        return dict(line.split(" ", 1) for line in lines)

    def wait_for(self, state: str, seconds: float = _START_SECONDS, nodes: Sequence[str] = ()) -> None:
        """Returns when these nodes, or all, are in this state; raises TimeoutError."""
        those = nodes or self.nodes
        self._wait(lambda found: {found.get(node) for node in those} == {state}, state, seconds)

    def command(self, *words: str, timeout: float = 30.0) -> str:
        """What a command of Slurm's prints; raises SubprocessError."""
        run = subprocess.run(
            words, env=os.environ | self.environment, capture_output=True, text=True, check=True, timeout=timeout
        )
        return run.stdout

    @property
    def _conf(self) -> Path:
        return self.folder / "slurm.conf"

    def _pid(self, name: str) -> Path:
        return self.folder / "pids" / name

    def _check(self) -> None:
        if min(self._size.cpus, self._size.memory, self._size.array_most) < 1:
            raise ValueError("a node needs a processor and memory, and an array needs a task")
        special = {*self._without_bwrap, *self._other_nvcc, *self._full_disk}
        if unknown := sorted(special - {*self.nodes}):
            raise ValueError(f"no such node: {', '.join(unknown)}; there are {', '.join(self.nodes)}")
        if self._other_nvcc and self._nvcc is None:
            raise ValueError("other_nvcc needs nvcc, the path of the compiler to replace")
        if self._full_disk and self._full_folder is None:
            raise ValueError("full_disk needs full_folder, the folder that is full")
        if self._full_folder and self.folder.is_relative_to(self._full_folder.resolve()):
            raise ValueError(f"the daemons write in {self.folder}: it can't be on the full disk {self._full_folder}")

    def _start(self, *words: str) -> None:
        log = self.folder / "log/started"
        try:
            start_daemon(words, self.environment, log, _START_SECONDS)
        except subprocess.SubprocessError as error:
            raise RuntimeError(f"{words[0]} does not start: {_end_of(log)}") from error

    def _wait(self, is_right: Callable[[dict[str, str]], bool], wanted: str, seconds: float = _START_SECONDS) -> None:
        until = time.monotonic() + seconds
        found: dict[str, str] = {}
        while time.monotonic() < until:
            with suppress(subprocess.SubprocessError):
                found = self.states()
                if is_right(found):
                    return
            time.sleep(_TICK)
        raise TimeoutError(f"the nodes are not {wanted} but {found or 'unknown'}; see {self.folder}/log")


def cluster_in(folder: Path) -> Cluster:
    """The cluster that another process started in a folder: its daemons are known by their pid files."""
    names = sorted(path.name for path in (folder / "pids").glob("*"))
    return Cluster(folder, [name for name in names if name not in ("munged", "slurmctld")], ())


def why_no_cluster() -> str:
    """What this machine lacks for a cluster; empty where it lacks nothing."""
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing:
        return f"{', '.join(missing)} not found: apt-get install {PACKAGES}"
    if os.geteuid() != 0:
        return "only root can start the daemons, and end them"
    if not can_make_namespaces():
        return "root may not mount here: in a container, start it with the capability SYS_ADMIN"
    return ""


def main(words: Sequence[str] | None = None) -> int:
    """The command line."""
    chosen = _parser().parse_args(words)
    try:
        return {"up": _up, "down": _down, "status": _status}[chosen.what](chosen)
    except (RuntimeError, TimeoutError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _up(chosen: argparse.Namespace) -> int:
    if reason := why_no_cluster():
        raise RuntimeError(reason)
    folder: Path = chosen.folder
    old = cluster_in(folder)
    if old.is_up():
        raise RuntimeError(f"the cluster in {folder} is up. To end it, type:  {sys.argv[0]} down {folder}")
    if old.was_here():
        old.down()
        old.delete()
    if folder.exists() and any(folder.iterdir()):
        raise RuntimeError(f"{folder} holds something else: choose a folder that is new or empty")
    cluster = Cluster(
        folder,
        [f"n{number}" for number in range(1, chosen.nodes + 1)],
        [f"g{number}" for number in range(1, chosen.gpu_nodes + 1)],
        without_bwrap=chosen.without_bwrap,
        other_nvcc=chosen.other_nvcc,
        nvcc=_nvcc(chosen),
        full_disk=chosen.full_disk,
        full_folder=chosen.full_folder,
        array_most=chosen.array_most,
        remembers_seconds=chosen.remembers_seconds,
        cpus=chosen.cpus,
        memory=chosen.memory,
    )
    try:
        cluster.up()
    except BaseException:
        cluster.down()
        raise
    print(f"{len(cluster.nodes)} nodes are up. Type:\n  export SLURM_CONF={cluster.folder}/slurm.conf\n  sinfo")
    return 0


def _nvcc(chosen: argparse.Namespace) -> Path | None:
    given: Path | None = chosen.nvcc
    if not chosen.other_nvcc or given:
        return given
    recorded = Path(__file__).parents[3] / "build/nvcc.txt"
    if not recorded.is_file():
        raise RuntimeError(f"{recorded} is missing: build the project, or say --nvcc PATH")
    return Path(recorded.read_text(encoding="utf-8").strip())


def _down(chosen: argparse.Namespace) -> int:
    cluster = _there(chosen.folder)
    if os.geteuid() != 0:
        raise RuntimeError("only root can end the daemons")
    cluster.down()
    cluster.delete()
    return 0


def _status(chosen: argparse.Namespace) -> int:
    cluster = _there(chosen.folder)
    if not cluster.is_up():
        raise RuntimeError(f"the cluster in {chosen.folder} is not up; see {chosen.folder}/log/slurmctld")
    print("\n".join(f"{node}  {state}" for node, state in cluster.states().items()))
    return 0


def _there(folder: Path) -> Cluster:
    cluster = cluster_in(folder)
    if not cluster.was_here():
        raise RuntimeError(f"there is no cluster in {folder}")
    return cluster


def _end_of(log: Path) -> str:
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-_LOG_LINES:])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="what", required=True, metavar="up|status|down")
    up = commands.add_parser("up", help="start a cluster; `up --help` lists its options")
    down = commands.add_parser("down", help="end it, and delete what it wrote")
    status = commands.add_parser("status", help="say how the nodes are")
    for command in (up, down, status):
        command.add_argument("folder", type=Path, metavar="DIR", help="where the cluster has its files")
    up.add_argument("--nodes", type=int, default=2, metavar="N", help="CPU nodes; default 2")
    up.add_argument("--gpu-nodes", type=int, default=1, metavar="N", help="nodes of the partition gpu; default 1")
    up.add_argument("--cpus", type=int, default=2, metavar="N", help="processors of a node; default 2")
    up.add_argument("--memory", type=int, metavar="MB", help="memory of a node; default: the machine's")
    up.add_argument("--array-most", type=int, default=1001, metavar="N", help="MaxArraySize; default 1001")
    up.add_argument(
        "--remembers-seconds", type=int, default=300, metavar="S", help="MinJobAge, for which ended jobs are shown"
    )
    nodes = up.add_argument_group("nodes with a fault", "Each of these may be given several times.")
    nodes.add_argument("--without-bwrap", action="append", default=[], metavar="NODE", help="it has no bubblewrap")
    nodes.add_argument("--other-nvcc", action="append", default=[], metavar="NODE", help="its nvcc is another version")
    nodes.add_argument("--full-disk", action="append", default=[], metavar="NODE", help="--full-folder is full there")
    up.add_argument("--nvcc", type=Path, metavar="PATH", help="the nvcc that is replaced; default: the build tree's")
    up.add_argument("--full-folder", type=Path, metavar="PATH", help="the folder for --full-disk")
    return parser


if __name__ == "__main__":
    sys.exit(main())
