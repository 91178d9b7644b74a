"""The steps of grading a submission, and what happens if one fails.

For each submission: key → journal? → build → run → score → journal. `begin` decides whether to run it, `end` stores the
result; the run in between (`running.grading`) may be on another machine. The work folder of a submission is named after
its key and is removed when the result is in the journal.
"""

import contextlib
import fcntl
import shlex
import shutil
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grader.base.errors import GraderError
from grader.model.discovery import Submission
from grader.model.record import Record
from grader.running.bench import Bench
from grader.running.grading import Task, run_task, without_run
from grader.running.progress import Progress
from grader.running.regrades import Turn, turn_of
from grader.running.reuse import reused
from grader.running.store import Asked, Journal


@contextlib.contextmanager
def only_grader(out: Path) -> Any:
    """Holds the output folder's lock; raises GraderError if another grader holds it."""
    out.mkdir(parents=True, exist_ok=True)
    with (out / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise GraderError(
                f"another grader is running in {out}.\nWait for it, or choose another folder with --out DIR"
            ) from None
        yield


@dataclass(frozen=True)
class Desk:
    """The journal of an assignment's results, their observer, and the command that repeats the run.

    With `may_reuse`, a run of the same code serves a submission too.
    """

    bench: Bench
    journal: Journal
    progress: Progress
    command: str
    may_reuse: bool = False

    def begin(self, submission: Submission) -> Record | Task:
        """The submission's existing result, or else the task to run for it.

        A requested regrade is run. Until it finishes, the previous result counts.
        """
        turn = turn_of(self.bench, submission, self.journal)
        if turn.asked is not None:
            return self._task(submission, turn.asked_key, turn.asked)
        known = self._known(submission, turn)
        if known is not None:
            self.progress.on_record(known, cached=True)
            return known
        task = self._task(submission, turn.key, Asked(turn.regrade, "", ""))  # unless a file with the same code was run
        record = self._reused(task) or (without_run(task) if submission.source is None else None)
        return task if record is None else self._kept(task, record)

    def end(self, task: Task, record: Record) -> Record:
        """Stores the result of a run, and returns the one that counts."""
        self._kept(task, record)
        submission = task.submission
        turn = turn_of(self.bench, submission, self.journal)
        if record.is_final or turn.asked is None or turn.asked_key != task.key:
            return record
        known = self._known(submission, turn)
        if known is not None:
            return known
        before = self._task(submission, turn.key, Asked(turn.regrade, "", ""))
        counts = self._reused(before)
        return record if counts is None else self._kept(before, counts)

    def _task(self, submission: Submission, key: str, asked: Asked) -> Task:
        return Task(self.bench, submission, key, asked, f"{self.command} --only {shlex.quote(submission.folder)}")

    def _known(self, submission: Submission, turn: Turn) -> Record | None:
        known = self.journal.find(self.bench.assignment.id, submission.folder, turn.key)
        # The roster, or the platform's data on the hand-in, may have changed meanwhile.
        return known and replace(known, student=submission.student, handed=submission.handed)

    def _reused(self, task: Task) -> Record | None:
        if not self.may_reuse:
            return None
        return reused(self.bench, task.submission, self.journal, task.key, task.command, task.asked.number)

    def _kept(self, task: Task, record: Record) -> Record:
        self.journal.add(record)
        shutil.rmtree(task.work, ignore_errors=True)
        self.progress.on_record(record, cached=False)
        return record


def grade_one(desk: Desk, submission: Submission, stop: threading.Event) -> Record:
    """Grades one submission on this machine, unless its result is in the journal."""
    found = desk.begin(submission)
    return found if isinstance(found, Record) else desk.end(found, run_task(found, desk.journal, desk.progress, stop))
