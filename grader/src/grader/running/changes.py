"""Plans a run: which results are in the journal, which need only a new score, and which need a run."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from grader.base.counted import counted, joined
from grader.model.discovery import Submission
from grader.model.record import MISSING, NOT_GRADED, Provenance, Record
from grader.running.bench import Bench
from grader.running.keys import provenance_of, run_key_of
from grader.running.regrades import turn_of
from grader.running.store import Journal

KEPT, SHARED, RUN = "kept", "shared", "run"
_NEW, _FAILED, _OPEN, _ASKED = "new", "failed", "open", "asked for"
_FILE = "file"
# Names for the parts of a result's provenance, for people.
_NAMES = {
    "suite": "the suite", "library": "the worker library", "assignment": "the assignment",
    "reference": "the reference", "scoring": "points or titles in assignment.toml", "nvcc": "nvcc",
    "host_compiler": "the host compiler", "device": "the device", "sandboxed": "the sandbox",
}  # fmt: skip
_VERSION = "the way that results are kept"


@dataclass(frozen=True)
class Change:
    """The work for one submission. `causes` are words for what changed since its last result."""

    submission: Submission
    what: str
    causes: tuple[str, ...] = ()

    @property
    def is_run(self) -> bool:
        """Whether it has to be compiled and run."""
        return self.what == RUN and self.submission.source is not None


def changes(
    bench: Bench, submissions: Sequence[Submission], journal: Journal, *, again: bool = False
) -> Iterator[Change]:
    """The work for each submission, in order; with `again`, as if a regrade of all were requested."""
    runs: set[str] = set()
    for submission in submissions:
        assignment, turn = bench.assignment.id, turn_of(bench, submission, journal)
        if turn.asked is not None or (again and submission.source is not None):
            yield Change(submission, RUN, (_ASKED,))
            continue
        if journal.has(assignment, submission.folder, turn.key):
            yield Change(submission, KEPT)
            continue
        run = run_key_of(bench, submission)
        is_shared = submission.source is not None and (run in runs or journal.has_run(assignment, run))
        runs.add(run)
        last = journal.last(assignment, submission.folder, submission.handed.number)
        yield Change(submission, SHARED if is_shared else RUN, _causes(bench, submission, last))


def _causes(bench: Bench, submission: Submission, last: Record | None) -> tuple[str, ...]:
    if last is None or (last.status == MISSING and submission.source is not None):
        return (_NEW,)
    now = provenance_of(bench, submission, "")
    causes = [] if last.provenance.submission == now.submission else [_FILE]
    causes += differences(last.provenance, now)
    if not causes and last.status == NOT_GRADED:
        return (_FAILED,)
    if not causes and not last.is_final:
        return (_OPEN,)
    return tuple(causes) or (_VERSION,)


def differences(before: Provenance, after: Provenance) -> list[str]:
    """Words for what changed from one result to another, besides the file."""
    found = [words for name, words in _NAMES.items() if getattr(before, name) != getattr(after, name)]
    if before.submission and before.submission == after.submission and before.seed != after.seed:
        found.append("the secret or the seed")
    return found


def named_parts(names: Iterable[str]) -> list[str]:
    """Words for parts of a provenance."""
    return [_NAMES[name] for name in names]


def told(bench: Bench, made: Sequence[Change]) -> list[str]:
    """The planned work and its causes, a sentence each; empty if there is none, or nobody was graded before."""
    todo = [change for change in made if change.what != KEPT]
    new = [change for change in todo if change.causes == (_NEW,)]
    if len(new) == len(made):
        return []
    lines = [
        _told_again(bench, [change for change in todo if change.what == what and _is_again(change)], verb)
        for what, verb in ((RUN, "to be graded again"), (SHARED, "to be scored again without a run"))
    ]
    if new:
        lines.append(f"{counted(len(new), 'submission')} not graded before")
    for cause, why in (
        (_FAILED, "tried again, because the harness failed"),
        (_OPEN, "tried again, because a time was inconclusive"),
        (_ASKED, "graded again, because a regrade was asked for"),
    ):
        count = sum(change.causes == (cause,) for change in todo)
        if count:
            lines.append(f"{count} to be {why}")
    return [line for line in lines if line]


def _is_again(change: Change) -> bool:
    return not {_NEW, _FAILED, _OPEN, _ASKED} & set(change.causes)


def _told_again(bench: Bench, again: Sequence[Change], verb: str) -> str:
    if not again:
        return ""
    causes = Counter(cause for change in again for cause in change.causes)
    words = []
    if files := causes.pop(_FILE, 0):
        words.append(f"{bench.assignment.submission} of {counted(files, 'student')}")
    words += [cause if count == len(again) else f"{cause} (of {count})" for cause, count in causes.items()]
    return f"{len(again)} {verb}, because {joined(words)} changed"
