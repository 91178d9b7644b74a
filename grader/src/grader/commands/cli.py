"""The command ``grader``."""

import threading
import time
from fnmatch import fnmatchcase
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape
from rich.syntax import Syntax

from grader import __version__
from grader.authoring.check import SEED, counts_text
from grader.authoring.check_files import FEWEST_RIGHT, FEWEST_WRONG, check_suite_files
from grader.authoring.check_run import CheckSettings, check_assignments
from grader.authoring.entries import adopt as adopt_file
from grader.authoring.finding import Finding
from grader.authoring.handout import make_handout
from grader.authoring.ladder import check_pages, ladder_assignments, ladder_page, ladder_text, measure_ladder
from grader.authoring.mutate import Mutation, Share, mutate_assignment, mutation_text
from grader.authoring.new import new_assignment
from grader.authoring.sample_class import SAMPLE_CLASS, lay_out
from grader.authoring.shard import Shard
from grader.authoring.solutions import solution_text
from grader.base.counted import counted
from grader.base.errors import GraderError, InfrastructureError, UsageError
from grader.base.layout import find_layout
from grader.base.names import shown_block
from grader.base.process import CancelledError
from grader.base.storage import storage_problem
from grader.base.toolchain import find_toolchain
from grader.commands.autograder import autograder
from grader.commands.common import (
    FOLDER,
    STOPPED_STATUS,
    WRONG_STATUS,
    at_work,
    build_option,
    is_sandboxed,
    jobs_option,
    known_assignments,
    make_console,
    no_sandbox_option,
    shard_option,
    show_finding,
    split_jobs,
)
from grader.commands.export import export
from grader.commands.export_gradescope import gradescope_export
from grader.commands.gpu import gpu_pages, opponents
from grader.commands.grade import grade
from grader.commands.history import history
from grader.commands.leaderboard import leaderboard
from grader.commands.match import match
from grader.commands.progress import Display, Work
from grader.commands.results import repair_journal, report
from grader.commands.sections import Sectioned
from grader.commands.seed import seed_command
from grader.commands.similar import similar
from grader.model.assignment import Assignment, load_assignment
from grader.running.bench import prepare
from grader.running.run import RunSettings
from grader.running.worker_cache import WorkerCache


@click.group(cls=Sectioned, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="grader")
def cli() -> None:
    """Grades CUDA coursework, with or without a GPU.

    \b
    Examples:
      grader grade week4.zip                cards, gradebook, leaderboard in out/
      grader grade week4.zip --only ada     one student's submission only
      grader report                         the pages again, without grading
      grader export canvas --like FILE      grades as Canvas imports them
      grader check                          are assignments ready to hand out?

    grader COMMAND --help has the options and more examples.
    """


@cli.command("sample-class", short_help="Writes the sample class as a folder of submissions.")
@click.argument("out", type=FOLDER)
def sample_class(out: Path) -> None:
    """Writes the class that `make demo` grades to the new folder OUT: a folder for each student, and the roster.

    In reference/sample_class most files are stored as edits of others. `grader grade reference/sample_class` and
    `grader match` read it as it is.

    \b
    Example:
      grader sample-class out/sample_class
    """
    lay_out(find_layout(None).root / SAMPLE_CLASS, out)
    make_console().print(escape(f"{out}: {counted(len([one for one in out.iterdir() if one.is_dir()]), 'student')}"))


