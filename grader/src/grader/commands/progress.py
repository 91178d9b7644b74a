"""Shows progress while a class is graded: a few lines that are redrawn on a terminal, a line from time to time
elsewhere.

The remaining time is estimated only from submissions that this run compiled and ran: cached, shared and missing ones
take no time. Until three have ended there is no estimate.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from rich.cells import set_cell_size
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from grader.base.counted import counted
from grader.base.names import shown
from grader.model.discovery import Submission
from grader.model.record import Record
from grader.model.verdicts import glyph, place, tone

STYLES = {"good": "green", "warn": "yellow", "bad": "red", "harness": "magenta", "quiet": "dim"}
_BASIS = 3  # submissions before the first estimate
_LINE_SECONDS = 30.0  # between lines if there is no terminal
_BAR, _NAME = 12, 24
_MOST_SHOWN = 8  # submissions in progress
_MOST_BARS = 3  # assignments in progress
_OTHER_LINES = 6  # screen lines for neither submissions nor assignments
_MINUTE, _HOUR = 60, 3600


def marked(verdict: str) -> Text:
    """A verdict with its glyph and colour."""
    return Text(f"{glyph(verdict)} {verdict}", STYLES[tone(verdict)])


def tally(verdicts: Counter[str]) -> Text:
    """The number of submissions by verdict."""
    parts = [marked(verdict).append(f" {verdicts[verdict]}") for verdict in sorted(verdicts, key=place)]
    return Text("   ").join(parts)


def duration(seconds: float) -> str:
    """A duration as text: 40 s, 12 min, 3 h 5 min."""
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    if seconds < _HOUR:
        return f"{seconds / _MINUTE:.0f} min"
    minutes = round(seconds / _MINUTE)
    return f"{minutes // _MINUTE} h {minutes % _MINUTE} min"


@dataclass(frozen=True)
class Work:
    """The work for one assignment: `runs` of the `total` submissions have to be compiled and run."""

    name: str
    total: int
    runs: int


@dataclass(frozen=True)
class Counts:
    """One assignment's numbers of submissions: all of them, and those found in the journal."""

    submissions: int
    unchanged: int


@dataclass
class _Part:
    """Progress of one assignment: `cached` came from the journal, `ran` were compiled and run."""

    work: Work
    done: int = 0
    cached: int = 0
    ran: int = 0
    began: float | None = None
    last: float = 0.0  # when the last of them ended
    at_work: int = 0  # submissions in progress at that time

    @property
    def is_open(self) -> bool:
        """Whether it was started and is not done."""
        return self.done < self.work.total and (self.done > 0 or self.began is not None)

    def seconds_each(self) -> float | None:
        """Seconds per submission with all jobs running in parallel; None until enough have ended.

        Submissions in progress count as half done.
        """
        if self.began is None or self.ran < _BASIS:
            return None
        return (self.last - self.began) / (self.ran + self.at_work / 2)

    def left(self, each: float | None, now: float) -> float | None:
        """Seconds left if a run takes `each`; None if that is not known."""
        runs = self.work.runs - self.ran
        if runs <= 0 or self.done >= self.work.total:
            return 0.0
        if each is None:
            return None
        return max(1.0, runs * each - (now - self.last if self.began is not None else 0.0))


@dataclass
class _AtWork:
    name: str
    assignment: str  # empty if there is only one
    stage: str
    ended: int = 0
    total: int = 0

    def text(self) -> Text:
        of = f"{self.assignment}: " if self.assignment else ""
        tests = f", {self.ended} of {self.total} tests" if self.total else ""
        return Text(f"  {set_cell_size(self.name, _NAME)}  ").append(f"{of}{self.stage}{tests}", "dim")


@dataclass
class _State:
    parts: list[_Part]
    at_work: dict[tuple[str, str, int], _AtWork] = field(default_factory=dict)  # by assignment, folder and attempt
    verdicts: Counter[str] = field(default_factory=Counter)


