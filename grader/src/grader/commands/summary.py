"""The last output of `grader grade`: a row per student, a digest of a long class, or a JSON document."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from grader.base.counted import counted
from grader.base.names import safe_json, shown
from grader.commands.progress import Counts, marked, tally
from grader.course.anonymous import View
from grader.course.grades import AssignmentGrade, StudentGrades
from grader.exports.documents import person
from grader.model import verdicts
from grader.model.score import points_text
from grader.pages.cards import card_name, staff_card_name
from grader.pages.look_first import look_first
from grader.running.changes import Change

FORMAT = 1
_LONG_CLASS = 40  # students; larger classes get a digest
_MOST_LISTED = 15  # entries listed
_NAME = 26  # maximum width
_REST = 43  # columns of a row besides the name and the assignments
_EACH = 8  # width of an assignment's column
_DENSE_REST, _DENSE_EACH = 25, 6
_SPARE = "\ufe0f"  # requests an emoji instead of a text symbol; terminals disagree about its width


def of_run(grades: Sequence[StudentGrades], folders: Collection[tuple[str, str]] | None) -> list[StudentGrades]:
    """The students with a submission in `folders`, which holds pairs of assignment and folder; None: all students."""
    if folders is None:
        return list(grades)
    return [
        one
        for one in grades
        if any((name, record.folder) in folders for name, grade in one.assignments.items() for record in grade.attempts)
    ]


def show_summary(console: Console, grades: Sequence[StudentGrades], names: Sequence[str], out: Path) -> None:
    """What to look at first, then all students (a digest if there are many), then the first remarks."""
    for line in look_first(names, grades):
        # On a terminal each remark is cut to one line; in a file it is written in full.
        console.print(Text(shown(line, 300)), soft_wrap=not console.is_terminal, no_wrap=True, overflow="ellipsis")
    if len(grades) <= _LONG_CLASS:
        console.print(_students(grades, names, console.width))
    else:
        console.print(_digest(grades, names))
    remarks = list(_remarks(grades, names))
    if remarks:
        console.print(Text(f"\nTo be looked at: {len(remarks)}", "bold"))
        table = _table()
        table.add_column(no_wrap=True, overflow="ellipsis", max_width=_NAME)
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for student, name, remark in remarks[:_MOST_LISTED]:
            table.add_row(_shown(student), _short(name, names), Text(shown(remark, 300)))
        console.print(table)
        if len(remarks) > _MOST_LISTED:
            where = out / "gradebook.csv"
            console.print(Text(f"  … and {len(remarks) - _MOST_LISTED} more: column status of {where}"), soft_wrap=True)


def _table(gap: int = 2) -> Table:
    return Table(box=None, pad_edge=False, padding=(0, gap, 0, 0), show_header=False)


def _students(grades: Sequence[StudentGrades], names: Sequence[str], width: int) -> Table:
    """One row per student. On a narrow terminal columns move closer, and then the assignments' are left out."""
    is_wide = len(names) == 1 or _NAME // 2 + _REST + _EACH * len(names) <= width
    is_dense = not is_wide and _NAME // 2 + _DENSE_REST + _DENSE_EACH * len(names) <= width
    columns = names if is_wide or is_dense else ()
    table = _table(1 if is_dense else 2)
    table.show_header = True
    table.header_style = "bold"
    longest = width - _DENSE_REST - _DENSE_EACH * len(names) if is_dense else _NAME
    table.add_column("Student", no_wrap=True, overflow="ellipsis", max_width=longest)
    table.add_column("Verdict", no_wrap=is_dense, overflow="fold")
    for name in columns:
        table.add_column(_short(name, names) if len(names) > 1 else "Points", justify="right", no_wrap=True)
    has_total = len(names) != 1 or any(len(one.assignments) > 1 for one in grades)
    if has_total:
        table.add_column("Total", justify="right", no_wrap=True)
    for one in grades:
        cells = [_points(one.assignments.get(name), whole=len(names) == 1) for name in columns]
        total = one.total_in("{}+{}") if is_dense else one.total_text
        if not is_dense and one.total is not None:
            total += f" of {points_text(one.possible)}"
        verdict = _verdict(one, names, with_missing=not is_dense)  # the columns already show what is missing
        table.add_row(_shown(one.student.name), verdict, *cells, *([total] if has_total else []))
    return table


def _points(grade: AssignmentGrade | None, *, whole: bool) -> str:
    """The points that count; if there are none, the verdict's symbol."""
    if grade is None or grade.points is None or (grade.verdict == verdicts.MISSING and not grade.points):
        return verdicts.glyph(grade.verdict if grade else verdicts.MISSING)
    return f"{grade.points_text} of {points_text(grade.possible)}" if whole else points_text(grade.points)


