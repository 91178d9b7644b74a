"""Parses the judge's result file as strictly as untrusted input.

docs/concepts/architecture.md defines the format.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from sys import intern
from typing import Any, Self

from grader.base.schema import Fields, SchemaError, read
from grader.model.timeline import Timeline, timeline_from
from grader.model.verdicts import HARNESS, JUDGED, PASS, SLOW

FORMAT = 2
EVIDENCE_SUITE = "Evidence"
TIMING_SUITE = "Timing"
_FAR = 1 << 63  # bytes
_LIMITS = {"issue": "instructions", "shared": "shared memory", "l2": "L2", "dram": "DRAM", "launch": "launching it"}


@dataclass(frozen=True)
class Place:
    """A line of a source file; line 0 if unknown.

    For a thread also its indices, and its operation: "load", "store", "atomic operation". Equality ignores the thread.
    """

    file: str
    line: int
    block: tuple[int, ...] = field(default=(), compare=False)
    thread: tuple[int, ...] = field(default=(), compare=False)
    access: str = field(default="", compare=False)


@dataclass(frozen=True)
class Memory:
    """The memory of a faulty access: `bytes` at `offset` in a buffer of `buffer_bytes`; "" and 0 if in no buffer."""

    buffer: str
    space: str
    offset: int
    bytes: int
    buffer_bytes: int


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault in a kernel, at one place or, for a race, at two; `count` equal ones are merged.

    `verdict` and `launch` begin its text. `missing`: what would have ordered a race's two accesses, as in
    docs/reference/result-json.md.
    """

    kind: str
    kernel: str
    places: tuple[Place, ...]
    text: str
    count: int
    missing: str = ""
    memory: Memory | None = None
    verdict: str = ""
    launch: str = ""


@dataclass(frozen=True, slots=True)
class SaidLine:
    """A line of a message. `label` is a word for its kind; "" for a plain sentence.

    `file` and `line` are the source line that it names, if any.
    """

    label: str
    text: str
    file: str = ""
    line: int = 0

    @property
    def rendered(self) -> str:
        """The line as a terminal shows it: texts of labelled lines are aligned."""
        return f"{self.label:<7} {self.text}" if self.label else self.text


@dataclass(frozen=True, slots=True)
class Sight:
    """The part of the student's source that a hint is about: a row of `student/sights.py`, and names that it needs."""

    part: str = ""
    names: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """A message of the judge: a headline, lines, and an optional hint of one sentence."""

    message: str
    lines: tuple[SaidLine, ...] = ()
    hint: str = ""
    sight: Sight = Sight()

    @property
    def said(self) -> str:
        """The whole message as a terminal shows it."""
        hint = (SaidLine("hint", self.hint),) if self.hint else ()
        return "\n  ".join([self.message, *(line.rendered for line in (*self.lines, *hint))])

    def with_texts(self, change: Callable[[str], str]) -> Self:
        """A copy with `change` applied to each text."""
        lines = tuple(replace(line, text=change(line.text)) for line in self.lines)
        return replace(self, message=change(self.message), lines=lines, hint=change(self.hint))


@dataclass(frozen=True, kw_only=True, slots=True)
class TestResult(Said):
    """One test's result; `seconds` is wall clock, `output` the program's own."""

    __test__ = False  # not for pytest

    name: str
    rung: str
    verdict: str
    seconds: float
    output: str
    reproduce: str
    findings: tuple[Finding, ...]
    unfinished: bool = False  # it failed because the student has not begun this rung
    device: str = ""  # which of two devices found what is wrong
    launches: tuple[str, ...] = ()  # of the call that failed: "fill_kernel<<<3,128>>>  launch.cu:12"
    kernels: tuple[str, ...] = ()  # of these launches
    launches_before: int = 0  # of the test's other calls

    @property
    def short_name(self) -> str:
        """The name without its suite and its rung: SumsAnyLength."""
        return self.name.partition(".")[2].partition("/")[0] or self.name

    @property
    def is_evidence(self) -> bool:
        """Whether this test measures a criterion instead of checking results."""
        return self.name.split(".", 1)[0] == EVIDENCE_SUITE

    @property
    def is_timing(self) -> bool:
        """Whether this is the synthetic test that reports failures while the rung was timed."""
        return self.name.split(".", 1)[0] == TIMING_SUITE


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence(Said):
    """A metric criterion's measurement; `value` is None if it could not be measured."""

    criterion: str
    rung: str
    metric: str
    value: float | None
    verdict: str
    unmet: str = ""  # why it doesn't count, whatever its value


