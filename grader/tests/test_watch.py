"""`lockstep watch`, driven through a terminal of 80 × 24: real edits and keys, and nothing exceeds the screen."""

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conftest import ROOT, make_executable
from grader.base.layout import Layout
from grader.student.screen import frame, lines_of, screen

pytestmark = pytest.mark.in_turn

_PATIENCE = 30.0
_CTRL_C = b"\x03"
_STUB = "// TODO(alpha)\n// TODO(beta)\n// TODO(gamma)\n// todo alpha_one\n// todo beta_two\n// todo gamma_bonus\n"
_ALPHA = _STUB.replace("// todo alpha_one\n", "")
_BETA = _ALPHA.replace("// todo beta_two\n", "")


class Session:
    """A terminal running `lockstep watch`, and the screens that it drew."""

    def __init__(self, folder: Path, *words: str, rows: int = 24, columns: int = 80) -> None:
        self.source = folder / "ladder.cu"
        self.rows, self.columns = rows, columns
        self.outer, self.inner = pty.openpty()
        self.resize(rows, columns)
        self.settings = termios.tcgetattr(self.inner)
        environment = {
            **{name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")},
            "TERM": "xterm", "PYTHONPATH": str(ROOT / "grader" / "src"),
        }  # fmt: skip
        command = [sys.executable, "-m", "grader.student", "watch", *words]
        self.process = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=self.inner, stdout=self.inner, stderr=self.inner,
            start_new_session=True,
        )  # fmt: skip
        self.output = ""

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self.inner, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def save(self, text: str) -> None:
        """Saves like many editors: a new file replaces the old one."""
        other = self.source.with_name(".ladder.cu.swp")
        other.write_text(text)
        other.replace(self.source)

    def type(self, keys: bytes) -> None:
        os.write(self.outer, keys)

    def wait_for(self, *texts: str) -> str:
        """Waits for a screen with all of these."""
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline:
            shown = self.screen()
            if all(text in shown for text in texts):
                return shown
            self._read(0.05)
        raise AssertionError(f"{texts} did not come up; the screen is\n{self.screen()}")

    def screen(self) -> str:
        drawn = re.findall(r"\033\[H(.*?)\033\[J", self.output, re.DOTALL)
        return re.sub(r"\033\[[\d;]*[mK]", "", drawn[-1]).replace("\r", "") if drawn else ""

    def screens(self) -> list[list[str]]:
        drawn = re.findall(r"\033\[H(.*?)\033\[J", self.output, re.DOTALL)
        return [re.sub(r"\033\[[\d;]*[mK]", "", one).replace("\r", "").split("\n") for one in drawn]

    def end(self) -> int:
        deadline = time.monotonic() + _PATIENCE
        while self.process.poll() is None and time.monotonic() < deadline:
            self._read(0.05)
        self._read(0.05)
        return self.process.wait(1)

    def _read(self, seconds: float) -> None:
        while select.select([self.outer], [], [], seconds)[0]:
            self.output += os.read(self.outer, 1 << 16).decode()


@pytest.fixture
def watched(in_checkout: Layout) -> Iterator[Callable[..., Session]]:
    """Starts sessions on the fake assignment."""
    script = in_checkout.harness / "build.sh"
    script.write_text("#!/bin/sh\n")
    make_executable(script)
    folder = in_checkout.assignment("90_fake")
    sessions = []

    def start(source: str, *words: str, **size: int) -> Session:
        (folder / "ladder.cu").write_text(source)
        sessions.append(Session(folder, *words, **size))
        return sessions[-1]

    yield start
    for session in sessions:
        with contextlib.suppress(ProcessLookupError):
            session.process.kill()
        session.process.wait()
        os.close(session.outer)
        os.close(session.inner)


def _wait_for_line(log: Path, line: str) -> None:
    """Returns when the suite has written the line; on a busy machine it starts well after "running" is shown."""
    deadline = time.monotonic() + _PATIENCE
    while not (log.exists() and line in log.read_text()):
        assert time.monotonic() < deadline, f"no {line!r} in {log}"
        time.sleep(0.05)


def test_from_the_stub_to_the_last_rung(watched: Callable[..., Session]) -> None:
    session = watched(_STUB)
    session.wait_for(
        "90_fake, rung alpha_one: First", "alpha_one    not begun: TODO(alpha) in ladder.cu:1", "waits for"
    )
    session.save(_ALPHA + "// fail alpha_one RACE\n")
    session.wait_for("RACE  LadderTest.SumsAll/alpha_one", "rung alpha_one is not right yet")
    session.save("#error\n" + _ALPHA)
    session.wait_for("ladder.cu(1): error: #error says so", "fix the first error above", "waits for")
    session.save(_ALPHA)
    session.wait_for("✓ alpha_one is right. On to beta_two.", "rung beta_two: Second", "beta_two  not begun")
    session.save(_BETA + "// value beta.fast 4\n")
    session.wait_for("SLOW", "rung beta_two is not right yet")
    session.save(_BETA)
    session.wait_for("✓ beta_two is right. On to gamma_bonus.", "rung gamma_bonus", "not begun (bonus)", "right yet")
    session.save("// nothing is left\n")
    last = session.wait_for("✓ gamma_bonus is right.", "all is right: hand in ladder.cu", "Next: hand in ladder.cu")
    assert "20 + 3 bonus of 20 points" in last
    session.type(b"q")
    assert session.end() == 0
    assert session.output.rstrip().endswith("Stopped. To go on: lockstep watch")
    assert termios.tcgetattr(session.inner) == session.settings
    for drawn in session.screens():
        assert len(drawn) == 24
        assert max(map(len, drawn)) <= 80


