"""The class index for staff: students × assignments first, then costly criteria, failing tests and slow submissions."""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from jinja2 import Environment

from grader.base.files import write_atomic
from grader.course.grades import StudentGrades
from grader.model.assignment import Assignment
from grader.model.verdicts import place
from grader.pages.class_notices import missing_everywhere, notices, unmatched
from grader.pages.class_statistics import ClassStatistics, counted_records, histogram
from grader.pages.class_view import make_rows, to_see
from grader.pages.look_first import look_first
from grader.pages.similar import PAGE

INDEX = "index.html"
_SCRIPT = "index.js"
_MOST_FIRST = 3
_MOST_NOTICES = 200
_MOST_TESTS = 60  # failing tests listed per assignment
_MOST_NAMED = 60
_MOST_SPOTS = 300  # per notice


def content_policy(script: str) -> str:
    """The page's content security policy: run this one script, fetch nothing."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; base-uri 'none'; "
        "form-action 'none'"
    )


def write_index(
    environment: Environment,
    out: Path,
    assignments: Mapping[str, Assignment],
    grades: Sequence[StudentGrades],
    unmade: Mapping[tuple[str, str], str],
    *,
    has_board: bool,
    held: Sequence[tuple[str, str]] = (),
) -> Path:
    """Writes the index and returns its path; `unmade` maps assignment and folder to why a card could not be made.

    `held` lists the assignments and folders whose old grades were kept.
    """
    rows = make_rows(assignments, grades)
    statistics = ClassStatistics(assignments)
    for name in assignments:
        for record in counted_records(grades, name):
            statistics.add(record)
    script = (environment.loader.get_source(environment, _SCRIPT)[0] if environment.loader else "").strip()
    found = notices(assignments, grades, unmade)
    missing = missing_everywhere(grades)
    by_criterion = statistics.costs_by_criterion()
    text = environment.get_template("index.html.j2").render(
        assignments=list(assignments.values()),
        extra={name for one in grades for name, grade in one.assignments.items() if grade.is_extra},
        first=look_first(assignments, grades, held),
        rows=rows,
        sections=sorted({row.section for row in rows if row.section}, key=str.casefold),
        verdicts=sorted({cell.verdict for row in rows for cell in row.cells}, key=place),
        marks=sorted({mark.sign[0] for row in rows for cell in row.cells for mark in cell.marks}),
        unmatched=unmatched(grades),
        missing=missing[:_MOST_NAMED],
        more_missing=max(0, len(missing) - _MOST_NAMED),
        notices=found[:_MOST_NOTICES],
        more_notices=max(0, len(found) - _MOST_NOTICES),
        histograms=[histogram(assignment, grades) for assignment in assignments.values()],
        by_criterion=by_criterion,
        reteach=by_criterion[:_MOST_FIRST],
        to_see=to_see(rows, _MOST_FIRST),
        by_fault=statistics.costs_by_fault(),
        criteria=statistics.criteria,
        tests={name: statistics.tests(name) for name in assignments},
        most_tests=_MOST_TESTS,
        most_spots=_MOST_SPOTS,
        slowest=statistics.slowest(),
        has_board=has_board,
        similar=PAGE,
        script=script,
        policy=content_policy(script),
    )
    path = out / INDEX
    write_atomic(path, text)
    return path
