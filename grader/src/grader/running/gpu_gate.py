"""Controls concurrent use of the GPU: any number of tests, or a single timing alone.

A waiting timing has priority over later tests.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class GpuGate:
    """A reader-writer lock for one GPU."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._testing = 0
        self._timing = False
        self._waiting = 0

    @contextmanager
    def tests(self) -> Iterator[None]:
        """Holds the GPU shared with other tests."""
        with self._changed:
            self._changed.wait_for(lambda: not self._timing and not self._waiting)
            self._testing += 1
        try:
            yield
        finally:
            with self._changed:
                self._testing -= 1
                self._changed.notify_all()

    @contextmanager
    def times(self) -> Iterator[None]:
        """Holds the GPU exclusively, to measure times."""
        with self._changed:
            self._waiting += 1
            try:
                self._changed.wait_for(lambda: not self._timing and not self._testing)
            finally:
                self._waiting -= 1
            self._timing = True
        try:
            yield
        finally:
            with self._changed:
                self._timing = False
                self._changed.notify_all()


GATE = GpuGate()  # per process: submissions of several assignments may be graded at once
