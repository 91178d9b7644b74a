"""Compares the grades of a run with those before it: none falls or disappears unless a person says so.

Results are adopted one assignment at a time, once all are there. A result that would lower or remove somebody's grade
is in the journal like any other, but each attempt of the affected students keeps its old result (`Journal.set_class`)
until the run is repeated with --replace. Changes that a person made count as consent: points in assignment.toml,
course.toml and the files next to it, or a regrade.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime

from grader.base.counted import joined
from grader.course.grades import StudentGrades, compute_grades
from grader.course.kept import Merged, people_of
from grader.course.people import Identity, identity
from grader.course.ruling import Course
from grader.model.assignment import Assignment
from grader.model.record import MISSING, NOT_GRADED, Record
from grader.model.roster import Student
from grader.running.changes import differences
from grader.running.store import Journal

_HELD = "grades that stay as they were"  # key in the journal
_LEAST = 0.005  # points: grades are rounded to 0.01
Rows = dict[str, tuple[Record, ...]]  # by folder, its attempts


@dataclass(frozen=True)
class Change:
    """A change of a student's grade, adopted or held back; `after` is None if the grade is gone. `why` is in words."""

    assignment: str
    student: str
    folder: str
    before: float
    after: float | None
    why: str


class Ledger:
    """The result of each attempt in all assignments, while a run changes them."""

    def __init__(
        self,
        journal: Journal,
        assignments: Mapping[str, Assignment],
        course: Course,
        now: datetime,
        *,
        replace_all: bool,
    ) -> None:
        """`assignments` were graded before or are to be graded."""
        self._journal = journal
        self._assignments = assignments
        self._course = course
        self._now = now
        self._replace_all = replace_all
        self._people: dict[Identity, Student] = {}  # in the results before or after
        self._records: dict[str, Sequence[Record]] | None = None
        self.changed: list[Change] = []
        self.held: list[Change] = []

    def settle(self, merged: Merged, assignment: str, records: Sequence[Record], *, whole: bool) -> None:
        """Adopts the results of an assignment. Without `whole` they cover only some folders: the others keep theirs."""
        graded = (*records, *merged.fixed)
        after = _rows(graded)
        held = held_folders(self._journal)
        own = {record.folder for record in graded}
        held[assignment] = [] if whole else [one for one in held.get(assignment, ()) if one not in own]
        if not merged.before:
            self._remember(held)
            self._journal.set_class(assignment, graded, whole=whole)
            self._keep(assignment, graded)
            return
        before = _rows(merged.before)
        self._people = {
            identity(one, is_matched=record.handed.is_matched): one
            for record in (*merged.before, *graded)
            for one in record.handed.group or (record.student,)
        }
        if not whole:
            after = before | after
        if not self._replace_all:
            after = self._held_back(assignment, before, after)
        held[assignment] += [one.folder for one in self.held if one.assignment == assignment]
        self._remember(held)
        self._tell(assignment, before, after)
        final = [record for rows in after.values() for record in rows]
        self._journal.set_class(assignment, final, whole=True)
        self._keep(assignment, final)

    def _remember(self, held: Mapping[str, Sequence[str]]) -> None:
        self._journal.remember(_HELD, json.dumps(held, ensure_ascii=False))

    def _keep(self, assignment: str, records: Sequence[Record]) -> None:
        if self._records is not None:
            self._records[assignment] = records

    def _grades(self, assignment: str, rows: Rows) -> dict[Identity, StudentGrades]:
        """All grades: from these results for one assignment, from the journal's current results for the others."""
        if self._records is None:
            self._records = {name: self._journal.attempts(name) for name in self._journal.assignments()}
        records = self._records | {assignment: [record for several in rows.values() for record in several]}
        classes = {name: (self._assignments[name], several) for name, several in records.items()}
        return {
            identity(one.student, is_matched=one.is_matched): one
            for one in compute_grades(classes, self._course, self._now, self._people)
        }

    def _held_back(self, assignment: str, before: Rows, after: Rows) -> Rows:
        """The results, but with the old ones for everybody whose grade would be lower."""
        parts = [part for part in _parts(before, after) if part.changes(before, after)]
        if not parts:
            return after
        was = self._grades(assignment, before)
        told: dict[Identity, Change] = {}
        final = after
        while True:
            will = self._grades(assignment, final)
            lowered = {who: one for who in was if (one := self._lowered(assignment, was[who], will.get(who), final))}
            if lowered.keys() <= told.keys():
                break
            told = lowered | told
            for part in parts:
                final = part.without(told.keys(), before, after, final)
        self.held += told.values()
        return final

    def _lowered(self, assignment: str, was: StudentGrades, will: StudentGrades | None, after: Rows) -> Change | None:
        old, new = was.assignments[assignment], will.assignments[assignment] if will else None
        if old.points is None or (new and new.points is not None and new.points > old.points - _LEAST):
            return None
        if new is None and all(
            any(one.status != MISSING for one in after.get(record.folder, ())) for record in old.attempts
        ):
            return None  # it belongs to someone else now, or the student was renamed
        one, other = old.record, new.record if new else None
        if one and other and one.folder == other.folder:
            if other.regrade > one.regrade:
                return None
            if one.run == other.run and one.provenance.scoring != other.provenance.scoring:
                return None
        points = new.points if new else None
        return Change(assignment, was.student.name, one.folder if one else "", old.points, points, _why(one, other))

    def _tell(self, assignment: str, before: Rows, after: Rows) -> None:
        """Records each student whose grade changes."""
        if {key: _keys(rows) for key, rows in before.items()} == {key: _keys(rows) for key, rows in after.items()}:
            return
        was, will = self._grades(assignment, before), self._grades(assignment, after)
        for who, one in was.items():
            old = one.assignments[assignment]
            new = will[who].assignments[assignment] if who in will else None
            points = new.points if new else None
            if new is None and old.record and old.record.folder in after:
                continue  # it belongs to someone else now
            if old.points is None or old.points == points or (old.record is None or old.record.status == MISSING):
                continue
            folder = old.record.folder
            why = _why(old.record, new.record if new else None)
            self.changed.append(Change(assignment, one.student.name, folder, old.points, points, why))


