"""A persistent cache of compiled workers, by a hash of everything they depend on.

Authors' commands (`check`, `mutate`) compile the same hundred solutions again and again: their entries are in the build
tree, and are deleted when unused for two weeks. A class is graded once: its entries are in the output folder until
everything is graded, so a killed run compiles nothing twice. Compile errors are cached too.
"""

import json
import os
import shutil
import threading
import time
from pathlib import Path

from grader.base.files import write_atomic
from grader.base.layout import Layout
from grader.base.worker_key import worker_key
from grader.running.build import Built, Order, build_worker

_DAYS = 14


class WorkerCache:
    """A folder of workers, safe for use by several threads and processes."""

    def __init__(self, layout: Layout, folder: Path | None = None) -> None:
        """The cache in a folder, else the build tree's."""
        self._folder = folder or layout.build / "workers" / "cache"
        self._lock = threading.Lock()
        self._at_work: dict[str, threading.Lock] = {}

    def build(self, order: Order, stop: threading.Event | None = None) -> Built:
        """Like `build_worker`, but uses the cache."""
        key = self.key(order)
        with self._lock:
            own = self._at_work.setdefault(key, threading.Lock())
        with own:  # identical orders wait for one compiler
            return self.known(key, order.folder) or self._compiled(key, order, stop)

    def key(self, order: Order) -> str:
        """The key of an order's worker."""
        toolchain = order.toolchain
        compilers = f"{toolchain.nvcc} {toolchain.nvcc_version} {toolchain.host_version}"
        return worker_key(order.layout, order.assignment.id, order.source, compilers)

    def holds(self, key: str) -> bool:
        """Whether there is a worker under this key."""
        return (self._folder / key).is_file()

    def add(self, key: str, worker: Path) -> None:
        """Stores a worker atomically: a killed grader must not leave a broken one."""
        write_atomic(self._folder / key, worker.read_bytes(), mode=0o755)

    def known(self, key: str, folder: Path) -> Built | None:
        """The cached result for a key; a worker is copied to out/worker in the folder."""
        worker, refused = self._folder / key, self._folder / f"{key}.json"
        if worker.is_file():
            os.utime(worker)
            own = folder / "out" / "worker"
            own.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(worker, own)
            return Built(own, "", 0.0)
        if refused.is_file():
            os.utime(refused)
            known = json.loads(refused.read_text(encoding="utf-8"))
            return Built(None, known["message"], 0.0, known["refused"])
        return None

    def _compiled(self, key: str, order: Order, stop: threading.Event | None) -> Built:
        built = build_worker(order, stop)
        if built.worker is None:
            text = json.dumps({"message": built.message, "refused": built.refused})
            write_atomic(self._folder / f"{key}.json", text)
        else:
            self.add(key, built.worker)
        return built

    def prune(self) -> None:
        """Removes entries unused for two weeks."""
        limit = time.time() - _DAYS * 86400
        for path in self._folder.glob("*"):
            if path.stat().st_mtime < limit:
                path.unlink(missing_ok=True)