@cli.command(short_help="Checks that assignments are ready to hand out.")
@click.argument("names", metavar="[ASSIGNMENT]...", nargs=-1)
@click.option("--record", is_flag=True, help="Rewrite figures.json from the reference.")
@click.option("--update-messages", is_flag=True, help="Rewrite the wrong solutions' messages.")
@click.option(
    "--only", metavar="GLOB", multiple=True, help="Grade only these solutions, such as 'right/*'; repeatable."
)
@click.option(
    "--whole",
    is_flag=True,
    help="Right solutions also run tests on large arrays, wrong ones every test that can change a finding.",
)
@click.option("--seed", type=click.IntRange(0), default=SEED, help="Draw other inputs; nothing on record is compared.")
@shard_option
@click.option("--show", metavar="NAME", help="Print one solution's whole file, such as 'no_guard', and check nothing.")
@click.option("--diff", is_flag=True, help="With --show: only how it differs from its base.")
@click.option(
    "--adopt",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    multiple=True,
    help="Turn this file into an entry of wrong.toml, hostile.toml or right.toml; check nothing; repeatable.",
)
@jobs_option
@no_sandbox_option
@build_option
def check(  # noqa: PLR0913 - its options
    names: tuple[str, ...],
    record: bool,
    update_messages: bool,
    only: tuple[str, ...],
    whole: bool,
    seed: int,
    shard: Shard,
    show: str | None,
    diff: bool,
    adopt: tuple[Path, ...],
    jobs: int | None,
    no_sandbox: bool,
    build: Path | None,
) -> None:
    """Checks that assignments are ready to hand out: all of them, or those named.

    The stub compiles, has a TODO for each rung, and fails; the reference gets full marks; every solution of another
    design in reference/ASSIGNMENT/right gets the points that its first line declares; every wrong one, an entry of
    reference/ASSIGNMENT/wrong.toml or a file in wrong/, gets the verdict that it declares, and the message on record;
    points and tests add up; every file is in its place; the handout holds nothing hidden, and the submissions in
    reference/ASSIGNMENT/from_handout, made of its sources, earn no more than their first lines allow.

    \b
    Examples:
      grader check
      grader check 04_reduction --jobs 4
      grader check 04_reduction --update-messages
      grader check 04_reduction --only 'right/*' --only wrong/no_guard.cu
      grader check --shard 2/4       a quarter of the solutions
      grader check 04_reduction --seed 2 --only reference --only 'right/*'
      grader check 04_reduction --show missing_barrier --diff
      grader check 11_libraries --adopt reference/11_libraries/wrong/NAME.cu
    """
    console, layout = make_console(), find_layout(build)
    if seed != SEED and (record or update_messages):
        raise UsageError("What is on record is of the seed that is used without --seed.\nType:  grader check --record")
    if show or adopt:
        if len(names) != 1:
            raise UsageError(
                "--show and --adopt are about one assignment.\nType:  grader check 04_reduction --show NAME"
            )
        assignment = load_assignment(layout.assignment(*known_assignments(layout, names)))
        hidden = layout.reference(assignment.id)
        for file in adopt:
            console.print(escape(adopt_file(hidden, assignment.submission, file)), highlight=False, soft_wrap=True)
        if show:
            _show(
                console,
                solution_text(hidden, assignment.submission, show, diff=diff),
                "diff" if diff else assignment.suffix[1:],
            )
        return
    sandboxed = is_sandboxed(no_sandbox)
    toolchain = find_toolchain(layout)
    jobs, threads = split_jobs(jobs)
    stop = threading.Event()

    def print_finding(finding: Finding) -> None:
        show_finding(console, finding)

    def begin(assignment: Assignment) -> None:
        console.print(f"[bold]{escape(assignment.id)}[/]", highlight=False)

    strays = check_suite_files(layout)
    print_finding(strays)
    settings = CheckSettings(jobs, threads, sandboxed, record, update_messages, only, whole, shard, seed)
    try:
        assignments = [load_assignment(layout.assignment(name)) for name in known_assignments(layout, names)]
        checked = check_assignments(
            layout, toolchain, assignments, settings, on_begin=begin, on_finding=print_finding, stop=stop
        )
    finally:
        stop.set()
    console.print(escape(counts_text(checked)), highlight=False, soft_wrap=True)
    names_found = [finding.what for one in checked for finding in one.findings]
    if only and not any(fnmatchcase(name, glob) for name in names_found for glob in only):
        raise UsageError(f"No solution is named {' or '.join(only)}.\nType:  ls reference/*/right reference/*/wrong*")
    if strays.problem or any(finding.problem for one in checked for finding in one.findings):
        raise click.exceptions.Exit(WRONG_STATUS)


def _show(console: Console, text: str, language: str) -> None:
    """Prints a source: coloured on a terminal, byte for byte elsewhere."""
    if console.is_terminal:
        console.print(Syntax(text, {"cu": "cuda"}.get(language, language), background_color="default", word_wrap=True))
    else:
        click.echo(text, nl=False)


