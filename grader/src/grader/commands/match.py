"""`grader match`, and the summary that `grader grade` prints first: who handed in, and who can't be matched."""

import contextlib
from datetime import datetime
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape

from grader.authoring.sample_class import laid_out
from grader.base.counted import counted, listed
from grader.base.errors import GraderError
from grader.base.layout import Layout
from grader.commands.common import SUBMISSIONS, UNMATCHED_STATUS, known_assignments, make_console, roster_option
from grader.course.amounts import Span, after
from grader.course.extensions import due_for
from grader.course.files import find_course
from grader.course.people import identity
from grader.course.ruling import NO_COURSE, rulings
from grader.intake.download import ClassDownload, Owner, open_class
from grader.intake.git_clones import COMMITS
from grader.intake.gradescope import METADATA
from grader.intake.matches import write_matches
from grader.intake.matching import named
from grader.model.assignment import Assignment, load_assignment
from grader.model.course_folder import course_folder
from grader.model.discovery import Wanted
from grader.model.roster import Student

_MOST_LISTED = 25
_FEW = 3
_MOST_DAYS = 8


@click.command(short_help="Shows who handed in, and whom the roster doesn't know.")
@click.argument("submissions", type=SUBMISSIONS)
@roster_option
def match(submissions: Path, roster: Path | None) -> None:
    """Shows what a download is and whose submissions are in it, without grading.

    SUBMISSIONS is a folder or an archive, as for grader grade. Each line says whose a submission is, by which rule, and
    when it was handed in. Those that match no student, or that two rules give to two students, are written to
    matches.csv, next to the submissions: fill in its column student, or - to leave one out. For a platform that isn't
    known, [matching] in course.toml says which part of a path names the student.

    \b
    Examples:
      grader match week4.zip
      grader match week4.zip --roster gradebook-export.csv

    Status: 0 everybody is matched, 4 some submissions match no student.
    """
    console = make_console()
    with laid_out(submissions) as folder, open_class(folder, roster) as download:
        show_class(console, download)
        for owner in download.owners:
            _line(console, f"  {escape(owner.folder)}  →  {escape(_whose(owner))}{_remarks(owner)}")
        if not download.owners:
            raise GraderError(nothing_in(submissions))
        if download.unmatched:
            raise click.exceptions.Exit(UNMATCHED_STATUS)


def nothing_in(submissions: Path) -> str:
    """The error for a folder without submissions."""
    return (
        f"{submissions} holds no submissions.\nIt should hold one folder per student, with the student's file in it, "
        "or be a learning platform's download of a class"
    )


def show_class(
    console: Console, download: ClassDownload, *, names: bool = True, propose: bool = True, most: int = _MOST_LISTED
) -> None:
    """Prints the platform of the download, how many handed in, and who is unmatched, up to `most` of each kind.

    `propose`: writes unmatched submissions to matches.csv. Without `names` it only prints counts, and writes nothing.
    """
    owners = download.owners
    late = sum(any(attempt.late for attempt in owner.attempts) for owner in owners)
    again = sum(owner.is_resubmitted for owner in owners)
    parts = [counted(len(owners), "submission")]
    parts += [f"{late} late"] if late else []
    parts += [f"{again} resubmitted"] if again else []
    matched = len(owners) - len(download.unmatched)
    roster = f"{matched} of {len(owners)} match the roster" if download.roster else "there is no roster"
    _line(console, f"[bold]{escape(download.title)}[/]: {', '.join(parts)}; {roster}")
    _show_times(console, download)
    if not names:
        _count_unmatched(console, download)
        return
    if download.ignored:
        _line(console, f"  {download.matches_file.name} leaves out {escape(listed(download.ignored))}")
    several = [owner for owner in owners if len(owner.attempts) > 1]
    for owner in several[:most]:
        origins = listed([attempt.origin for attempt in owner.attempts], _FEW)
        newest = owner.attempts[-1].origin
        said = f"{len(owner.attempts)} attempts: {escape(origins)}; the newest is {escape(newest)}"
        _line(console, f"  {escape(_whose(owner))} has {said}")
    if len(several) > most:
        _line(console, f"  … and {len(several) - most} more have several attempts; grader match lists them")
    if download.unmatched:
        _show_unmatched(console, download, propose=propose, most=most)
    elif download.roster and download.without:
        whose = listed([one.name for one in download.without], most)
        _line(console, f"  {counted(len(download.without), 'student')} without a submission: {escape(whose)}")


def _show_times(console: Console, download: ClassDownload) -> None:
    """Says where the hand-in times come from."""
    newest = [owner.attempts[-1] for owner in download.owners]
    sources = sorted({one.source for one in newest if one.source})
    lost = sum(not one.source for one in newest)
    if sources:
        rest = f"; not known for {lost}" if lost else ""
        _line(console, f"  Lateness is known from: {escape(', '.join(sources))}{rest}")
        if not download.has_zone and any(one.at and one.source not in (COMMITS, METADATA) for one in newest):
            _line(console, '  Times without an offset count as UTC: course.toml can say  time_zone = "Europe/Berlin"')
    elif newest:
        _line(console, "  Hand-in times are not known, so nobody counts as late, except as times.csv says")


