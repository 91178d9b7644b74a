"""`grader export`: grades as learning platforms import them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.markup import escape

from grader.base.counted import counted
from grader.base.csv_files import read_csv
from grader.base.errors import GraderError
from grader.base.files import FileError, read_regular, write_atomic
from grader.base.layout import Layout, find_layout
from grader.commands.aliases import show_named
from grader.commands.common import UNMATCHED_STATUS, build_option, course_option, make_console, out_option, show_course
from grader.course.anonymous import view_of
from grader.course.files import named_course, remembered
from grader.exports.canvas import canvas_like, canvas_new
from grader.exports.documents import grades_json
from grader.exports.feedback import PLATFORMS, feedback_zip
from grader.exports.into import grades_into, read_table
from grader.exports.moodle import moodle_like, participants
from grader.exports.platform import Report
from grader.model.assignment import Assignment
from grader.pages.cards import card_name
from grader.pages.publish import COURSE_FILES, load_grades, open_journal

_FOLDER = "exports"
_MOST_LISTED = 25
_MOST_BYTES = 64 << 20
_like_path = click.Path(path_type=Path, dir_okay=False)
_to_option = click.option(
    "--to",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The file to write.  [default: in the folder exports of the results]",
)
_scale_option = click.option(
    "--scale", is_flag=True, help="Scale grades if the platform's maximum differs from the grader's."
)
_names_option = click.option(
    "--by-name", is_flag=True, help="Also match rows by names that occur only once in the file and in the class."
)
_column_option = click.option(
    "--column", "columns", multiple=True, metavar="ID=HEADER", help="The column of an assignment; repeatable."
)


@click.group(
    short_help="Writes grades for Canvas, Moodle and Gradescope, into any CSV file, or as JSON.",
    invoke_without_command=True,
)
@click.option(
    "--into",
    type=_like_path,
    metavar="FILE",
    help="Any CSV file; a copy is written in which only the grades are filled in.",
)
@click.option(
    "--assignment", "names", multiple=True, metavar="ID", help="With --into: only this assignment; repeatable."
)
@click.option(
    "--column", "columns", multiple=True, metavar="ID=HEADER", help="With --into: an assignment's column; repeatable."
)
@click.option(
    "--id", "id_title", default="", metavar="HEADER", help="With --into: the column that identifies the student."
)
@_to_option
@out_option
@course_option
@build_option
@click.pass_context
def export(
    context: click.Context,
    /,
    into: Path | None,
    names: tuple[str, ...],
    columns: tuple[str, ...],
    id_title: str,
    **shared: Any,
) -> None:
    """Writes grades for Canvas, Moodle and Gradescope, into any CSV file, or as JSON.

    With --into FILE.csv it finds the columns of the students' ids and of each assignment, or asks for them. It writes
    a copy of the file that differs only in the grades, byte for byte.

    Grades are computed again from the journal and the course files. Nobody is matched by guess, and students who are
    not on the roster are never exported to a platform.

    \b
    Examples:
      grader export canvas --like canvas-export.csv
      grader export moodle --like worksheet.csv --assignment 04_reduction
      grader export --into registrar.csv --column 04_reduction="Lab 4"
      grader export feedback moodle --assignment 04_reduction
      grader export json
    """
    if context.invoked_subcommand is not None:
        if into is not None:
            raise GraderError("--into can't be combined with a platform.\nType:  grader export --into FILE.csv")
        return
    if into is None:
        click.echo(context.get_help())
        return
    work = _Export(**shared)
    assignments = work.chosen(names)
    try:
        table = read_table(read_regular(into, _MOST_BYTES), str(into))
    except (OSError, FileError) as error:
        raise GraderError(f"{into} can't be read: {error}") from error
    data, report = grades_into(table, assignments, work.titles(assignments, columns), work.grades, id_title=id_title)
    work.write(into.name, data, report)


@export.command(short_help="The report cards, as feedback files for Moodle, Canvas and others.")
@click.argument("platform", type=click.Choice(PLATFORMS))
@click.option("--assignment", "name", metavar="ID", help="The assignment.  [default: the only one]")
@click.option("--like", type=_like_path, metavar="FILE", help="Moodle's worksheet, for team members' numbers.")
@_to_option
@out_option
@course_option
@build_option
def feedback(platform: str, name: str | None, like: Path | None, **shared: Any) -> None:
    """Writes a zip in which each student's report card is where PLATFORM looks for feedback.

    \b
    Moodle       View all submissions → Upload multiple feedback files in a zip
    Canvas       Upload Submissions, on the assignment's page
    Blackboard, Brightspace, Sakai
                 the names and folders of the download, for their own upload

    \b
    Examples:
      grader export feedback canvas --assignment 04_reduction
      grader export feedback moodle --like worksheet.csv

    Status: 0 done, 4 a student who handed in has no card in the zip.
    """
    work = _Export(**shared)
    assignment = work.only(name)
    numbers = {} if like is None else participants(read_csv(like))
    made = feedback_zip(platform, assignment.id, work.grades, work.cards(assignment.id), numbers)
    report = Report(filled=made.cards, left_over=list(made.without))
    work.write(f"{platform}-feedback-{assignment.id}.zip", made.data, report, what="report card")


def _shared(command: Callable[..., None]) -> Callable[..., None]:
    for option in (build_option, course_option, out_option, _to_option):
        command = option(command)
    return command


@export.command(short_help="A CSV for Canvas: Grades → Import.")
@click.option("--like", type=_like_path, metavar="FILE", help="The gradebook that Canvas exported.")
@click.option("--assignment", "names", multiple=True, metavar="ID", help="Only this assignment; repeatable.")
@_column_option
@_scale_option
@_names_option
@_shared
def canvas(
    like: Path | None, names: tuple[str, ...], columns: tuple[str, ...], scale: bool, by_name: bool, **shared: Any
) -> None:
    """Writes a CSV for Canvas.

    With --like it is the file that Canvas exported, with this course's assignments filled in and nothing else changed.
    Without --like, every student gets a row whose Canvas number is in the roster.

    \b
    Examples:
      grader export canvas --like canvas-export.csv
      grader export canvas --like export.csv --assignment 04_reduction --scale

    Status: 0 done, 4 a student in the file has no grade, or a student with a grade is not in the file.
    """
    work = _Export(**shared)
    assignments = work.chosen(names)
    titles = work.titles(assignments, columns)
    if like is None:
        text, report = canvas_new(assignments, titles, work.grades)
    else:
        text, report = canvas_like(read_csv(like), assignments, titles, work.grades, scale=scale, by_name=by_name)
    work.write("canvas.csv", text, report)


@export.command(short_help="Moodle's grading worksheet, filled in.")
@click.option("--like", type=_like_path, required=True, metavar="FILE", help="The worksheet that Moodle made.")
@click.option("--assignment", "name", metavar="ID", help="The assignment.  [default: the only one]")
@_column_option
@_scale_option
@_names_option
@_shared
def moodle(like: Path, name: str | None, columns: tuple[str, ...], scale: bool, by_name: bool, **shared: Any) -> None:
    """Fills in one assignment's grading worksheet, whatever language it is in; changes nothing else.

    \b
    Example:
      grader export moodle --like worksheet.csv --assignment 04_reduction

    Status: 0 done, 4 a student in the file has no grade, or a student with a grade is not in the file.
    """
    work = _Export(**shared)
    assignment = work.only(name)
    typed = work.typed({assignment.id: assignment}, columns).get(assignment.id)
    text, report = moodle_like(
        read_csv(like), assignment, [typed] if typed else [], work.grades, scale=scale, by_name=by_name
    )
    work.write(f"moodle-{assignment.id}.csv", text, report)


@export.command(name="json", short_help="Everything about all grades, for programs.")
@_shared
def json_command(**shared: Any) -> None:
    """Writes all grades with every attempt and step as JSON.

    \b
    Example:
      grader export json --to grades.json
    """
    work = _Export(**shared)
    report = Report(filled=sum(len(one.assignments) for one in work.grades))
    work.write("grades.json", grades_json(work.assignments, work.grades), report)


class _Export:
    """The grades of an output folder, and the target of the export."""

    def __init__(self, out: Path, course: Path | None, build: Path | None, to: Path | None) -> None:
        self._out, self._to = out, to
        self._layout: Layout = find_layout(build)
        self._console: Console = make_console()
        journal = open_journal(out)
        try:
            self._files = named_course(course) if course else remembered(journal.recall(COURSE_FILES))
            attempts, self.grades = load_grades(self._layout, journal, self._files)
            self._view = view_of(journal)
            show_named(self._console, journal)
        finally:
            journal.close()
        self.assignments = {name: assignment for name, (assignment, _) in attempts.items()}

    def chosen(self, names: tuple[str, ...]) -> dict[str, Assignment]:
        """The named assignments, or all that were graded; raises GraderError for one that was not."""
        if not self.assignments:
            raise GraderError(f"{self._out} has no results yet.\nType:  grader grade SUBMISSIONS --out {self._out}")
        for name in names:
            if name not in self.assignments:
                raise GraderError(f'"{name}" was not graded in {self._out}.\nThere are: {", ".join(self.assignments)}')
        return {name: self.assignments[name] for name in names or self.assignments}

    def only(self, name: str | None) -> Assignment:
        """The assignment of this name; without a name, the only one."""
        if name is None and len(self.assignments) > 1:
            raise GraderError(
                f"which assignment?\nType:  --assignment ID      with one of {', '.join(self.assignments)}"
            )
        (assignment,) = self.chosen((name,) if name else ()).values()
        return assignment

    def cards(self, assignment: str) -> dict[str, Path]:
        """The students' report cards by submission folder."""
        records = [
            record for one in self.grades if (grade := one.assignments.get(assignment)) for record in grade.attempts
        ]
        return {record.folder: self._out / card_name(self._view.record(record)) for record in records}

    def titles(self, assignments: dict[str, Assignment], columns: tuple[str, ...]) -> dict[str, list[str]]:
        """Column titles to look for: from --column, else any of course.toml's, the assignment's title, and its id."""
        typed = self.typed(assignments, columns)
        policy = self._files.course(self._layout.assignments()).policy
        return {
            name: [typed[name]] if name in typed else [one for one in (policy.of(name).column, it.title, name) if one]
            for name, it in assignments.items()
        }

    def typed(self, assignments: dict[str, Assignment], columns: tuple[str, ...]) -> dict[str, str]:
        """The headers from --column; with one assignment its id may be left out."""
        typed: dict[str, str] = {}
        for entry in columns:
            name, _, header = entry.partition("=")
            if name not in assignments and len(assignments) == 1:
                name, header = next(iter(assignments)), entry
            if name not in assignments or not header:
                raise GraderError(
                    f'--column: expected ID=HEADER, got "{entry}".\nThe assignments are {", ".join(assignments)}'
                )
            typed[name] = header
        return typed

    def write(self, name: str, text: str | bytes, report: Report, what: str = "grade") -> None:
        """Writes the file and reports what is in it and who is missing; raises Exit if somebody is missing."""
        path = self._to or self._out / _FOLDER / name
        write_atomic(path, text)
        self._say(f"{counted(report.filled, what)}: {escape(str(path))}")
        show_course(self._console, self._files)
        for note in report.notes:
            self._say(f"  {escape(note)}")
        self._list(f"{counted(len(report.kept), 'cell')} with text from staff, left unchanged", report.kept)
        self._list(f"{counted(len(report.without), 'line')} of the file without a grade", report.without)
        self._list(
            f"{counted(len(report.left_over), 'student')} with a {what} and no place in the file", report.left_over
        )
        if not report.is_complete:
            raise click.exceptions.Exit(UNMATCHED_STATUS)

    def _list(self, head: str, lines: list[str]) -> None:
        if lines:
            self._say(f"[magenta]{head}[/]:")
        for line in lines[:_MOST_LISTED]:
            self._say(f"  {escape(line)}")
        if len(lines) > _MOST_LISTED:
            self._say(f"  … and {len(lines) - _MOST_LISTED} more")

    def _say(self, text: str) -> None:
        self._console.print(text, highlight=False, soft_wrap=True)
