"""`make watch`: runs the current rung whenever the student saves, and moves on to the next one when it is right.

Each run is a process of `lockstep test` with a pseudo-terminal, so that it can be ended when a file is saved meanwhile,
and shows progress and colours like `make test`. Files are polled, which works with editors that replace a file and on
network file systems. Only the standard library is used here: students run it.
"""

import contextlib
import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from grader.base.errors import GraderError, UsageError
from grader.base.layout import KERNELS, Layout
from grader.model.assignment import Assignment, Rung, load_assignment
from grader.student.hints import hint
from grader.student.make import Request
from grader.student.mistyped import no_rung
from grader.student.screen import frame, lines_of, screen

_TICK_SECONDS = 0.1
_MISSING_SECONDS = 2.0  # an editor that replaces the file takes less
_END_SECONDS = 2.0  # for a run to end by itself
_INTERRUPT, _SUSPEND = b"\x03", b"\x1a"
_ESCAPE = re.compile(rb"\033(?:\[[\d;?]*[@-~]|O?.)?")  # the bytes of arrow keys and the like
_ERASED = re.compile(rb"[^\n]*\r\033\[K")
_MOST_BYTES = 1 << 18  # more than any screen shows
_Stamps = dict[str, tuple[int, int, int] | None]


def watch(layout: Layout, request: Request, build: Callable[[], None]) -> int:
    """Runs until the student quits. `build` builds what the tests need."""
    if len(request.names) != 1:
        first = next(iter(layout.assignments()), "")
        raise UsageError(f"One assignment is watched.\nType:  cd assignments/{first} && make watch")
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or os.environ.get("TERM", "dumb") == "dumb":
        raise UsageError("make watch needs a terminal: it draws a screen and reads keys.\nType:  make test")
    assignment = load_assignment(layout.assignment(request.names[0]))
    rungs = [one for one in assignment.rungs if one.is_named(request.choice.rung)]
    if request.choice.rung and not rungs:
        raise UsageError(no_rung(assignment, request.choice.rung))
    build()
    with tempfile.TemporaryDirectory(prefix="lockstep-") as folder, _keys(), _ended_by_signals():
        watched = _Watch(layout, request, assignment, Path(folder) / "state.json")
        try:
            watched.run(rungs[0] if rungs else None)
        finally:
            watched.close()
    return 0