@dataclass(frozen=True, kw_only=True, slots=True)
class Timing(Said):
    """A criterion that was timed on a GPU: the ratio of the base's time to the submission's, or None.

    Times are per call, medians of the repeats, in microseconds; the confidence interval is `low` to `high`. `bytes` is
    the minimum that a call has to move.
    """

    criterion: str
    rung: str
    n: int
    repeats: int
    microseconds: float
    reference_microseconds: float
    copy_microseconds: float
    value: float | None
    low: float
    high: float
    verdict: str
    gpu: dict[str, str]
    bytes: int = 0
    throttled: bool = False

    @property
    def is_inconclusive(self) -> bool:
        """Whether it was measured, but the repeats vary too much to decide."""
        return self.verdict == HARNESS and self.repeats > 0

    @property
    def is_failure(self) -> bool:
        """Whether the submission failed while it was timed: being slow is not a failure."""
        return self.verdict not in (PASS, SLOW, HARNESS)

    @property
    def speed(self) -> float:
        """Its speedup over the reference."""
        return self.reference_microseconds / self.microseconds

    @property
    def gigabytes_per_second(self) -> float | None:
        """The bandwidth, from the minimum number of bytes to move."""
        return self.bytes / self.microseconds / 1000 if self.bytes and self.microseconds else None


@dataclass(frozen=True)
class Launch:
    """One kernel launch of an evidence run, with its modelled microseconds and its bottleneck."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    microseconds: float
    bound_by: str


@dataclass(frozen=True)
class Access:
    """One warp's access: `lanes` are offsets in bytes, -1 for inactive lanes.

    `cost` and `ideal` count sectors of global memory, or passes through shared memory. Space "branch": a branch at
    which the warp's lanes parted; `lanes` are 1 for those that took it, 0 for the others.
    """

    space: str
    access: str
    bytes: int
    cost: int
    ideal: int
    block: int
    warp: int
    lanes: tuple[int, ...]


@dataclass(frozen=True)
class Line:
    """The counters of one source line, and its worst accesses."""

    file: str
    line: int
    counters: dict[str, float]
    accesses: tuple[Access, ...] = ()


@dataclass(frozen=True)
class Change:
    """A suggested change, the modelled time it saves, and the lines it concerns, costliest first."""

    technique: str
    text: str
    saved_microseconds: float
    lines: tuple[SaidLine, ...]


@dataclass(frozen=True)
class FilledSm:
    """How many blocks fit on an SM. `registers` is per thread, `shared` in bytes per block, `most_…` the SM's limit."""

    blocks: int
    most_blocks: int
    warps: int
    most_warps: int
    limited_by: str
    threads: int
    registers: int
    most_registers: int
    shared: int
    most_shared: int


@dataclass(frozen=True)
class Advised:
    """Advice on a kernel: modelled time of all its launches, the bottleneck, and up to three changes, best first.

    `intensity` is operations per byte of DRAM, `ridge` the intensity where arithmetic becomes the roof, and `share` the
    fraction of the roof achieved.
    """

    kernel: str
    microseconds: float
    bound_by: str
    intensity: float
    ridge: float
    share: float
    changes: tuple[Change, ...]
    sm: FilledSm | None = None

    @property
    def limit(self) -> str:
        """What limits it, and its place under the roofline."""
        limit = _LIMITS.get(self.bound_by, self.bound_by)
        roof = "DRAM allows" if self.intensity < self.ridge else "the arithmetic units allow"
        return (
            f"limited by {limit}, at {100 * self.share:.0f} % of what {roof} ({self.intensity:.2g} operations a byte)"
        )

    def told(self, change: Change) -> str:
        """A change and its saving: "−12.3 µs (41 %) tile: load each element once"."""
        part = 100 * change.saved_microseconds / (self.microseconds or 1)
        words = f"{change.technique}: {change.text}" if change.text else change.technique
        return f"−{change.saved_microseconds:,.1f} µs ({part:.0f} %)  {words}"


