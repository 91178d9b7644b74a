"""Results under real names or under aliases, so that whoever reads them doesn't know whose they are.

The journal has names, and grades are computed with them. Pages and commands show data through a `View`: `Named` changes
nothing, `Anonymous` replaces names, ids, addresses and folders by aliases, and sorts by alias instead of by name.
names.csv maps aliases to names.
"""

import ast
import re
import shlex
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Protocol

from grader.base.names import tokens
from grader.base.secret import Secret
from grader.base.tokens import PYTHON_QUOTED, QUOTED
from grader.course.adjustments import Adjustment
from grader.course.aliases import made_up, salt_of
from grader.course.grades import AssignmentGrade, StudentGrades
from grader.course.people import Identity, identity, known_best
from grader.model.discovery import Submission
from grader.model.handed import Handed
from grader.model.record import Record
from grader.model.result import SuiteResult
from grader.model.roster import Student
from grader.running.store import Journal

_ANONYMOUS = "anonymous"  # key in the journal
_SHORTEST = 3  # shorter parts of a name occur in too many other words
_FEW = 3
_LOST = "…"
_PART = re.compile(r"[^\W_]+")
# Comments (with lines joined by a backslash) and strings. Either may name a person; in code a name may be a keyword, so
# code stays. An unterminated one extends to the end.
_CONTINUED = r"//(?:[^\\\n]+|\\[ \t\r\f\v]*\n|\\)* | /\*(?:[^*]+|\*(?!/))*(?:\*/)?"
_NO_CODE = re.compile(rf"{_CONTINUED} | {QUOTED}", re.VERBOSE)
_NO_PYTHON = re.compile(rf"\#[^\n]* | {PYTHON_QUOTED}", re.VERBOSE)
_LIKE_PYTHON = re.compile(r"^[ \t]*(?:from[ \t]+\S+[ \t]+import|import[ \t]|def[ \t]+\w+[ \t]*\()", re.MULTILINE)
_LIKE_CPP = re.compile(r"^[ \t]*\#[ \t]*include\b|[;{}][ \t]*$", re.MULTILINE)
Owner = tuple[str, Student, Handed]  # the owner of a folder
Row = tuple[str, str, str, str, str]


class View(Protocol):
    """Shows results under names or under aliases."""

    is_anonymous: bool

    def folder(self, folder: str) -> str:
        """The displayed name of a folder."""

    def real(self, name: str) -> str:
        """The real folder with this displayed name."""

    def record(self, record: Record) -> Record:
        """The record in displayed form."""

    def records(self, records: Iterable[Record]) -> list[Record]:
        """An assignment's results, in an order that reveals nothing."""

    def grades(self, grades: Sequence[StudentGrades]) -> list[StudentGrades]:
        """All students' grades, in an order that reveals nothing."""

    def submissions(self, submissions: Sequence[Submission]) -> list[Submission]:
        """The submissions under their real names, in an order that reveals nothing."""


class Named:
    """Shows everything unchanged."""

    is_anonymous = False

    def folder(self, folder: str) -> str:
        """Unchanged."""
        return folder

    def real(self, name: str) -> str:
        """Unchanged."""
        return name

    def record(self, record: Record) -> Record:
        """Unchanged."""
        return record

    def records(self, records: Iterable[Record]) -> list[Record]:
        """Unchanged."""
        return list(records)

    def grades(self, grades: Sequence[StudentGrades]) -> list[StudentGrades]:
        """Unchanged."""
        return list(grades)

    def submissions(self, submissions: Sequence[Submission]) -> list[Submission]:
        """Unchanged."""
        return list(submissions)


