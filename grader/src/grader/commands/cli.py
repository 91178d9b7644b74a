"""The command ``grader``."""

import contextlib
import shlex
import shutil
import threading
import time
from functools import partial
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape

from grader import __version__
from grader.authoring.check import SEED, counts_text
from grader.authoring.check_files import FEWEST_RIGHT, FEWEST_WRONG, check_suite_files
from grader.authoring.check_run import CheckSettings, check_assignments
from grader.authoring.finding import Finding
from grader.authoring.handout import make_handout
from grader.authoring.ladder import check_pages, ladder_assignments, ladder_page, ladder_text, measure_ladder
from grader.authoring.mutate import Mutation, Share, mutate_assignment, mutation_text
from grader.authoring.new import new_assignment
from grader.base.counted import counted
from grader.base.errors import GraderError, InfrastructureError
from grader.base.layout import Layout, find_layout
from grader.base.names import shown_block
from grader.base.process import CancelledError
from grader.base.secret import MOST_SEED
from grader.base.storage import storage_problem
from grader.base.toolchain import find_toolchain
from grader.commands.common import (
    FOLDER,
    HARNESS_STATUS,
    STOPPED_STATUS,
    WRONG_STATUS,
    at_work,
    build_option,
    device_option,
    is_sandboxed,
    jobs_option,
    known_assignments,
    make_console,
    need_gpu,
    no_sandbox_option,
    out_option,
    secret_option,
    show_finding,
    split_jobs,
)
from grader.commands.gpu import gpu_pages, opponents
from grader.commands.progress import Display, summary
from grader.commands.seed import secret_of, seed_command
from grader.model.assignment import Assignment, load_assignment
from grader.model.discovery import Submission, Wanted, find_submissions, shared_students
from grader.model.record import NOT_GRADED, Record
from grader.pages.publish import JOURNAL, Published, open_journal, publish, publish_boards
from grader.running.pipeline import Bench, grade_class, make_ready, only_grader, prepare
from grader.running.repair import repair
from grader.running.run import RunSettings
from grader.running.worker_cache import WorkerCache


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="grader")
def cli() -> None:
    """Grades CUDA coursework, with or without a GPU.

    \b
    Examples:
      grader grade submissions              grade a class: report cards, gradebook, leaderboard in out/
      grader grade submissions --only ada   one student again
      grader report                         write the pages again, without grading
      grader check                          is every assignment ready to hand out?
    """


