"""Frees reference cycles left by templates before they fill the memory."""

import contextlib
import gc
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def collected() -> Iterator[Callable[[], object]]:
    """Returns a function to call after each page: it frees that page's garbage.

    Templates leave reference cycles that hold the text of whole pages. Python's collector counts objects, not bytes,
    and waits longer the more objects exist. Objects that exist at the start are excluded from collection.
    """
    gc.collect()
    gc.freeze()
    try:
        yield gc.collect
    finally:
        gc.unfreeze()
