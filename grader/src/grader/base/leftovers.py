"""Keeps what a template leaves behind from filling the memory."""

import contextlib
import gc
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def collected() -> Iterator[Callable[[], object]]:
    """Gives what to call after each page: it frees what the page left.

    Templates leave cycles behind, each with all the text of its page. Python counts such objects and not their size,
    and would wait for more of them the more there is in memory. What is there at the start is left out of the search.
    """
    gc.collect()
    gc.freeze()
    try:
        yield gc.collect
    finally:
        gc.unfreeze()
