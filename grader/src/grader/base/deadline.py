"""A time limit for work in this thread, which also interrupts a regular expression."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_AGAIN_SECONDS = 1.0  # where a destructor swallowed the first one


class DeadlineError(Exception):
    """The work took too long."""


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Raises DeadlineError in what takes longer.

    A timer's signal ends loops of Python and of the regular-expression engine alike. Signals arrive in the main thread
    only: elsewhere nothing is limited.
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