@cli.command()
@click.argument("submissions", type=FOLDER)
@click.option("--assignment", "names", multiple=True, metavar="ID", help="Assignment to grade; repeatable.")
@out_option
@jobs_option
@no_sandbox_option
@click.option(
    "--only", metavar="NAME", help="Only the submission in folder NAME, or else all whose folder contains NAME."
)
@secret_option
@click.option("--seed", type=click.IntRange(0, MOST_SEED), help="Use this one seed for every submission.")
@device_option
@click.option(
    "--roster",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Students' names, IDs and aliases.  [default: roster.csv]",
)
@build_option
def grade(
    submissions: Path,
    names: tuple[str, ...],
    out: Path,
    jobs: int | None,
    no_sandbox: bool,
    only: str | None,
    secret: Path | None,
    seed: int | None,
    device: str,
    roster: Path | None,
    build: Path | None,
) -> None:
    """Grades all submissions in the folder SUBMISSIONS.

    It holds one folder per student (lovelace_ada/reduction.cu) or flat files (lovelace_ada.cu), and may hold a
    roster.csv with the columns name, sid, email, alias.

    You can stop or kill it at any moment: the same command continues where it was. A submission is graded again only
    when it, the suite, the reference, the compiler or the secret changed.

    Each submission has its own seed, and its inputs are derived from that. The seed is derived from the submission and
    a secret, made once and kept in DIR/seed-secret: with it you can repeat a grade; without it no input can be guessed.

    With --device cuda every submission runs on the virtual GPU, which finds faults and counts, and on this machine's
    GPU, which adds measured time; the worse of the two verdicts counts.

    \b
    Examples:
      grader grade submissions
      grader grade submissions --assignment 04_reduction --out out/week4 --jobs 8
      grader grade submissions --only lovelace_ada
      grader grade reference/sample_class

    Status: 0 all graded, 3 some must be run again (the harness failed on them and they have no score, or a time was
    inconclusive), 130 stopped.
    """
    console, layout = make_console(), find_layout(build)
    sandboxed = is_sandboxed(no_sandbox)
    toolchain = find_toolchain(layout)
    started = time.monotonic()
    jobs, threads = split_jobs(jobs)
    every: list[Record] = []
    with at_work(out) as (journal, stop):
        seeds = secret_of(console, out, secret) if seed is None else None
        work, workers = (out / "work").resolve(), out / "workers"
        shutil.rmtree(work, ignore_errors=True)  # of a run that was killed
        cache = WorkerCache(layout, workers)
        settings = RunSettings(seed or 0, device, threads, sandboxed, secret=seeds)
        classes: list[tuple[Bench, list[Submission], list[Submission]]] = []
        for assignment in _assignments(layout, names, submissions):
            need_gpu(layout, assignment, device)
            found = find_submissions(submissions, _wanted(layout, assignment), roster)
            bench = prepare(layout, toolchain, assignment, settings, work, stop, cache.build)
            classes.append((bench, found, _chosen(found, only, submissions)))
        for index, (bench, found, chosen) in enumerate(classes):
            assignment = bench.assignment
            _show_shared(console, found)
            command = (
                f"grader grade {shlex.quote(str(submissions))} --assignment {assignment.id}"
                f"{'' if device == 'vgpu' else f' --device {device}'}{'' if sandboxed else ' --no-sandbox'}"
            )
            after = None
            if index + 1 < len(classes):
                following, _, theirs = classes[index + 1]
                after = partial(make_ready, following, theirs, journal)
            with Display(console, assignment.title, len(chosen)) as display:
                records = grade_class(
                    bench, chosen, journal, display, jobs=jobs, command=command, stop=stop, after=after
                )
            journal.set_class(assignment.id, records, whole=only is None)
            if display.cached:
                console.print(f"  {display.cached} of {len(records)} were graded before and have not changed")
            console.print()
            console.print(summary(assignment.title, records))
            every += records
        published = publish(layout, out, journal)
        shutil.rmtree(workers, ignore_errors=True)
    console.print()
    console.print(f"Graded in {time.monotonic() - started:.0f} s", highlight=False)
    for label, path in (
        ("Report cards", published.index),
        ("Gradebook", published.gradebook),
        ("Leaderboard", published.leaderboard),
    ):
        if path is not None:
            console.print(f"  {label:13} {escape(str(path))}", highlight=False, soft_wrap=True)
    if not _show_open(console, every, published):
        raise click.exceptions.Exit(HARNESS_STATUS)


@cli.command(short_help="Writes all pages again, without grading.")
@out_option
@build_option
def report(out: Path, build: Path | None) -> None:
    """Writes report cards, gradebook and leaderboard again from the journal, without grading.

    \b
    Example:
      grader report --out out/week4
    """
    journal = open_journal(out)
    try:
        published = publish(find_layout(build), out, journal)
    finally:
        journal.close()
    console = make_console()
    console.print(
        f"{counted(published.cards, 'report card')}: {escape(str(published.index))}", highlight=False, soft_wrap=True
    )
    _show_unmade(console, published)
    if published.unmade:
        raise click.exceptions.Exit(HARNESS_STATUS)


