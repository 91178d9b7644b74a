"""Identifies students: across assignments, and when a person names one in a file."""

import difflib
from collections.abc import Iterable, Sequence

from grader.base.cells import plain_cell
from grader.base.errors import GraderError
from grader.base.names import shown, tokens
from grader.model.roster import Student

Identity = tuple[bool, str, str]
_MOST_NAMED = 3


def identity(student: Student, *, is_matched: bool) -> Identity:
    """The key that is equal for records of the same student: the id, else e-mail, login, name with platform number.

    Moodle's number differs by assignment, so it identifies nobody by itself. Somebody not on the roster is never
    identified with somebody who is.
    """
    for kind in ("sid", "email", "login"):
        value: str = getattr(student, kind)
        if value:
            return is_matched, kind, value.casefold()
    return is_matched, student.platform_id, student.name


def known_best(students: Iterable[Student]) -> Student:
    """Picks the most complete of several records of one student: later rosters may say more."""
    return max(students, key=lambda one: (sum(map(bool, vars(one).values())), repr(one)))


def resolve(named: str, students: Sequence[Student], where: str) -> Student:
    """The student whose id, platform number, e-mail, login or name is `named`; GraderError unless exactly one."""
    plain = plain_cell(named.strip()).casefold()  # plain, or copied from gradebook.csv
    words = tokens(named)
    found = [
        student
        for student in students
        if plain and (plain in _keys(student) or (bool(words) and words in _names(student)))
    ]
    if len(found) == 1:
        return found[0]
    if found:
        listed = "; ".join(_described(student) for student in found[:_MOST_NAMED])
        raise GraderError(
            f'{where}: "{shown(named)}" fits {len(found)} students: {listed}.\nWrite the id or the e-mail address'
        )
    raise GraderError(f'{where}: no student is "{shown(named)}"{_nearest(named, students)}')


def _keys(student: Student) -> set[str]:
    keys = (student.sid, student.platform_id, student.email, student.login, student.name, student.folder)
    return {key.casefold() for key in keys if key}


def _names(student: Student) -> list[frozenset[str]]:
    return [tokens(name) for name in (student.name, *student.other_names.split("|")) if name]


def _described(student: Student) -> str:
    more = student.sid or student.email or student.login
    return f"{student.name} ({more})" if more else student.name


def _nearest(named: str, students: Sequence[Student]) -> str:
    if not students:
        return ".\nThere are no students yet: grade first"
    spellings: dict[str, Student] = {}
    for student in students:
        for key in (*_keys(student), " ".join(sorted(tokens(student.name)))):
            spellings.setdefault(key, student)
    plain = named.strip().casefold()
    sought = (plain, " ".join(sorted(tokens(named))))
    near = [key for one in sought for key in difflib.get_close_matches(one, spellings, n=_MOST_NAMED)]
    found = list(dict.fromkeys(_described(spellings[key]) for key in near))[:_MOST_NAMED]
    return f"; nearest: {'; '.join(found)}" if found else ".\nWrite the id, the e-mail address, the login or the name"
