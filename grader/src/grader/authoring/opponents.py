"""Hostile solutions, and the result that each must get: only on the GPU, on both devices, or on the virtual GPU.

They are in reference/NN_name/hostile, and some in wrong/, where the first line goes on with `; gpu: VERDICT`; or
entries of hostile.toml and wrong.toml (see `solutions`):

    // gpu: WRONG reduce8_shuffle
    // gpu: PASS reduce8_shuffle, gains nothing; virtual: REJECTED
    // virtual: CRASH shift2_any
    // virtual: PASS shift2_any, at most 10 points

`gpu` is the verdict of a GPU's judge on that rung without the virtual GPU's help; `gains nothing` means that a time was
measured and is no better than the reference's. `virtual` is the virtual GPU's verdict, PASS by default: most solutions
misbehave only when they are timed. A line with only `virtual` belongs to a solution that does not attack a GPU: on a
GPU it is graded on both devices, as a class is, and must get the same; `at most` bounds the points of the whole
submission.
"""

import re
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from grader.authoring.declared import COMMENT
from grader.authoring.finding import Finding
from grader.authoring.solutions import solutions_in
from grader.authoring.unity import Unit, UnityBuilds
from grader.base.jobs import Jobs
from grader.base.layout import Layout
from grader.model.assignment import Assignment
from grader.model.discovery import Submission
from grader.model.record import Record
from grader.model.result import passed_test
from grader.model.roster import Student
from grader.model.verdicts import JUDGED
from grader.running.bench import Bench
from grader.running.keys import key_of
from grader.running.pipeline import Desk, grade_one
from grader.running.progress import Progress
from grader.running.store import Journal, gpu_key

GAIN = 1.05  # minimum speedup over the reference: above the scatter of repeated runs
_HOSTILE = re.compile(
    COMMENT + r"gpu:\s*(?P<gpu>[A-Z]+)\s+(?P<rung>\w+)(?P<idle>, gains nothing)?"
    r"(?:;\s*virtual:\s*(?P<virtual>[A-Z]+))?\s*"
)
_VIRTUAL = re.compile(
    COMMENT + r"virtual:\s*(?P<virtual>[A-Z]+)\s+(?P<rung>\w+)(?:, at most (?P<most>\d+) points?)?\s*"
)
_WRONG = re.compile(COMMENT + r"verdict:\s*(?P<virtual>[A-Z]+)\s+(?P<rung>\w+);\s*gpu:\s*(?P<gpu>[A-Z]+)\s*")


@dataclass(frozen=True)
class CorpusEntry:
    """A hostile solution: the rung it attacks, the verdicts it must get, and its own description."""

    submission: Submission
    rung: str
    gpu: str
    virtual: str
    gains_nothing: bool
    says: str
    most_points: int | None = None

    def wanted(self, *, on_gpu: bool) -> str:
        """The expected verdict."""
        return self.gpu if on_gpu and self.gpu else self.virtual


@dataclass(frozen=True)
class Met:
    """The result of a hostile solution: the verdict, and its speedup over the reference if it was timed."""

    opponent: CorpusEntry
    assignment: str
    verdict: str
    speed: float | None
    finding: Finding


def find_corpus(layout: Layout, assignment: Assignment) -> tuple[list[CorpusEntry], list[Finding]]:
    """The assignment's hostile solutions, and findings about those that can't be read or declare nothing checkable."""
    opponents: list[CorpusEntry] = []
    problems: list[Finding] = []
    rungs = {rung.id for rung in assignment.rungs}
    for folder, patterns in (("hostile", (_HOSTILE, _VIRTUAL)), ("wrong", (_WRONG,))):
        solutions, unread = solutions_in(layout.reference(assignment.id), folder, assignment.submission)
        problems += unread
        for solution in solutions:
            name, source = solution.name, solution.source
            first = source.partition(b"\n")[0].decode("utf-8", "replace")
            declared = _declared(first, patterns)
            if (
                declared
                and declared["rung"] in rungs
                and {declared["gpu"] or "PASS", declared["virtual"]} <= set(JUDGED)
            ):
                opponents.append(
                    CorpusEntry(
                        Submission(name, Student(name), source),
                        declared["rung"],
                        declared["gpu"],
                        declared["virtual"],
                        bool(declared["idle"]),
                        source.split(b"\n", 2)[1].decode("utf-8", "replace").lstrip("/#").strip(),
                        int(declared["most"]) if declared["most"] else None,
                    )
                )
            elif folder == "hostile" or "gpu:" in first:
                problems.append(
                    Finding(name, "", "its first line must be  // gpu: VERDICT rung  or  // virtual: VERDICT rung")
                )
    return opponents, problems


def _declared(line: str, patterns: Sequence[re.Pattern[str]]) -> dict[str, str] | None:
    """What a first line declares; None if no pattern matches."""
    for pattern in patterns:
        if match := pattern.fullmatch(line):
            said = {"gpu": "", "virtual": "PASS", "idle": "", "most": ""}
            return said | {name: text for name, text in match.groupdict().items() if text}
    return None