def _show_open(console: Console, every: list[Record], published: Published) -> bool:
    """Names what has to be tried again; says whether all is done."""
    failed = [record for record in every if record.status == NOT_GRADED]
    if failed:
        listed = ", ".join(escape(record.folder) for record in failed)
        console.print(
            f"[magenta]Not graded[/], because the harness failed: {listed}\n"
            "Their report cards say what happened; run the same command to try them again.",
            highlight=False,
        )
    open_times = [record for record in every if record.result and not record.result.is_conclusive]
    if open_times:
        listed = ", ".join(f"{escape(record.folder)} ({_open_rungs(record)})" for record in open_times)
        console.print(
            f"[magenta]Inconclusive[/] times; run the same command to measure them again: {listed}", highlight=False
        )
    _show_unmade(console, published)
    return not (failed or open_times or published.unmade)


def _show_unmade(console: Console, published: Published) -> None:
    """Names the report cards that have the points alone."""
    for one in published.unmade:
        console.print(
            f"[magenta]Report card[/] of {escape(one.folder)} shows only the points: making the rest failed "
            f"({escape(one.problem)})",
            highlight=False,
            soft_wrap=True,
        )


@cli.command(name="repair", short_help="Saves what can be read of a damaged journal.")
@out_option
def repair_journal(out: Path) -> None:
    """Replaces a damaged journal with a new one that has all that can be read of it.

    The damaged file is kept beside it. The next `grader grade` grades again what could not be read.

    \b
    Example:
      grader repair --out out/week4
    """
    path = out / JOURNAL
    if not path.is_file():
        raise GraderError(f"{out} has no journal.\nType:  grader grade SUBMISSIONS --out {out}")
    with only_grader(out):
        repaired = repair(path)
    console = make_console()
    console.print(
        f"Kept {counted(repaired.results, 'result')}. The damaged journal is now {escape(str(repaired.damaged))}",
        highlight=False,
        soft_wrap=True,
    )
    console.print("Run the same `grader grade` again: it grades what is missing.", highlight=False)


@cli.command(short_help="Writes the leaderboard again and shows it.")
@out_option
@build_option
def leaderboard(out: Path, build: Path | None) -> None:
    """Writes the leaderboard again (HTML, CSV, JSON) and shows it.

    Students appear under their aliases from roster.csv. Only submissions with all results right are ranked.

    \b
    Example:
      grader leaderboard --out out/week4
    """
    console = make_console()
    journal = open_journal(out)
    try:
        boards = publish_boards(find_layout(build), out, journal)
    finally:
        journal.close()
    if not boards:
        raise GraderError("none of these assignments has a [leaderboard].\nAdd one to its assignment.toml")
    for board in boards:
        console.print(f"[bold]{escape(board.title)}[/]  {board.metric} of {board.rung}", highlight=False)
        for entry in board.entries:
            ratio = f"  {entry.ratio:.2f} × reference" if entry.ratio is not None else ""
            tie = "=" if entry.is_tied else " "
            console.print(f"{entry.rank:4}{tie} {escape(entry.alias):30} {entry.value:>12.4g}{ratio}", highlight=False)
    console.print(escape(str(out / "leaderboard.html")), highlight=False, soft_wrap=True)


