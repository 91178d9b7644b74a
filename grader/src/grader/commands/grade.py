"""`grader grade`: from a folder of submissions to pages."""

import shlex
import shutil
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape

from grader.authoring.sample_class import laid_out
from grader.base.counted import listed
from grader.base.errors import GraderError
from grader.base.layout import Layout, find_layout
from grader.base.toolchain import find_toolchain
from grader.commands.again import Chosen, ask_again, asked_for, check_again, show_not_done
from grader.commands.aliases import Shown, anonymous_option, show_names
from grader.commands.cluster import Cluster, cancel_option, cluster_option, executor_option, open_cluster
from grader.commands.common import (
    HARNESS_STATUS,
    LOWER_STATUS,
    SUBMISSIONS,
    UNMATCHED_STATUS,
    at_work,
    build_option,
    course_option,
    device_option,
    is_sandboxed,
    jobs_option,
    make_consoles,
    need_gpu,
    no_sandbox_option,
    out_option,
    roster_option,
    secret_option,
    show_course,
    split_jobs,
)
from grader.commands.match import assignments_in, nothing_in, show_class, wanted_of
from grader.commands.plan import folder_for, show_changes, show_merged, show_plan
from grader.commands.progress import Counts, Display, Work, duration
from grader.commands.results import show_unmade
from grader.commands.sections import seed_in_range
from grader.commands.seed import secret_of
from grader.commands.summary import of_run, plan_document, run_document, show_summary
from grader.course.aliases import salt_of
from grader.course.anonymous import View, is_anonymous, remember_view, view_of
from grader.course.due_moments import due_moments
from grader.course.files import CourseFiles, find_course, named_course, remembered
from grader.course.grades import StudentGrades
from grader.course.kept import Merged, merge
from grader.course.ledger import Ledger
from grader.course.policy import BEST
from grader.course.ruling import Course, check_course
from grader.intake.download import ClassDownload, open_class
from grader.model.assignment import Assignment, load_assignment
from grader.model.course_folder import course_folder
from grader.model.discovery import Submission
from grader.model.record import NOT_GRADED, Record
from grader.pages.publish import COURSE_FILES, Published, publish
from grader.running.batches import Batch, grade_batches
from grader.running.bench import Bench, prepare
from grader.running.changes import Change
from grader.running.executor import Executor, LocalExecutor
from grader.running.run import RunSettings
from grader.running.store import Journal
from grader.running.up_to_date import bring_up_to_date
from grader.running.worker_cache import WorkerCache

_WORKERS = "workers"
_NAMED = 3  # submissions listed per kind of problem in a download: the first screen has no room for more


