"""`grader mutate`: are the tests good enough to catch single small mistakes in right solutions?

Mutants are made from the reference and from the right solutions next to it, which have the fences, streams and atomics
that the reference may lack. Each is graded like a submission, with the full suite and every checker, and is killed
if it gets less than its original. A survivor either shows a hole in the tests or is equivalent: then an author
says so, with the reason, in reference/ASSIGNMENT/equivalent_mutants.toml. Results are in a journal, so a stopped run
can resume; several machines, or several runs, can take a share each.
"""

import threading
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from grader.authoring.declared import collect
from grader.authoring.mutants import Mutant, sample
from grader.authoring.mutants import mutants as cuda_mutants
from grader.authoring.python_mutants import python_mutants
from grader.base.errors import GraderError
from grader.base.layout import Layout
from grader.base.schema import Fields, SchemaError
from grader.model.assignment import Assignment
from grader.model.discovery import Submission
from grader.model.record import Record
from grader.model.roster import Student
from grader.running.batches import grade_class
from grader.running.bench import Bench
from grader.running.progress import Progress
from grader.running.store import Journal

EQUIVALENT = "equivalent_mutants.toml"
_STILLBORN = "COMPILE"
_EXACT = 1e-9


@dataclass(frozen=True)
class Equivalent:
    """A mutant equivalent to the original: its line, its change, and why no test could tell."""

    code: str
    change: str
    reason: str

    def is_about(self, mutant: Mutant) -> bool:
        """Whether the entry describes this mutant."""
        return (self.code, self.change) == (mutant.code, mutant.change)


@dataclass(frozen=True)
class Candidate:
    """A mutant, the file below reference/ASSIGNMENT that it was made from, and what that file earns.

    `points` excludes bonus; None: full marks, like the reference.
    """

    file: str
    mutant: Mutant
    points: float | None = None
    bonus: float = 0

    @property
    def name(self) -> str:
        """Distinguishes it from every other mutant of the assignment."""
        return f"{self.file}:{self.mutant.name}"

    def survives(self, record: Record) -> bool:
        """Whether it got the full points of its original. A harness failure counts as surviving."""
        if record.score is None:
            return True
        if self.points is None:
            return record.verdict == "PASS" and all(criterion.is_full for criterion in record.score.criteria)
        without = record.score.total - record.score.bonus
        return without > self.points - _EXACT and record.score.bonus > self.bonus - _EXACT


@dataclass(frozen=True)
class Share:
    """The mutants of a run: `count` that compile, of every `of`-th one from `index` on, until `deadline`.

    `designs`: mutants with a design mistake instead of a changed token.
    """

    count: int
    seed: int
    index: int = 0
    of: int = 1
    deadline: float = float("inf")  # by time.monotonic()
    designs: bool = False

    def take(self, every: list[Mutant]) -> list[Mutant]:
        """The mutants of this share, in the order in which they are tried."""
        return sample(every, self.seed)[self.index :: self.of]


@dataclass(frozen=True)
class Mutation:
    """The mutants of one assignment that compile, and their results.

    `verdicts` counts the verdicts that killed them, `stale` lists entries for equivalent mutants that match none, and
    `left` counts mutants not tried for lack of time.
    """

    assignment: Assignment
    tried: int
    verdicts: Counter[str]
    survivors: list[Candidate]
    equivalent: list[tuple[Candidate, Equivalent]]
    stale: list[Equivalent]
    stillborn: int
    left: int = 0

    @property
    def killed(self) -> int:
        """How many the tests caught."""
        return self.verdicts.total()

    @property
    def holds(self) -> bool:
        """Whether all were tried, and every survivor is known to be equivalent."""
        return not self.survivors and not self.stale and not self.left


def read_equivalent(layout: Layout, assignment: Assignment) -> list[Equivalent]:
    """The mutants that an author knows to be equivalent; raises GraderError where the file is not right."""
    path = layout.reference(assignment.id) / EQUIVALENT
    if not path.is_file():
        return []
    try:
        known = []
        for reason, lines in tomllib.loads(path.read_text(encoding="utf-8")).items():
            fields = Fields(lines, reason)
            for code in lines:
                changes = [fields.text(code)] if fields.is_text(code) else fields.texts(code)
                known += [Equivalent(code, change, reason) for change in changes]
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, SchemaError) as error:
        raise GraderError(f"{path}: {error}") from error
    return known