@cli.command(short_help="Checks that assignments are ready to hand out.")
@click.argument("names", metavar="[ASSIGNMENT]...", nargs=-1)
@click.option("--record", is_flag=True, help="Rewrite figures.json from the reference.")
@click.option("--update-messages", is_flag=True, help="Rewrite the wrong solutions' messages.txt.")
@click.option(
    "--only", metavar="GLOB", multiple=True, help="Grade only these solutions, such as 'right/*'; repeatable."
)
@jobs_option
@no_sandbox_option
@build_option
def check(
    names: tuple[str, ...],
    record: bool,
    update_messages: bool,
    only: tuple[str, ...],
    jobs: int | None,
    no_sandbox: bool,
    build: Path | None,
) -> None:
    """Checks that assignments are ready to hand out: all of them, or those named.

    The stub compiles, has a TODO for each rung, and fails; the reference gets full marks; every solution of another
    design in reference/ASSIGNMENT/right gets the points that its first line declares; every wrong one in
    reference/ASSIGNMENT/wrong gets the verdict that its first line declares, and the message on record; points and
    tests add up; every file is in its place; the handout holds nothing hidden, and the submissions in
    reference/ASSIGNMENT/from_handout, made of its sources, earn no more than their first lines allow.

    \b
    Examples:
      grader check
      grader check 04_reduction --jobs 4
      grader check 04_reduction --update-messages
      grader check 04_reduction --only 'right/*' --only wrong/no_guard.cu
    """
    console, layout = make_console(), find_layout(build)
    sandboxed = is_sandboxed(no_sandbox)
    toolchain = find_toolchain(layout)
    jobs, threads = split_jobs(jobs)
    stop = threading.Event()

    def show(finding: Finding) -> None:
        show_finding(console, finding)

    def begin(assignment: Assignment) -> None:
        console.print(f"[bold]{escape(assignment.id)}[/]", highlight=False)

    strays = check_suite_files(layout)
    show(strays)
    settings = CheckSettings(jobs, threads, sandboxed, record, update_messages, only)
    try:
        assignments = [load_assignment(layout.assignment(name)) for name in known_assignments(layout, names)]
        checked = check_assignments(
            layout, toolchain, assignments, settings, on_begin=begin, on_finding=show, stop=stop
        )
    finally:
        stop.set()
    console.print(escape(counts_text(checked)), highlight=False, soft_wrap=True)
    if strays.problem or any(finding.problem for one in checked for finding in one.findings):
        raise click.exceptions.Exit(WRONG_STATUS)


@cli.command(short_help="Do the tests catch small mistakes in the references?")
@click.argument("names", metavar="[ASSIGNMENT]...", nargs=-1)
@click.option("--count", type=click.IntRange(1), default=30, show_default=True, help="Mutants of each reference.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed that selects them.")
@click.option("--shard", default="1/1", show_default=True, metavar="I/N", help="The I-th of N shares of them.")
@click.option("--minutes", type=click.FloatRange(0, min_open=True), help="Start no new mutant after this many minutes.")
@click.option("--out", type=FOLDER, default=Path("out/mutate"), show_default=True, help="Where the journal is.")
@jobs_option
@no_sandbox_option
@build_option
def mutate(
    names: tuple[str, ...],
    count: int,
    seed: int,
    shard: str,
    minutes: float | None,
    out: Path,
    jobs: int | None,
    no_sandbox: bool,
    build: Path | None,
) -> None:
    """Changes single tokens of right solutions, and counts how many of these mutants the tests catch.

    Of the reference and of reference/ASSIGNMENT/right: operators, numbers, guards, barriers, fences, memory orders and
    scopes, volatile, atomics, streams, warp masks, pointers. A survivor that is no mistake is named in
    reference/ASSIGNMENT/equivalent_mutants.toml, with the reason. A stopped run continues where it was.

    \b
    Examples:
      grader mutate
      grader mutate 04_reduction --count 100 --seed 2
      grader mutate --count 60 --minutes 9    for machines that end a command after ten minutes; type it again
      grader mutate --count 30 --shard 2/4    the second of four machines

    Status: 0 all caught or known to be equivalent, 1 some survive, or were not tried for lack of time.
    """
    index, of = _shard(shard)
    deadline = time.monotonic() + 60 * minutes if minutes else float("inf")
    share = Share(count, seed, index, of, deadline)
    console, layout = make_console(), find_layout(build)
    sandboxed = is_sandboxed(no_sandbox)
    toolchain = find_toolchain(layout)
    jobs, threads = split_jobs(jobs)
    done: list[Mutation] = []
    with at_work(out) as (journal, stop):
        for assignment in [load_assignment(layout.assignment(name)) for name in known_assignments(layout, names)]:
            settings = RunSettings(SEED, "vgpu", threads, sandboxed, fail_fast=True)
            cache = WorkerCache(layout)
            bench = prepare(layout, toolchain, assignment, settings, (out / "work").resolve(), stop, cache.build)
            with Display(console, assignment.title, count) as display:
                done.append(
                    mutate_assignment(
                        bench, journal, display, share, jobs=jobs, stop=stop,
                        on_survivor=lambda text: console.print(escape(text), highlight=False, soft_wrap=True),
                    )
                )  # fmt: skip
    console.print(escape(mutation_text(done)), highlight=False, soft_wrap=True)
    if not all(mutation.holds for mutation in done):
        raise click.exceptions.Exit(WRONG_STATUS)


