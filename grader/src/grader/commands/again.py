"""`grader grade --again`: a person's request to grade a submission again although nothing changed."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.markup import escape

from grader.base.errors import GraderError
from grader.base.names import shown
from grader.course.anonymous import View
from grader.model.discovery import Submission
from grader.running.bench import Bench
from grader.running.regrades import ask, not_done
from grader.running.store import Journal

_LONGEST = 2000
Chosen = tuple[Bench, Sequence[Submission]]


@dataclass(frozen=True)
class Again:
    """Why one student's submission is graded again, and who requested it."""

    reason: str
    staff: str

    def ask(self, classes: Sequence[Chosen], journal: Journal) -> None:
        """Records the request in the journal, before anything runs."""
        for bench, chosen in classes:
            ask(bench, chosen, journal, self.reason, self.staff)


def asked_for(*, again: bool, only: str | None, reason: str | None, staff: str | None) -> Again | None:
    """The request in the options; None without --again. Raises GraderError if an option is missing."""
    if not again:
        for option, value in (("--reason", reason), ("--staff", staff)):
            if value is not None:
                raise GraderError(
                    f"{option} belongs to a regrade.\nType:  grader grade … --only NAME --again --reason TEXT"
                )
        return None
    if not only:
        raise GraderError(
            "--again grades one student's submission anew: whose?\n"
            "Add  --only NAME      with the student's folder. To grade a whole class anew, choose another --out DIR"
        )
    why = shown(reason or "", _LONGEST)
    if not why:
        raise GraderError('--again needs a reason, which stays in the history.\nAdd  --reason "appeal: noisy GPU"')
    return Again(why, shown(staff or ""))


def ask_again(again: Again | None, classes: Sequence[Chosen], journal: Journal) -> None:
    """Records the request in the journal."""
    if again is not None:
        again.ask(classes, journal)


def check_again(classes: Sequence[Chosen], only: str | None, view: View) -> None:
    """With --again: raises GraderError unless `only` names one submission of one student and assignment, with a file.

    `only` is the value of --only; None without --again, and then nothing is checked.
    """
    if only is None:
        return
    folders = dict.fromkeys(view.folder(submission.folder) for _, chosen in classes for submission in chosen)
    if len(folders) > 1:
        raise GraderError(
            f'--again grades one student\'s submission, and "{only}" fits {len(folders)}: {", ".join(folders)}.\n'
            "Write the whole name of the folder"
        )
    handed_in = [bench.assignment.id for bench, chosen in classes if any(one.source is not None for one in chosen)]
    if not handed_in:
        raise GraderError(f"{next(iter(folders))} handed in no file that could be graded again")
    if len(handed_in) > 1:
        raise GraderError(
            f"{next(iter(folders))} handed in {len(handed_in)} assignments.\n"
            f"Add  --assignment ID      with one of {', '.join(handed_in)}"
        )


def show_not_done(console: Console, classes: Sequence[Chosen], journal: Journal, view: View) -> bool:
    """Names the regrades that did not finish; returns whether there are any."""
    found = False
    for bench, chosen in classes:
        for submission, asked in not_done(bench, chosen, journal):
            found = True
            whose = view.folder(submission.folder)
            console.print(
                f"[magenta]Not graded again[/]: {escape(whose)} ({escape(asked.reason)}): the harness "
                "failed, or a time was inconclusive. The earlier result counts; run the same command to try again.",
                highlight=False,
                soft_wrap=True,
            )
    return found
