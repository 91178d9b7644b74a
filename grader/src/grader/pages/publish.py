"""Writes files from the journal: results, gradebook, report cards, leaderboard. Nothing is graded here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from jinja2 import Environment

from grader.base.cells import safe_cell
from grader.base.csv_files import BOM, csv_rows
from grader.base.deadline import deadline
from grader.base.errors import GraderError
from grader.base.files import write_atomic
from grader.base.layout import Layout
from grader.base.leftovers import collected
from grader.base.names import safe_json, shown, slug
from grader.base.schema import SchemaError
from grader.course.aliases import salt_of, with_alias
from grader.course.anonymous import Anonymous, View, view_of
from grader.course.files import CourseFiles, remembered
from grader.course.grades import AssignmentGrade, StudentGrades, compute_grades
from grader.course.history import score_history
from grader.course.ledger import held_folders
from grader.exports.documents import grade_document
from grader.exports.gradebook import write_criteria, write_gradebook
from grader.model.assignment import Assignment, load_assignment
from grader.model.record import Record
from grader.model.roster import Student
from grader.pages.board_page import write_board_page
from grader.pages.board_text import board_csv, board_json
from grader.pages.cards import (
    CARDS,
    STAFF,
    Subject,
    card_name,
    openings,
    staff_card_name,
    write_cards,
    write_plain_cards,
)
from grader.pages.class_index import write_index
from grader.pages.environment import make_environment
from grader.pages.leaderboard import Board, make_boards
from grader.pages.overall import Overall, make_overall
from grader.pages.similar import settle_similar, state_of
from grader.pages.student_view import Opening
from grader.running.store import Journal

JOURNAL = "journal.sqlite"
NAMES = "names.csv"
COURSE_FILES = "course"  # key in the journal
Classes = Mapping[str, tuple[Assignment, Sequence[Record]]]
FolderGrades = Mapping[tuple[str, str], Sequence[tuple[Student, AssignmentGrade]]]
_CARD_SECONDS = 20.0
_RESULTS = "results"


@dataclass(frozen=True)
class Unmade:
    """A report card that could not be made in full: whose, and why."""

    folder: str
    problem: str
    assignment: str


@dataclass(frozen=True)
class Published:
    """The files written, for the last lines of a run."""

    index: Path
    gradebook: Path
    leaderboard: Path | None
    cards: int
    unmade: tuple[Unmade, ...]
    files: CourseFiles
    unmatched: tuple[str, ...]
    grades: tuple[StudentGrades, ...]
    names: Path | None = None


def publish(layout: Layout, out: Path, journal: Journal, files: CourseFiles | None = None) -> Published:
    """Writes everything in `out` except the journal, and removes pages that no longer belong to anyone.

    Without `files` the course's files are those used last; they are remembered. The gradebook comes first, then the
    cards (an error in one affects only that card), then the index, which reports such errors.
    """
    files = files or remembered(journal.recall(COURSE_FILES))
    view = view_of(journal)
    attempts, grades = load_shown(layout, journal, files, view)
    if not attempts:
        raise GraderError(f"{out} has no results yet.\nType:  grader grade SUBMISSIONS --out {out}")
    names = None
    if isinstance(view, Anonymous):
        names = out / STAFF / NAMES
        _write_names(names, view)
    journal.remember(COURSE_FILES, files.text())
    gradebook = out / "gradebook.csv"
    assignments = {name: assignment for name, (assignment, _) in attempts.items()}
    write_gradebook(gradebook, assignments, grades)
    write_criteria(out / "criteria.csv", assignments, grades)
    boards = publish_boards(layout, out, journal, attempts).boards
    environment = make_environment(layout.templates)
    own = by_folder(grades)
    classes = counting(attempts, own)
    written: set[Path] = set()
    unmade: list[Unmade] = []
    subjects = _subjects(journal, view, attempts, classes, own)
    opens = openings(subjects)
    with collected() as page:
        for outline in subjects:  # one full record at a time, to save memory
            record = shown_whole(journal, view, outline.record)
            subject = replace(outline, record=record)
            path = out / STAFF / _RESULTS / record.assignment / f"{slug(record.folder)}.json"
            write_atomic(path, safe_json(public_document(record, subject.grades)) + "\n")
            written |= {path, out / card_name(record), out / staff_card_name(record)}
            problem = _write_cards(environment, out, subject, opens[record.assignment])
            if problem:
                unmade.append(Unmade(record.folder, problem, record.assignment))
            page()
    problems = {(one.assignment, one.folder): one.problem for one in unmade}
    held = [(name, view.folder(folder)) for name, folders in held_folders(journal).items() for folder in folders]
    index = write_index(environment, out, assignments, grades, problems, has_board=bool(boards), held=held)
    settle_similar(environment, out, [state_of(name, records) for name, (_, records) in attempts.items()])
    _remove_others(out, written)
    board = out / "leaderboard.html" if boards else None
    unmatched = tuple(one.student.name for one in grades if not one.is_matched)
    return Published(index, gradebook, board, len(subjects), tuple(unmade), files, unmatched, tuple(grades), names)


def _subjects(
    journal: Journal,
    view: View,
    attempts: Mapping[str, tuple[Assignment, Sequence[Record]]],
    classes: Mapping[str, tuple[Assignment, Sequence[Record]]],
    own: FolderGrades,
) -> list[Subject]:
    """The subjects of report cards: for each folder the attempt that counts."""
    subjects = []
    for name, (assignment, records) in classes.items():
        several = {view.folder(folder) for folder in journal.with_history(name)}
        for record in records:
            theirs = tuple(one for one in attempts[name][1] if one.folder == record.folder)
            results = shown_history(journal, view, record) if record.folder in several else ()
            grades = own.get((name, record.folder), ())
            subjects.append(Subject(assignment, record, grades, theirs, score_history(results, theirs)))
    return subjects


def _write_cards(environment: Environment, out: Path, subject: Subject, opening: Opening) -> str:
    """Writes both cards; if that fails, writes reduced ones and returns why."""
    try:
        with deadline(_CARD_SECONDS):
            write_cards(environment, out, subject, opening)
    except OSError:
        raise  # the disk is full or read-only: not this card's fault
    except Exception as error:  # whatever fails, the other students' cards are still made
        write_plain_cards(environment, out, subject)
        return shown(f"{type(error).__name__}: {error}", 300)
    return ""


@dataclass(frozen=True)
class Standings:
    """The leaderboards: by assignment and device, and over all assignments."""

    boards: tuple[Board, ...]
    overalls: tuple[Overall, ...]


def publish_boards(layout: Layout, out: Path, journal: Journal, attempts: Classes | None = None) -> Standings:
    """Writes leaderboard.html, .csv and .json, unless no assignment has a leaderboard.

    `attempts` are displayed records that were loaded before.
    """
    view = view_of(journal)
    if attempts is None:
        classes = load_classes(layout, journal)
        attempts = {name: (assignment, view.records(records)) for name, (assignment, records) in classes.items()}
    salt = salt_of(journal)
    boards = [
        board
        for assignment, records in attempts.values()
        for board in make_boards(
            assignment,
            [with_alias(salt, one) for one in {record.folder: record for record in records}.values()],  # the last ones
            partial(shown_history, journal, view),
        )
    ]
    extra = {assignment.id for assignment, _ in attempts.values() if assignment.extra_credit}
    overalls = make_overall([board for board in boards if board.assignment not in extra])
    if boards:
        write_board_page(make_environment(layout.templates), out, boards, overalls)
        write_atomic(out / "leaderboard.csv", board_csv(boards, overalls))
        write_atomic(out / "leaderboard.json", board_json(boards, overalls))
    return Standings(tuple(boards), tuple(overalls))


def load_grades(
    layout: Layout, journal: Journal, files: CourseFiles
) -> tuple[dict[str, tuple[Assignment, list[Record]]], list[StudentGrades]]:
    """All attempts by assignment, and the grades computed from them and the course's files; raises GraderError."""
    course = files.course(layout.assignments())
    attempts = {
        name: (load_assignment(layout.assignment(name)), journal.attempts(name)) for name in journal.assignments()
    }
    return attempts, compute_grades(attempts, course, datetime.now(UTC))