def _count_unmatched(console: Console, download: ClassDownload) -> None:
    unmatched, without = len(download.unmatched), len(download.without)
    if unmatched or (download.roster and without):
        _line(
            console,
            f"  {counted(unmatched, 'submission matches', 'submissions match')} no student, "
            f"{counted(without, 'student has', 'students have')} none. For their names:  grader match",
        )


def _show_unmatched(console: Console, download: ClassDownload, *, propose: bool, most: int) -> None:
    unmatched, without = download.unmatched, download.without
    _line(
        console,
        f"[magenta]{counted(len(unmatched), 'submission matches', 'submissions match')} no student[/], "
        f"{counted(len(without), 'student')} without a submission",
    )
    for owner in unmatched[:most]:
        nearest = "; ".join(owner.nearest) or "nobody comes near"
        doubt = f"   {owner.doubt}" if owner.doubt else ""
        _line(console, f"  {escape(owner.folder)}{escape(doubt)}   nearest: {escape(nearest)}")
    if len(unmatched) > most:
        _line(console, f"  … and {len(unmatched) - most} more")
    if without:
        _line(console, f"  Without a submission: {escape(listed([named(one) for one in without], most))}")
    path = download.matches_file
    if not propose:
        _line(console, f"{escape(str(path))} is not written in a dry run; `grader match` writes it")
        return
    try:
        write_matches(path, download.matches, [(owner.attempts[0].label, owner.nearest) for owner in unmatched])
    except OSError as error:
        _line(console, f"  {escape(str(path))} can't be written: {escape(error.strerror or '')}")
        return
    _line(
        console,
        f"Fill in the column student of {escape(str(path))} (an id, e-mail address or name; - to leave a submission "
        "out), and run the same command again",
    )


def _line(console: Console, text: str) -> None:
    console.print(text, highlight=False, soft_wrap=not console.is_terminal)  # a terminal would break lines inside words


def _whose(owner: Owner) -> str:
    if owner.group:
        return f"{owner.student.name}: {', '.join(one.name for one in owner.group)}"
    return owner.student.name if owner.is_matched else "nobody"


def _remarks(owner: Owner) -> str:
    last = owner.attempts[-1]
    remarks = [f"by {owner.rule}"] if owner.rule else []
    remarks += [last.at.replace("T", " ").replace("+00:00", " UTC")] if last.at else []
    remarks += [f"attempt {len(owner.attempts)}: {last.origin}"] if len(owner.attempts) > 1 else []
    remarks += [f"until {last.extended[:10]}"] if last.extended else []
    remarks += ["late"] if any(attempt.late for attempt in owner.attempts) else []
    return f"  [dim]{escape(', '.join(remarks))}[/]" if remarks else ""


def wanted_of(layout: Layout, assignment: Assignment) -> Wanted:
    """What to look for: the assignment's file, how to recognise the others', and the stub that students start from."""
    names = set(layout.assignments()) - {assignment.id}
    for other in tuple(names):
        with contextlib.suppress(GraderError):  # problems of another assignment are reported where that one is graded
            names.add(load_assignment(layout.assignment(other)).submission)
    wanted = Wanted(
        assignment.id, assignment.submission, frozenset(names - {assignment.submission}), takes=assignment.takes
    )
    return wanted.given_by(layout.assignment(assignment.id))


def tell_deadlines(layout: Layout, download: ClassDownload, path: Path, course: Path | None) -> None:
    """Sets which states of a repository may count: at the deadline, at the end of grace, and 1 to 7 days late.

    Mistakes in the course's files are reported where they are checked.
    """
    folder = course or course_folder(path)
    with contextlib.suppress(GraderError):
        known = layout.assignments()
        found = find_course(folder).course(known) if folder else NO_COURSE
        people = list(dict.fromkeys([*download.roster, *(one for owner in download.owners for one in owner.members)]))
        of = rulings(found, {identity(one, is_matched=True): one for one in people}, ())

        def moments(name: str, student: Student) -> list[datetime]:
            due = due_for(found.policy, name, of[identity(student, is_matched=True)].extensions)
            if due is None:
                return []
            grace = after(due, found.policy.of(name).late.grace, found.policy.zone)
            return [due, grace, *(after(due, Span(days=day), found.policy.zone) for day in range(1, _MOST_DAYS))]

        download.moments = moments


def assignments_in(
    layout: Layout, names: tuple[str, ...], download: ClassDownload, path: Path, course: Path | None = None
) -> list[Assignment]:
    """The named assignments, else those with files in the download; sets their deadlines in the download."""
    tell_deadlines(layout, download, path, course)
    loaded = [load_assignment(layout.assignment(name)) for name in known_assignments(layout, names)]
    if names or len(loaded) == 1:
        return loaded
    present = [assignment for assignment in loaded if download.has(wanted_of(layout, assignment))]
    if not present:
        raise GraderError(
            f"can't tell which assignment {path} is for.\n"
            f"Type:  grader grade {path} --assignment ID      with one of {', '.join(a.id for a in loaded)}"
        )
    return present
