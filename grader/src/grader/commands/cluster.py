"""What `grader grade --executor slurm` adds: the cluster's settings, its scripts, and ending its jobs."""

import shlex
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

import click
from rich.console import Console
from rich.markup import escape

from grader.base.counted import counted
from grader.base.errors import GraderError
from grader.cluster.executor import ClusterExecutor, Counts, Pace
from grader.cluster.settings import CPU, GPU, NAME, ClusterSettings, read_cluster
from grader.cluster.shared import SharedFolder
from grader.cluster.slurm import Slurm
from grader.commands.progress import Display
from grader.running.changes import Change
from grader.running.executor import Executor

_T = TypeVar("_T")
LOCAL, SLURM = "local", "slurm"
_FOLDER = "cluster"

executor_option = click.option(
    "--executor",
    type=click.Choice([LOCAL, SLURM]),
    default=LOCAL,
    show_default=True,
    help="Where submissions run: on this machine, or as jobs of a Slurm cluster.",
)
cluster_option = click.option(
    "--cluster",
    "cluster_file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help=f"Resources to request from the cluster.  [default: {NAME} in or next to SUBMISSIONS]",
)
cancel_option = click.option("--cancel", is_flag=True, help="End the jobs that an earlier --executor slurm has queued.")


def open_cluster(executor: str, submissions: Path, out: Path, file: Path | None, *, cancel: bool) -> "Cluster | None":
    """The cluster, if one was requested; raises GraderError for cluster options without one."""
    given = "--cluster" if file else "--cancel" if cancel else ""
    if given and executor != SLURM:
        raise GraderError(f"{given} is for jobs of a cluster.\nType the same command with --executor slurm")
    return Cluster(submissions, out, file) if executor == SLURM else None


class Cluster:
    """The cluster of one results' folder."""

    pace = Pace()

    def __init__(self, submissions: Path, out: Path, file: Path | None) -> None:
        """Raises GraderError if there is no Slurm, or if the settings are wrong."""
        self._settings = read_cluster(found) if (found := file or _beside(submissions)) else ClusterSettings()
        self._shared = SharedFolder(self._settings.shared or out.resolve() / _FOLDER)
        self._slurm = Slurm(self._shared, self._settings)

    def grade(
        self,
        work: Callable[[Executor], _T],
        display: Display,
        console: Console,
        jobs: int,
        stop: threading.Event,
        *,
        whole: bool,
        key: str,
    ) -> _T:
        """Grades with this cluster as the executor; after Ctrl-C, reports the jobs that keep running.

        `key` signs the nodes' results. `whole`: all of the class is graded.
        """
        self._shared.key = key
        tell = partial(_tell, console)
        executor = ClusterExecutor(
            self._slurm, self._shared, self._settings, jobs=jobs, stop=stop, tell=tell, pace=self.pace
        )
        display.note = lambda: _note(executor.counts())
        try:
            done = work(executor)
        except KeyboardInterrupt:
            _show_left_running(executor)
            raise
        executor.close(whole=whole)
        return done

    def cancel(self) -> None:
        """Cancels all jobs, and notifies a grader that is waiting for them."""
        if self._shared.path.is_dir():
            self._shared.cancelled.touch()
        ended = counted(self._slurm.cancel(), "job")
        click.echo(f"Ended {ended} on the cluster. Finished work is kept: to continue, run it without --cancel.")

    def show_scripts(self, console: Console, plans: Sequence[Sequence[Change]], *, on_gpu: bool) -> None:
        """Prints the scripts for sbatch."""
        counts = [sum(change.is_run for change in plan) for plan in plans]
        for part in (CPU, GPU) if on_gpu else (CPU,):
            tasks = sum(-(-count // self._settings.size(part, count)) for count in counts)
            if tasks:
                title = f"{counted(tasks, 'task')} on {part.upper()} nodes for {counted(sum(counts), 'submission')}"
                console.print(f"\n[bold]{title}[/]", highlight=False)
                console.print(escape(self._slurm.script(part, tasks)), highlight=False, soft_wrap=True)


def _tell(console: Console, text: str) -> None:
    console.print(f"[magenta]Note[/]: {escape(text)}", highlight=False, soft_wrap=True)


def _note(counts: Counts) -> str:
    """The state of the jobs in one line."""
    if not counts.running:
        return f"cluster: {counts.waiting:,} wait in its queue"
    on = f"{counts.running:,} run on {counted(counts.nodes, 'node')}"
    return f"cluster: {on}, {counts.waiting:,} wait in its queue" if counts.waiting else f"cluster: {on}"


def _show_left_running(executor: ClusterExecutor) -> None:
    """Says what keeps running after Ctrl-C, and how to resume."""
    counts = executor.counts()
    left = counts.running + counts.waiting
    if left:
        same = shlex.join(["grader", *sys.argv[1:]])
        click.echo(
            f"\nThe jobs on the cluster go on: {counted(left, 'submission')}.\n"
            f"To take their results, type:  {same}\nTo end them, type:  {same} --cancel",
            err=True,
        )


def _beside(submissions: Path) -> Path | None:
    for folder in (submissions, submissions.resolve().parent):
        if (folder / NAME).is_file():
            return folder / NAME
    return None
