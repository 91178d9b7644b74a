"""Extensions of deadlines: from course.toml and the roster, and the due date they give a student."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo

from grader.base.errors import GraderError
from grader.base.schema import SchemaError
from grader.course.amounts import Span, after, read_moment, read_span
from grader.course.policy import Policy, check_assignment

EVERY = ""  # key for extensions of all assignments
Extension = Mapping[str, Span | datetime]  # by assignment
_ENTRY = re.compile(r"([\w-]+)\s*:\s*(.+)", re.DOTALL)


def read_extension(text: str, where: str, known: Sequence[str], zone: tzinfo) -> Extension:
    """Reads "2 days", "2026-11-05 23:59", "04_reduction: 3 days; 05_scan: 12 hours"; raises GraderError."""
    found: dict[str, Span | datetime] = {}
    try:
        for entry in (part.strip() for part in text.split(";")):
            if not entry:
                continue
            named = _ENTRY.fullmatch(entry)
            assignment, value = (named[1], named[2]) if named and not entry[:4].isdecimal() else (EVERY, entry)
            if assignment:
                check_assignment(assignment, known, where)
            if assignment in found:
                raise GraderError(f"{where}: {assignment or 'the whole course'} is there twice")
            found[assignment] = read_moment(value, zone, where) if value[:4].isdecimal() else read_span(value, where)
    except SchemaError as error:
        raise GraderError(str(error)) from error
    return found


def due_for(policy: Policy, assignment: str, extensions: Sequence[Extension]) -> datetime | None:
    """An assignment's due date for a student: the longest of these extensions applies. None: no deadline."""
    deadline = policy.of(assignment).deadline
    if deadline is None:
        return None
    moments = [deadline]
    for extension in extensions:
        more = extension.get(assignment, extension.get(EVERY))
        if more is not None:
            moments.append(after(deadline, more, policy.zone) if isinstance(more, Span) else more)
    return max(moments)