class Display:
    """Shows the grading of all assignments; thread-safe."""

    def __init__(
        self,
        console: Console,
        works: Sequence[Work],
        clock: Callable[[], float] = time.monotonic,
        *,
        quiet: bool = False,
    ) -> None:
        """Shows nothing with `quiet`."""
        self._console = console
        self._lock = threading.RLock()
        self._clock = clock
        self._quiet = quiet
        parts = [_Part(work) for work in works]
        self._state = _State(parts)
        self._began = self._said = clock()
        self._live: Live | None = None
        self.note: Callable[[], str] = str  # an extra status line; hidden if empty
        if console.is_interactive and not quiet:
            self._live = Live(
                console=console, get_renderable=self.screen, transient=True, refresh_per_second=4,
                redirect_stdout=False, redirect_stderr=False,
            )  # fmt: skip

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._live.stop()

    def of(self, name: str) -> "PartDisplay":
        """The display for this assignment's submissions."""
        return PartDisplay(self, name)

    def counts(self) -> dict[str, Counts]:
        """By assignment, the results so far."""
        return {part.work.name: Counts(part.done, part.cached) for part in self._state.parts}

    def on_stage(self, name: str, submission: Submission, stage: str) -> None:
        """Shows a line for each submission being processed, with its stage."""
        with self._lock:
            part = self._part(name)
            if part.began is None:
                part.began = part.last = self._clock()
            own = _AtWork(shown(submission.folder), name if len(self._state.parts) > 1 else "", stage)
            known = self._state.at_work.setdefault((name, submission.folder, submission.handed.number), own)
            known.stage = stage

    def on_tests(self, name: str, submission: Submission, ended: int, total: int) -> None:
        """Counts the submission's tests."""
        with self._lock:
            known = self._state.at_work.get((name, submission.folder, submission.handed.number))
            if known:
                known.ended, known.total = min(ended, total), total

    def on_record(self, name: str, record: Record, *, cached: bool) -> None:
        """Counts the submission."""
        with self._lock:
            part, now = self._part(name), self._clock()
            part.done += 1
            part.cached += cached
            self._state.verdicts[record.shown_verdict] += 1
            if self._state.at_work.pop((name, record.folder, record.handed.number), None):
                part.ran += 1
                part.last, part.at_work = now, sum(of == name for of, *_ in self._state.at_work)
            if not self._live and not self._quiet:
                self._say(part, now)

    def _part(self, name: str) -> _Part:
        return next(part for part in self._state.parts if part.work.name == name)

    def _say(self, part: _Part, now: float) -> None:
        """Prints a line when an assignment with work ends, and every half minute until then."""
        is_done = part.done == part.work.total
        if not (is_done and part.cached < part.done) and now - self._said < _LINE_SECONDS:
            return
        self._said = now
        text = f"  {part.work.name}: {part.done} of {part.work.total}"
        text += f", {part.cached} of them unchanged" if part.cached else ""
        left = part.left(part.seconds_each(), now)
        text += "" if is_done or left is None else f", about {duration(left)} left for it"
        note = "" if is_done else self.note()
        text += f"; {note}" if note else ""
        self._console.print(Text(text), soft_wrap=not self._console.is_terminal)

    def screen(self) -> Group:
        """The screen: bars, verdicts so far, and submissions in progress; no line is wider than the terminal."""
        with self._lock:
            state, now = self._state, self._clock()
            width, height = self._console.size
            lines = [self._bar(part, now) for part in self._shown()]
            if len(state.parts) > 1:
                lines.append(self._whole(now))
            if note := self.note():
                lines.append(Text(f"  {note}", "dim"))
            if state.verdicts:
                lines.append(Text("  ").append_text(tally(state.verdicts)))
            most = max(1, min(_MOST_SHOWN, height - _OTHER_LINES - len(self._shown())))
            at_work = list(state.at_work.values())
            lines += [one.text() for one in at_work[:most]]
            if len(at_work) > most:
                lines.append(Text(f"  … and {len(at_work) - most} more", "dim"))
        for line in lines:
            line.no_wrap = True
            line.truncate(max(1, width - 1), overflow="ellipsis")
        return Group(*lines)

    def _shown(self) -> list[_Part]:
        """The first assignments in progress; if none is, the next one or the last one."""
        parts = self._state.parts
        left = [part for part in parts if part.done < part.work.total]
        return [part for part in parts if part.is_open][:_MOST_BARS] or [left[0] if left else parts[-1]]

    def _bar(self, part: _Part, now: float) -> Text:
        left = part.left(part.seconds_each(), now)
        said = "" if not left else f"about {duration(left)} left"
        return self._line(part.work.name, part.done, part.work.total, said)

    def _whole(self, now: float) -> Text:
        parts = self._state.parts
        done, total = sum(part.done for part in parts), sum(part.work.total for part in parts)
        left, said = self.seconds_left(now), duration(now - self._began)
        if left:
            is_guess = any(part.seconds_each() is None and part.work.runs > part.ran for part in parts)
            said = f"about {duration(left)} left{' at this pace' if is_guess else ''}"
        return self._line(counted(len(parts), "assignment"), done, total, said)

    def seconds_left(self, now: float) -> float | None:
        """For all assignments; one not started is assumed to take as long as earlier ones. None: no estimate yet."""
        parts = self._state.parts
        known = [each for part in parts if (each := part.seconds_each()) is not None]
        mean = sum(known) / len(known) if known else None
        lefts = [part.left(part.seconds_each() or mean, now) for part in parts]
        return None if any(left is None for left in lefts) else sum(left or 0.0 for left in lefts)

    def _line(self, name: str, done: int, total: int, said: str) -> Text:
        full, empty = "#." if self._console.options.ascii_only else "━·"
        filled = _BAR * done // total if total else _BAR
        text = Text(f"{set_cell_size(name, _NAME - 4)} ").append(full * filled, "green").append(empty * (_BAR - filled))
        return text.append(f" {done} of {total}  ").append(said, "dim")


class PartDisplay:
    """Shows the grading of one assignment."""

    def __init__(self, display: Display, name: str) -> None:
        """`name` is the assignment's."""
        self._display = display
        self._name = name

    def on_stage(self, submission: Submission, stage: str) -> None:
        """A submission enters a stage."""
        self._display.on_stage(self._name, submission, stage)

    def on_tests(self, submission: Submission, ended: int, total: int) -> None:
        """Called with the number of its tests that have ended."""
        self._display.on_tests(self._name, submission, ended, total)

    def on_record(self, record: Record, *, cached: bool) -> None:
        """A submission is done."""
        self._display.on_record(self._name, record, cached=cached)