class Anonymous:
    """Shows aliases everywhere."""

    is_anonymous = True

    def __init__(self, owners: Iterable[Owner], salt: str) -> None:
        """`owners` lists every folder with its students; `salt` makes aliases unpredictable."""
        self._salt = salt
        self._versions: dict[Identity, list[Student]] = {}
        self._folders: dict[str, set[Identity]] = {}
        folders_of: dict[Identity, set[str]] = {}
        people: dict[str, set[Student]] = {}
        for folder, student, handed in owners:
            for one in (student, *handed.group):
                self._versions.setdefault(identity(one, is_matched=handed.is_matched), []).append(one)
            who = identity(student, is_matched=handed.is_matched)
            self._folders.setdefault(folder, set()).add(who)
            folders_of.setdefault(who, set()).add(folder)
            people.setdefault(folder, set()).update((student, *handed.group))
        self._aliases = self._make_aliases()
        self._called = {
            folder: self._aliases[next(iter(theirs))]
            if len(theirs) == 1 and len(folders_of[next(iter(theirs))]) == 1
            else self._made_up(f"folder {folder}")
            for folder, theirs in self._folders.items()
        }
        self._real = {called: folder for folder, called in self._called.items()}
        words = {folder: _words(folder, theirs) for folder, theirs in people.items()}
        often = Counter(word for theirs in words.values() for word in theirs)
        # A word in most folders, such as the assignment's name, identifies nobody.
        common = {word for word, count in often.items() if count > _FEW and 2 * count > len(words)}
        self._words = {folder: _pattern(theirs - common) for folder, theirs in words.items()}
        self._file_names = {folder: _pattern(theirs - common, within=r"\S{0,80}") for folder, theirs in words.items()}

    def _make_aliases(self) -> dict[Identity, str]:
        """The roster's alias if it is unique and contains no part of a name; else a made-up one."""
        own = {who: known_best(several).alias for who, several in self._versions.items()}
        count: dict[str, int] = {}
        for alias in own.values():
            count[alias.casefold()] = count.get(alias.casefold(), 0) + 1
        return {
            who: alias
            if alias and count[alias.casefold()] == 1 and not any(_tells(alias, one) for one in self._versions[who])
            else self._made_up(repr(who))
            for who, alias in own.items()
        }

    def _made_up(self, text: str) -> str:
        return made_up(self._salt, text)

    def _student(self, student: Student, *, is_matched: bool) -> Student:
        who = identity(student, is_matched=is_matched)
        alias = self._aliases.get(who) or self._made_up(repr(who))
        return Student(name=alias, alias=alias)

    def folder(self, folder: str) -> str:
        """Its owner's alias, or a separate one if the owner has several folders."""
        return self._called.get(folder) or self._made_up(f"folder {folder}")

    def real(self, name: str) -> str:
        """The folder of an alias; any other name is returned unchanged."""
        return self._real.get(name, name)

    def record(self, record: Record) -> Record:
        """A result under an alias, with its owner's names removed from messages and comments in the file."""
        folder, handed = record.folder, record.handed
        is_matched = handed.is_matched
        return replace(
            record,
            folder=self.folder(folder),
            student=self._student(record.student, is_matched=is_matched),
            handed=replace(
                handed,
                group=tuple(self._student(one, is_matched=is_matched) for one in handed.group),
                platform_id="",
                origin="",
                nearest=(),
                unused=(),
            ),
            message=self._message(folder, record),
            reason=self._clean(folder, record.reason),
            source=_no_code_of(record.source).sub(lambda found: self._clean(folder, found[0]), record.source),
            result=record.result and self._result(folder, record.result),
            provenance=replace(record.provenance, command=self._command(folder, record.provenance.command)),
        )

    def _message(self, folder: str, record: Record) -> str:
        """The message without names; if there is no source, it lists the student's files: their names go too."""
        if record.source or folder not in self._file_names:
            return self._clean(folder, record.message)
        return self._file_names[folder].sub(_LOST, record.message)  # parses names to hide

    def _result(self, folder: str, result: SuiteResult) -> SuiteResult:
        """The program's output may contain its author's name."""
        tests = (
            replace(
                test.with_texts(lambda text: self._clean(folder, text)),
                output=self._clean(folder, test.output),
                launches=(),
            )
            for test in result.tests
        )
        return replace(result, tests=tuple(tests))

    def _command(self, folder: str, command: str) -> str:
        words = [self.folder(folder) if word == folder else self._clean(folder, word) for word in shlex.split(command)]
        return shlex.join(words)

    def _clean(self, folder: str, text: str) -> str:
        """The text without the folder's name and its owners' names."""
        pattern = self._words.get(folder)
        return pattern.sub(_LOST, text) if pattern and text else text

    def records(self, records: Iterable[Record]) -> list[Record]:
        """Results by alias, a folder's attempts in order."""
        return sorted(map(self.record, records), key=lambda one: (one.folder, one.handed.number))

    def grades(self, grades: Sequence[StudentGrades]) -> list[StudentGrades]:
        """Grades under aliases, sorted by alias, unmatched ones last."""
        shown = map(self._grades, grades)
        return sorted(shown, key=lambda one: (not one.is_matched, one.student.name))

    def _grades(self, grades: StudentGrades) -> StudentGrades:
        versions = self._versions.get(identity(grades.student, is_matched=grades.is_matched), [grades.student])
        words = _pattern(_words("", versions))
        return replace(
            grades,
            student=self._student(grades.student, is_matched=grades.is_matched),
            assignments={name: self._grade(grade, words) for name, grade in grades.assignments.items()},
            adjustments=tuple(_adjustment(one, words) for one in grades.adjustments),
            steps=tuple(words.sub(_LOST, step) for step in grades.steps),
        )

    def _grade(self, grade: AssignmentGrade, words: re.Pattern[str]) -> AssignmentGrade:
        attempts = tuple(map(self.record, grade.attempts))
        flags = []
        for flag in grade.flags:
            for folder in dict.fromkeys(one.folder for one in grade.attempts):
                flag = re.sub(rf"(?<!\w){re.escape(folder)}(?!\w)", self.folder(folder), flag)  # noqa: PLW2901
            flags.append(words.sub(_LOST, flag))
        return replace(
            grade,
            record=attempts[grade.attempts.index(grade.record)] if grade.record else None,
            attempts=attempts,
            adjustments=tuple(_adjustment(one, words) for one in grade.adjustments),
            steps=tuple(words.sub(_LOST, step) for step in grade.steps),
            flags=tuple(flags),
        )

    def submissions(self, submissions: Sequence[Submission]) -> list[Submission]:
        """Sorts by alias: times reveal the grading order, so it must not be the roster's."""
        return sorted(submissions, key=lambda one: (self.folder(one.folder), one.handed.number))

    def names(self) -> list[Row]:
        """Rows sorted by alias: alias, name, id, e-mail address, folder."""
        rows: dict[Row, None] = {}
        for folder, owners in self._folders.items():
            for who in owners:
                student = known_best(self._versions[who])
                for alias in (self._aliases[who], self.folder(folder)):
                    rows[alias, student.name, student.sid, student.email, folder] = None
        named = {row[1:4] for row in rows}
        for who, several in self._versions.items():  # members of teams share a folder
            student = known_best(several)
            if (student.name, student.sid, student.email) not in named:
                rows[self._aliases[who], student.name, student.sid, student.email, ""] = None
        return sorted(rows)


