"""Regrades that a person requested although nothing changed.

Their results have keys of their own: the first regrade's is the submission's key with `#1` appended. Regrades are
counted per run, so that one stays in force when points or comments change later. The last finished one counts: if the
harness fails on a regrade, the previous result stays in force and the request stays open.

A request is in the journal before anything runs, and until the pages are written: a killed grader continues with it
when restarted, and repeating the command does not make another request.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from grader.model.discovery import Submission
from grader.running.bench import Bench
from grader.running.keys import key_of, numbered, run_key_of
from grader.running.store import Asked, Journal


@dataclass(frozen=True)
class Turn:
    """The keys of a submission's results: `key` of the one in force, and the open request, if any."""

    key: str
    regrade: int
    asked: Asked | None

    @property
    def asked_key(self) -> str:
        """The key for the requested result."""
        return numbered(self.key.partition("#")[0], self.asked.number) if self.asked else self.key


def turn_of(bench: Bench, submission: Submission, journal: Journal) -> Turn:
    """The submission's key, and its requested regrade, if any."""
    if not journal.has_regrades(bench.assignment.id, submission.folder):
        return Turn(key_of(bench, submission), 0, None)  # the run's key takes a while to compute, and regrades are rare
    place = (bench.assignment.id, submission.folder, run_key_of(bench, submission))
    done, asked = journal.regrades(*place), journal.asked(*place)
    return Turn(
        numbered(key_of(bench, submission), done), done, asked if asked is not None and asked.number > done else None
    )


def ask(bench: Bench, submissions: Iterable[Submission], journal: Journal, reason: str, staff: str) -> None:
    """Requests regrades of these submissions; an open request with the same words is continued instead."""
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
    """The submissions with unfinished regrades."""
    found = ((submission, turn_of(bench, submission, journal).asked) for submission in submissions)
    return [(submission, asked) for submission, asked in found if asked is not None]
