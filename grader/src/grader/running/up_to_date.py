"""Brings what a class is graded with up to date: a test that was changed and not built would grade as it was before.

The build tree knows what depends on what, so it is asked, and builds what has changed; where nothing has, that takes
half a second. Where there is nothing to build with, sources that are newer than the suite are named.
"""

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from grader.base.errors import GraderError
from grader.base.layout import Layout
from grader.base.process import run_command

_NINJA = "build.ninja"
_SECONDS = 3600.0
_OUTPUT = 1 << 20
_TOLD = 2000  # characters of what a compiler says


def bring_up_to_date(layout: Layout, names: Sequence[str], say: Callable[[str], None]) -> None:
    """Builds the suites of these assignments and what workers are made of, where sources have changed.

    `say` gets a sentence where something was built, or where that can't be told. Raises GraderError where it fails.
    """
    ninja = shutil.which("ninja")
    if not (layout.build / _NINJA).is_file() or ninja is None or not os.access(layout.build, os.W_OK):
        for name in names:
            if newer := _newer(layout, name):
                say(f"{newer} is newer than the suite of {name}, which grades as it was built. Type:  make build")
        return
    targets = [layout.suite(name).name for name in names]
    with _alone(layout.build):
        ended = run_command(
            [ninja, "-C", str(layout.build), "core", *targets],
            seconds=_SECONDS,
            output_cap=_OUTPUT,
            cwd=layout.root,
            environment=dict(os.environ),
        )
    if ended.status != 0:
        raise GraderError(
            f"what has changed since the last build does not build:\n{ended.output.strip()[-_TOLD:]}\n"
            "Correct it, and type:  make build      or name another build tree with --build DIR"
        )
    if "no work to do" not in ended.output:
        say("Sources had changed since the last build: built them")


@contextmanager
def _alone(build: Path) -> Iterator[None]:
    """Holds the lock that keeps other graders from building there."""
    with (build / ".up-to-date").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _newer(layout: Layout, name: str) -> str:
    """A source of the suite that is younger than it."""
    built = layout.suite(name).stat().st_mtime_ns
    suites = layout.harness / "suites"
    sources = [*suites.glob(f"{name}_*.cc"), *suites.glob(f"{name}_*.h"), *layout.reference(name).glob("hidden_*")]
    found = [path for path in sorted(sources) if path.stat().st_mtime_ns > built]
    return str(found[0].relative_to(layout.root)) if found else ""