def view_of(journal: Journal, submissions: Iterable[Submission] = ()) -> View:
    """The view for a journal's results and for submissions about to be graded."""
    if not is_anonymous(journal):
        return Named()
    now = [(one.folder, one.student, one.handed) for one in submissions]
    folders = {folder for folder, _, _ in now}
    before = [owner for owner in journal.owners() if owner[0] not in folders]
    return Anonymous([*before, *now], salt_of(journal))


def is_anonymous(journal: Journal) -> bool:
    """Whether results are shown under aliases."""
    return bool(journal.recall(_ANONYMOUS))


def remember_view(journal: Journal, anonymous: bool | None, secret: Secret | None = None) -> None:
    """Shows results under aliases or names from now on (None: as before). A new salt is derived from `secret`."""
    salt_of(journal, secret)
    if anonymous is None:
        return
    journal.remember(_ANONYMOUS, "yes" if anonymous else "")


def _no_code_of(source: str) -> re.Pattern[str]:
    """The pattern for comments and strings in the source's language."""
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        is_python = bool(_LIKE_PYTHON.search(source)) and not _LIKE_CPP.search(source)
    else:
        is_python = True
    return _NO_PYTHON if is_python else _NO_CODE


def _adjustment(one: Adjustment, words: re.Pattern[str]) -> Adjustment:
    return replace(one, student="", reason=words.sub(_LOST, one.reason))


def _tells(alias: str, student: Student) -> bool:
    """Whether an alias contains part of the student's name, id or address."""
    address = student.email.partition("@")[0]
    parts = tokens(f"{student.name} {student.other_names} {address} {student.login} {student.sid}")
    plain = "".join(sorted(tokens(alias)))
    return any(len(part) >= _SHORTEST and part in plain for part in parts) or bool(tokens(alias) & parts)


def _words(folder: str, students: Iterable[Student]) -> set[str]:
    """The folder's name and its owners' names, ids, addresses and logins, in lower case, whole and in parts."""
    found = {folder}
    for one in students:
        found |= {one.name, one.sid, one.email, one.login, one.folder, one.platform_id, *one.other_names.split("|")}
        found |= set(_PART.findall(f"{one.name} {one.other_names}"))
    plain = {"".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c)) for word in found}
    return {word.casefold() for word in found | plain if len(word) >= _SHORTEST}


def _pattern(words: Iterable[str], *, within: str = "") -> re.Pattern[str]:
    """Matches the words if no letter or digit is next to them, or anywhere in a match of `within`."""
    longest_first = sorted(map(re.escape, words), key=lambda word: (-len(word), word))
    before, after = (within, within) if within else (r"(?<![^\W_])", r"(?![^\W_])")
    return re.compile(f"{before}(?:{'|'.join(longest_first)}){after}" if longest_first else "(?!)", re.IGNORECASE)
