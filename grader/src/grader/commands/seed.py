"""How `grader` handles seeds and the secret that they are derived from."""

import shlex
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape

from grader.base.errors import GraderError
from grader.base.secret import Secret, open_secret
from grader.commands.common import make_console, out_option
from grader.course.anonymous import view_of
from grader.pages.cards import STAFF
from grader.pages.publish import NAMES, open_journal


def secret_of(console: Console, out: Path, given: Path | None) -> Secret:
    """The secret for deriving seeds; prints its path if it is new."""
    secret, path, is_new = open_secret(out, given)
    if is_new:
        console.print(
            f"The inputs are derived from a new secret: {escape(str(path))}\n"
            "Keep it, and show it to no student: only with it can grades be reproduced.",
            highlight=False, soft_wrap=True,
        )  # fmt: skip
    return secret


@click.command("seed", short_help="Shows the seed of a graded submission.")
@click.argument("name")
@out_option
def seed_command(name: str, out: Path) -> None:
    """Shows the seed of each graded submission whose folder is, or else contains, NAME, and how to repeat the run.

    For instructors: whoever knows a seed knows the inputs. The command it shows repeats the run into another folder,
    even if the secret is lost.

    \b
    Example:
      grader seed lovelace_ada --out out/week4
    """
    console = make_console()
    journal = open_journal(out)
    try:
        view = view_of(journal)
        every = [record for assignment in journal.assignments() for record in view.records(journal.current(assignment))]
    finally:
        journal.close()
    same = [record for record in every if record.folder == name]
    found = same or [record for record in every if name.casefold() in record.folder.casefold()]
    if not found:
        raise GraderError(f'{out} has no submission "{name}".\nType:  grader report --out {out}      for all of them')
    if view.is_anonymous:
        console.print(f"For FOLDER, see {escape(str(out / STAFF / NAMES))}", highlight=False, soft_wrap=True)
    for record in found:
        command = record.provenance.command
        if view.is_anonymous:  # another results folder has other aliases
            command = command.replace(shlex.quote(record.folder), "FOLDER")
        again = f"{command} --seed {record.provenance.seed} --out {out}/again"
        console.print(
            f"[bold]{escape(record.assignment)}[/]  {escape(record.folder)}  seed {record.provenance.seed}\n"
            f"  {escape(again)}",
            highlight=False, soft_wrap=True,
        )  # fmt: skip
