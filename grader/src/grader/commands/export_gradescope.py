"""`grader export gradescope`: a results.json for each submission that counts."""

from functools import partial
from pathlib import Path

import click
from rich.markup import escape

from grader.base.counted import counted, listed
from grader.base.errors import GraderError
from grader.base.layout import find_layout
from grader.commands.aliases import show_named
from grader.commands.common import build_option, course_option, make_console, out_option, show_course
from grader.course.anonymous import Named
from grader.course.files import named_course, remembered
from grader.exports.gradescope_class import write_gradescope
from grader.pages.publish import COURSE_FILES, load_grades, open_journal, shown_whole

_FOLDER = "exports/gradescope"


@click.command(
    name="gradescope", short_help="A results.json for each submission, as Gradescope's autograder writes it."
)
@click.option("--assignment", "name", metavar="ID", help="The assignment.  [default: the only one]")
@click.option(
    "--points",
    type=click.FloatRange(0, min_open=True),
    help="Points of the assignment on Gradescope; others are scaled.  [default: the assignment's]",
)
@click.option(
    "--to",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="The folder to write into.  [default: exports/gradescope in the results' folder]",
)
@out_option
@course_option
@build_option
def gradescope_export(
    name: str | None, points: float | None, to: Path | None, out: Path, course: Path | None, build: Path | None
) -> None:
    """Writes DIR/ID/SUBMISSION/results.json for each submission that counts.

    There is no file for students who handed in nothing or are excused, nor for submissions that are not graded yet:
    Gradescope would read a missing score as zero.

    \b
    Example:
      grader export gradescope --assignment 04_reduction
    """
    console, layout = make_console(), find_layout(build)
    journal = open_journal(out)
    try:
        files = named_course(course) if course else remembered(journal.recall(COURSE_FILES))
        attempts, grades = load_grades(layout, journal, files)
        show_named(console, journal)
        if name is None and len(attempts) != 1:
            raise GraderError(f"which assignment?\nType:  --assignment ID      with one of {', '.join(attempts)}")
        name = name or next(iter(attempts))
        if name not in attempts:
            raise GraderError(f'"{name}" was not graded in {out}.\nThere are: {", ".join(attempts)}')
        folder = (to or out / _FOLDER) / name
        written = write_gradescope(
            attempts[name][0], grades, folder, partial(shown_whole, journal, Named()), points=points
        )
    finally:
        journal.close()
    console.print(
        f"{counted(len(written.files), 'submission')} with a results.json in {escape(str(folder))}",
        highlight=False,
        soft_wrap=True,
    )
    show_course(console, files)
    left_out: dict[str, list[str]] = {}
    for record in written.left_out:
        left_out.setdefault(record.status, []).append(record.student.name)
    for status, names in left_out.items():
        told = f"  {len(names):,} without one, {status}: {listed(names)}"
        console.print(escape(told), highlight=False, soft_wrap=True)
