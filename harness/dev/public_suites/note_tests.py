"""A plugin for pytest: notes each test in a file as it begins and ends, so that a crash loses nothing but that test.

    pytest -p note_tests --notes FILE --test-seconds 60 …

A line of FILE is a JSON list: ["begin", TEST] or ["end", TEST, OUTCOME, WHY]. A test that FILE names already is left
out, so the same command goes on after a crash. WHY is the exception's text and what the test printed. A test that is
out of time fails; if it is in a call that does not return, the process ends. The process also ends, with status GO_ON,
after a test that failed with a CUDA error: all later tests in the same context would fail too.
"""

import faulthandler
import json
import os
import re
import signal
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from trial import GO_ON

MOST = 6000  # characters of a reason
PATIENCE = 10  # seconds more for a call to come back
LOST = re.compile(r"CUDA_ERROR_|CUDAError|CUDADriverError|CudaAPIError|cudaError|cuMemcpy\w+ failed|LaunchError")


class OutOfTimeError(BaseException):
    """No test catches this by accident."""


class Notes:
    """The hooks, with the file that they write."""

    def __init__(self, path: Path, seconds: int) -> None:
        self.path = path
        self.seconds = seconds
        lines = path.read_text().splitlines() if path.exists() else []
        self.known = {json.loads(line)[1] for line in lines}
        self.ended: set[str] = set()
        self.lost = False

    def note(self, *words: str) -> None:
        """Appends a line to the file and flushes it before the test continues."""
        with self.path.open("a") as file:
            file.write(json.dumps(words) + "\n")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leaves out tests that were noted before."""
        items[:] = [item for item in items if item.nodeid not in self.known]

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file that can't be imported, or that skips itself, counts as one test."""
        if report.outcome != "passed" and report.nodeid not in self.known:
            self.note("end", report.nodeid, "error" if report.failed else "skipped", str(report.longrepr)[-MOST:])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        """Notes the beginning, and limits the time."""
        self.note("begin", item.nodeid)
        signal.signal(signal.SIGALRM, self._out_of_time)
        signal.alarm(self.seconds)
        faulthandler.dump_traceback_later(self.seconds + PATIENCE, exit=True)
        try:
            return (yield)
        finally:
            signal.alarm(0)
            faulthandler.cancel_dump_traceback_later()
            if self.lost:
                os._exit(GO_ON)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Notes the first phase of a test (set-up, call, tear-down) that does not pass; else that it passed."""
        if report.nodeid in self.ended or (report.passed and report.when != "teardown"):
            return
        self.ended.add(report.nodeid)
        outcome = report.outcome if report.when != "setup" or report.skipped else "error"
        expected = hasattr(report, "wasxfail")
        why = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longreprtext[-MOST:]
        printed = report.capstderr[-MOST:] if report.failed else ""
        self.lost = report.failed and bool(LOST.search(why))
        self.note("end", report.nodeid, "xfailed" if expected and report.skipped else outcome, why + "\n" + printed)

    def _out_of_time(self, signum: int, frame: FrameType | None) -> None:
        raise OutOfTimeError(f"longer than {self.seconds} s")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds two options."""
    parser.addoption("--notes", type=Path, required=True)
    parser.addoption("--test-seconds", type=int, default=60)


def pytest_configure(config: pytest.Config) -> None:
    """Puts the hooks in place."""
    config.pluginmanager.register(Notes(config.getoption("notes"), config.getoption("test_seconds")))
