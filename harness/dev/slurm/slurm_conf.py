"""A cluster's configuration on this machine: slurm.conf, cgroup.conf, gres.conf; mounts that change a node's view."""

import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

LOOPBACK = "127.0.0.1"
_CONFIGURATION = """\
ClusterName=lockstep
SlurmctldHost={host}({loopback})
SlurmctldPort={port}
SlurmUser=root
AuthType=auth/munge
# A job whose node failed may not begin again before its old credential has expired, which takes 2 min by default.
AuthInfo=socket={folder}/munge/socket,cred_expire={credential}
# The daemons listen on the addresses that are named here, and on no other.
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/pids/slurmctld
# Numbers inside of a node's namespace, which mean nothing outside: pids/ has those of the outside.
SlurmdPidFile={folder}/spool/%n.pid
SlurmctldLogFile={folder}/log/slurmctld
SlurmdLogFile={folder}/log/slurmd-%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
# Without it a job that asks for no memory gets all of a node's.
DefMemPerCPU={memory_per_cpu}
# Nodes have the processors that are said here, even where the machine has fewer.
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
GresTypes=gpu
JobRequeue=1
ReturnToService=2
MaxArraySize={array_most}
MinJobAge={remembers_seconds}
SlurmdTimeout={timeout}
MessageTimeout={message_timeout}
KillWait=3
# No accounting, as on many small clusters: there is no sacct.
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
"""


@dataclass(frozen=True)
class Size:
    """What a cluster has, and how long it waits. All nodes are this one machine, so they share its processors.

    A node has two processors by default, as one task of `grader grade` asks for, and all of the machine's memory (in
    MB). `remembers_seconds` is how long squeue shows a job that has ended.
    """

    cpus: int = 2
    memory: int = field(default_factory=lambda: os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20)
    array_most: int = 1001
    remembers_seconds: int = 300
    node_timeout_seconds: int = 10
    message_timeout_seconds: int = 10
    credential_seconds: int = 5


def write_configuration(
    folder: Path, cpu_nodes: Sequence[str], gpu_nodes: Sequence[str], size: Size, ports: Sequence[int]
) -> None:
    """Writes slurm.conf, cgroup.conf and gres.conf; the controller has the first port, the nodes have the others."""
    host = socket.gethostname()
    text = _CONFIGURATION.format(
        folder=folder, host=host, loopback=LOOPBACK, port=ports[0], array_most=size.array_most,
        memory_per_cpu=size.memory // size.cpus, remembers_seconds=size.remembers_seconds,
        timeout=size.node_timeout_seconds, message_timeout=size.message_timeout_seconds,
        credential=size.credential_seconds,
    )  # fmt: skip
    for node, port in zip((*cpu_nodes, *gpu_nodes), ports[1:], strict=True):
        gres = " Gres=gpu:1" if node in gpu_nodes else ""
        text += (
            f"NodeName={node} NodeHostname={host} NodeAddr={LOOPBACK} Port={port} CPUs={size.cpus} "
            f"RealMemory={size.memory}{gres}\n"
        )
    for name, nodes in (("cpu", cpu_nodes), ("gpu", gpu_nodes)):
        if nodes:
            default = "YES" if name == "cpu" or not cpu_nodes else "NO"
            text += f"PartitionName={name} Nodes={','.join(nodes)} Default={default} MaxTime=INFINITE State=UP\n"
    (folder / "slurm.conf").write_text(text, encoding="utf-8")
    # Jobs are not confined here. The plugin for version 2 of control groups starts only where systemd and D-Bus run.
    (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n", encoding="utf-8")
    devices = sorted(Path("/dev").glob("nvidia[0-9]")) or [Path("/dev/null")]
    gpus = "".join(
        f"NodeName={node} Name=gpu File={devices[number % len(devices)]}\n" for number, node in enumerate(gpu_nodes)
    )
    (folder / "gres.conf").write_text(gpus, encoding="utf-8")


def cover_program(folder: Path, program: Path) -> list[list[str]]:
    """Mounts that hide a program: its file is empty and can't be run."""
    nothing = folder / "nothing"
    nothing.touch(mode=0o644)
    return [["mount", "--bind", str(nothing), str(program.resolve())]]


def cover_nvcc(folder: Path, nvcc: Path) -> list[list[str]]:
    """Mounts after which nvcc reports another version, and otherwise works as before."""
    nvcc = nvcc.resolve()
    toolkit, script = folder / "toolkit", folder / "nvcc"
    toolkit.mkdir(exist_ok=True)
    # nvcc finds its parts relative to its own path: the whole toolkit is mounted again before nvcc is covered.
    real = toolkit / nvcc.relative_to(nvcc.parent.parent)
    script.write_text(
        f"""#!/bin/sh
case " $* " in
*" --version "* | *" -V "*)
  echo 'nvcc: NVIDIA (R) Cuda compiler driver'
  echo 'Copyright (c) 2005-2024 NVIDIA Corporation'
  echo 'Built on Thu_Mar_28_02:18:24_PDT_2024'
  echo 'Cuda compilation tools, release 12.4, V12.4.131'
  echo 'Build cuda_12.4.r12.4/compiler.34097967_0'
  ;;
*) exec '{real}' "$@" ;;
esac
""",
        encoding="utf-8",
    )
    script.chmod(0o755)
    return [
        # Read-only: nobody who deletes the cluster's folder, even from inside, may delete the toolkit.
        ["mount", "--bind", "-o", "ro", str(nvcc.parent.parent), str(toolkit)],
        ["mount", "--bind", str(script), str(nvcc)],
    ]


def cover_with_full_disk(full: Path) -> list[list[str]]:
    """Mounts over a folder: a disk with room for files' names but for no bytes. What was in the folder is hidden."""
    disk = str(full.resolve())
    return [
        ["mount", "-t", "tmpfs", "-o", "size=4k,mode=1777", "full", disk],
        ["dd", "if=/dev/zero", f"of={disk}/filler", "bs=4096", "count=1", "status=none"],
    ]
