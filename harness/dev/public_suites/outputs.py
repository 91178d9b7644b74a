"""Compares what a program printed in two runs on a GPU with what it printed on the virtual GPU."""

import re
from collections import Counter
from dataclasses import dataclass

from trial import line_with, shortened

# On such lines numbers may differ.
MEASURED = re.compile(
    r"\b(m?s|us|µs|ns|msec|sec|seconds?|milliseconds?|microseconds?|time[ds]?|timing|elapsed|latency|[GMT]?B/s"
    r"|[GMT]i?B/s(ec)?|[GT]?flop/?s?|bandwidth|speed-?up|throughput|cycles?|clock|[GM]Hz|faster|slower|device|GPU|seed"
    r"|tok(en)?s?/s|perf(ormance)?|duration)\b|_ms\b|\d(ms|us|s)\b|clock",
    re.I,
)
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|\b(?:nan|inf)\b", re.I)
NO_LETTERS = re.compile(r"[^A-Za-z]+")
# What differs from one machine to the next: addresses, devices' names, and where compare.py builds.
ELSEWHERE = re.compile(
    r"\b0x[0-9a-fA-F]{6,}\b|\bNVIDIA [A-Z]+\d+( \d+GB)?( [A-Z]+\d*)?|\S*/lockstep-compare-\w+/(tmp\w+/)?"
)
CLOSE = 1e-4
LABEL = 12  # letters with which two measured lines must begin alike
REFUSAL = re.compile(r"^lockstep: .*(not support|refused|is missing|can't run)|^UNSUPPORTED|^vgpu-run: .*", re.I)
OURS = re.compile(r"^(lockstep: |vgpu-run: )")
# A finding of ours: its headline, and the indented lines below it.
FINDING = re.compile(r"^[A-Z]+  \S.*<<<.*>>>$")
ASSERTION = re.compile(r"Assertion `(.*)` failed\.$")


@dataclass(frozen=True)
class Run:
    """How one program's run ended: its status (below 0: the signal; None: out of time, or not built) and output.

    `again` is what a second run on the same machine printed, if there was one; `sanitizer` the last line of what
    compute-sanitizer's memcheck said of a run under it, if there was one.
    """

    built: bool
    status: int | None
    output: str
    seconds: float
    again: str | None = None
    sanitizer: str | None = None


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    program: str
    verdict: str
    gpu_s: float
    virtual_s: float
    reason: str


def split(output: str) -> tuple[list[str], list[str]]:
    """A program's own lines, with no spaces at their ends, and our findings."""
    own: list[str] = []
    findings: list[str] = []
    within = False
    for line in output.splitlines():
        if FINDING.match(line):
            within = True
            findings.append(line)
        elif within and line.startswith("  "):
            findings[-1] += "\n" + line
        else:
            within = False
            stripped = ELSEWHERE.sub("(elsewhere)", line.rstrip())
            if stripped and not OURS.match(line):
                own.append(stripped)
    return own, findings


def printed_digits_agree(a: str, b: str) -> bool:
    """Whether two printed fractions differ by no more than one unit in the last digit."""
    decimals = {len(text.partition(".")[2]) for text in (a, b) if "e" not in text.lower()}
    return len(decimals) == 1 and decimals != {0} and abs(float(a) - float(b)) < 1.5 * 10.0 ** -decimals.pop()


def close(one: str, other: str) -> bool:
    """Whether two lines differ by numbers alone, and by little."""
    if NUMBER.sub("#", one) != NUMBER.sub("#", other):
        return False
    for first, second in zip(NUMBER.findall(one), NUMBER.findall(other), strict=True):
        a, b = float(first), float(second)
        if first.lower() == second.lower() or abs(a - b) <= CLOSE * max(abs(a), abs(b), 1e-3):
            continue
        if not printed_digits_agree(first, second):
            return False
    return True


