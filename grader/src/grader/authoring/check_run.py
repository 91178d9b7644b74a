"""Runs `grader check`: all assignments' solutions in one queue, skipping runs whose result is known.

Suites and compilers take most of the time. All assignments share one queue, so no processor idles while the last
solution of an assignment runs. Solutions are compiled in batches (see `unity`). A wrong one runs only the test that its
recorded message is about: if that test does not give the recorded message, or with `whole` or `update_messages`, it is
compiled alone and runs every test that can change a finding. Skipped are

* the rungs above the declared one: the first rung that fails gives the verdict (`tests_above`);
* everything after the first failure on a rung: that failure gives verdict and message (--one-failure);
* on the rungs below, tests that another solution runs on the same code (`known_tests`). Most wrong solutions use one
  good kernel for all other rungs.

The stub and the reference run every test. If they are not in the share that is graded, a stub is left out and a
reference runs its small tests alone. A right solution leaves out tests on large arrays, unless `whole` asks for them:
they take half of a suite's time, and evidence comes from large arrays too.
"""

import re
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import lru_cache, partial
from pathlib import Path, PurePath

from grader.authoring.check import (
    SEED,
    Checked,
    check_points,
    check_reference,
    check_right,
    check_stub,
    check_tests,
    check_todos,
    check_wrong,
    first_message,
)
from grader.authoring.check_files import (
    check_count,
    check_figures,
    check_given,
    check_handout,
    check_hidden,
    check_hints,
    check_messages,
    check_names,
    check_places,
    recorded_form,
    recorded_messages,
)
from grader.authoring.check_handout import Attack, attacks_from_handout, check_attack
from grader.authoring.declared import REFERENCE, STUB, Collected, collect
from grader.authoring.finding import Finding
from grader.authoring.handout import Hidden, hidden_lines
from grader.authoring.in_order import InOrder
from grader.authoring.same_code import Code
from grader.authoring.shard import ALL, Shard
from grader.authoring.unity import Unit, UnityBuilds, without_namespaces
from grader.base.jobs import Jobs
from grader.base.layout import Layout
from grader.base.toolchain import Toolchain
from grader.model.assignment import Assignment
from grader.model.discovery import Submission
from grader.model.record import Record
from grader.model.result import EVIDENCE_SUITE, TestResult, passed_test
from grader.model.roster import Student
from grader.model.score import overall_verdict
from grader.running.bench import Bench, prepare
from grader.running.keys import key_of
from grader.running.pipeline import Desk, grade_one
from grader.running.progress import Quiet
from grader.running.run import RunSettings
from grader.running.store import Journal
from grader.running.worker_cache import WorkerCache

# Lines saying on which input a test failed and what was called before: long, and the same for every mistake.
_NOT_RECORDED = ("input", "device", "calls")


@dataclass(frozen=True)
class CheckSettings:
    """How a check runs.

    `record` and `update_messages` write figures.json and the wrong solutions' messages anew instead of comparing.
    `only`: globs such as `right/*`; solutions that match none of them are not graded. With `whole` a wrong solution
    runs more than the test that is known to catch it, and a right one the tests on large arrays too. `shard`: grades
    only this share of the stubs and solutions; the references' small tests and figures are in every share. With another
    `seed` than SEED, which draws other inputs, what is on record is not compared.
    """

    jobs: int
    threads: int
    sandboxed: bool
    record: bool = False
    update_messages: bool = False
    only: Sequence[str] = ()
    whole: bool = False
    shard: Shard = ALL
    seed: int = SEED

    @property
    def compares(self) -> bool:
        """Whether inputs are those of the figures and messages on record."""
        return self.seed == SEED


