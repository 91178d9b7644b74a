"""`grader mutate`: are the tests good enough to catch single small mistakes in the reference?

Each mutant is graded like a submission, with the full suite and every checker, and is killed where it gets anything but
full marks. What survives either shows a hole in the tests, or is equivalent: then an author says so, with the reason,
in reference/ASSIGNMENT/equivalent_mutants.toml. Results are in a journal, so a run that was stopped goes on.
"""

import threading
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from grader.assignment import Assignment
from grader.check_files import recorded_figures
from grader.discovery import Submission
from grader.errors import GraderError
from grader.layout import Layout
from grader.mutants import Mutant, mutants, sample
from grader.pipeline import Bench, Progress, grade_class
from grader.record import Record
from grader.roster import Student
from grader.schema import Fields, SchemaError
from grader.store import Journal

EQUIVALENT = "equivalent_mutants.toml"
_STILLBORN = "COMPILE"


@dataclass(frozen=True)
class Equivalent:
    """A mutant that does what the reference does: its line, its change, and why no test could tell."""

    code: str
    change: str
    reason: str

    def is_about(self, mutant: Mutant) -> bool:
        """Whether it means this mutant."""
        return (self.code, self.change) == (mutant.code, mutant.change)


@dataclass(frozen=True)
class Mutation:
    """The mutants of one assignment that compile, and what became of them.

    `verdicts` counts what killed them, `stale` are entries of the file of equivalent ones that fit no mutant.
    """

    assignment: Assignment
    tried: int
    verdicts: Counter[str]
    survivors: list[Mutant]
    equivalent: list[tuple[Mutant, Equivalent]]
    stale: list[Equivalent]
    stillborn: int

    @property
    def killed(self) -> int:
        """How many the tests caught."""
        return self.verdicts.total()

    @property
    def holds(self) -> bool:
        """Whether every survivor is known to be equivalent."""
        return not self.survivors and not self.stale


def read_equivalent(layout: Layout, assignment: Assignment) -> list[Equivalent]:
    """The mutants that an author knows to be equivalent; raises GraderError where the file is not right."""
    path = layout.reference(assignment.id) / EQUIVALENT
    if not path.is_file():
        return []
    try:
        fields = Fields(tomllib.loads(path.read_text(encoding="utf-8")), str(path))
        known = []
        for entry in fields.tables("mutant"):
            known.append(Equivalent(entry.text("code"), entry.text("change"), entry.text("reason")))
            entry.finish()
        fields.finish()
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, SchemaError) as error:
        raise GraderError(f"{path}: {error}") from error
    return known


def mutate_assignment(
    bench: Bench, journal: Journal, progress: Progress, *, count: int, seed: int, jobs: int, stop: threading.Event
) -> Mutation:
    """Grades mutants of the reference until `count` of them compiled, or there are no more."""
    assignment = bench.assignment
    # No figures but the judged ones are looked at; the reference's are known where this compiler's are on record.
    recorded = (recorded_figures(assignment) or {}).get("nvcc") == bench.toolchain.nvcc_version
    bench = replace(bench, flags=("--evidence=judged",), is_reference_recorded=recorded)
    every = mutants(bench.reference.source.read_text(encoding="utf-8"))
    known = read_equivalent(bench.layout, assignment)
    order = sample(every, seed)
    born: list[tuple[Mutant, Record]] = []
    stillborn = 0
    while order and len(born) < count:
        batch, order = order[: count - len(born)], order[count - len(born) :]
        records = _grade(bench, batch, journal, progress, jobs, stop)
        pairs = list(zip(batch, records, strict=True))
        stillborn += sum(record.verdict == _STILLBORN for _, record in pairs)
        born += [(mutant, record) for mutant, record in pairs if record.verdict != _STILLBORN]
    verdicts: Counter[str] = Counter()
    survivors, equivalent = [], []
    for mutant, record in born:
        if not survives(record):
            verdicts[killed_by(record)] += 1
        elif reason := next((entry for entry in known if entry.is_about(mutant)), None):
            equivalent.append((mutant, reason))
        else:
            survivors.append(mutant)
    stale = [entry for entry in known if not any(entry.is_about(mutant) for mutant in every)]
    return Mutation(assignment, len(born), verdicts, survivors, equivalent, stale, stillborn)


def killed_by(record: Record) -> str:
    """The verdict of the first test or measurement that failed: the run stops there, whatever else it would find."""
    failures = record.result.failures() if record.result else []
    return failures[0][1] if failures else record.verdict


def survives(record: Record) -> bool:
    """Whether a mutant got all that the reference gets. One that the harness failed on was not caught."""
    if record.score is None:
        raise GraderError(f"the harness failed on the mutant {record.folder}:\n{record.message}")
    return record.verdict == "PASS" and all(criterion.is_full for criterion in record.score.criteria)


def _grade(
    bench: Bench, batch: Sequence[Mutant], journal: Journal, progress: Progress, jobs: int, stop: threading.Event
) -> list[Record]:
    submissions = [Submission(mutant.name, Student(mutant.name), mutant.source.encode()) for mutant in batch]
    return grade_class(bench, submissions, journal, progress, jobs=jobs, command="grader mutate", stop=stop)


def mutation_text(done: Sequence[Mutation]) -> str:
    """The survivors with their changes, and the table."""
    lines: list[str] = []
    for mutation in done:
        path = f"reference/{mutation.assignment.id}/{mutation.assignment.submission}"
        for mutant in mutation.survivors:
            line = mutant.source.split("\n")[mutant.line - 1].strip()
            lines += [f"survives  {path}:{mutant.line}  {mutant.change}", f"  - {mutant.code}", f"  + {line}", ""]
        for mutant, reason in mutation.equivalent:
            lines += [f"equivalent  {path}:{mutant.line}  {mutant.change}: {reason.reason}"]
        for entry in mutation.stale:
            lines += [f"stale  {EQUIVALENT}: no mutant of {path} is {entry.change} in {entry.code}"]
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
    return "\n".join(lines).strip("\n") + "\n"