def held_folders(journal: Journal) -> dict[str, list[str]]:
    """Maps each assignment to the folders whose grade the last runs kept because the new one is lower."""
    text = journal.recall(_HELD)
    return {str(name): list(map(str, folders)) for name, folders in json.loads(text).items()} if text else {}


def _rows(records: Iterable[Record]) -> Rows:
    rows: Rows = {}
    for record in records:
        rows[record.folder] = (*rows.get(record.folder, ()), record)
    return rows


def _keys(rows: Iterable[Record]) -> list[object]:
    return [(one.key, one.handed, one.student) for one in rows]


def _why(old: Record | None, new: Record | None) -> str:
    """Why the grade changed, in words."""
    if new is None or new.status == MISSING:
        return "not in this download"
    if new.status == NOT_GRADED:
        return "the harness failed"
    if old is None:
        return "handed in"
    if old.provenance.submission != new.provenance.submission:
        return "handed in again"
    if causes := differences(old.provenance, new.provenance):
        return f"{joined(causes)} changed"
    return "its hand-in time changed" if old.handed.at != new.handed.at else "handed in again"


@dataclass(frozen=True)
class _Part:
    """Folders that change together: earlier hand-ins and their replacements."""

    folders: frozenset[str]

    def changes(self, before: Rows, after: Rows) -> bool:
        return any(_keys(before.get(one, ())) != _keys(after.get(one, ())) for one in self.folders)

    def without(self, people: Set[Identity], before: Rows, after: Rows, final: Rows) -> Rows:
        """`final` with the old results for these people and the new ones for all others."""
        own: Rows = {}
        for folder in self.folders:
            old = [row for one in before.get(folder, ()) if (row := _of(one, lambda who: who in people))]
            new = [row for one in after.get(folder, ()) if (row := _of(one, lambda who: who not in people))]
            if old and new:  # a team's folder, where only some members keep the old result
                last = max(one.handed.number for one in old)
                new = [replace(one, handed=replace(one.handed, number=one.handed.number + last)) for one in new]
            if old or new:
                own[folder] = (*old, *new)
        return {folder: rows for folder, rows in final.items() if folder not in self.folders} | own


def _of(record: Record, is_meant: Callable[[Identity], bool]) -> Record | None:
    """The record reduced to the students for whom `is_meant` holds; None if there are none."""
    handed = record.handed
    members = handed.group or (record.student,)
    some = tuple(one for one in members if is_meant(identity(one, is_matched=handed.is_matched)))
    if len(some) == len(members) or not some:
        return record if some else None
    alone = len(some) == 1
    return replace(
        record, student=some[0] if alone else record.student, handed=replace(handed, group=() if alone else some)
    )


def _parts(before: Rows, after: Rows) -> list[_Part]:
    """Folders grouped by student: those that one student submitted under different names belong together."""
    part_of = {folder: {folder} for folder in (*before, *after)}
    people = {
        folder: {who for record in rows for who in people_of(record.student, record.handed)}
        for folder, rows in (*before.items(), *after.items())
    }
    gone = [folder for folder in before if folder not in after]
    new_of: dict[Identity, list[str]] = {}
    for folder in after:
        for who in people[folder]:
            new_of.setdefault(who, []).append(folder)
    for folder in gone:
        for who in people[folder]:
            for other in new_of.get(who, ()):
                both = part_of[folder] | part_of[other]
                for one in both:
                    part_of[one] = both
    return [_Part(one) for one in dict.fromkeys(frozenset(several) for several in part_of.values())]
