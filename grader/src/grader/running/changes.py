"""What a run would do, and why: which results the journal has, which need only a new score, and which need a run."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.base.counted import counted
from grader.base.files import sha256_bytes
from grader.model.discovery import Submission
from grader.model.record import MISSING, NOT_GRADED, Record
from grader.running.bench import Bench
from grader.running.keys import identity, run_key_of
from grader.running.regrades import turn_of
from grader.running.store import Journal

KEPT, SHARED, RUN = "kept", "shared", "run"
_NEW, _FAILED, _OPEN, _ASKED = "new", "failed", "open", "asked for"
_FILE = "file"
# Of each hash in a result's provenance: what a person calls it.
_NAMES = {
    "suite": "the suite", "library": "the worker library", "assignment": "the assignment",
    "reference": "the reference", "scoring": "points or titles in assignment.toml",
}  # fmt: skip
_VERSION = "the way that results are kept"


@dataclass(frozen=True)
class Change:
    """What is to be done for one submission. `causes` are words for what changed since its last result."""

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
    """What is to be done for each, in their order; with `again`, as if all of them were asked to be graded again."""
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
    made, settings = last.provenance, bench.settings
    found = [name for name in _NAMES if bench.hashes[name] != getattr(made, name)]
    source = submission.source
    is_same_file = made.submission == (sha256_bytes(source) if source else "")
    causes = [] if is_same_file else [_FILE]
    causes += [_NAMES[name] for name in found]
    if made.nvcc != bench.toolchain.nvcc_version:
        causes.append("nvcc")
    if made.host_compiler != bench.toolchain.host_version:
        causes.append("the host compiler")
    if made.device != settings.device:
        causes.append("the device")
    if made.sandboxed != settings.sandboxed:
        causes.append("the sandbox")
    seed = settings.for_source(bench.assignment.id, identity(bench, submission)).seed
    if is_same_file and made.seed != seed and source is not None:
        causes.append("the secret or the seed")
    if not causes and last.status == NOT_GRADED:
        return (_FAILED,)
    if not causes and not last.is_final:
        return (_OPEN,)
    return tuple(causes) or (_VERSION,)


def told(bench: Bench, made: Sequence[Change]) -> list[str]:
    """What is to be done and why, a sentence each; none where nothing is, or where nobody was graded before."""
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
    listed = f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]
    return f"{len(again)} {verb}, because {listed} changed"