def _shard(text: str) -> tuple[int, int]:
    """I/N as an index from 0 and a number of shares."""
    index, _, of = text.partition("/")
    if not (index.isdecimal() and of.isdecimal() and 1 <= int(index) <= int(of)):
        raise click.BadParameter(f"{text} is not a share; type --shard 1/4, for example")
    return int(index) - 1, int(of)


@cli.command(short_help="Makes the files of a new assignment.")
@click.argument("name", metavar="NN_NAME")
@build_option
def new(name: str, build: Path | None) -> None:
    """Makes the files of a new assignment: task, stub, solution, tests, one wrong solution: a complete small task.

    docs/how-to/add-an-assignment.md says what to do next.

    \b
    Example:
      grader new 08_histogram
    """
    layout = find_layout(build)
    console = make_console()
    for path in new_assignment(layout, name):
        console.print(f"  {escape(str(path.relative_to(layout.root)))}", highlight=False, soft_wrap=True)
    console.print(
        f"It passes when reference/{name} has {FEWEST_WRONG} wrong solutions and {FEWEST_RIGHT} right ones of other "
        "designs, each with what it must get on its first line: docs/how-to/add-an-assignment.md",
        highlight=False,
        soft_wrap=True,
    )
    console.print(f"Type:  make build && grader check {name} --record --update-messages", highlight=False)


@cli.command(short_help="Makes the folder that students get.")
@click.argument("out", metavar="DIR", type=FOLDER)
@click.option("--assignment", "names", multiple=True, metavar="ID", help="Only this assignment; repeatable.")
@build_option
def handout(out: Path, names: tuple[str, ...], build: Path | None) -> None:
    """Makes the folder that students get, in the new folder DIR: stubs, public tests, and what `make test` needs.

    Nothing of reference/ is in it, and no history; the finished folder is searched for lines of every hidden file.

    \b
    Examples:
      grader handout out/handout
      grader handout out/week4 --assignment 04_reduction
    """
    layout = find_layout(build)
    chosen = known_assignments(layout, names)
    made = make_handout(layout, chosen, out)
    console = make_console()
    for leak in made.left_out:
        console.print(
            f"Left out: {escape(leak.file)} shows lines of {escape(leak.hidden)}", highlight=False, soft_wrap=True
        )
    console.print(
        f"{counted(len(made.files), 'file')} for {', '.join(chosen)}; nothing hidden is in them.", highlight=False
    )
    console.print(f"Type:  cd {escape(str(out))} && make test", highlight=False, soft_wrap=True)


@cli.command()
@click.argument("names", nargs=-1, metavar="[ASSIGNMENT]...")
@click.option("--threads", default="1,2,8", show_default=True, help="Numbers of threads that must agree.")
@click.option(
    "--pages", type=click.Path(path_type=Path, file_okay=False), help="Write one page per assignment into this folder."
)
@click.option("--verify", is_flag=True, help="Compare with the pages instead of writing them.")
@no_sandbox_option
@build_option
def ladder(
    names: tuple[str, ...], threads: str, pages: Path | None, verify: bool, no_sandbox: bool, build: Path | None
) -> None:
    """Shows what each rung of an assignment's reference costs, as counted by the virtual GPU.

    Without ASSIGNMENT: every assignment that the course published times for.

    \b
    Examples:
      grader ladder 04_reduction
      grader ladder --pages docs/reference/ladders
    """
    if not all(word.isdecimal() and 1 <= int(word) <= 256 for word in threads.split(",")):  # noqa: PLR2004
        raise click.BadParameter("numbers from 1 to 256 with commas between, as in 1,2,8", param_hint="--threads")
    counts = [int(word) for word in threads.split(",")]
    layout = find_layout(build)
    chosen = known_assignments(layout, names) if names else ladder_assignments(layout)
    toolchain = find_toolchain(layout)
    if pages is not None and not names:
        check_pages(pages, chosen)
    for name in chosen:
        assignment = load_assignment(layout.assignment(name))
        sandboxed = is_sandboxed(no_sandbox)
        if pages is None:
            click.echo(
                ladder_text(assignment, measure_ladder(layout, toolchain, assignment, counts, sandboxed=sandboxed))
            )
        else:
            click.echo(ladder_page(layout, toolchain, assignment, counts, pages, verify=verify, sandboxed=sandboxed))