@cli.command(short_help="Do the tests catch small mistakes in the references?")
@click.argument("names", metavar="[ASSIGNMENT]...", nargs=-1)
@click.option("--count", type=click.IntRange(1), default=30, show_default=True, help="Mutants per assignment.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed that selects the mutants.")
@shard_option
@click.option("--designs", is_flag=True, help="Make design mistakes instead, such as a grid rounded down.")
@click.option("--minutes", type=click.FloatRange(0, min_open=True), help="Start no new mutant after this many minutes.")
@click.option("--out", type=FOLDER, default=Path("out/mutate"), show_default=True, help="Where the journal is.")
@jobs_option
@no_sandbox_option
@build_option
def mutate(  # noqa: PLR0913 - its options
    names: tuple[str, ...],
    count: int,
    seed: int,
    shard: Shard,
    designs: bool,
    minutes: float | None,
    out: Path,
    jobs: int | None,
    no_sandbox: bool,
    build: Path | None,
) -> None:
    """Changes single tokens of right solutions, and counts how many of these mutants the tests catch.

    It changes operators, numbers, guards, barriers, fences, memory orders and scopes, volatile, atomics, streams, warp
    masks and pointers of the reference and of reference/ASSIGNMENT/right. A mutant that is correct, and so survives,
    goes into reference/ASSIGNMENT/equivalent_mutants.toml, with the reason. A stopped run continues where it was.

    \b
    Examples:
      grader mutate
      grader mutate 04_reduction --count 100 --seed 2
      grader mutate 05_scan --designs
      grader mutate --count 60 --minutes 9    in pieces: type it again to go on
      grader mutate --count 30 --shard 2/4    the second of four machines

    Status: 0 all caught or known to be equivalent, 1 some survive, or were not tried for lack of time.
    """
    deadline = time.monotonic() + 60 * minutes if minutes else float("inf")
    share = Share(count, seed, shard.index, shard.of, deadline, designs)
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
            with Display(console, [Work(assignment.id, count, count)]) as display:
                done.append(
                    mutate_assignment(
                        bench, journal, display.of(assignment.id), share, jobs=jobs, stop=stop,
                        on_survivor=lambda text: console.print(escape(text), highlight=False, soft_wrap=True),
                    )
                )  # fmt: skip
    console.print(escape(mutation_text(done)), highlight=False, soft_wrap=True)
    if not all(mutation.holds for mutation in done):
        raise click.exceptions.Exit(WRONG_STATUS)


@cli.command(short_help="Makes the files of a new assignment.")
@click.argument("name", metavar="NN_NAME")
@click.option(
    "--python",
    type=click.Choice(["numba", "pycuda"]),
    help="Students write Python: kernels for Numba, or PyCUDA host code for kernels that are given.",
)
@build_option
def new(name: str, python: str | None, build: Path | None) -> None:
    """Makes the files of a new assignment: task, stub, solution, tests, one wrong solution: a complete small task.

    docs/how-to/add-an-assignment.md says what to do next.

    \b
    Examples:
      grader new 20_histogram
      grader new 20_histogram --python numba
    """
    layout = find_layout(build)
    console = make_console()
    for path in new_assignment(layout, name, python=python or ""):
        console.print(f"  {escape(str(path.relative_to(layout.root)))}", highlight=False, soft_wrap=True)
    console.print(
        f"It passes when reference/{name} has {FEWEST_WRONG} wrong solutions and {FEWEST_RIGHT} right ones of other "
        "designs, each with its expected result on the first line: docs/how-to/add-an-assignment.md",
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


@cli.command(short_help="Shows what each rung of a reference costs.")
@click.argument("names", nargs=-1, metavar="[ASSIGNMENT]...")
@click.option("--threads", default="1,2,8", show_default=True, help="Numbers of CPU threads; counts must agree.")
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

    Without ASSIGNMENT: every assignment for which the course published times.

    \b
    Examples:
      grader ladder 04_reduction
      grader ladder --pages docs/records/ladders
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


for command in (
    grade,
    match,
    report,
    repair_journal,
    leaderboard,
    opponents,
    seed_command,
    history,
    gpu_pages,
    autograder,
    export,
    similar,
):
    cli.add_command(command)
export.add_command(gradescope_export)


def main() -> int:
    """Runs the command line and returns the exit status; every expected failure is one sentence on standard error."""
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


def _failed(problem: str) -> int:
    Console(stderr=True).print(f"[red]error:[/] {escape(shown_block(problem, 8000))}", highlight=False, soft_wrap=True)
    return WRONG_STATUS