def run_corpus(
    benches: Sequence[tuple[Bench, Sequence[CorpusEntry]]],
    journal: Journal,
    progress: Progress,
    on_met: Callable[[int, Met], None],
    *,
    batches: UnityBuilds,
    jobs: int,
    stop: threading.Event,
) -> list[Met]:
    """Runs each hostile solution on the rung it attacks, `jobs` at a time; on a GPU alone a timed rung runs no tests.

    Unless points are checked, the run stops at the first failure: a solution that floods the judge would do so in every
    test. `on_met` gets the index of the solution's bench. They are compiled in `batches`; one that misses its declared
    result is compiled alone and run again.
    """

    def meet(bench: Bench, opponent: CorpusEntry) -> Met:
        flags = () if opponent.most_points is not None else ("--one-failure",)
        settings = replace(bench.settings, rung=opponent.rung, alone=bench.settings.alone and bool(opponent.gpu))
        own = replace(bench, settings=settings, flags=(*bench.flags, *flags))
        is_timed = any(one.timing and one.rung == opponent.rung for one in bench.assignment.criteria)
        if settings.alone and is_timed:
            # Such a solution misbehaves when it is timed; its tests are left to the virtual GPU.
            passed = [
                passed_test(name, opponent.rung)
                for name in bench.suite.tests
                if name.rpartition("/")[2] == opponent.rung
            ]
            journal.add_tests(opponent.submission.folder, gpu_key(key_of(own, opponent.submission)), passed)
        if batches.has(opponent.submission):
            batched = Desk(replace(own, build=batches.build), of_batches, progress, "grader opponents")
            one = check_verdict(opponent, grade_one(batched, opponent.submission, stop), on_gpu=False)
            if not one.finding.problem:
                return one
        record = grade_one(Desk(own, journal, progress, "grader opponents"), opponent.submission, stop)
        return check_verdict(opponent, record, on_gpu=bench.settings.on_gpu)

    queue = Jobs(jobs, stop)
    met: dict[tuple[int, int], Met] = {}

    def ended(place: int, index: int, one: Met) -> None:
        met[place, index] = one
        on_met(place, one)

    def compiled(place: int, submissions: Sequence[Submission]) -> None:
        bench, opponents = benches[place]
        ready = {submission.folder for submission in submissions}
        for index, opponent in enumerate(opponents):
            if opponent.submission.folder in ready:
                queue.add(partial(meet, bench, opponent), partial(ended, place, index))

    for place, (bench, opponents) in enumerate(benches):
        submissions = [opponent.submission for opponent in opponents]
        plain = [Unit([submission]) for submission in submissions]
        for unit in plain if bench.settings.on_gpu else batches.units(bench, submissions):
            queue.add(partial(batches.compile, unit, stop), partial(compiled, place))
    with (
        tempfile.TemporaryDirectory(prefix="grader-opponents-") as name,
        closing(Journal(Path(name) / "journal.sqlite")) as of_batches,
    ):
        queue.run()
    return [met[at] for at in sorted(met)]


def check_verdict(opponent: CorpusEntry, record: Record, *, on_gpu: bool) -> Met:
    """Whether a hostile solution got its declared result."""
    verdict, message = _found(opponent, record)
    speeds = [
        timing.speed
        for timing in (record.result.timings if record.result else ())
        if timing.microseconds > 0 and timing.rung == opponent.rung
    ]
    speed = max(speeds, default=None)
    wanted = opponent.wanted(on_gpu=on_gpu)
    problem = ""
    if verdict != wanted:
        problem = f"declares {wanted} and gets {verdict}" + (f"\n{message}" if message else "")
    elif opponent.most_points is not None and record.score and record.score.total > opponent.most_points:
        problem = f"declares at most {opponent.most_points} points and gets {record.score.total:g}"
    elif on_gpu and opponent.gains_nothing and speed is None:
        problem = "declares that it gains nothing, and was not timed"
    elif on_gpu and opponent.gains_nothing and speed is not None and speed > GAIN:
        problem = f"declares that it gains nothing, and is {speed:.3f} times as fast as the reference"
    detail = f"{verdict} {opponent.rung}" + (f", {speed:.3f} × the reference" if speed is not None else "")
    return Met(opponent, record.assignment, verdict, speed, Finding(record.folder, detail, problem))


def _found(opponent: CorpusEntry, record: Record) -> tuple[str, str]:
    """The first problem on the attacked rung."""
    if record.result is None:
        return record.verdict, record.message.strip()
    for test in record.result.tests:
        if test.rung == opponent.rung and test.verdict != "PASS" and not test.is_evidence:
            return test.verdict, test.said.strip()
    for entry in record.result.evidence:
        if entry.rung == opponent.rung and entry.verdict not in ("PASS", "SLOW"):
            return entry.verdict, entry.said.strip()
    return ("HARNESS", record.message) if record.score is None else ("PASS", "")


def corpus_text(met: Sequence[Met]) -> str:
    """The closing line: how many there were, and how many got their declared result."""
    held = sum(not one.finding.problem for one in met)
    return f"{held} of {len(met)} opponents get the verdicts they declare"
