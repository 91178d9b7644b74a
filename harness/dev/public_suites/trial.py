"""One run of a program that others wrote: its output and end, and how its own check went."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

GO_ON = 75  # status of a run of tests that a new process should continue (note_tests.py)
WAIVED_STATUS = 2  # how the samples say that the device can't do what they show
# Words with which the samples' own checks end.
FAILED = re.compile(
    r"test failed|result = fail|\bfailed\b(?!: 0)|mismatch|\bFAILURE\b|cuda error|errors? detected|(?-i:\bFAIL\b)", re.I
)
# What samples print that looks like a failure, and isn't one.
NOT_FAILED = re.compile(r"not failed|0 failed|no errors|assertion `|Device assert failed as expected", re.I)
PASSED = re.compile(r"\bpass(ed)?\b|\bsuccess|\bOK\b|\bcompleted\b|\bmatch(es)?\b", re.I)
MAX_OUTPUT = 10_000_000  # bytes
MAX_REASON = 90  # characters


@dataclass(frozen=True)
class Finished:
    """A process that ended. A status below 0 is the signal that ended it; None: it was out of time."""

    status: int | None
    output: str
    seconds: float

    def then(self, other: Finished) -> Finished:
        """The sum of this process and one that ran after it."""
        return Finished(other.status, self.output + other.output, self.seconds + other.seconds)


def execute(command: list[str], folder: Path, seconds: float, environment: dict[str, str] | None = None) -> Finished:
    """Run a command to its end, at most `seconds`; keeps the last MAX_OUTPUT bytes of its output and errors."""
    begin = time.monotonic()
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=os.environ | (environment or {}),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        try:
            status: int | None = process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            status = None
        taken = time.monotonic() - begin
        log.seek(max(0, log.tell() - MAX_OUTPUT))
        return Finished(status, log.read().decode("utf-8", "replace"), taken)


def shortened(line: str) -> str:
    """One line that fits in a table."""
    line = " ".join("".join(c if c.isprintable() else " " for c in line).split())
    return line if len(line) <= MAX_REASON else line[: MAX_REASON - 3] + "..."


def line_with(pattern: re.Pattern[str], output: str, unless: re.Pattern[str] | None = None) -> str:
    """The last line that has the pattern, shortened; or an empty string."""
    for line in reversed(output.splitlines()):
        if pattern.search(line) and not (unless and unless.search(line)):
            return shortened(line)
    return ""


def judge(run: Finished) -> tuple[str, str]:
    """Verdict and reason of one run."""
    if run.status is None:
        return "TIME", "still running at the limit"
    complaint = line_with(re.compile(r"^lockstep: |^UNSUPPORTED|^vgpu-run: "), run.output)
    failed = line_with(FAILED, run.output, NOT_FAILED)
    if run.status == WAIVED_STATUS and not complaint:
        return "WAIVED", line_with(re.compile(r"waiv|not support|requires", re.I), run.output)
    if run.status < 0:
        return "CRASH", complaint or f"signal {-run.status}"
    if run.status != 0:
        return "FAIL", complaint or failed or f"exit status {run.status}"
    if failed:
        return "FAIL", failed
    passed = line_with(PASSED, run.output)
    return ("PASS", passed) if passed else ("RAN", "exit status 0")
