"""Rebuilds outdated suites: a test that was changed but not built would grade as before.

The build tree knows the dependencies, so it is used to rebuild what changed; if nothing did, that takes half a second.
Without a build tool, sources newer than the suite are named.
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
_TOLD = 2000  # characters of a compiler's message


def bring_up_to_date(layout: Layout, names: Sequence[str], say: Callable[[str], None]) -> None:
    """Builds the suites of these assignments, and the parts of workers, if sources have changed.

    `say` gets a sentence if something was built, or if that can't be determined. Raises GraderError if a build fails.
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
    """A source that is newer than the suite."""
    built = layout.suite(name).stat().st_mtime_ns
    suites = layout.harness / "suites"
    sources = [*suites.glob(f"{name}_*.cc"), *suites.glob(f"{name}_*.h"), *layout.reference(name).glob("hidden_*")]
    found = [path for path in sorted(sources) if path.stat().st_mtime_ns > built]
    return str(found[0].relative_to(layout.root)) if found else ""
