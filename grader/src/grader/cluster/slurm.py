"""Slurm: submitit queues arrays and starts Python on the nodes; squeue reports their state.

All arrays of one results folder have the same job name, and the array's own name is in the job's comment. So a new head
finds everything that a killed one queued, even in the middle of a submission. Nothing here needs Slurm's accounting,
which many small clusters don't have.
"""

import os
import pwd
import shutil
import subprocess
from collections.abc import Collection, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from grader.base.errors import GraderError
from grader.base.names import fingerprint, shown_block
from grader.cluster.node import work
from grader.cluster.scheduler import CANCELLED, ENDED, PENDING, RUNNING, BusyError, Element
from grader.cluster.settings import ClusterSettings, Resources
from grader.cluster.shared import KEY, SharedFolder

_SECONDS = 60
_LOG_LINES, _LOG_CHARACTERS = 6, 2000
_COMMANDS = ("sbatch", "squeue", "scancel", "scontrol", "sinfo")
_ENDED = {
    "BOOT_FAIL", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "REVOKED", "TIMEOUT",
}  # fmt: skip
_RUNNING = {"COMPLETING", "RUNNING", "SUSPENDED", "STAGE_OUT", "STOPPED", "SIGNALING"}
_BUSY = (
    "Unable to contact slurm controller",
    "Socket timed out",
    "Zero Bytes were transmitted",
    "Connection refused",
    "temporarily unable to accept job",
)
_MOST_SIGNAL_SECONDS = 90
PACKAGE = Path(__file__).parents[2]


class Slurm:
    """Slurm, through the commands on this machine."""

    def __init__(self, shared: SharedFolder, settings: ClusterSettings) -> None:
        """Raises GraderError if Slurm's commands or submitit are not installed here."""
        missing = [command for command in _COMMANDS if shutil.which(command) is None]
        if missing:
            raise GraderError(
                f"no Slurm on this machine: {', '.join(missing)} not found.\n"
                "Type the same command on a login node of the cluster, or without --executor slurm"
            )
        try:
            self._submitit: Any = import_module("submitit")  # imported here: nothing else should wait for it
        except ImportError:
            raise GraderError("submitit is missing.\nType:  harness/setup.sh --cluster") from None
        self._shared = shared
        self._settings = settings
        self.job_name = f"lockstep-{fingerprint(str(shared.path.resolve()))}"

    def submit(self, part: str, array: str, batches: Sequence[str], excluded: Collection[str]) -> None:
        """Queues an array."""
        executor = self._executor(part, array, excluded)
        os.environ[KEY] = self._shared.key  # sbatch passes it to the job, and no file in the folder contains it
        try:
            executor.map_array(work, [str(self._shared.path.resolve())] * len(batches), list(batches))
        except self._submitit.core.utils.FailedJobError as error:
            raise _problem("sbatch", str(error)) from error
        finally:
            del os.environ[KEY]

    def script(self, part: str, tasks: int) -> str:
        """The script for sbatch."""
        executor = self._executor(part, "NAME", ())
        if tasks > 1:
            executor.parameters["map_count"] = tasks
        command = executor._submitit_command_str  # submitit's public way to show a script starts a job
        return str(executor._make_submission_file_text(command, ""))

    def elements(self) -> list[Element]:
        """All tasks of this run's arrays."""
        found = []
        for line in self._listed("-r", "-t", "all", "-o", "%i|%T|%N|%k").splitlines():
            job, state, node, array = line.split("|", 3)
            _, _, index = job.partition("_")
            found.append(Element(array, int(index or 0), _phase(state), node, state, job))
        return found

    def log(self, element: Element) -> str:
        """The end of the task's output, including messages from srun."""
        path = self._shared.slurm / f"{element.job}_0_log.out"
        try:
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return ""
        return shown_block("\n".join(lines[-_LOG_LINES:]), _LOG_CHARACTERS)

    def exclude(self, nodes: Collection[str]) -> None:
        """Keeps waiting tasks off these nodes: an array has one exclusion list for all its tasks."""
        for job in dict.fromkeys(self._listed("-t", "pending", "-o", "%F").split()):
            try:
                self._said("scontrol", "update", f"JobId={job}", f"ExcNodeList={','.join(sorted(nodes))}")
            except GraderError:
                continue  # it has started meanwhile

    def nodes(self, part: str) -> list[str]:
        """All nodes of the part's partition."""
        partition = self._settings.resources(part).partition
        listed = self._said("sinfo", "-h", "-N", "-o", "%N|%P")
        rows = [line.split("|") for line in listed.splitlines()]
        return sorted({node for node, name in rows if name.rstrip("*") == partition or (not partition and "*" in name)})

    def cancel(self) -> int:
        """Cancels all waiting and running tasks."""
        live = sum(element.is_live for element in self.elements())
        if live:
            self._said("scancel", "-u", _user(), "-n", self.job_name)
        return live

    def _executor(self, part: str, array: str, excluded: Collection[str]) -> Any:
        own = self._settings.resources(part)
        executor = self._submitit.SlurmExecutor(folder=self._shared.slurm.resolve())
        executor.update_parameters(
            job_name=self.job_name,
            comment=array,
            time=own.minutes,
            cpus_per_task=own.cpus,
            mem=f"{own.memory_gb}GB",
            array_parallelism=self._settings.array_at_once,
            # Slurm's signal comes this long before the time limit, so that a task can clean up.
            signal_delay_s=min(_MOST_SIGNAL_SECONDS, own.minutes * 60 // 4),
            setup=[f"export PYTHONPATH={PACKAGE}"],
            stderr_to_stdout=True,
            additional_parameters={"requeue": True, "export": "ALL"} | own.options,
            **_given(own, excluded),
        )
        return executor

    def _listed(self, *options: str) -> str:
        return self._said("squeue", "-h", "-u", _user(), "-n", self.job_name, *options)

    def _said(self, *command: str) -> str:
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            raise BusyError(f"{command[0]} did not answer in {_SECONDS} seconds") from None
        if run.returncode:
            raise _problem(command[0], run.stderr)
        return run.stdout


def _user() -> str:
    return pwd.getpwuid(os.getuid()).pw_name


def _given(own: Resources, excluded: Collection[str]) -> dict[str, Any]:
    given = {
        "partition": own.partition, "account": own.account, "qos": own.qos, "gres": own.gres,
        "exclusive": own.exclusive, "exclude": ",".join(sorted(excluded)),
    }  # fmt: skip
    return {name: value for name, value in given.items() if value}


def _problem(command: str, said: str) -> GraderError | BusyError:
    """The exception for an error message of a Slurm command."""
    if any(words in said for words in _BUSY):  # parses a program's output
        return BusyError(f"{command}: {said.strip().splitlines()[-1]}")  # parses a program's output
    next_step = f"Type:  {command}      to see whether Slurm works on this machine"
    if command == "sbatch":
        next_step = "What is asked for is in cluster.toml. Type the same command with --dry-run to see the scripts"
    return GraderError(f"{command} failed: {shown_block(said.strip(), _LOG_CHARACTERS)}\n{next_step}")


def _phase(state: str) -> str:
    if state.startswith("CANCELLED"):
        return CANCELLED
    return ENDED if state in _ENDED else RUNNING if state in _RUNNING else PENDING