def both_measured(one: str, other: str) -> bool:
    """Whether two lines, of two machines, report the same kind of time or speed, or a device's name."""
    if not (MEASURED.search(one) and MEASURED.search(other)):
        return False
    first, second = (NO_LETTERS.sub("", NUMBER.sub("", line))[:LABEL] for line in (one, other))
    return first == second


def without_numbers(line: str) -> str:
    """The line, without its numbers if it reports something that differs from run to run."""
    return NUMBER.sub("#", line) if MEASURED.search(line) else line


def difference(expected: list[str], got: list[str], varying: set[int]) -> tuple[str, str]:
    """SAME, VARIES, CLOSE, ORDER or DIFFERS, and the first line that differs.

    `varying` has the indices of expected lines whose numbers two runs on the GPU print differently.
    """
    verdicts = {"SAME"}
    for index in range(max(len(expected), len(got))):
        one = expected[index] if index < len(expected) else ""
        other = got[index] if index < len(got) else ""
        if one == other or both_measured(one, other):
            continue
        if index in varying and NUMBER.sub("#", one) == NUMBER.sub("#", other):
            verdicts.add("VARIES")
        elif close(one, other):
            verdicts.add("CLOSE")
        elif Counter(map(without_numbers, expected)) == Counter(map(without_numbers, got)):
            return "ORDER", ""
        else:
            return "DIFFERS", f"GPU: {shortened(one)[:60]} | here: {shortened(other)[:60]}"
    return next(verdict for verdict in ("VARIES", "CLOSE", "SAME") if verdict in verdicts), ""


def judge_output(gpu: Run, virtual: Run) -> tuple[str, str]:
    """The verdict on two runs that ended, and why."""
    expected, got = split(gpu.output)[0], split(virtual.output)[0]
    findings = split(virtual.output)[1]
    # Here a failed assertion is a finding.
    expected = [
        line for line in expected if not ((m := ASSERTION.search(line)) and any(m.group(1) in f for f in findings))
    ]
    again = split(gpu.again)[0] if gpu.again is not None else expected
    varying = set()
    if len(again) == len(expected):
        varying = {i for i, (a, b) in enumerate(zip(expected, again, strict=True)) if a != b}
    verdict, reason = difference(expected, got, varying)
    if verdict == "DIFFERS":
        with_again, _ = difference(again, got, set())
        if with_again != "DIFFERS":
            verdict, reason = with_again, ""
    if verdict != "DIFFERS" and gpu.status != virtual.status:
        verdict, reason = "DIFFERS", f"GPU: status {gpu.status} | here: status {virtual.status}"
    if verdict == "DIFFERS" and findings and gpu.sanitizer and re.search(r"[1-9]\d* errors?", gpu.sanitizer):
        return "FOUND", " ".join(findings[0].split("\n")[1].split())
    return verdict, reason


def compare(name: str, gpu: Run, virtual: Run, undefined: str | None) -> Row:
    """One line of the table. `undefined` says why the program's own output is not defined, where it is not."""
    times = (gpu.seconds, virtual.seconds)
    if not virtual.built:
        return Row(name, "BUILD", *times, virtual.output)
    refusal = line_with(REFUSAL, virtual.output)
    verdict = reason = ""
    if not gpu.built or gpu.status is None or gpu.status < 0:
        how = "not built" if not gpu.built else "out of time" if gpu.status is None else f"signal {-gpu.status}"
        ended = "out of time" if virtual.status is None else f"status {virtual.status}"
        verdict, reason = "NO GPU", f"GPU: {how}; here: {refusal or ended}"
    elif virtual.status is None:
        verdict, reason = "TIME", refusal or "still running at the limit"
    elif refusal:
        verdict, reason = "REFUSED", refusal
    else:
        verdict, reason = judge_output(gpu, virtual)
        if virtual.status < 0 and verdict != "FOUND":
            verdict, reason = "CRASH", f"signal {-virtual.status}"
        if verdict == "DIFFERS" and undefined:
            verdict, reason = "UNDEFINED", undefined
    return Row(name, verdict, *times, reason)
