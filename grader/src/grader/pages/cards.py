"""Report cards: the student's, which can be sent, and the staff's, with everything. Each is one file.

Jinja escapes everything that a student wrote, and neither card has a script or loads anything.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from jinja2 import Environment

from grader.base.files import write_atomic
from grader.base.names import slug
from grader.course.grades import AssignmentGrade
from grader.course.history import Past
from grader.model.assignment import Assignment
from grader.model.record import NOT_GRADED, Record
from grader.model.roster import Student
from grader.model.score import with_bonus
from grader.pages.card_view import device_text, first_thing, message_lines, missed_rungs, rung_views
from grader.pages.chart import make_ladder
from grader.pages.code_view import annotate
from grader.pages.lanes import rung_lanes
from grader.pages.student_view import Opening, for_student
from grader.pages.timing_view import timing_view

CARDS, STAFF = "cards", "staff"
_MOST_TESTS = 200  # listed on a staff card


@dataclass(frozen=True)
class Subject:
    """The contents of a card: a record, the grades it leads to (one per team member), all attempts and results."""

    assignment: Assignment
    record: Record
    grades: Sequence[tuple[Student, AssignmentGrade]] = ()
    attempts: Sequence[Record] = ()
    history: Sequence[Past] = ()


def card_name(record: Record) -> str:
    """The path of a record's student card, from the output folder."""
    return f"{CARDS}/{record.assignment}/{slug(record.folder)}.html"


def staff_card_name(record: Record) -> str:
    """The file name of the staff's card."""
    return f"{STAFF}/{card_name(record)}"


def score_words(record: Record) -> str:
    """The record's own points: "90 + 10 bonus"."""
    if record.score is None:
        return "–"
    return with_bonus(record.score.total - record.score.bonus, record.score.bonus)


def openings(subjects: Sequence[Subject]) -> dict[str, Opening]:
    """When each assignment's tests open to students: after the last of all their deadlines, if everybody has one."""
    due: dict[str, list[str]] = {}
    for subject in subjects:
        due.setdefault(subject.assignment.id, []).extend(grade.due for _, grade in subject.grades)
    now = datetime.now(UTC)
    return {
        name: Opening(now, datetime.fromisoformat(max(found)) if found and all(found) else None)
        for name, found in due.items()
    }


def write_cards(environment: Environment, out: Path, subject: Subject, opening: Opening) -> None:
    """Writes both cards of a record."""
    record = for_student(subject.assignment, subject.record, opening)
    _write(environment, out / card_name(record), subject, record, is_staffs=False)
    record = subject.record.without_seed()
    _write(environment, out / staff_card_name(record), subject, record, is_staffs=True)


def write_plain_cards(environment: Environment, out: Path, subject: Subject) -> None:
    """Writes reduced cards with only the points, for when the full ones can't be made."""
    template = environment.get_template("plain_card.html.j2")
    text = template.render(assignment=subject.assignment, record=subject.record)
    for name in (card_name, staff_card_name):
        write_atomic(out / name(subject.record), text)


def _write(environment: Environment, path: Path, subject: Subject, record: Record, *, is_staffs: bool) -> None:
    assignment, result = subject.assignment, record.result
    code = annotate(record.source, assignment.submission, result, record.message, missed_rungs(record))
    last_line = len(code.lines)
    message = message_lines(record.message, assignment.submission, last_line) if record.message else ()
    rungs = rung_views(assignment, record, last_line)
    text = environment.get_template("report_card.html.j2").render(
        assignment=assignment,
        record=record,
        rungs=rungs,
        message=message,
        first=first_thing(assignment, record, rungs, message, code),
        score_words=score_words(record),
        device=device_text(record),
        ladder=make_ladder(assignment, result) if result else None,
        lanes=rung_lanes(assignment, result) if result else (),
        timed=timing_view(assignment, record),
        code=code,
        not_graded=record.status == NOT_GRADED,
        grades=subject.grades,
        attempts=subject.attempts if is_staffs else (),
        history=subject.history,
        is_staffs=is_staffs,
        seed_command=f"grader seed {shlex.quote(record.folder)}",
        most_tests=_MOST_TESTS,
    )
    write_atomic(path, text)