def check_assignments(
    layout: Layout,
    toolchain: Toolchain,
    assignments: Sequence[Assignment],
    settings: CheckSettings,
    *,
    on_begin: Callable[[Assignment], None],
    on_finding: Callable[[Finding], None],
    stop: threading.Event,
) -> list[Checked]:
    """Checks assignments; each finding is also passed to `on_finding`, in the order of the assignments."""
    shown = InOrder(assignments, on_begin, on_finding)
    jobs = Jobs(settings.jobs, stop)
    with tempfile.TemporaryDirectory(prefix="grader-check-") as name:
        journal, again = (Journal(Path(name) / f"{run}.sqlite") for run in ("journal", "again"))
        cache = WorkerCache(layout)
        cache.prune()
        hidden = lru_cache(partial(hidden_lines, layout))
        checks = [
            _Check(
                layout,
                toolchain,
                assignment,
                settings,
                Path(name),
                (journal, again),
                cache,
                hidden,
                partial(shown.add, index),
                stop,
            )
            for index, assignment in enumerate(assignments)
        ]

        def begin(index: int) -> None:
            if index < len(checks):
                jobs.add(checks[index].begin, partial(begun, index))

        def begun(index: int, units: Sequence[Unit]) -> None:
            begin(index + 1)  # overlaps with this one's solutions
            left = sum(len(unit.submissions) for unit in units)

            def graded(_: None) -> None:
                nonlocal left
                left -= 1
                if left == 0:
                    finish(index)

            def compiled(submissions: Sequence[Submission]) -> None:
                for submission in submissions:
                    jobs.add(partial(checks[index].grade, submission), graded)

            for unit in units:
                jobs.add(partial(checks[index].compile, unit), compiled)
            if not left:
                finish(index)

        def finish(index: int) -> None:
            checks[index].finish()
            shown.finish(index)

        try:
            begin(0)
            jobs.run()
        finally:
            journal.close()
            again.close()
    return [check.checked for check in checks]


