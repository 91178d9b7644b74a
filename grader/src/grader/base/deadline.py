"""A time limit for work in this thread, which also interrupts a regular expression."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_AGAIN_SECONDS = 1.0  # in case a destructor swallowed the first exception


class DeadlineError(Exception):
    """The work took too long."""


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Raises DeadlineError if the body takes longer.

    The signal of a timer interrupts Python loops and the regular-expression engine alike. Signals arrive only in the
    main thread; in other threads there is no limit.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def expire(_number: int, _frame: FrameType | None) -> None:
        raise DeadlineError(f"it took more than {seconds:g} seconds")

    before = signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
