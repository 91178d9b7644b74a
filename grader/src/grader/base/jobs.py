"""Runs jobs on several threads, which only wait for processes: compilers and suites."""

import heapq
import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import count as counter
from typing import Any, TypeVar

_T = TypeVar("_T")
_TICK_SECONDS = 0.5


class Jobs:
    """A queue of work. Completion callbacks run in the thread that called `run`, and may add more work."""

    def __init__(self, count: int, stop: threading.Event, tick: float = _TICK_SECONDS) -> None:
        """`count` jobs at a time; `stop` is set on any error, so that running jobs end soon.

        `tick` is the longest time in seconds between two calls of `beside` (see `run`).
        """
        self._count = count
        self._tick = tick
        self._stop = stop
        self._lock = threading.Lock()
        self._order = counter()
        self._waiting: list[tuple[int, int, Callable[[], Any], Callable[[Any], None]]] = []
        self._new = 0  # queued jobs that no thread has been woken for yet

    def add(self, work: Callable[[], _T], then: Callable[[_T], None], rank: int = 0) -> None:
        """Queues `work` after all jobs of the same or a lower rank; `then` gets its return value."""
        with self._lock:
            heapq.heappush(self._waiting, (rank, next(self._order), work, then))
        self._new += 1

    def run(self, beside: Callable[[], bool] = lambda: False) -> None:
        """Returns when the queue is empty; raises the first error.

        `beside` is polled; it returns whether something outside the queue is still pending that may add more work.
        """
        with ThreadPoolExecutor(max_workers=self._count) as pool:
            pending: set[Future[Callable[[], None]]] = set()
            try:
                while beside() or self._new or pending:
                    pending |= {pool.submit(self._take) for _ in range(self._new)}
                    self._new = 0
                    done, pending = wait(pending, timeout=self._tick, return_when=FIRST_COMPLETED)
                    if not done and not pending:
                        time.sleep(self._tick)
                    for future in done:
                        future.result()()
            except BaseException:
                self._stop.set()
                for future in pending:
                    future.cancel()
                raise

    def _take(self) -> Callable[[], None]:
        """Runs the first job, and returns its completion callback."""
        with self._lock:
            _, _, work, then = heapq.heappop(self._waiting)
        result = work()
        return lambda: then(result)
