"""A class's results as Gradescope's results.json: a folder for each submission that counts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.base.files import write_atomic
from grader.base.names import slug
from grader.course.grades import StudentGrades
from grader.exports.gradescope import RESULTS, results, results_text
from grader.model.assignment import Assignment
from grader.model.record import Record


@dataclass(frozen=True)
class Written:
    """The files written, and the submissions without one: missing, excused, or not graded."""

    files: tuple[Path, ...]
    left_out: tuple[Record, ...]


def write_gradescope(
    assignment: Assignment,
    grades: Sequence[StudentGrades],
    out: Path,
    whole: Callable[[Record], Record],
    *,
    points: float | None = None,
) -> Written:
    """Writes `out`/FOLDER/results.json for every submission that counts; a team has one.

    Grades have only outlines of records: `whole` returns the full record.
    """
    files: dict[str, Path] = {}
    left_out: dict[str, Record] = {}
    for student in grades:
        grade = student.assignments.get(assignment.id)
        if grade is None or grade.record is None or grade.record.folder in files:
            continue
        document = None
        if grade.points is not None:  # neither excused nor without a score
            changed = None if grade.points == grade.earned else grade.points
            document = results(
                assignment, whole(grade.record), points=points, counted_points=changed, steps=grade.steps
            )
        if document is None:
            left_out[grade.record.folder] = grade.record
            continue
        path = out / slug(grade.record.folder) / RESULTS
        write_atomic(path, results_text(document))
        files[grade.record.folder] = path
    return Written(tuple(files.values()), tuple(left_out.values()))