@click.command(short_help="Grades a class: report cards, gradebook, leaderboard.")
@click.argument("submissions", type=SUBMISSIONS)
@click.option("--assignment", "names", multiple=True, metavar="ID", help="Assignment to grade; repeatable.")
@out_option
@jobs_option
@no_sandbox_option
@click.option(
    "--only", metavar="NAME", help="Only the submission in folder NAME, or else all whose folder contains NAME."
)
@click.option("--again", is_flag=True, help="Grade the submission of --only anew, though nothing changed.")
@click.option("--reason", metavar="TEXT", help="Why --again is asked for; the student reads it.")
@click.option("--staff", metavar="NAME", help="Who asks for --again.")
@secret_option
@click.option("--seed", type=int, callback=seed_in_range, metavar="N", help="Use this one seed for every submission.")
@device_option
@executor_option
@cluster_option
@cancel_option
@roster_option
@course_option
@anonymous_option
@click.option(
    "--replace", is_flag=True, help="This download is the whole class: accept lower grades, and drop who isn't in it."
)
@click.option("--dry-run", is_flag=True, help="Only say what would be graded, and why; write nothing.")
@click.option("-q", "--quiet", is_flag=True, help="Say only what you have to act on.")
@click.option("--json", "as_json", is_flag=True, help="Print the grades as JSON; all else goes to standard error.")
@build_option
def grade(  # noqa: PLR0913 - its options
    submissions: Path,
    names: tuple[str, ...],
    out: Path,
    jobs: int | None,
    no_sandbox: bool,
    only: str | None,
    again: bool,
    reason: str | None,
    staff: str | None,
    secret: Path | None,
    seed: int | None,
    device: str,
    executor: str,
    cluster_file: Path | None,
    cancel: bool,
    roster: Path | None,
    course: Path | None,
    anonymous: bool | None,
    replace: bool,
    dry_run: bool,
    quiet: bool,
    as_json: bool,
    build: Path | None,
) -> None:
    """Grades all submissions in SUBMISSIONS: report cards, gradebook, leaderboard.

    SUBMISSIONS is a learning platform's download of a class (an archive or a folder), a folder of git clones, or one
    with a folder per student (lovelace_ada/reduction.cu) or flat files (lovelace_ada.cu). roster.csv in or next to it
    says who the students are, and so does --roster with the platform's own list.

    Stop or kill it at any moment: the same command continues where it was. It grades again only what is
    affected by a change of code, suite, reference, compiler or secret, and says why.

    What was graded before stays graded: a download of the new hand-ins alone adds to it. A grade that would be lower
    than before, or gone, stays as it was and is listed; --replace accepts the change.

    Inputs are derived from a secret, seed-secret in the results' folder. Keep it: with it you can repeat a grade,
    and without it no student can guess an input.

    With --device cuda every submission runs on the virtual GPU, which finds faults and counts, and on this machine's
    GPU, which adds measured time; the worse of the two verdicts counts.

    With --executor slurm the nodes of a Slurm cluster run the submissions; the grades are the same. Ctrl-C leaves the
    jobs running, and the same command takes their results; --cancel ends them. docs/how-to/grade-on-a-cluster.md

    \b
    Examples:
      grader grade submissions
      grader grade week4.zip --roster gradebook-export.csv
      grader grade submissions --assignment 04_reduction --out out/week4 --jobs 8
      grader grade submissions --only lovelace_ada
      grader grade submissions --only ada --again --reason "appeal: noisy GPU"
      grader grade submissions --dry-run
      grader grade submissions --executor slurm --cluster cluster.toml
      grader grade submissions --json > grades.json
      grader grade reference/sample_class

    Status: 0 all graded, 3 some must be run again (the harness failed on them and they have no score, or a time was
    inconclusive), 5 some grades would be lower and stay as they were, 4 some submissions match no student, 130 stopped.
    """
    cluster = open_cluster(executor, submissions, out, cluster_file, cancel=cancel)
    if cluster and cancel:
        cluster.cancel()
        return
    regrade = asked_for(again=again, only=only, reason=reason, staff=staff)
    (console, urgent), layout = make_consoles(quiet=quiet, as_json=as_json), find_layout(build)
    sandboxed = is_sandboxed(no_sandbox)
    started = time.monotonic()
    jobs, threads = split_jobs(jobs)
    with folder_for(out, secret, dry_run=dry_run) as (home, given), at_work(home) as (journal, stop):
        seeds = secret_of(urgent, home, given) if seed is None else None
        remember_view(journal, anonymous, seeds)
        shutil.rmtree(home / "work", ignore_errors=True)  # left by a killed run
        settings = RunSettings(seed or 0, device, threads, sandboxed, secret=seeds)
        with laid_out(submissions) as folder, open_class(folder, roster) as download:
            told = urgent if download.unmatched else console
            show_class(told, download, names=not is_anonymous(journal), propose=not dry_run, most=_NAMED)
            assignments = assignments_in(layout, names, download, submissions, course)
            need_gpu(layout, assignments if cluster is None else (), device)  # on a cluster, the nodes need one
            benches = _benches(layout, assignments, settings, home, stop, urgent)
            files, rules = _read_course(layout, journal, submissions, course)
            download.moments = due_moments(rules, [one for own in download.owners for one in own.members])
            found = {one.assignment.id: download.submissions(wanted_of(layout, one.assignment)) for one in benches}
        merged = _merged(journal, rules, found, download, replace_all=replace)
        _check_course(rules, journal, {name: one.submissions for name, one in merged.items()})
        view = view_of(journal, [one for several in merged.values() for one in several.submissions])
        chosen_ones = [
            (bench, _chosen(merged[bench.assignment.id].submissions, only, submissions, view)) for bench in benches
        ]
        check_again(chosen_ones, only if regrade else None, view)
        show_merged(console, merged if only is None else {}, view, replaced=replace)
        plans = [show_plan(console, *one, journal, view, whole=dry_run, again=again) for one in chosen_ones]
        if dry_run:
            _end_dry_run(console, chosen_ones, plans, view, cluster, as_json=as_json)
            return
        journal.remember(COURSE_FILES, files.text())
        ask_again(regrade, chosen_ones, journal)
        display = Display(console, _works(chosen_ones, plans), quiet=quiet)
        ledger = _ledger(layout, journal, rules, found, replace_all=replace)
        batches = _batches(
            display, chosen_ones, view, _command(submissions, settings), ledger, merged, whole=only is None
        )
        grade_all = partial(_grade_each, display, batches, journal, view)
        here = LocalExecutor(jobs, journal, stop)
        every = (
            cluster.grade(
                grade_all,
                display,
                urgent,
                jobs,
                stop,
                whole=only is None,
                key=seeds.cluster_key if seeds else salt_of(journal),
            )
            if cluster
            else grade_all(here)
        )
        published = publish(layout, out, journal, files)
        is_regraded = not show_not_done(urgent, chosen_ones, journal, view)
        journal.end_regrades()
        shutil.rmtree(home / _WORKERS, ignore_errors=True)
    of = {(record.assignment, record.folder) for record in every} if only else None
    ended = _Ended(of_run(published.grades, of), display.counts(), published, time.monotonic() - started)
    _show_result(console, ended, out)
    show_changes(console, urgent, ledger, view)
    is_done = _show_open(urgent, every, published) and is_regraded
    _end(ended, _status(download, ledger, is_done=is_done), as_json=as_json)


