"""Commands on existing results: `report`, `repair`."""

from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape

from grader.base.counted import counted
from grader.base.errors import GraderError
from grader.base.layout import find_layout
from grader.commands.aliases import anonymous_option, show_names
from grader.commands.common import (
    HARNESS_STATUS,
    build_option,
    course_option,
    make_console,
    out_option,
    show_course,
    show_unmatched,
)
from grader.course.anonymous import remember_view
from grader.course.files import named_course
from grader.pages.publish import JOURNAL, Published, open_journal, publish
from grader.running.pipeline import only_grader
from grader.running.repair import repair


@click.command(short_help="Writes all pages again, without grading.")
@out_option
@course_option
@anonymous_option
@build_option
def report(out: Path, course: Path | None, anonymous: bool | None, build: Path | None) -> None:
    """Writes report cards, gradebook and leaderboard again from the journal, without grading.

    Grades are computed again from course.toml, adjustments.csv and times.csv: run this after changing them.

    \b
    Examples:
      grader report --out out/week4
      grader report --course spring/course.toml
      grader report --anonymous
    """
    journal = open_journal(out)
    try:
        remember_view(journal, anonymous)
        published = publish(find_layout(build), out, journal, named_course(course) if course else None)
    finally:
        journal.close()
    console = make_console()
    show_names(console, published)
    show_course(console, published.files)
    console.print(
        f"{counted(published.cards, 'report card')}: {escape(str(published.index))}", highlight=False, soft_wrap=True
    )
    console.print(f"Gradebook: {escape(str(published.gradebook))}", highlight=False, soft_wrap=True)
    show_unmatched(console, published)
    show_unmade(console, published)
    if published.unmade:
        raise click.exceptions.Exit(HARNESS_STATUS)


def show_unmade(console: Console, published: Published) -> None:
    """Names the report cards that contain only the points."""
    for one in published.unmade:
        console.print(
            f"[magenta]Report card[/] of {escape(one.folder)} shows only the points: making the rest failed "
            f"({escape(one.problem)})",
            highlight=False,
            soft_wrap=True,
        )


@click.command(name="repair", short_help="Saves what can be read of a damaged journal.")
@out_option
def repair_journal(out: Path) -> None:
    """Replaces a damaged journal with a new one that has all that can be read of it.

    The damaged file is kept next to it. The next `grader grade` grades again what could not be read.

    \b
    Example:
      grader repair --out out/week4
    """
    path = out / JOURNAL
    if not path.is_file():
        raise GraderError(f"{out} has no journal.\nType:  grader grade SUBMISSIONS --out {out}")
    with only_grader(out):
        repaired = repair(path)
    console = make_console()
    console.print(
        f"Kept {counted(repaired.results, 'result')}. The damaged journal is now {escape(str(repaired.damaged))}",
        highlight=False,
        soft_wrap=True,
    )
    console.print("Run the same `grader grade` again: it grades what is missing.", highlight=False)
