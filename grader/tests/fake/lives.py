"""Starts `grader grade` again and again without importing it each time, and tells which stages it is in.

Usage: lives.py STAGES. Each line on standard input is a JSON list that starts one life: a stage, the number of the
stage's event at which the life kills itself (0: never), and the arguments of `grader`. The life's pid and then its
status are printed. A life is a fork of this process that runs the command line's own `main`, so it is the real grader,
and dies as it would.

The file STAGES has a byte for each stage of `STAGES`: the number of threads in it. Entering a stage and leaving it are
events. The last life's output is in STAGES.said.
"""

import contextlib
import functools
import json
import mmap
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jinja2 import TemplateAssertionError

import grader.commands.grade as command
from grader.base.layout import find_layout
from grader.commands.cli import main
from grader.pages.environment import make_environment
from grader.running import grading
from grader.running.bench import Reference
from grader.running.store import Journal
from grader.running.worker_cache import WorkerCache

STAGES = ("starting", "reference", "compiling", "running tests", "tests to journal", "record to journal", "pages")
_lock = threading.Lock()
_at = ("", 0)
_events = 0


def _happened(stages: mmap.mmap, stage: int, change: int) -> None:
    global _events  # noqa: PLW0603
    with _lock:
        stages[stage] += max(change, 0)
        _events += STAGES[stage] == _at[0]
        if _at == (STAGES[stage], _events):
            os.kill(os.getpid(), signal.SIGKILL)
        stages[stage] += min(change, 0)


def watched(stages: mmap.mmap, owner: Any, name: str, stage: str) -> None:
    """Wraps a function so that its calls are a stage."""
    inner: Callable[..., Any] = getattr(owner, name)
    index = STAGES.index(stage)

    @functools.wraps(inner)
    def outer(*arguments: Any, **named: Any) -> Any:
        _happened(stages, index, 1)
        try:
            return inner(*arguments, **named)
        finally:
            _happened(stages, index, -1)

    setattr(owner, name, outer)


def live(stages: mmap.mmap, said: str, at: tuple[str, int], arguments: list[str]) -> int:
    global _at  # noqa: PLW0603
    _at = at
    stages[:] = bytes(len(STAGES))
    for owner, name, stage in (
        (command, "prepare", "starting"),
        (Reference, "worker", "reference"),
        (Reference, "figures", "reference"),
        (WorkerCache, "build", "compiling"),
        (grading, "run_suite", "running tests"),
        (Journal, "add_tests", "tests to journal"),
        (Journal, "add", "record to journal"),
        (command, "publish", "pages"),
    ):
        watched(stages, owner, name, stage)
    sys.argv = ["grader", *arguments]
    with Path(said).open("w") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    return main()


if __name__ == "__main__":
    with Path(sys.argv[1]).open("r+b") as file:
        shared = mmap.mmap(file.fileno(), len(STAGES))
    environment = make_environment(find_layout(None).templates)
    for name in environment.list_templates(extensions=["j2"]):
        with contextlib.suppress(TemplateAssertionError):  # of a page with filters of its own
            environment.get_template(name)  # compiled before the forks: half of what a life would take
    print("ready", flush=True)
    for line in sys.stdin:
        stage, event, *words = json.loads(line)
        child = os.fork()
        if child == 0:
            os.setsid()
            status = 70
            try:
                status = live(shared, f"{sys.argv[1]}.said", (stage, event), words)
            finally:
                os._exit(status)
        print(child, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