class _Check:
    """The check of one assignment. `begin`, `compile` and `grade` run on any thread, `finish` when all is graded."""

    def __init__(  # noqa: PLR0913 - what all assignments share
        self,
        layout: Layout,
        toolchain: Toolchain,
        assignment: Assignment,
        settings: CheckSettings,
        folder: Path,
        journals: tuple[Journal, Journal],
        cache: WorkerCache,
        hidden: Hidden,
        on_finding: Callable[[Finding], None],
        stop: threading.Event,
    ) -> None:
        self.checked = Checked(assignment, [], Counter())
        self._layout = layout
        self._toolchain = toolchain
        self._assignment = assignment
        self._settings = settings
        self._folder = folder
        self._journal, self._again = journals
        self._cache = cache
        self._hidden = hidden
        self._batches = UnityBuilds(cache)
        self._recorded: dict[str, str] = {}
        self._on_finding = on_finding
        self._stop = stop
        self._lock = threading.Lock()
        self._messages: dict[str, str] = {}
        self._known: dict[str, list[TestResult]] = {}
        self._collected = Collected()
        self._attacks: dict[str, Attack] = {}
        self._bench: Bench | None = None

    def begin(self) -> list[Unit]:
        """Checks the files, and returns what to compile: single solutions first, then batches."""
        layout, assignment, settings = self._layout, self._assignment, self._settings
        self._found(
            check_points(assignment),
            check_places(layout, assignment),
            check_todos(assignment),
            check_names(layout, assignment),
            check_hints(assignment),
            check_given(assignment, record=settings.record),
            check_hidden(layout, assignment),
            check_handout(layout, assignment, self._hidden),
        )
        run = RunSettings(settings.seed, "vgpu", settings.threads, settings.sandboxed)
        work = self._folder / assignment.id
        bench = prepare(layout, self._toolchain, assignment, run, work, self._stop, self._cache.build)
        self._collected = collected = collect(layout, assignment)
        self._found(
            check_tests(assignment, bench.suite.tests),
            *collected.problems,
            check_count(assignment, len(collected.wrong), len(collected.right)),
        )
        attacks, said = attacks_from_handout(layout, assignment, self._hidden, settings.only)
        self._attacks = {attack.name: attack for attack in attacks}
        self._found(*said)
        if settings.compares:
            self._found(check_figures(bench, record=settings.record))
        self._bench = replace(bench, flags=("--evidence=judged",))  # only the counters that criteria use are measured
        chosen = [
            submission
            for submission in collected.submissions
            if not settings.only or any(fnmatchcase(submission.folder, glob) for glob in settings.only)
        ]
        chosen += [Submission(attack.name, Student(attack.name), attack.source) for attack in attacks]
        chosen = [one for one in chosen if one.folder == REFERENCE or self._is_in_share(one.folder)]
        chosen.sort(key=lambda submission: submission.folder in collected.wrong)
        self._known = known_tests(assignment, bench.suite.tests, chosen, collected)
        if settings.compares and not settings.whole and not settings.update_messages:
            self._recorded = recorded_messages(layout, assignment)
        return self._batches.units(self._bench, chosen, self._is_alone)

    def _is_in_share(self, folder: str) -> bool:
        every_assignment_has_it = folder in (STUB, REFERENCE)
        return self._settings.shard.holds(f"{self._assignment.id}/{folder}" if every_assignment_has_it else folder)

    def _is_alone(self, submission: Submission) -> bool:
        """Whether to compile it alone: it needs a full run, or may not compile."""
        return submission.folder not in self._collected.right and not self._test_of(submission)

    def _test_of(self, submission: Submission) -> str:
        """The test that a wrong solution's recorded message is about; "" where none is."""
        words = self._recorded.get(_stem(submission.folder), "").split(maxsplit=2)[:2]
        tests = self._bench.suite.tests if self._bench else ()
        return words[1] if submission.folder in self._collected.wrong and words[1:] and words[1] in tests else ""

    def compile(self, unit: Unit) -> Sequence[Submission]:
        """Compiles a batch and returns the solutions in it."""
        return self._batches.compile(unit, self._stop)

    def grade(self, submission: Submission) -> None:
        """Grades one solution and reports the findings."""
        bench = self._bench
        assert bench is not None  # noqa: S101
        known: Sequence[TestResult] = self._known.get(submission.folder, ())
        if submission.folder in self._collected.right and not self._settings.whole:
            known = [_as_passed(name) for name in bench.suite.tests if "Large" in name]
        elif submission.folder == REFERENCE and not self._is_in_share(REFERENCE):
            known = [_as_passed(name) for name in bench.suite.tests if "Large" in name or _is_evidence(name)]
        above: Sequence[TestResult] = ()
        batched = replace(bench, build=self._batches.build)
        if submission.folder in self._collected.wrong:
            bench, batched = (replace(one, flags=(*one.flags, "--one-failure")) for one in (bench, batched))
            above = tests_above(self._assignment, bench.suite.tests, self._collected.wrong[submission.folder][1])
            if test := self._test_of(submission):
                others = [_as_passed(name) for name in bench.suite.tests if name != test]
                record = without_namespaces(self._graded(batched, submission, others, self._journal))
                if self._is_as_recorded(record):
                    self._judge(record, is_batched=self._batches.has(submission))
                    return
        elif self._batches.has(submission):
            record = without_namespaces(self._graded(batched, submission, known, self._journal))
            if not check_right(self._assignment, record, *self._collected.right[submission.folder]).problem:
                self._judge(record, is_batched=True)
                return
        self._judge(self._graded(bench, submission, known, self._again, above))

    def _graded(
        self,
        bench: Bench,
        submission: Submission,
        known: Sequence[TestResult],
        journal: Journal,
        above: Sequence[TestResult] = (),
    ) -> Record:
        """The record of a solution; tests in `known` are taken as passed and those in `above` don't matter, so neither
        run.
        """
        journal.add_tests(submission.folder, key_of(bench, submission), [*above, *known])
        record = grade_one(Desk(bench, journal, Quiet(), "grader check"), submission, self._stop)
        return with_known_evidence(self._assignment, record, known)

    def _is_as_recorded(self, record: Record) -> bool:
        """Whether a wrong solution gets its declared verdict and the recorded message."""
        said = recorded_form(first_message(self._assignment, record, without=_NOT_RECORDED))
        finding = check_wrong(self._assignment, record, *self._collected.wrong[record.folder])
        return not finding.problem and said == self._recorded[_stem(record.folder)]

    def finish(self) -> None:
        """The findings that need all solutions graded."""
        if not self._settings.compares:
            return
        update = self._settings.update_messages
        is_partial = len(self._messages) < len(self._collected.wrong)
        self._found(
            check_messages(self._layout, self._assignment, self._messages, update=update, is_partial=is_partial)
        )

    def _judge(self, record: Record, *, is_batched: bool = False) -> None:
        folder = record.folder
        with self._lock:
            self.checked.batched += is_batched
        if folder == STUB:
            self._found(check_stub(self._assignment, record))
        elif folder == REFERENCE:
            self._found(check_reference(record, is_whole=self._is_in_share(REFERENCE)))
        elif folder in self._attacks:
            self._found(check_attack(self._attacks[folder], record))
        elif folder in self._collected.right:
            self._found(check_right(self._assignment, record, *self._collected.right[folder]))
            with self._lock:
                self.checked.right += 1
        else:
            verdict, rung = self._collected.wrong[folder]
            finding = check_wrong(self._assignment, record, verdict, rung)
            self._found(finding)
            message = first_message(self._assignment, record, without=_NOT_RECORDED)
            with self._lock:
                self.checked.verdicts[verdict] += 1
                if not (finding.problem and self._settings.update_messages):  # its message may hold the verdict
                    self._messages[folder.removeprefix("wrong/")] = message

    def _found(self, *findings: Finding) -> None:
        for finding in findings:
            with self._lock:
                self.checked.findings.append(finding)
            self._on_finding(finding)