def mutate_assignment(
    bench: Bench,
    journal: Journal,
    progress: Progress,
    share: Share,
    *,
    jobs: int,
    stop: threading.Event,
    on_survivor: Callable[[str], None] = lambda _: None,
) -> Mutation:
    """Grades mutants until `share.count` of them compiled, there are no more, or the time is over.

    `on_survivor` gets the text of each survivor as it is found.
    """
    assignment = bench.assignment
    bench = replace(bench, flags=("--evidence=judged",))  # only the counters that criteria use are measured
    every = candidates(bench.layout, assignment, designs=share.designs)
    known = read_equivalent(bench.layout, assignment)
    of_mutant = {id(candidate.mutant): candidate for candidate in every}
    order = [of_mutant[id(mutant)] for mutant in share.take([candidate.mutant for candidate in every])]
    done = Mutation(assignment, 0, Counter(), [], [], [], 0)
    while order and done.tried < share.count and time.monotonic() < share.deadline:
        # Small batches: a batch that was begun is finished, and processors idle only at the end of each.
        batch, order = (
            order[: min(share.count - done.tried, 4 * jobs)],
            order[min(share.count - done.tried, 4 * jobs) :],
        )
        for candidate, record in zip(batch, _grade(bench, batch, journal, progress, jobs, stop), strict=True):
            done = _counted(done, candidate, record, known)
            if done.survivors and done.survivors[-1] is candidate:
                said = "" if record.score else f"the harness failed on it: {record.message}\n"
                on_survivor(_survivor_text(assignment, candidate) + said)
    others = candidates(bench.layout, assignment, designs=not share.designs)
    stale = [entry for entry in known if not any(entry.is_about(one.mutant) for one in [*every, *others])]
    return replace(done, stale=stale, left=max(0, min(share.count - done.tried, len(order))))


def candidates(layout: Layout, assignment: Assignment, *, designs: bool = False) -> list[Candidate]:
    """Every mutant of the reference and the right solutions; Python has no design mutants."""

    def mutants(source: str) -> list[Mutant]:
        if assignment.is_python:
            return [] if designs else python_mutants(source)
        return cuda_mutants(source, designs=designs)

    reference = layout.reference(assignment.id) / assignment.submission
    every = [Candidate(assignment.submission, mutant) for mutant in mutants(reference.read_text(encoding="utf-8"))]
    collected = collect(layout, assignment)
    for submission in collected.submissions:
        if submission.folder in collected.right and submission.source is not None:
            source = submission.source.decode("utf-8")
            every += [
                Candidate(submission.folder, mutant, *collected.right[submission.folder]) for mutant in mutants(source)
            ]
    return every


def _counted(done: Mutation, candidate: Candidate, record: Record, known: Sequence[Equivalent]) -> Mutation:
    if record.verdict == _STILLBORN:
        return replace(done, stillborn=done.stillborn + 1)
    done = replace(done, tried=done.tried + 1)
    if not candidate.survives(record):
        return replace(done, verdicts=done.verdicts + Counter([killed_by(record)]))
    if reason := next((entry for entry in known if entry.is_about(candidate.mutant)), None):
        return replace(done, equivalent=[*done.equivalent, (candidate, reason)])
    return replace(done, survivors=[*done.survivors, candidate])


def killed_by(record: Record) -> str:
    """The verdict of the first failed test or measurement, which ends the run; else the record's."""
    failures = record.result.failures() if record.result else []
    return failures[0][1] if failures else record.verdict


def _grade(
    bench: Bench, batch: Sequence[Candidate], journal: Journal, progress: Progress, jobs: int, stop: threading.Event
) -> list[Record]:
    submissions = [Submission(one.name, Student(one.name), one.mutant.source.encode()) for one in batch]
    return grade_class(bench, submissions, journal, progress, jobs=jobs, command="grader mutate", stop=stop)


def _path(assignment: Assignment, candidate: Candidate) -> str:
    return f"reference/{assignment.id}/{candidate.file}:{candidate.mutant.line}"


def _survivor_text(assignment: Assignment, candidate: Candidate) -> str:
    mutant = candidate.mutant
    line = mutant.source.split("\n")[mutant.line - 1].strip()
    return f"survives  {_path(assignment, candidate)}  {mutant.change}\n  - {mutant.code}\n  + {line}\n"


def mutation_text(done: Sequence[Mutation]) -> str:
    """The survivors with their changes, and the table."""
    lines: list[str] = []
    for mutation in done:
        assignment = mutation.assignment
        lines += [_survivor_text(assignment, candidate) for candidate in mutation.survivors]
        lines += [
            f"equivalent  {_path(assignment, candidate)}  {candidate.mutant.change}: {reason.reason}"
            for candidate, reason in mutation.equivalent
        ]
        lines += [
            f"stale  {EQUIVALENT}: no mutant of reference/{assignment.id} is {entry.change} in {entry.code}"
            for entry in mutation.stale
        ]
    width = max([len(mutation.assignment.id) for mutation in done] + [len("assignment")])
    lines += ["", f"{'assignment':{width}}  mutants  killed  equivalent  survive  by"]
    for mutation in done:
        by = ", ".join(f"{count} {verdict}" for verdict, count in mutation.verdicts.most_common())
        counts = f"{mutation.tried:7}  {mutation.killed:6}  {len(mutation.equivalent):10}  {len(mutation.survivors):7}"
        lines.append(f"{mutation.assignment.id:{width}}  {counts}  {by}".rstrip())
    tried, killed = sum(m.tried for m in done), sum(m.killed for m in done)
    equivalent = sum(len(m.equivalent) for m in done)
    caught = f"{100 * killed / (tried - equivalent):.1f} %" if tried > equivalent else "none"
    stillborn = sum(m.stillborn for m in done)
    lines.append(
        f"{tried} mutants, {equivalent} of them equivalent; of the others {killed} caught ({caught}); "
        f"{stillborn} more did not compile, and do not count"
    )
    if left := sum(m.left for m in done):
        lines.append(f"time is over: {left} mutants were not tried; the same command goes on with them")
    return "\n".join(lines).strip("\n") + "\n"
