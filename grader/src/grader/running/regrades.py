"""What a person asked to be graded again, though nothing changed.

The results of such a run have keys of their own: that of the first regrade is the submission's key with `#1` behind it.
Regrades are counted by run, so that one stays in force when points or comments change later. The last one that came to
an end counts: one that the harness fails on leaves the result before it in force, and stays asked for.

What was asked for is in the journal before anything runs, and until the pages are written: a grader that is killed
meanwhile goes on with it, and the same words don't ask for another one.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from grader.model.discovery import Submission
from grader.running.bench import Bench
from grader.running.keys import key_of, numbered, run_key_of
from grader.running.store import Asked, Journal


@dataclass(frozen=True)
class Turn:
    """Under which key a submission's result is: `key` of the one in force, and what was asked for and isn't done."""

    key: str
    regrade: int
    asked: Asked | None

    @property
    def asked_key(self) -> str:
        """Under which the result of what was asked for will be."""
        return numbered(self.key.partition("#")[0], self.asked.number) if self.asked else self.key


def turn_of(bench: Bench, submission: Submission, journal: Journal) -> Turn:
    """The submission's key, and the regrade that somebody has asked for, if any."""
    if not journal.has_regrades(bench.assignment.id, submission.folder):
        return Turn(key_of(bench, submission), 0, None)  # a run's key takes a while, and few are ever asked for
    place = (bench.assignment.id, submission.folder, run_key_of(bench, submission))
    done, asked = journal.regrades(*place), journal.asked(*place)
    return Turn(
        numbered(key_of(bench, submission), done), done, asked if asked is not None and asked.number > done else None
    )


def ask(bench: Bench, submissions: Iterable[Submission], journal: Journal, reason: str, staff: str) -> None:
    """Asks that these be graded again; what was asked for in these words and isn't over is only gone on with."""
    for submission in submissions:
        if submission.source is None:
            continue
        place = (bench.assignment.id, submission.folder, run_key_of(bench, submission))
        done, last = journal.regrades(*place), journal.asked(*place)
        is_same = last is not None and (last.reason, last.staff) == (reason, staff)
        if last is None or (last.number <= done and not is_same):
            journal.ask(*place, Asked(done + 1, reason, staff))
        elif not is_same:
            journal.ask(*place, Asked(last.number, reason, staff))


def not_done(bench: Bench, submissions: Iterable[Submission], journal: Journal) -> list[tuple[Submission, Asked]]:
    """Those whose regrade has not come to an end."""
    found = ((submission, turn_of(bench, submission, journal).asked) for submission in submissions)
    return [(submission, asked) for submission, asked in found if asked is not None]