def _stem(folder: str) -> str:
    """A wrong solution's name as a key of wrong.toml."""
    return PurePath(folder).stem


def rung_of(test: str) -> str:
    """The rung that a test's full name ends with."""
    return test.rpartition("/")[2]


def tests_above(assignment: Assignment, tests: Sequence[str], rung: str) -> list[TestResult]:
    """The tests of rungs above the one that a wrong solution fails on, as if they had passed.

    The verdict is that of the first rung that fails, so these need not run. If it is a bonus rung, all other rungs have
    to pass, so only the bonus rungs above it are skipped. If the solution declares no rung, every test runs.
    """
    ids = [known.id for known in assignment.rungs]
    if rung not in ids:
        return []
    above = ids[ids.index(rung) + 1 :]
    if assignment.is_bonus_rung(rung):
        above = [other for other in above if assignment.is_bonus_rung(other)]
    return [_as_passed(name) for name in tests if rung_of(name) in above]


def _is_evidence(test: str) -> bool:
    return test.startswith(f"{EVIDENCE_SUITE}.")


def _as_passed(name: str) -> TestResult:
    return passed_test(name, rung_of(name))


def known_tests(
    assignment: Assignment, tests: Sequence[str], submissions: Sequence[Submission], collected: Collected
) -> dict[str, list[TestResult]]:
    """The tests to skip, by wrong solution: an earlier solution runs them on the same code, so they count as passed.

    Skipping is safe: a test calls only its rung's launcher, with inputs from the seed and its name, so the same code
    gets the same result. If it fails, the earlier solution misses its declared verdict, and the check reports that.
    Only rungs below the declared one (else all), no bonus rungs. If a metric compares rungs, the code of all must be
    equal.
    """
    ids = [rung.id for rung in assignment.rungs]
    compared = {rung: sorted({rung} | _rungs_compared(assignment, rung)) for rung in ids}
    kinds = {
        is_evidence: [name for name in tests if _is_evidence(name) == is_evidence] for is_evidence in (False, True)
    }
    seen: set[tuple[object, ...]] = set()
    known: dict[str, list[TestResult]] = {}
    for submission in submissions:
        verdict, declared = collected.wrong.get(submission.folder, ("", ""))
        if (not verdict and submission.folder != REFERENCE) or verdict in ("COMPILE", "REJECTED"):
            continue
        # Code parses C++; for any other text it has no keys.
        code = Code("" if assignment.is_python else (submission.source or b"").decode("utf-8", "replace"))
        keys = {rung: code.key(rung) for rung in ids}
        below = ids[: ids.index(declared)] if declared and not assignment.is_bonus_rung(declared) else ids
        for rung in below:
            if assignment.is_bonus_rung(rung):
                continue
            for is_evidence, rungs in ((False, [rung]), (True, compared[rung])):
                same = (is_evidence, rung, *(keys[other] for other in rungs))
                if "" in same:
                    continue
                if same in seen and verdict:
                    own = [_as_passed(name) for name in kinds[is_evidence] if rung_of(name) == rung]
                    known.setdefault(submission.folder, []).extend(own)
                seen.add(same)
    return known


def with_known_evidence(assignment: Assignment, record: Record, known: Sequence[TestResult]) -> Record:
    """The record with the evidence in `known`, which was not measured, filled in at full marks."""
    rungs = {test.rung for test in known if _is_evidence(test.name)}
    if not rungs or record.score is None or record.result is None:
        return record
    criteria = tuple(
        replace(criterion, points=criterion.possible, verdict="PASS")
        if criterion.metric and criterion.value is None and criterion.rung in rungs
        else criterion
        for criterion in record.score.criteria
    )
    verdict, rung = overall_verdict(assignment, record.result.tests, criteria)
    return replace(record, score=replace(record.score, criteria=criteria, verdict=verdict, rung=rung))


def _rungs_compared(assignment: Assignment, rung: str) -> set[str]:
    """The other rungs that the metrics of a rung's criteria name, as in "sectors / scan2.sectors"."""
    own = [criterion for criterion in assignment.criteria if criterion.rung == rung]
    text = " ".join(f"{criterion.metric} {criterion.only_where}" for criterion in own)
    return {other.id for other in assignment.rungs if re.search(rf"\b{re.escape(other.id)}\.", text)}
