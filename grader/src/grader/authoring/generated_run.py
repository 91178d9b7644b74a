"""Grades generated submissions, and reports which get more or fewer points than they deserve."""

import tempfile
import threading
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from grader.authoring.generated import MOVES, Generated
from grader.authoring.generated_gates import gated_adversaries
from grader.authoring.generated_kin import kin_of
from grader.authoring.unity import UnityBuilds, without_namespaces
from grader.base.jobs import Jobs
from grader.base.layout import Layout
from grader.base.toolchain import Toolchain
from grader.model.assignment import Assignment, load_assignment
from grader.model.discovery import Submission
from grader.model.record import Record
from grader.model.result import EVIDENCE_SUITE, passed_test
from grader.model.roster import Student
from grader.running.bench import Bench, prepare
from grader.running.keys import key_of
from grader.running.pipeline import Desk, grade_one
from grader.running.progress import Quiet
from grader.running.run import RunSettings
from grader.running.store import Journal
from grader.running.worker_cache import WorkerCache

_EXACT = 1e-9


@dataclass(frozen=True)
class Graded:
    """The points a generated submission got on its rung, and those it deserved; `said` is the judge's first message."""

    generated: Generated
    verdict: str
    points: float
    deserved: float
    said: str = ""

    @property
    def gains(self) -> bool:
        """Whether it got more than it deserved."""
        return self.points > self.deserved + _EXACT

    @property
    def loses(self) -> bool:
        """Whether it got less."""
        return self.points < self.deserved - _EXACT


@dataclass(frozen=True)
class Runs:
    """How submissions are graded: with which seed, how many at a time, and in a sandbox or not.

    An adversary is after evidence points, and its results are right. So tests are taken as passed, unless `whole` is
    set.
    """

    layout: Layout
    toolchain: Toolchain
    seed: int
    jobs: int = 1
    sandboxed: bool = True
    whole: bool = False


def grade_adversaries(runs: Runs, generated: Sequence[Generated]) -> list[Graded]:
    """Grades each adversary, and compares its points with those of its twin without tricks."""
    plain = {one.plain or one.text: replace(one, text=one.plain or one.text) for one in generated}
    records = _grade(runs, [*plain.values(), *generated])
    deserved = {text: _points(one, record) for (text, one), record in zip(plain.items(), records, strict=False)}
    return [
        _graded(runs, one, record, deserved[one.plain or one.text])
        for one, record in zip(generated, records[len(plain) :], strict=True)
    ]


def grade_friends(runs: Runs, generated: Sequence[Generated]) -> list[Graded]:
    """Grades generated right solutions, which should get all non-bonus points of their rung."""
    return [
        _graded(runs, one, record, _full(runs, one))
        for one, record in zip(generated, _grade(runs, generated), strict=True)
    ]


def make_gated(layout: Layout, count: int, seed: int, only: str, right: bool = False) -> list[Generated]:
    """`count` hostile submissions over all C++ assignments (generated_gates.py), or right ones (generated_kin.py)."""
    folders = []
    for assignment in (load_assignment(layout.assignment(name)) for name in layout.assignments()):
        header = layout.assignment(assignment.id) / assignment.submission.replace(".cu", ".h")
        if header.is_file() and not assignment.is_python:
            folders.append((layout.reference(assignment.id), assignment, header))
    return (kin_of if right else gated_adversaries)(folders, count, seed, only)


def _assignment(runs: Runs, name: str) -> Assignment:
    return load_assignment(runs.layout.assignment(name))


def _full(runs: Runs, one: Generated) -> float:
    criteria = _assignment(runs, one.task.assignment).criteria
    return sum(criterion.points for criterion in criteria if criterion.rung == one.task.rung and not criterion.bonus)


def _points(one: Generated, record: Record) -> float:
    criteria = record.score.criteria if record.score else ()
    return sum(criterion.points for criterion in criteria if criterion.rung == one.task.rung and not criterion.bonus)


def _graded(runs: Runs, one: Generated, record: Record, deserved: float) -> Graded:
    said = record.message
    if record.result is not None:
        wrong = [test for test in record.result.tests if test.rung == one.task.rung and test.verdict != "PASS"]
        unmet = [entry for entry in record.result.evidence if entry.rung == one.task.rung and entry.verdict != "PASS"]
        said = next((entry.said for entry in (*wrong, *unmet)), "")
    return Graded(one, record.verdict, _points(one, record), deserved, said)


def _grade(runs: Runs, generated: Sequence[Generated]) -> list[Record]:
    """The records of the submissions, in the order given. They are compiled in batches."""
    stop = threading.Event()
    queue = Jobs(runs.jobs, stop)
    records: dict[int, Record] = {}
    with tempfile.TemporaryDirectory(prefix="grader-generated-") as name:
        cache = WorkerCache(runs.layout)
        batches = UnityBuilds(cache)
        with closing(Journal(Path(name) / "journal.sqlite")) as journal:
            for assignment in sorted({one.task.assignment for one in generated}):
                settings = RunSettings(runs.seed, "vgpu", 1, runs.sandboxed)
                bench = prepare(
                    runs.layout, runs.toolchain, _assignment(runs, assignment), settings,
                    Path(name) / assignment, stop, cache.build,
                )  # fmt: skip
                mine = [index for index, one in enumerate(generated) if one.task.assignment == assignment]
                handed_in = [
                    Submission(f"{index}", Student(f"{index}"), generated[index].text.encode()) for index in mine
                ]

                def grade(bench: Bench, submission: Submission) -> Record:
                    rung = generated[int(submission.folder)].task.rung
                    own = replace(bench, settings=replace(bench.settings, rung=rung), build=batches.build)
                    if not runs.whole:
                        passed = [
                            passed_test(name, rung)
                            for name in bench.suite.tests
                            if name.rpartition("/")[2] == rung and not name.startswith(f"{EVIDENCE_SUITE}.")
                        ]
                        journal.add_tests(submission.folder, key_of(own, submission), passed)
                    record = grade_one(Desk(own, journal, Quiet(), "generated"), submission, stop)
                    return without_namespaces(record)

                def compiled(bench: Bench, submissions: Sequence[Submission]) -> None:
                    for submission in submissions:
                        queue.add(
                            partial(grade, bench, submission),
                            partial(records.__setitem__, int(submission.folder)),
                        )

                for unit in batches.units(bench, handed_in):
                    queue.add(partial(batches.compile, unit, stop), partial(compiled, bench))
            queue.run()
    return [records[index] for index in range(len(generated))]


def text_of(graded: Sequence[Graded]) -> str:
    """Name, points and first message of each submission whose points aren't those it deserves; then the totals."""
    lines = []
    for one in graded:
        if one.gains or one.loses:
            lines += [f"{one.generated.name}: {one.points:g} points of {one.deserved:g}, {one.verdict}", one.said]
    counts = f"{sum(one.gains for one in graded)} gain, {sum(one.loses for one in graded)} lose, of {len(graded)}"
    return "\n".join([*lines, counts])


def moves_text() -> str:
    """How many different adversaries there are."""
    count = 1
    for kinds in MOVES.values():
        count *= len(set(kinds))
    return f"{count:,} combinations of moves"