cli.add_command(opponents)
cli.add_command(seed_command)
cli.add_command(gpu_pages)


def main() -> int:
    """Runs the command line and gives the exit status; every foreseen failure is a sentence on standard error."""
    try:
        status = cli.main(prog_name="grader", standalone_mode=False)
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt, CancelledError):
        click.echo("Stopped. Finished work is kept: run the same command to continue.", err=True)
        return STOPPED_STATUS
    except (GraderError, InfrastructureError) as error:
        return _failed(str(error))
    except OSError as error:
        problem = storage_problem(error)
        if problem is None:
            raise
        return _failed(problem)
    return status if isinstance(status, int) else 0


def _show_shared(console: Console, found: list[Submission]) -> None:
    for group in shared_students(found):
        listed = ", ".join(escape(submission.folder) for submission in group)
        console.print(
            f"[magenta]Several submissions[/] by {escape(group[0].student.name)}, each graded in its own row: {listed}",
            highlight=False,
            soft_wrap=True,
        )


def _failed(problem: str) -> int:
    Console(stderr=True).print(f"[red]error:[/] {escape(shown_block(problem, 8000))}", highlight=False, soft_wrap=True)
    return WRONG_STATUS


def _open_rungs(record: Record) -> str:
    timings = record.result.timings if record.result else ()
    return ", ".join(dict.fromkeys(timing.rung for timing in timings if timing.is_inconclusive))


def _wanted(layout: Layout, assignment: Assignment) -> Wanted:
    names = set(layout.assignments()) - {assignment.id}
    for other in tuple(names):
        with contextlib.suppress(GraderError):  # what is wrong with another assignment is said where it is graded
            names.add(load_assignment(layout.assignment(other)).submission)
    return Wanted(assignment.id, assignment.submission, frozenset(names - {assignment.submission}))


def _assignments(layout: Layout, names: tuple[str, ...], submissions: Path) -> list[Assignment]:
    """Those named, else those that the folder has files of."""
    loaded = [load_assignment(layout.assignment(name)) for name in known_assignments(layout, names)]
    if names or len(loaded) == 1:
        return loaded
    present = [
        assignment
        for assignment in loaded
        if any(submissions.glob(f"*/{assignment.submission}"))
        or any(submissions.glob(f"*/{assignment.id}"))
        or any(submissions.glob(f"*/{assignment.id}-{assignment.submission}"))
    ]
    if not present:
        raise GraderError(
            f"can't tell which assignment {submissions} is for.\n"
            f"Type:  grader grade {submissions} --assignment ID      with one of {', '.join(a.id for a in loaded)}"
        )
    return present


def _chosen(found: list[Submission], only: str | None, folder: Path) -> list[Submission]:
    if not found:
        raise GraderError(
            f"{folder} holds no submissions.\nIt should hold one folder per student, with the student's file in it"
        )
    if only is None:
        return found
    exact = [submission for submission in found if submission.folder == only]
    chosen = exact or [submission for submission in found if only.casefold() in submission.folder.casefold()]
    if not chosen:
        some = ", ".join(submission.folder for submission in found[:8])
        raise GraderError(f'no submission is called "{only}".\nThere are: {some}{" …" if len(found) > 8 else ""}')  # noqa: PLR2004
    return chosen
