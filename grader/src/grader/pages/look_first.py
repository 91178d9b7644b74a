"""The most urgent things in a class of any size: one line per kind, with a few names."""

from collections.abc import Callable, Iterable, Sequence

from grader.base.counted import counted, listed
from grader.course.grades import ABSENT, OPEN, AssignmentGrade, StudentGrades

_NAMES = 3
_FLAG_WORDS = 90  # characters shown of a flag
_Found = tuple[str, AssignmentGrade]


def look_first(
    assignments: Iterable[str], grades: Sequence[StudentGrades], held: Sequence[tuple[str, str]] = ()
) -> list[str]:
    """At most nine sentences, the most urgent first; empty if nothing needs attention.

    `held` lists the assignments and folders whose grades were kept because new ones would be lower.
    """
    names = list(assignments)
    found = [(one.student.name, grade) for one in grades for name, grade in one.assignments.items() if name in names]
    there = [(name, grade) for name, grade in found if grade.status != ABSENT]
    lines = [
        _held(there, held),
        _named("not graded yet, because the harness failed", there, lambda one: one.status == OPEN),
        *_times(names, there),
        _named(
            "marked late by the platform, without a time or a deadline: nothing was taken off",
            there,
            _is_marked,
        ),
        _people("handed in and not on the roster", [one.student.name for one in grades if not one.is_matched]),
        _named("rejected", there, lambda one: one.verdict == "REJECTED"),
        _named("with a time to be measured again", there, _is_open),
        _people("with nothing handed in at all", _empty_handed(grades)),
        _flags(there),
    ]
    return [line for line in lines if line]


def _held(there: Sequence[_Found], held: Sequence[tuple[str, str]]) -> str:
    both = set(held)
    own = [name for name, grade in there if any((grade.assignment, one.folder) in both for one in grade.attempts)]
    if not own:
        return ""
    return f"{counted(len(own), 'grade')} would be lower, and wait for --replace: {listed(own, _NAMES)}"


def _is_marked(grade: AssignmentGrade) -> bool:
    record = grade.record
    return bool(record and record.handed.late and not grade.late_seconds and (not grade.due or not record.handed.at))


def _is_open(grade: AssignmentGrade) -> bool:
    return bool(grade.record and grade.record.result and not grade.record.result.is_conclusive)


def _times(assignments: Sequence[str], there: Sequence[_Found]) -> Iterable[str]:
    """One line for all hand-ins with unknown times."""
    parts = []
    for name in assignments:
        own = [grade for _, grade in there if grade.assignment == name]
        unknown = sum(grade.is_time_unknown for grade in own)
        if unknown:
            parts.append(f"{unknown} of {len(own)} in {name}")
    if parts:
        yield (
            f"Hand-in times are not known: {listed(parts, 4)}. Lateness is not counted there: write them into times.csv"
        )


def _empty_handed(grades: Sequence[StudentGrades]) -> list[str]:
    return [
        one.student.name
        for one in grades
        if one.is_matched and one.assignments and all(grade.status == ABSENT for grade in one.assignments.values())
    ]


def _named(what: str, found: Sequence[_Found], is_so: Callable[[AssignmentGrade], bool]) -> str:
    names = [name for name, grade in found if is_so(grade)]
    return f"{counted(len(names), 'submission')} {what}: {listed(list(dict.fromkeys(names)), _NAMES)}" if names else ""


def _people(what: str, names: Sequence[str]) -> str:
    return f"{counted(len(names), 'student')} {what}: {listed(names, _NAMES)}" if names else ""


def _flags(there: Sequence[_Found]) -> str:
    """Flags that no other line mentions."""
    flagged = [(name, flag) for name, grade in there for flag in grade.flags if not flag.startswith("The platform")]
    if not flagged:
        return ""
    name, flag = flagged[0]
    more = f" and {len(flagged) - 1} more" if len(flagged) > 1 else ""
    cut = f"{flag[:_FLAG_WORDS]}…" if len(flag) > _FLAG_WORDS else flag
    return f"{counted(len(flagged), 'flag')}: {name}: {cut}{more}"
