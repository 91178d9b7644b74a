"""`grader history`: a submission's score over time."""

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from grader.base.errors import GraderError
from grader.base.layout import find_layout
from grader.base.names import safe_json, shown
from grader.commands.common import build_option, make_console, out_option
from grader.course.anonymous import View, view_of
from grader.course.files import remembered
from grader.course.grades import AssignmentGrade, StudentGrades
from grader.course.history import Past, score_history
from grader.course.people import resolve
from grader.exports.documents import person
from grader.model.assignment import Assignment
from grader.model.record import Record
from grader.model.score import points_text
from grader.pages.publish import COURSE_FILES, load_shown, open_journal, shown_history
from grader.running.store import Journal

_FORMAT = 1
_MOST_NAMED = 5


@click.command(short_help="Shows a submission's score over time.")
@click.argument("name")
@click.option("--assignment", "assignment", metavar="ID", help="Only this assignment.")
@click.option("--json", "as_json", is_flag=True, help="As JSON, for programs.")
@out_option
@build_option
def history(name: str, assignment: str | None, as_json: bool, out: Path, build: Path | None) -> None:
    """Shows each result that NAME's submissions got, and what changed since the previous one.

    NAME is a student's id, e-mail address, login or name, or a submission's folder; a part of a name or folder will do
    if it fits only one student. A * marks each attempt's current result.

    \b
    Examples:
      grader history lovelace_ada
      grader history 1815 --assignment 04_reduction --out out/week4
    """
    journal = open_journal(out)
    try:
        view = view_of(journal)
        classes, grades = load_shown(find_layout(build), journal, remembered(journal.recall(COURSE_FILES)), view)
        if assignment is not None and assignment not in classes:
            raise GraderError(f'{out} has no results of "{shown(assignment)}".\nThere are: {", ".join(classes)}')
        student = _student(name, grades, out)
        found = [
            (classes[one][0], grade, _folders(journal, view, grade))
            for one, grade in student.assignments.items()
            if assignment in (None, one)
        ]
    finally:
        journal.close()
    if as_json:
        click.echo(safe_json(_document(student, found)))
        return
    _show(make_console(), student, found)


_Found = tuple[Assignment, AssignmentGrade, dict[str, list[Past]]]


def _folders(journal: Journal, view: View, grade: AssignmentGrade) -> dict[str, list[Past]]:
    """The history of each folder that a student submitted."""
    folders: dict[str, list[Record]] = {}
    for one in grade.attempts:
        folders.setdefault(one.folder, []).append(one)
    return {
        folder: score_history(shown_history(journal, view, attempts[0]), attempts)
        for folder, attempts in folders.items()
    }


def _student(name: str, grades: Sequence[StudentGrades], out: Path) -> StudentGrades:
    """The student called NAME; raises GraderError listing the nearest names if there is none, or several."""
    folders = {id(one): {r.folder for grade in one.assignments.values() for r in grade.attempts} for one in grades}
    exact = [one for one in grades if name in folders[id(one)]]
    if len(exact) == 1:
        return exact[0]
    everyone = {one.student: one for one in grades}
    try:
        return everyone[resolve(name, list(everyone), str(out))]
    except GraderError as error:
        problem = error
    plain = name.casefold()
    parts = [
        one
        for one in grades
        if plain and any(plain in text.casefold() for text in (one.student.name, *folders[id(one)]))
    ]
    if len(parts) == 1:
        return parts[0]
    if not parts:
        spellings = {folder: one for one in grades for folder in folders[id(one)]}
        near = [spellings[folder] for folder in difflib.get_close_matches(name, spellings, n=_MOST_NAMED)]
        called = "; ".join(dict.fromkeys(_called(one, folders[id(one)]) for one in near))
        raise GraderError(f'{out}: no student is "{shown(name)}"; nearest: {called}') if near else problem
    some = "; ".join(_called(one, folders[id(one)]) for one in parts[:_MOST_NAMED])
    more = f" and {len(parts) - _MOST_NAMED} more" if len(parts) > _MOST_NAMED else ""
    raise GraderError(f'"{shown(name)}" fits {len(parts)} students: {some}{more}.\nWrite the id, or the whole folder')


def _called(one: StudentGrades, folders: set[str]) -> str:
    return f"{one.student.name} ({one.student.sid or one.student.email or ', '.join(sorted(folders))})"


def _show(console: Console, student: StudentGrades, found: Sequence[_Found]) -> None:
    who = student.student
    more = "  ".join(escape(text) for text in (who.sid, who.email) if text)
    console.print(f"[bold]{escape(who.name)}[/]  [dim]{more}[/]", highlight=False, soft_wrap=True)
    for assignment, grade, folders in found:
        console.print()
        console.print(f"[bold]{escape(assignment.id)}[/]  {escape(assignment.title)}", highlight=False, soft_wrap=True)
        for folder, pasts in folders.items():
            if len(folders) > 1:
                console.print(f"  {escape(folder)}", highlight=False, soft_wrap=True)
            console.print(_table(pasts))
        for step in grade.steps:
            console.print(f"  {escape(step)}", highlight=False)
        for one in grade.adjustments:
            if not one.points:  # other entries are steps, without points
                console.print(f"  Comment: {escape(one.reason)}{escape(f' ({one.staff})' if one.staff else '')}")
        points, possible = grade.points, points_text(grade.possible)
        counts = "Nothing counts" if points is None else f"{grade.points_text} of {possible} points count"
        console.print(f"  {counts} ({escape(grade.status)})", highlight=False)


def _table(pasts: Sequence[Past]) -> Table:
    table = Table(box=None, show_header=True, header_style="dim", pad_edge=False, padding=(0, 2, 0, 0))
    for title in (" ", "UTC"):
        table.add_column(title, no_wrap=True)
    table.add_column("Attempt", justify="right")
    table.add_column("Points", justify="right", no_wrap=True)
    table.add_column("Verdict", no_wrap=True)
    table.add_column("Why", overflow="fold")
    for past in pasts:
        table.add_row(
            "*" if past.is_in_force else " ",
            past.at.replace("T", " ")[:16],
            str(past.attempt),
            past.points,
            past.verdict,
            escape(past.reason),
        )
    return table


def _document(student: StudentGrades, found: Sequence[_Found]) -> dict[str, Any]:
    return {
        "format": _FORMAT,
        "student": person(student.student),
        "assignments": [
            {
                "id": assignment.id,
                "status": grade.status,
                "points": grade.points,
                "possible": grade.possible,
                "steps": list(grade.steps),
                "submissions": [
                    {"folder": folder, "results": [vars(past) | {"why": list(past.why)} for past in pasts]}
                    for folder, pasts in folders.items()
                ],
            }
            for assignment, grade, folders in found
        ],
    }