@dataclass(frozen=True)
class Profile:
    """The evidence run of one rung: `source` is "submission" or "reference", `n` the number of elements; times are
    modelled.

    `figures` are derived from counters and launches, `advice` covers the costliest kernels.
    """

    rung: str
    source: str
    n: int
    microseconds: float
    counters: dict[str, float]
    launches: tuple[Launch, ...]
    lines: tuple[Line, ...]
    figures: dict[str, float] = field(default_factory=dict)
    timeline: Timeline | None = None
    advice: tuple[Advised, ...] = ()

    @property
    def whole_microseconds(self) -> float:
        """From the first operation to the last if that is known; else the sum over all launches."""
        return self.timeline.timeline_us if self.timeline else self.microseconds

    def figure(self, name: str) -> float:
        """A counter or derived figure; 0 if the run was not counted."""
        return self.counters.get(name, self.figures.get(name, 0.0))


@dataclass(frozen=True)
class Ranked:
    """The leaderboard's metric of one rung, for the submission and the reference; None if not measured.

    Times are modelled for the device `profile`.
    """

    rung: str
    metric: str
    value: float | None
    reference: float | None
    profile: str = ""


@dataclass(frozen=True)
class Device:
    """What the tests ran on."""

    kind: str
    profile: str
    name: str
    threads: int


@dataclass(frozen=True)
class SuiteResult:
    """A whole result file; `finished` is false if the run was cut short, and then nothing is ranked."""

    assignment: str
    suite: str
    seed: int
    finished: bool
    device: Device
    tests: tuple[TestResult, ...]
    evidence: tuple[Evidence, ...]
    timings: tuple[Timing, ...]
    profiles: tuple[Profile, ...]
    leaderboard: Ranked | None = None

    def outline(self) -> "SuiteResult":
        """The part needed for grades, ranks and statistics: no messages, outputs, findings and profiles."""
        return replace(
            self,
            suite=intern(self.suite),
            tests=tuple(
                replace(
                    test, name=intern(test.name), rung=intern(test.rung), verdict=intern(test.verdict),
                    message="", lines=(), hint="", output="", reproduce="", findings=(), launches=(), kernels=(),
                )
                for test in self.tests
            ),
            evidence=tuple(replace(entry, message="", lines=(), hint="") for entry in self.evidence),
            timings=tuple(replace(entry, message="", lines=(), hint="") for entry in self.timings),
            profiles=(),
        )  # fmt: skip

    def with_tests(self, tests: tuple[TestResult, ...]) -> "SuiteResult":
        """The same result with other tests."""
        return replace(self, tests=tests)

    def failures(self) -> list[tuple[str, str]]:
        """Rung and verdict of each failed test and measurement, in the order of the run."""
        found = [(test.rung, test.verdict) for test in self.tests]
        found += [(entry.rung, entry.verdict) for entry in self.evidence]
        found += [(entry.rung, entry.verdict) for entry in self.timings]
        return [(rung, verdict) for rung, verdict in found if verdict != PASS]

    @property
    def is_conclusive(self) -> bool:
        """Whether all measured times were conclusive."""
        return not any(timing.is_inconclusive for timing in self.timings)

    def runs(self, source: str) -> dict[str, Profile]:
        """Evidence runs by rung."""
        return {profile.rung: profile for profile in self.profiles if profile.source == source}