def load_shown(
    layout: Layout, journal: Journal, files: CourseFiles, view: View
) -> tuple[dict[str, tuple[Assignment, list[Record]]], list[StudentGrades]]:
    """Like `load_grades`, with names replaced by aliases if results are shown that way."""
    attempts, grades = load_grades(layout, journal, files)
    shown_attempts = {name: (assignment, view.records(records)) for name, (assignment, records) in attempts.items()}
    return shown_attempts, view.grades(grades)


def shown_history(journal: Journal, view: View, record: Record) -> list[Record]:
    """All results of a displayed record's folder, oldest first, in displayed form."""
    return [view.record(one) for one in journal.history(record.assignment, view.real(record.folder))]


def shown_whole(journal: Journal, view: View, outline: Record) -> Record:
    """The full record (source, messages) for a record's outline, in displayed form (names or aliases)."""
    return view.record(journal.whole(outline.assignment, view.real(outline.folder), outline.handed.number))


def _write_names(path: Path, view: Anonymous) -> None:
    """The file that maps aliases to students; only its owner may read it."""
    rows = [[safe_cell(cell) for cell in row] for row in view.names()]
    write_atomic(path, BOM + csv_rows([("alias", "name", "sid", "email", "folder"), *rows]), 0o600)


def by_folder(grades: Sequence[StudentGrades]) -> FolderGrades:
    """Maps assignment and folder to the students whose attempts are in it: several for a team."""
    found: dict[tuple[str, str], list[tuple[Student, AssignmentGrade]]] = {}
    for student in grades:
        for name, grade in student.assignments.items():
            for folder in dict.fromkeys(record.folder for record in grade.attempts):
                found.setdefault((name, folder), []).append((student.student, grade))
    return found


