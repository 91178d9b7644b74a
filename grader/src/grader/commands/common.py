"""What the commands of `grader` share: options, the console, and the checks before anything runs."""

import os
import shutil
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape

from grader.authoring.finding import Finding
from grader.authoring.shard import Shard
from grader.base import sandbox
from grader.base.counted import counted
from grader.base.errors import GraderError
from grader.base.layout import Layout
from grader.base.secret import NAME, VARIABLE
from grader.base.storage import need_space
from grader.course.files import CourseFiles
from grader.model.assignment import Assignment
from grader.pages.publish import JOURNAL, Published
from grader.running.pipeline import only_grader
from grader.running.run import why_no_gpu
from grader.running.store import Journal

FOLDER = click.Path(path_type=Path, file_okay=False)
SUBMISSIONS = click.Path(path_type=Path)  # a folder or an archive; if it can't be opened, the error says what to type
WRONG_STATUS, HARNESS_STATUS, UNMATCHED_STATUS, LOWER_STATUS, STOPPED_STATUS = 1, 3, 4, 5, 130

out_option = click.option("--out", type=FOLDER, default=Path("out"), show_default=True, help="Folder of the results.")
build_option = click.option("--build", type=FOLDER, help="The C++ build tree.  [default: build in the checkout]")
jobs_option = click.option(
    "--jobs",
    type=click.IntRange(1, 256),
    help="Submissions graded at once.  [default: the number of processors plus one]",
)


def _shard(_context: click.Context, _option: click.Parameter, text: str) -> Shard:
    """Parses I/N as a share; raises BadParameter saying what to type."""
    try:
        return Shard.of_text(text)
    except ValueError as error:
        raise click.BadParameter(f"{error}; type --shard 1/4, for example") from None


shard_option = click.option(
    "--shard", callback=_shard, default="1/1", show_default=True, metavar="I/N", help="Do only the I-th of N shares."
)
device_option = click.option(
    "--device",
    type=click.Choice(["vgpu", "cuda"]),
    default="vgpu",
    show_default=True,
    help="The virtual GPU alone (vgpu), or with a real one (cuda).",
)
secret_option = click.option(
    "--secret",
    type=click.Path(path_type=Path, dir_okay=False),
    envvar=VARIABLE,
    metavar="FILE",
    help=f"Secret that seeds are derived from; also ${VARIABLE}.  [default: {NAME} in the results' folder]",
)
roster_option = click.option(
    "--roster",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The students: roster.csv, or a platform's own export.  [default: roster.csv in or next to SUBMISSIONS]",
)
course_option = click.option(
    "--course",
    type=click.Path(path_type=Path),
    metavar="FILE_OR_DIR",
    help="course.toml, or the folder with the course's files.  [default: next to the submissions; else as last time]",
)
no_sandbox_option = click.option(
    "--no-sandbox", is_flag=True, help="Run student code without a sandbox: only for code you trust."
)


@contextmanager
def at_work(out: Path) -> Iterator[tuple[Journal, threading.Event]]:
    """Opens the journal of an output folder for one grader at a time, with an event that stops all work.

    At the end of the block work is stopped, the journal closed, and the folder of temporary files deleted.
    """
    stop = threading.Event()
    with only_grader(out):
        need_space(out)
        journal = Journal(out / JOURNAL)
        try:
            yield journal, stop
        finally:
            stop.set()
            journal.close()
            shutil.rmtree(out / "work", ignore_errors=True)


def make_console() -> Console:
    """The console for findings."""
    return Console(file=sys.stdout)


def make_consoles(*, quiet: bool, as_json: bool) -> tuple[Console, Console]:
    """The console for progress, silent with `quiet`, and the one for messages that need action.

    With `as_json` standard output is reserved for the document, and both are standard error.
    """
    file = sys.stderr if as_json else sys.stdout
    return Console(file=file, quiet=quiet), Console(file=file)


def show_finding(console: Console, finding: Finding) -> None:
    """Prints a finding."""
    what = escape(finding.what)
    text = f"  [green]ok[/]    {what:44} {escape(finding.detail)}"
    if finding.problem:
        text = f"  [red]FAIL[/]  {what}: {escape(finding.problem)}"
    console.print(text, highlight=False, soft_wrap=True)


def show_course(console: Console, files: CourseFiles) -> None:
    """Says which of the course's files are used."""
    for file in files.files:
        gone = "  [magenta]no longer there[/]: using its last known contents" if file.is_gone else ""
        console.print(f"  {file.name:13} {escape(str(file.path))}{gone}", highlight=False, soft_wrap=True)


def show_unmatched(console: Console, published: Published) -> None:
    """Names the submissions that match nobody on the roster."""
    if published.unmatched:
        listed = ", ".join(escape(name) for name in published.unmatched)
        console.print(
            f"[magenta]Not on the roster[/]: {counted(len(published.unmatched), 'student')} at the end of "
            f"gradebook.csv, never exported: {listed}",
            highlight=False,
            soft_wrap=True,
        )


def need_gpu(layout: Layout, assignments: Iterable[Assignment], device: str) -> None:
    """Raises GraderError if --device cuda is given and there is no usable GPU."""
    reasons = (why_no_gpu(layout, one) for one in assignments if device == "cuda")
    if reason := next(filter(None, reasons), ""):
        raise GraderError(
            f"--device cuda needs an NVIDIA GPU.\n{reason}\n"
            "Type the same command without --device cuda: the virtual GPU finds faults and counts on any machine"
        )


def split_jobs(jobs: int | None) -> tuple[int, int]:
    """How many submissions run at once, and how many threads the virtual GPU of each gets.

    One submission more than processors, because each sometimes waits for a sandbox or worker to start or end.
    """
    processors = len(os.sched_getaffinity(0))
    jobs = jobs or processors + 1
    return jobs, max(1, processors // jobs)


def is_sandboxed(no_sandbox: bool) -> bool:
    """Whether to use a sandbox; raises GraderError if there should be one but it can't be made."""
    if no_sandbox:
        click.echo("Warning: student code runs without a sandbox, with your permissions.", err=True)
        return False
    reason = sandbox.why_no_sandbox()
    if reason:
        raise GraderError(
            f"no sandbox for student code: {reason}.\n"
            "If you trust all submissions, run the same command with --no-sandbox"
        )
    if unbounded := sandbox.why_unbounded():
        click.echo(f"Warning: {unbounded}.", err=True)
    return True


def known_assignments(layout: Layout, names: tuple[str, ...]) -> list[str]:
    """The named assignments, or all; raises GraderError for one that does not exist."""
    known = layout.assignments()
    for name in names:
        if name not in known:
            raise GraderError(f'there is no assignment "{name}".\nThere are: {", ".join(known) or "none"}')
    return list(names) or known