def _verdict(one: StudentGrades, names: Sequence[str], *, with_missing: bool) -> Text:
    """The most urgent verdict, with assignment and rung; and how many are missing, without extra credit."""
    found = [(one.assignments[name].verdict, name) for name in names if name in one.assignments]
    handed_in = [(verdict, name) for verdict, name in found if verdict not in _NOTHING_TO_SEE]
    order = sorted(handed_in, key=lambda pair: verdicts.tone(pair[0]) != "harness")  # harness failures first
    missing = sum(verdict == verdicts.MISSING and not one.assignments[name].is_extra for verdict, name in found)
    if not order:
        passed = any(verdict == verdicts.PASS for verdict, _ in found)
        first = verdicts.PASS if passed else next((verdict for verdict, _ in found), verdicts.MISSING)
        said = marked(first)
        if len(names) > 1 and missing and with_missing:
            said.append(f", {missing} missing" if passed else f" {missing}", "dim")
        return said
    verdict, name = order[0]
    said = marked(verdict)
    record = one.assignments[name].record
    if len(names) > 1:
        said.append(f" {_short(name, names)}", "dim")
    elif record is not None and record.score and record.score.rung:
        said.append(f" {record.score.rung}", "dim")
    return said.append(f", {missing} missing", "dim") if missing and with_missing else said


_NOTHING_TO_SEE = (verdicts.PASS, verdicts.MISSING, verdicts.NOT_DUE, verdicts.EXCUSED)


def _digest(grades: Sequence[StudentGrades], names: Sequence[str]) -> Table:
    """The number of submissions by verdict, one line per assignment."""
    table = _table()
    table.title = Text(counted(len(grades), "student"), "bold")
    table.title_justify = "left"
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name in names:
        found = Counter(one.assignments[name].verdict for one in grades if name in one.assignments)
        table.add_row(name, tally(found))
    return table


def _remarks(grades: Sequence[StudentGrades], names: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Student, assignment and remark."""
    for one in grades:
        if not one.is_matched:
            yield one.student.name, "", "Not on the roster"
        for name in names:
            grade = one.assignments.get(name)
            if grade is None:
                continue
            for flag in grade.flags:
                yield one.student.name, name, flag
            if grade.verdict == "REJECTED":
                yield one.student.name, name, "REJECTED: its card says why"


def _shown(name: str) -> Text:
    return Text(shown(name).replace(_SPARE, ""))


def _short(name: str, names: Sequence[str]) -> str:
    """04 for 04_reduction, if no other name is shortened to that."""
    numbers = [re.match(r"\d+(?=_)", other) for other in names]
    own = re.match(r"\d+(?=_)", name)
    same = sum(bool(own and other and own[0] == other[0]) for other in numbers)
    return own[0] if own and same == 1 else name


def run_document(
    grades: Sequence[StudentGrades],
    counts: Mapping[str, Counts],
    files: Mapping[str, Path],
    *,
    status: int,
    seconds: float,
) -> str:
    """The outcome of a run as JSON."""
    names = list(counts)
    document = {
        "format": FORMAT,
        "status": status,
        "seconds": round(seconds, 1),
        "assignments": {name: vars(count) | {"verdicts": _counted(grades, name)} for name, count in counts.items()},
        "students": [_student(one, names) for one in grades],
        "files": {label.lower().replace(" ", "_"): str(path) for label, path in files.items()},
    }
    return safe_json(document)


def plan_document(totals: Sequence[tuple[str, int]], plans: Sequence[Sequence[Change]], view: View) -> str:
    """What a dry run found, as JSON."""
    assignments = {
        name: {
            "submissions": total,
            "to_do": [
                {"submission": view.folder(one.submission.folder), "run": one.is_run, "because": list(one.causes)}
                for one in plan
            ],
        }
        for (name, total), plan in zip(totals, plans, strict=True)
    }
    return safe_json({"format": FORMAT, "dry_run": True, "status": 0, "assignments": assignments})


def _counted(grades: Sequence[StudentGrades], name: str) -> dict[str, int]:
    found = Counter(one.assignments[name].verdict for one in grades if name in one.assignments)
    return {verdict: found[verdict] for verdict in sorted(found, key=verdicts.place)}


def _student(one: StudentGrades, names: Sequence[str]) -> dict[str, Any]:
    return person(one.student) | {
        "on_roster": one.is_matched,
        "total": one.total,
        "possible": one.possible,
        "assignments": {name: _grade(one.assignments[name]) for name in names if name in one.assignments},
    }


def _grade(grade: AssignmentGrade) -> dict[str, Any]:
    record = grade.record
    return {
        "verdict": grade.verdict,
        "rung": record.score.rung if record and record.score else "",
        "points": grade.points,
        "possible": grade.possible,
        "attempts": len(grade.attempts),
        "is_final": record.is_final if record else True,
        "submission": record.folder if record else None,
        "card": card_name(record) if record else None,
        "staff_card": staff_card_name(record) if record else None,
        "flags": list(grade.flags),
    }
