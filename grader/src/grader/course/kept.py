"""Merges a download with earlier submissions: the download's files take precedence, and students not in it stay.

Platforms can export only the new hand-ins, so a student's absence from a download means nothing. Earlier submissions
are graded with the rest of the class from the files in the journal, at no cost unless something changed.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from grader.base.files import sha256_bytes
from grader.course.people import Identity, identity
from grader.intake.handin import Who
from grader.intake.matching import Matcher
from grader.model.discovery import Submission
from grader.model.handed import Handed
from grader.model.record import MISSING, Record
from grader.model.roster import Student
from grader.running.store import Journal

One = TypeVar("One", Record, Submission)


@dataclass(frozen=True)
class Merged:
    """The hand-ins of one assignment: those in the download and earlier ones.

    `submissions` are to be graded; `fixed` are results whose files the journal doesn't have byte for byte, and stay
    unchanged. `before` are outlines of all results in force, under current names. The others are folders: `new`,
    `again` (handed in again), `kept` (not in the download), or dropped at a person's request.
    """

    submissions: list[Submission]
    fixed: tuple[Record, ...] = ()
    before: tuple[Record, ...] = ()
    new: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()

    @property
    def graded_before(self) -> int:
        """How many folders held graded work before this run."""
        return len({one.folder for one in self.before if one.status != MISSING})


def people_of(student: Student, handed: Handed) -> frozenset[Identity]:
    """The students of a hand-in: one, or all members of a team."""
    return frozenset(identity(one, is_matched=handed.is_matched) for one in handed.group or (student,))


def merge(
    journal: Journal,
    assignment: str,
    found: list[Submission],
    roster: Sequence[Student],
    *,
    replace_all: bool,
    best_counts: bool,
    left_out: Collection[str] = (),
) -> Merged:
    """What to grade of an assignment; `found` is what the download has of it.

    `roster` is the current one: students graded without one are looked up in it. With `replace_all` the download is the
    whole class. With `best_counts` files of earlier downloads stay attempts of their own. `left_out` are folders that
    a person excluded.
    """
    names = _Names(roster)
    before = tuple(names.now(one) for one in journal.attempts(assignment) if one.folder not in left_out)
    old = _by_folder([one for one in before if one.status != MISSING])
    now = _by_folder([one for one in found if _is_handed_in(one)])
    merged = Merged(
        found,
        before=before,
        new=tuple(folder for folder in now if folder not in old),
        again=tuple(folder for folder, several in now.items() if folder in old and _differ(old[folder], several)),
    )
    if replace_all or not before:
        return replace(merged, dropped=tuple(folder for folder in old if folder not in now))
    present = {who for several in now.values() for one in several for who in people_of(one.student, one.handed)}
    kept = [
        folder
        for folder, records in old.items()
        if folder not in now and (best_counts or not people_of(records[0].student, records[0].handed) <= present)
    ]
    own = {who for folder in kept for who in people_of(old[folder][0].student, old[folder][0].handed)}
    submissions = [
        one
        for one in found
        if _is_handed_in(one) or not (one.folder in old or people_of(one.student, one.handed) <= own | present)
    ]
    if best_counts:
        submissions = _with_earlier(journal, old, submissions)
    fixed: list[Record] = []
    for record in [*(record for folder in kept for record in old[folder]), *_without(before, found, own, roster)]:
        again = _submission(journal, record)
        if again is None:
            fixed.append(record)
        else:
            submissions.append(again)
    return replace(merged, submissions=submissions, fixed=tuple(fixed), kept=tuple(kept))


def _by_folder(several: Iterable[One]) -> dict[str, list[One]]:
    folders: dict[str, list[One]] = {}
    for one in several:
        folders.setdefault(one.folder, []).append(one)
    return folders


def _is_handed_in(one: Submission) -> bool:
    return one.source is not None or one.refused


def _differ(records: Sequence[Record], submissions: Sequence[Submission]) -> bool:
    """Whether one of a folder's files is new."""
    known = {record.provenance.submission for record in records}
    return any(one.source is not None and sha256_bytes(one.source) not in known for one in submissions)


def _with_earlier(journal: Journal, old: dict[str, list[Record]], found: list[Submission]) -> list[Submission]:
    """The submissions, preceded by attempts of earlier downloads with other files."""
    submissions: list[Submission] = []
    for folder, several in _by_folder(found).items():
        files = {sha256_bytes(one.source) for one in several if one.source is not None}
        records = [one for one in old.get(folder, ()) if one.provenance.submission not in files]
        earlier = [one for record in records if (one := _submission(journal, record)) and one.source is not None]
        if not any(map(_is_handed_in, several)):
            earlier = []
        for number, one in enumerate([*earlier, *several], 1):
            submissions.append(replace(one, handed=replace(one.handed, number=number)) if earlier else one)
    return submissions


def _without(
    before: Sequence[Record], found: Sequence[Submission], own: Iterable[Identity], roster: Sequence[Student]
) -> list[Record]:
    """Earlier records of students who handed in nothing and are not in `found` or `own`; none if there is a roster."""
    if roster:
        return []
    folders = {one.folder for one in found}
    known = {who for one in found for who in people_of(one.student, one.handed)} | set(own)
    missing = [one for one in before if one.status == MISSING and one.folder not in folders]
    return [one for one in missing if not people_of(one.student, one.handed) <= known]


def _submission(journal: Journal, record: Record) -> Submission | None:
    """The submission of a result; None if its file is not in the journal byte for byte."""
    if not record.provenance.submission:
        refused = record.status != MISSING
        problem = _whole(journal, record).message
        return Submission(record.folder, record.student, None, problem, refused, record.handed)
    source = _whole(journal, record).source.encode()
    if sha256_bytes(source) != record.provenance.submission:
        return None
    return Submission(record.folder, record.student, source, handed=record.handed)


def _whole(journal: Journal, record: Record) -> Record:
    return journal.whole(record.assignment, record.folder, record.handed.number)


class _Names:
    """Results under current names: the roster may have been added or extended since they were made."""

    def __init__(self, roster: Sequence[Student]) -> None:
        self._matcher = Matcher(roster)

    def now(self, record: Record) -> Record:
        """The record with the roster's current students; unchanged if it has none of them, or there is no roster."""
        if not self._matcher.roster:
            return record
        members = record.handed.group or (record.student,)
        found = [self._found(one) for one in members]
        if not all(found):
            return record
        students = tuple(dict.fromkeys(one for one in found if one is not None))
        handed = replace(record.handed, is_matched=True, nearest=(), group=students if record.handed.group else ())
        return replace(record, student=record.student if record.handed.group else students[0], handed=handed)

    def _found(self, student: Student) -> Student | None:
        logins = (student.login,) if student.login else ()
        # A platform's number may differ by assignment, so it identifies a student only if nothing else does.
        number = "" if student.sid or student.email or student.login else student.platform_id
        return self._matcher.find(Who(student.name, student.name, student.sid, student.email, logins, number))