def _end(ended: "_Ended", status: int, *, as_json: bool) -> None:
    """Prints the JSON document if requested; exits if the status is not 0."""
    if as_json:
        click.echo(ended.document(status))
    if status:
        raise click.exceptions.Exit(status)


def _status(download: ClassDownload, ledger: Ledger, *, is_done: bool) -> int:
    """The exit status of a finished run."""
    if not is_done:
        return HARNESS_STATUS
    return LOWER_STATUS if ledger.held else UNMATCHED_STATUS if download.unmatched else 0


def _merged(
    journal: Journal,
    course: Course,
    found: Mapping[str, list[Submission]],
    download: ClassDownload,
    *,
    replace_all: bool,
) -> dict[str, Merged]:
    """Merges the download with earlier submissions, by assignment."""
    return {
        name: merge(
            journal,
            name,
            several,
            download.roster,
            replace_all=replace_all,
            best_counts=course.policy.of(name).counts == BEST,
            left_out=download.ignored,
        )
        for name, several in found.items()
    }


@dataclass(frozen=True)
class _Ended:
    """The outcome of a run."""

    grades: Sequence[StudentGrades]
    counts: Mapping[str, Counts]
    published: Published
    seconds: float

    @property
    def files(self) -> dict[str, Path]:
        """The files written, by a human-readable name."""
        made = self.published
        files = {"Report cards": made.index, "Gradebook": made.gradebook, "Leaderboard": made.leaderboard}
        return {label: path for label, path in files.items() if path is not None}

    def document(self, status: int) -> str:
        """As JSON."""
        return run_document(self.grades, self.counts, self.files, status=status, seconds=self.seconds)


def _benches(
    layout: Layout,
    assignments: Sequence[Assignment],
    settings: RunSettings,
    home: Path,
    stop: threading.Event,
    console: Console,
) -> list[Bench]:
    """The bench of each assignment, rebuilt if it is out of date."""
    bring_up_to_date(layout, [one.id for one in assignments], partial(_warn, console))
    toolchain, build = find_toolchain(layout), WorkerCache(layout, home / _WORKERS).build
    work = (home / "work").resolve()
    return [prepare(layout, toolchain, one, settings, work, stop, build) for one in assignments]


def _warn(console: Console, text: str) -> None:
    console.print(escape(text), highlight=False, soft_wrap=True)


def _command(submissions: Path, settings: RunSettings) -> str:
    """The command that repeats a run on one machine, without a cluster: the grades are the same."""
    device = "" if settings.device == "vgpu" else f" --device {settings.device}"
    return f"grader grade {shlex.quote(str(submissions))}{device}{'' if settings.sandboxed else ' --no-sandbox'}"


def _end_dry_run(
    console: Console,
    classes: Sequence[Chosen],
    plans: Sequence[Sequence[Change]],
    view: View,
    cluster: Cluster | None,
    *,
    as_json: bool,
) -> None:
    if not any(plans):
        console.print("Nothing is to be done: all is graded, and nothing has changed.", highlight=False)
    if cluster:
        cluster.show_scripts(console, plans, on_gpu=any(bench.settings.on_gpu for bench, _ in classes))
    if as_json:
        click.echo(plan_document([(bench.assignment.id, len(chosen)) for bench, chosen in classes], plans, view))