def is_not_begun(rung: str, tests: Sequence[TestResult]) -> bool:
    """Whether every failure on a rung is because the student has not begun it."""
    failed = [test for test in tests if test.rung == rung and test.verdict != PASS and not test.is_evidence]
    return bool(failed) and all(test.unfinished for test in failed)


def parse_result(data: bytes) -> SuiteResult:
    """Reads a result file; raises SchemaError."""
    try:
        document = json.loads(data.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise SchemaError(f"result: no JSON: {error}") from error
    return result_from(document)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def result_from(document: object) -> SuiteResult:
    """Reads a parsed result document; raises SchemaError."""
    fields = Fields(document, "result")
    if (version := fields.whole("format")) != FORMAT:
        raise SchemaError(f"{fields.at('format')}: this grader reads format {FORMAT}, not {version}")
    device = fields.table("device")
    return SuiteResult(
        assignment=fields.text("assignment"),
        suite=fields.text("suite", "public"),
        seed=fields.large("seed"),
        finished=fields.flag("finished"),
        device=Device(
            device.text("kind", "vgpu"), device.text("profile", ""), device.text("name", ""), device.whole("threads", 1)
        ),
        tests=tuple(test_from(test) for test in fields.tables("tests")),
        evidence=tuple(_evidence(entry) for entry in fields.tables("evidence")),
        timings=tuple(_timing(entry) for entry in fields.tables("timings")),
        profiles=tuple(_profile(entry) for entry in fields.tables("profiles")),
        leaderboard=_ranked(fields.table("leaderboard")) if fields.has("leaderboard") else None,
    )


def _ranked(fields: Fields) -> Ranked:
    return read(Ranked, fields, profile=fields.text("profile", ""))


def passed_test(name: str, rung: str) -> TestResult:
    """A passed test about which nothing else is known."""
    return TestResult(name=name, rung=rung, verdict=PASS, seconds=0.0, message="", output="", reproduce="", findings=())


def test_from(fields: Fields) -> TestResult:
    """Reads one entry of `tests`."""
    return TestResult(
        name=fields.text("name", longest=1000),
        rung=fields.text("rung", ""),
        verdict=fields.choice("verdict", JUDGED),
        seconds=fields.number("seconds", 0.0, least=0.0),
        message=fields.text("message", ""),
        hint=fields.text("hint", ""),
        output=fields.text("output", ""),
        reproduce=fields.text("reproduce", ""),
        findings=tuple(
            Finding(
                kind=finding.text("kind", ""),
                kernel=finding.text("kernel", ""),
                places=tuple(
                    Place(
                        place.text("file", ""),
                        place.whole("line", 0, least=-1),
                        place.wholes("block", most=3),
                        place.wholes("thread", most=3),
                        place.text("access", ""),
                    )
                    for place in finding.tables("places", most=2)
                ),
                text=finding.text("text", ""),
                count=finding.whole("count", 1),
                verdict=finding.text("verdict", ""),
                launch=finding.text("launch", ""),
                missing=finding.text("missing", ""),
                memory=_memory(finding.table("memory")) if finding.has("memory") else None,
            )
            for finding in fields.tables("findings", most=1000)
        ),
        unfinished=fields.flag("unfinished", False),
        device=fields.text("device", ""),
        lines=_lines(fields),
        sight=_sight(fields),
        launches=fields.texts("launches"),
        kernels=fields.texts("kernels"),
        launches_before=fields.whole("launches_before", 0),
    )


def _memory(fields: Fields) -> Memory:
    return Memory(
        buffer=fields.text("buffer") if fields.has("buffer") else "",
        space=fields.text("space", ""),
        offset=fields.whole("offset", 0, least=-_FAR),
        bytes=fields.whole("bytes", 0),
        buffer_bytes=fields.whole("buffer_bytes") if fields.has("buffer_bytes") else 0,
    )


def _sight(fields: Fields) -> Sight:
    return (
        read(Sight, fields.table("sight"), names=fields.table("sight").texts("names"))
        if fields.has("sight")
        else Sight()
    )


def _lines(fields: Fields) -> tuple[SaidLine, ...]:
    return tuple(
        SaidLine(line.text("label", ""), line.text("text", ""), line.text("file", ""), line.whole("line", 0))
        for line in fields.tables("lines", most=100)
    )


def _evidence(fields: Fields) -> Evidence:
    return Evidence(
        criterion=fields.text("criterion"),
        rung=fields.text("rung", ""),
        metric=fields.text("metric", ""),
        value=_measured(fields, "value"),
        verdict=fields.choice("verdict", JUDGED),
        message=fields.text("message", ""),
        lines=_lines(fields),
        hint=fields.text("hint", ""),
        sight=_sight(fields),
        unmet=fields.text("unmet", ""),
    )


def _measured(fields: Fields, key: str) -> float | None:
    return fields.number(key) if fields.has(key) else None


def _timing(fields: Fields) -> Timing:
    # The judge writes the figure as a nested table; a stored result has its parts inline.
    figure = fields.table("figure") if fields.has("figure") else fields if fields.has("value") else None
    return Timing(
        criterion=fields.text("criterion"),
        rung=fields.text("rung", ""),
        n=fields.whole("n", 0),
        repeats=fields.whole("repeats", 0),
        microseconds=fields.number("microseconds", 0.0, least=0.0),
        reference_microseconds=fields.number("reference_microseconds", 0.0, least=0.0),
        copy_microseconds=fields.number("copy_microseconds", 0.0, least=0.0),
        value=figure.number("value") if figure else None,
        low=figure.number("low") if figure else 0.0,
        high=figure.number("high") if figure else 0.0,
        verdict=fields.choice("verdict", JUDGED),
        message=fields.text("message", ""),
        lines=_lines(fields),
        hint=fields.text("hint", ""),
        gpu=fields.words("gpu"),
        bytes=fields.whole("bytes", 0),
        throttled=fields.flag("throttled", False),
    )


def _profile(fields: Fields) -> Profile:
    return Profile(
        rung=fields.text("rung"),
        source=fields.choice("source", ("submission", "reference")),
        n=fields.whole("n", 0),
        microseconds=fields.number("microseconds", 0.0, least=0.0),
        counters=fields.counts("counters"),
        launches=tuple(
            Launch(
                kernel=launch.text("kernel", ""),
                grid=_triple(launch, "grid"),
                block=_triple(launch, "block"),
                microseconds=launch.number("microseconds", 0.0, least=0.0),
                bound_by=launch.text("bound_by", ""),
            )
            for launch in fields.tables("launches", most=100_000)
        ),
        lines=tuple(
            Line(
                line.text("file", ""),
                line.whole("line", 0),
                line.counts("counters"),
                tuple(read(Access, one, lanes=one.wholes("lanes", most=32)) for one in line.tables("accesses", most=3)),
            )
            for line in fields.tables("lines", most=100_000)
        ),
        figures=fields.counts("figures"),
        timeline=timeline_from(fields.table("timeline")) if fields.has("timeline") else None,
        advice=tuple(
            read(
                Advised,
                one,
                changes=tuple(read(Change, change, lines=_lines(change)) for change in one.tables("changes")),
                sm=read(FilledSm, one.table("sm")) if one.has("sm") else None,
            )
            for one in fields.tables("advice", most=10)
        ),
    )


def _triple(fields: Fields, key: str) -> tuple[int, int, int]:
    values = fields.wholes(key)
    if len(values) != 3:  # noqa: PLR2004
        raise SchemaError(f"{fields.at(key)}: expected three whole numbers")
    return values[0], values[1], values[2]


def listed_tests(output: str) -> list[str]:
    """Full test names from the output of --gtest_list_tests."""
    names = []
    suite = ""
    for line in output.splitlines():
        name = line.partition("#")[0].rstrip()
        if name and not name.startswith(" ") and name.endswith("."):
            suite = name
        elif suite and name.startswith("  "):
            names.append(suite + name.strip())
    return names
