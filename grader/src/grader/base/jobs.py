"""Runs jobs on several threads, which only wait for processes: compilers and suites."""

import threading
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

_T = TypeVar("_T")
_TICK_SECONDS = 0.5


class Jobs:
    """A queue of work. What follows a piece of work runs in the thread that called `run`, and may add more."""

    def __init__(self, count: int, stop: threading.Event) -> None:
        """`count` pieces at a time; `stop` is set on any error, so that what is at work ends soon."""
        self._count = count
        self._stop = stop
        self._new: list[tuple[Callable[[], Any], Callable[[Any], None]]] = []

    def add(self, work: Callable[[], _T], then: Callable[[_T], None]) -> None:
        """Puts a piece of work at the end of the queue; `then` gets what it returns."""
        self._new.append((work, then))

    def run(self) -> None:
        """Returns when the queue is empty; raises the first error."""
        with ThreadPoolExecutor(max_workers=self._count) as pool:
            pending: dict[Future[Any], Callable[[Any], None]] = {}
            try:
                while self._new or pending:
                    for work, then in self._new:
                        pending[pool.submit(work)] = then
                    self._new.clear()
                    done, _ = wait(pending, timeout=_TICK_SECONDS, return_when=FIRST_COMPLETED)
                    for future in done:
                        pending.pop(future)(future.result())
            except BaseException:
                self._stop.set()
                for future in pending:
                    future.cancel()
                raise
