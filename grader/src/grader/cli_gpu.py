"""The commands that a machine with a GPU is for."""

import shutil
import threading
from pathlib import Path

import click
from rich.markup import escape

from grader.assignment import load_assignment
from grader.check import SEED
from grader.cli_common import (
    FOLDER,
    WRONG_STATUS,
    build_option,
    device_option,
    is_sandboxed,
    jobs_option,
    known_assignments,
    make_console,
    need_gpu,
    no_sandbox_option,
    show_finding,
    split_jobs,
)
from grader.finding import Finding
from grader.layout import find_layout
from grader.opponents import Met, find_opponents, meet_opponents, opponents_text
from grader.pipeline import Quiet, only_grader, prepare
from grader.publish import JOURNAL
from grader.run import RunSettings
from grader.store import Journal
from grader.toolchain import find_toolchain
from grader.worker_cache import WorkerCache


@click.command(short_help="Are hostile solutions defeated?")
@click.argument("names", metavar="[ASSIGNMENT]...", nargs=-1)
@device_option
@click.option("--out", type=FOLDER, default=Path("out/opponents"), show_default=True, help="Where the journal is.")
@jobs_option
@no_sandbox_option
@build_option
def opponents(
    names: tuple[str, ...], device: str, out: Path, jobs: int | None, no_sandbox: bool, build: Path | None
) -> None:
    """Runs the hostile solutions of reference/ASSIGNMENT/hostile, and says whether each gets what it must get.

    With --device cuda that is the verdict of the GPU's judge alone, without the virtual GPU's help, and for some that
    they gain no time; else what the virtual GPU finds. A run that was stopped goes on where it was.

    \b
    Examples:
      grader opponents --device cuda
      grader opponents 04_reduction

    Status: 0 all defeated, 1 some not.
    """
    console, layout = make_console(), find_layout(build)
    sandboxed = is_sandboxed(no_sandbox)
    toolchain = find_toolchain(layout)
    jobs, threads = split_jobs(jobs)
    stop = threading.Event()
    met: list[Met] = []
    unreadable: list[Finding] = []
    with only_grader(out):
        journal = Journal(out / JOURNAL)
        try:
            for assignment in [load_assignment(layout.assignment(name)) for name in known_assignments(layout, names)]:
                found, problems = find_opponents(layout, assignment)
                unreadable += problems
                if not found and not problems:
                    continue
                need_gpu(layout, assignment, device)
                console.print(f"[bold]{escape(assignment.id)}[/]", highlight=False)
                for problem in problems:
                    show_finding(console, problem)
                settings = RunSettings(SEED, device, threads, sandboxed, alone=device == "cuda")
                cache = WorkerCache(layout)
                bench = prepare(layout, toolchain, assignment, settings, (out / "work").resolve(), stop, cache.build)
                met += meet_opponents(
                    bench, found, journal, Quiet(), lambda one: show_finding(console, one.finding), jobs=jobs, stop=stop
                )
        finally:
            stop.set()
            journal.close()
            shutil.rmtree(out / "work", ignore_errors=True)
    console.print(opponents_text(met), highlight=False)
    if unreadable or any(one.finding.problem for one in met):
        raise click.exceptions.Exit(WRONG_STATUS)
