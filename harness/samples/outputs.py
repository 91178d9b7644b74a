"""What two runs of a program printed, compared: on a GPU, twice, and on the virtual GPU."""

from __future__ import annotations

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
ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")
CLOSE = 1e-4
LABEL = 12  # letters with which two measured lines must begin alike
REFUSAL = re.compile(r"^lockstep: .*(not support|refused|is missing|can't run)|^UNSUPPORTED|^vgpu-run: .*", re.I)
OURS = re.compile(r"^(lockstep: |vgpu-run: )")


@dataclass(frozen=True)
class Run:
    """How one program's run ended: its status (below 0: the signal; None: out of time, or not built) and output.

    `again` is what a second run on the same machine printed, if there was one.
    """

    built: bool
    status: int | None
    output: str
    seconds: float
    again: str | None = None


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    program: str
    verdict: str
    gpu_s: float
    virtual_s: float
    reason: str


def lines_of(output: str) -> list[str]:
    """A program's own lines, with no spaces at their ends, and addresses of memory as one word."""
    lines = (ADDRESS.sub("(address)", line.rstrip()) for line in output.splitlines())
    return [line for line in lines if line and not OURS.match(line)]


def close(one: str, other: str) -> bool:
    """Whether two lines differ by numbers alone, and by little."""
    if NUMBER.sub("#", one) != NUMBER.sub("#", other):
        return False
    for first, second in zip(NUMBER.findall(one), NUMBER.findall(other), strict=True):
        a, b = float(first), float(second)
        if not (first.lower() == second.lower() or abs(a - b) <= CLOSE * max(abs(a), abs(b), 1e-3)):
            return False
    return True


def both_measured(one: str, other: str) -> bool:
    """Whether two lines tell the same time, speed or name of a device, of two machines."""
    if not (MEASURED.search(one) and MEASURED.search(other)):
        return False
    first, second = (NO_LETTERS.sub("", NUMBER.sub("", line))[:LABEL] for line in (one, other))
    return first == second


def difference(gpu: str, virtual: str) -> tuple[str, str]:
    """SAME, CLOSE, ORDER or DIFFERS, and the first line that differs."""
    expected, got = lines_of(gpu), lines_of(virtual)
    verdict = "SAME"
    for index in range(max(len(expected), len(got))):
        one = expected[index] if index < len(expected) else ""
        other = got[index] if index < len(got) else ""
        if one == other or both_measured(one, other):
            continue
        if not close(one, other):
            if Counter(expected) == Counter(got):
                return "ORDER", ""
            return "DIFFERS", f"GPU: {shortened(one)[:60]} | here: {shortened(other)[:60]}"
        verdict = "CLOSE"
    return verdict, ""


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
    elif virtual.status < 0:
        verdict, reason = "CRASH", f"signal {-virtual.status}"
    if verdict:
        return Row(name, verdict, *times, reason)
    verdict, reason = difference(gpu.output, virtual.output)
    if verdict != "DIFFERS" and gpu.status != virtual.status:
        verdict, reason = "DIFFERS", f"GPU: status {gpu.status} | here: status {virtual.status}"
    if verdict == "DIFFERS" and gpu.again is not None:
        with_again = difference(gpu.again, virtual.output)[0]
        if with_again != "DIFFERS" and gpu.status == virtual.status:
            verdict, reason = with_again, ""
        elif difference(gpu.output, gpu.again)[0] == "DIFFERS":
            verdict = "VARIES"
    if verdict in ("DIFFERS", "VARIES") and undefined:
        return Row(name, "UNDEFINED", *times, undefined)
    return Row(name, verdict, *times, reason)