def test_what_is_saved_during_a_run_is_what_counts(watched: Callable[..., Session], in_checkout: Layout) -> None:
    session = watched(_STUB, "alpha")
    session.wait_for("not begun", "right yet")
    session.save(_ALPHA + "// who first\n// slow 20\n")
    session.wait_for("ladder.cu: running")
    log = in_checkout.build / "bin" / "runs.log"
    _wait_for_line(log, "run first")
    session.save(_ALPHA + "// who second\n// fail alpha_one WRONG\n")
    session.wait_for("WRONG  LadderTest.SumsAll/alpha_one", "rung alpha_one is not right yet")
    text = log.read_text()
    assert "run first" in text
    assert "test first" not in text
    assert "done second" in text


def test_from_a_rung_that_was_named_it_goes_on_to_the_first_that_is_not_right(watched: Callable[..., Session]) -> None:
    session = watched(_STUB, "beta")
    session.wait_for("rung beta_two", "right yet")
    session.save(_STUB.replace("// todo beta_two\n", ""))
    session.wait_for("✓ beta_two is right. On to alpha_one.", "rung alpha_one: First")


def test_keys(watched: Callable[..., Session], in_checkout: Layout) -> None:
    (in_checkout.assignment("90_fake") / "hints.toml").write_text('[alpha_one]\nsteps = ["Look there.", "Do this."]\n')
    session = watched(_STUB, "--rung", "alpha_one")
    session.wait_for("not begun", "right yet")
    session.type(b"h")
    assert "Do this." not in session.wait_for("First, hint 1 of 2", "1  Look there.")
    session.type(b"h")
    session.wait_for("hint 2 of 2", "2  Do this.")
    session.type(b"\033[H\033[A")  # Home, and an arrow
    session.type(b"r")
    shown = session.wait_for("not begun", "right yet")
    assert "Look there" not in shown
    session.resize(10, 60)
    session.wait_for("not begun")
    deadline = time.monotonic() + _PATIENCE
    while len(session.screens()[-1]) != 10 and time.monotonic() < deadline:
        session.wait_for("not begun")
        session._read(0.1)
    assert len(session.screens()[-1]) == 10


def test_ctrl_c_ends_it_and_all_that_runs(watched: Callable[..., Session], in_checkout: Layout) -> None:
    session = watched(_BETA + "// who ada\n// slow 3\n")
    session.wait_for("ladder.cu: running, 1 s")
    log = in_checkout.build / "bin" / "runs.log"
    _wait_for_line(log, "run ada")
    session.type(_CTRL_C)
    assert session.end() == 0
    assert "Traceback" not in session.output
    assert termios.tcgetattr(session.inner) == session.settings
    time.sleep(3)
    assert "test ada" not in log.read_text()


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_leaves_the_terminal_as_it_was(
    watched: Callable[..., Session], number: signal.Signals, status: int
) -> None:
    session = watched(_STUB)
    session.wait_for("waits for")
    session.process.send_signal(number)
    assert session.end() == status
    assert "Traceback" not in session.output
    assert termios.tcgetattr(session.inner) == session.settings


def test_a_file_that_is_gone_for_long_is_missed(watched: Callable[..., Session]) -> None:
    session = watched(_STUB)
    session.wait_for("waits for")
    session.source.rename(session.source.with_name("mine.cu"))
    session.wait_for("ladder.cu is missing, but mine.cu is there. Rename it.")
    session.source.with_name("mine.cu").rename(session.source)
    session.wait_for("alpha_one  not begun")


def test_a_test_that_waits_is_named(watched: Callable[..., Session]) -> None:
    session = watched(_BETA + "// slow 6\n", "alpha")
    session.wait_for("waiting 4 s for SumsAll: an endless loop?")


def test_without_a_terminal_it_says_so(in_checkout: Layout) -> None:
    folder = in_checkout.assignment("90_fake")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "grader" / "src"), "TERM": "xterm"}
    command = [sys.executable, "-m", "grader.student", "watch"]
    ended = subprocess.run(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20,
        check=False,
    )  # fmt: skip
    assert ended.returncode == 2
    assert ended.stderr == (
        "lockstep watch needs a terminal: it draws a screen and reads keys.\nType:  lockstep test\n"
    )


def test_a_screen_holds_what_fits() -> None:
    body = lines_of("\033[1mlong\033[0m " + "word " * 30 + "\n\r\033[Kold\r\033[Knew\n\tx\033[2Jy\a\n" + "z" * 100)
    assert body[1] == "new"
    assert body[2] == "        xy"
    drawn = screen(8, 40, ["head"], body, "foot " * 20)
    assert len(drawn) == 8
    assert drawn[0] == "head"
    assert drawn[-1] == ("foot " * 20)[:40]
    assert "more lines" in drawn[-2]
    assert max(len(re.sub(r"\033\[[\d;]*m", "", line)) for line in drawn) <= 40
    assert len(screen(24, 80, ["head"], ["one"], "foot")) == 24
    assert frame(["a", "b"]).count("\r\n") == 1
