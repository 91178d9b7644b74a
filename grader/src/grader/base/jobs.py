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
    """A queue of work. What follows a piece of work runs in the thread that called `run`, and may add more."""

    def __init__(self, count: int, stop: threading.Event, tick: float = _TICK_SECONDS) -> None:
        """`count` pieces at a time; `stop` is set on any error, so that what is at work ends soon.

        `tick` seconds pass between two looks at what is beside the queue, where nothing in it ends.
        """
        self._count = count
        self._tick = tick
        self._stop = stop
        self._lock = threading.Lock()
        self._order = counter()
        self._waiting: list[tuple[int, int, Callable[[], Any], Callable[[Any], None]]] = []
        self._new = 0  # of those that wait: nobody was told to take them yet

    def add(self, work: Callable[[], _T], then: Callable[[_T], None], rank: int = 0) -> None:
        """Puts a piece of work behind all with its rank or a lower one; `then` gets what it returns."""
        with self._lock:
            heapq.heappush(self._waiting, (rank, next(self._order), work, then))
        self._new += 1

    def run(self, beside: Callable[[], bool] = lambda: False) -> None:
        """Returns when the queue is empty; raises the first error.

        `beside` is called again and again, and says whether there is something else to wait for, after which there may
        be more work.
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
        """Does the first piece of work, and gives what follows it."""
        with self._lock:
            _, _, work, then = heapq.heappop(self._waiting)
        result = work()
        return lambda: then(result)