class _Watch:
    """The contents of the screen, and the current run."""

    def __init__(self, layout: Layout, request: Request, assignment: Assignment, state: Path) -> None:
        self._layout, self._request, self._assignment, self._state = layout, request, assignment, state
        self._source = request.source or assignment.path.parent / assignment.submission
        self._turn: subprocess.Popen[bytes] | None = None
        self._terminal = -1  # the current run's, if there is one
        self._started = 0.0
        self._rung: Rung | None = None  # the current rung; None: all are run, to find the first failure
        self._todo: list[str] = []  # the rungs that failed when all were run
        self._output = b""  # of the current or the last run
        self._news = ""  # a message about progress: a rung is done
        self._verdict = ""
        self._hint: list[str] = []
        self._shown = ""
        self._size = (0, 0)

    def run(self, rung: Rung | None) -> None:
        """Runs until q or Ctrl-C."""
        self._rung = rung
        seen = changing = self._stamps()
        missing_since = 0.0
        self._begin()
        while True:
            for key in self._wait():
                if key in (b"q", b"Q", _INTERRUPT):
                    return
                if key == _SUSPEND:
                    self._suspend()
                elif key in (b"r", b"R", b"\r", b"\n"):
                    self._begin()
                elif key in (b"h", b"H"):
                    self._show_hint()
            now = self._stamps()
            if now[str(self._source)] is None:
                missing_since = missing_since or time.monotonic()
                if time.monotonic() - missing_since < _MISSING_SECONDS:
                    now = changing = seen
            else:
                missing_since = 0.0
            # Unchanged twice: nobody is writing just now.
            if now != seen and now == changing:
                seen = now
                self._news = ""
                self._begin()
            changing = now
            if self._turn is not None and self._turn.poll() is not None:
                self._end()
            self._draw()

    def close(self) -> None:
        """Ends the current run, and leaves the cursor below the screen."""
        self._kill()
        rows = shutil.get_terminal_size()[1]
        at = f" at rung {self._rung.label}" if self._rung is not None else ""
        sys.stdout.write(f"\033[{rows};1H\033[K{self._request.typed(f'Stopped{at}. To go on: make watch')}\n")
        sys.stdout.flush()

    def _stamps(self) -> _Stamps:
        """The state of each file, which a save changes. Opens each: a network file system asks its server only then."""
        headers = [
            path
            for path in self._assignment.path.parent.glob("*")
            if path.suffix in (".h", ".cuh") or path.name == KERNELS
        ]
        stamps: _Stamps = {}
        for path in (self._source, *headers):
            try:
                with path.open("rb") as file:
                    state = os.fstat(file.fileno())
            except OSError:
                stamps[str(path)] = None
            else:
                stamps[str(path)] = (state.st_mtime_ns, state.st_size, state.st_ino)
        return stamps

    def _wait(self) -> Iterator[bytes]:
        """One tick: reads the run's output, and returns typed keys."""
        files = [sys.stdin.fileno(), *([self._terminal] if self._terminal >= 0 else [])]
        ready, _, _ = select.select(files, [], [], _TICK_SECONDS)
        if self._terminal in ready:
            self._take()
        if sys.stdin.fileno() in ready:
            typed = os.read(sys.stdin.fileno(), 64)
            if not typed:
                yield b"q"  # the terminal is gone
            yield from (bytes([one]) for one in _ESCAPE.sub(b"", typed))

    def _take(self) -> bool:
        """Reads some output of the run; False at the end."""
        try:
            data = os.read(self._terminal, 1 << 16)
        except OSError:  # a terminal's error when its program has ended
            return False
        # Overwritten progress is not kept.
        self._output = _ERASED.sub(b"", self._output + data)[:_MOST_BYTES]
        return bool(data)

    def _begin(self) -> None:
        """Starts a run, and ends the current one."""
        self._kill()
        self._state.unlink(missing_ok=True)
        self._output, self._verdict, self._hint = b"", "", []
        request = self._request
        words = ["test", self._assignment.id, "--built", "--build", str(self._layout.build)]
        words += ["--state", str(self._state), "--device", request.device]
        words += ["--rung", self._rung.id] if self._rung is not None else []
        words += ["--seed", request.seed] if request.seed else []
        words += ["--source", str(request.source)] if request.source else []
        words += ["--by-make"] if not request.typed.lockstep else []
        self._terminal, inner = pty.openpty()
        columns, rows = shutil.get_terminal_size()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self._turn = subprocess.Popen(
            [sys.executable, "-m", "grader.student", *words],
            stdin=subprocess.DEVNULL,
            stdout=inner,
            stderr=inner,
            env={key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES")}
            | {"PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONDONTWRITEBYTECODE": "1"},
            start_new_session=True,
        )
        os.close(inner)
        self._started = time.monotonic()

    def _end(self) -> None:
        """A run ended by itself: its result decides the next rung."""
        while select.select([self._terminal], [], [], 0)[0] and self._take():
            pass
        self._kill()
        try:
            todo = [str(rung) for rung in json.loads(self._state.read_text(encoding="utf-8"))["open"]]
        except (OSError, ValueError, KeyError):
            return  # it did not compile, or the harness failed; the output says so
        if self._rung is None:
            self._all_were_run(todo)
        elif self._rung.id in todo:
            self._verdict = f"rung {self._rung.label} is not right yet"
        else:
            self._go_on(self._rung)

    def _all_were_run(self, todo: list[str]) -> None:
        self._todo = todo
        self._rung = self._assignment.rung(todo[0]) if todo else None
        if self._news and self._rung is not None:
            self._news += f" On to {self._rung.id}."
        required = [rung for rung in todo if not self._assignment.is_bonus_rung(rung)]
        if not required and not self._news:
            self._news = "✓ Every rung that counts is right."
        if not todo:
            self._verdict = f"all is right: hand in {self._assignment.submission}"

    def _go_on(self, done: Rung) -> None:
        """Moves on to the next rung; after the last one all are run again, since they share code."""
        self._todo = [rung for rung in self._todo if rung != done.id]
        following = self._assignment.rung(self._todo[0]) if self._todo else None
        self._news = f"✓ {done.id} is right." + (f" On to {following.id}." if following is not None else "")
        self._rung = following
        self._begin()

    def _show_hint(self) -> None:
        try:
            source = self._source.read_text(encoding="utf-8", errors="replace")
        except OSError:
            source = ""
        rung = self._rung.id if self._rung is not None else ""
        try:
            text = hint(self._layout, self._assignment, rung, source)
        except GraderError as error:
            text = str(error)
        self._hint = [*text.partition("\n\nNext:")[0].split("\n"), "", "h: one more hint   r: back to the tests"]

    def _draw(self) -> None:
        columns, rows = shutil.get_terminal_size()
        name = self._assignment.id
        rung = f"rung {self._rung.label}: {self._rung.title}" if self._rung is not None else "all rungs"
        head = [self._paint(f"{name}, {rung}", "1")]
        head += [self._paint(self._news, "32")] if self._news else []
        body = self._hint or lines_of(self._output.decode("utf-8", "replace"))
        if self._turn is not None:
            said = f"running, {time.monotonic() - self._started:.0f} s"
        else:
            said = self._verdict or "waits for your next save"
        foot = self._paint(f"q quit   h hint   r run again   {self._source.name}: {said}", "2")
        text = frame(screen(rows, columns, head, body, foot))
        if text == self._shown and (columns, rows) == self._size:
            return
        clear = "" if (columns, rows) == self._size else "\033[2J"
        self._shown, self._size = text, (columns, rows)
        sys.stdout.write(clear + text)
        sys.stdout.flush()

    def _paint(self, text: str, style: str) -> str:
        return text if "NO_COLOR" in os.environ else f"\033[{style}m{text}\033[0m"

    def _suspend(self) -> None:
        """Ctrl-Z: stops the whole job, as the shell's terminal settings would have."""
        with _as_before():
            os.kill(0, signal.SIGTSTP)
        self._size = (0, 0)

    def _kill(self) -> None:
        turn, self._turn = self._turn, None
        if turn is not None and turn.poll() is None:
            # An interrupt makes it end the suite and the compiler, which are in process groups of their own.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(turn.pid, signal.SIGINT)
            deadline = time.monotonic() + _END_SECONDS
            while turn.poll() is None and time.monotonic() < deadline:
                if select.select([self._terminal], [], [], 0.02)[0] and not self._take():
                    time.sleep(0.02)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(turn.pid, signal.SIGKILL)
            turn.wait()
        if self._terminal >= 0:
            os.close(self._terminal)
            self._terminal = -1


_before: list[list[Any]] = []  # the terminal's settings


@contextlib.contextmanager
def _keys() -> Iterator[None]:
    """Reads keys one by one without echo, including Ctrl-C: make would report an interrupt as an error."""
    file = sys.stdin.fileno()
    before = termios.tcgetattr(file)
    _before.append(before)
    _set_keys()
    try:
        yield
    finally:
        termios.tcsetattr(file, termios.TCSADRAIN, _before.pop())


def _set_keys() -> None:
    file = sys.stdin.fileno()
    settings = termios.tcgetattr(file)
    settings[3] &= ~(termios.ICANON | termios.ECHO | termios.ISIG)
    settings[6][termios.VMIN], settings[6][termios.VTIME] = 1, 0
    termios.tcsetattr(file, termios.TCSADRAIN, settings)


@contextlib.contextmanager
def _as_before() -> Iterator[None]:
    """Temporarily restores the shell's terminal settings."""
    termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, _before[-1])
    try:
        yield
    finally:
        _set_keys()


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Handles termination signals: the terminal is restored, and nothing is left running."""

    def end(number: int, _: FrameType | None) -> None:
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