def _works(classes: Sequence[Chosen], plans: Sequence[Sequence[Change]]) -> list[Work]:
    return [
        Work(bench.assignment.id, len(chosen), sum(change.is_run for change in plan))
        for (bench, chosen), plan in zip(classes, plans, strict=True)
    ]


def _show_result(console: Console, ended: _Ended, out: Path) -> None:
    if console.quiet:
        return
    counts = ended.counts.values()
    console.print()
    show_summary(console, ended.grades, list(ended.counts), out)
    console.print()
    submissions, unchanged = sum(one.submissions for one in counts), sum(one.unchanged for one in counts)
    before = f"; {unchanged} of {submissions} were graded before and have not changed" if unchanged else ""
    console.print(f"Graded in {duration(ended.seconds)}{before}", highlight=False, soft_wrap=True)
    for label, path in ended.files.items():
        console.print(f"  {label:13} {escape(str(path))}", highlight=False, soft_wrap=True)
    show_names(console, ended.published)
    show_course(console, ended.published.files)


def _ledger(layout: Layout, journal: Journal, course: Course, found: Iterable[str], *, replace_all: bool) -> Ledger:
    """The ledger for the results, including assignments of earlier runs."""
    names = dict.fromkeys((*journal.assignments(), *found))
    assignments = {name: load_assignment(layout.assignment(name)) for name in names}
    return Ledger(journal, assignments, course, datetime.now(UTC), replace_all=replace_all)


def _batches(
    display: Display,
    classes: Sequence[Chosen],
    view: View,
    command: str,
    ledger: Ledger,
    merged: Mapping[str, Merged],
    *,
    whole: bool,
) -> list[Batch]:
    """What to grade of each assignment; without `whole`, results of other submissions are kept."""
    return [
        Batch(
            bench,
            chosen,
            Shown(display.of(bench.assignment.id), view),
            f"{command} --assignment {bench.assignment.id}",
            partial(ledger.settle, merged[bench.assignment.id], bench.assignment.id, whole=whole),
        )
        for bench, chosen in classes
    ]


def _grade_each(
    display: Display, batches: Sequence[Batch], journal: Journal, view: View, executor: Executor
) -> list[Record]:
    """Grades all assignments, and shows progress."""
    with display:
        every = grade_batches(batches, journal, executor)
    return [record for records in every for record in view.records(records)]


def _read_course(
    layout: Layout, journal: Journal, submissions: Path, course: Path | None
) -> tuple[CourseFiles, Course]:
    """Reads the course files: the named ones, else those next to the submissions, else the last run's.

    If there are none yet, the place is remembered: `grader report` reads a course.toml written there later.
    """
    folder = course_folder(submissions)
    files = named_course(course) if course else find_course(folder) if folder else CourseFiles()
    if not files.files and (last := remembered(journal.recall(COURSE_FILES))).place:
        files = last
    return files, files.course(layout.assignments())


def _check_course(course: Course, journal: Journal, found: Mapping[str, Sequence[Submission]]) -> None:
    """Reports mistakes in the course's files before anything is graded."""
    people = [
        (student, one.handed.is_matched)
        for several in found.values()
        for one in several
        for student in one.handed.group or (one.student,)
    ]
    check_course(course, [*journal.students(), *people], list(dict.fromkeys((*journal.assignments(), *found))))


def _show_open(console: Console, every: list[Record], published: Published) -> bool:
    """Names the submissions to try again, and the cards not made in full; returns whether there are none."""
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
    show_unmade(console, published)
    return not (failed or open_times or published.unmade)


def _open_rungs(record: Record) -> str:
    timings = record.result.timings if record.result else ()
    return ", ".join(dict.fromkeys(timing.rung for timing in timings if timing.is_inconclusive))


def _chosen(found: list[Submission], only: str | None, folder: Path, view: View) -> list[Submission]:
    if not found:
        raise GraderError(nothing_in(folder))
    if only is None:
        return view.submissions(found)
    called = {view.folder(submission.folder): submission.folder for submission in found}
    exact = [submission for submission in found if only in (submission.folder, view.folder(submission.folder))]
    parts = {own for name, own in called.items() if only.casefold() in name.casefold()}
    chosen = exact or [submission for submission in found if submission.folder in parts]
    if not chosen:
        some = listed(sorted(called), 8)
        raise GraderError(f'no submission is called "{only}".\nThere are: {some}')
    return view.submissions(chosen)