def counting(
    attempts: Mapping[str, tuple[Assignment, Sequence[Record]]], own: FolderGrades
) -> dict[str, tuple[Assignment, list[Record]]]:
    """For each folder the attempt that counts for the team's first member; if none counts, the last one."""
    classes = {}
    for name, (assignment, records) in attempts.items():
        chosen = {record.folder: record for record in records}
        for folder, last in chosen.items():
            counts = (grade.record for _, grade in own.get((name, folder), ()))
            chosen[folder] = next((one for one in counts if one and one.folder == folder), last)
        classes[name] = (assignment, list(chosen.values()))
    return classes


def load_classes(layout: Layout, journal: Journal) -> dict[str, tuple[Assignment, list[Record]]]:
    """The current results by assignment; raises GraderError if the journal can't be read."""
    try:
        return {
            name: (load_assignment(layout.assignment(name)), journal.current(name)) for name in journal.assignments()
        }
    except SchemaError as error:
        raise GraderError(f"the journal can't be read: {error}\nStart afresh with another --out DIR") from error


def open_journal(out: Path) -> Journal:
    """The journal of an output folder; raises GraderError if there is none."""
    path = out / JOURNAL
    if not path.is_file():
        raise GraderError(f"{out} has no results yet.\nType:  grader grade SUBMISSIONS --out {out}")
    return Journal(path)


def public_document(record: Record, grades: Sequence[tuple[Student, AssignmentGrade]]) -> dict[str, object]:
    """A record for staff/results/*.json: with card and grades, without source, seed and paths of this machine."""
    document = record.without_seed().document()
    del document["source"], document["provenance"]["seed"]
    document["provenance"]["command"] = record.provenance.public_command
    if document["result"]:
        del document["result"]["seed"]
    counts = [grade_document(student, grade) for student, grade in grades]
    return document | {"verdict": record.shown_verdict, "card": card_name(record), "grades": counts}


def _remove_others(out: Path, written: set[Path]) -> None:
    # Older versions put results next to the cards, where they might be handed on by mistake.
    for folder, suffix in (
        (CARDS, "html"),
        (f"{STAFF}/{CARDS}", "html"),
        (f"{STAFF}/{_RESULTS}", "json"),
        (_RESULTS, "json"),
    ):
        for path in (out / folder).glob(f"*/*.{suffix}"):
            if path not in written:
                path.unlink()
