"""Finds the Python that has Numba, which compiles the kernels of submissions in Python."""

import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from grader.base.errors import GraderError
from grader.base.layout import Layout

_SECONDS = 60
# Importing Numba would take seconds.
_PROBE = """
import sys
from importlib.metadata import version
print(sys.prefix, sys.base_prefix, sep="\\n")
print("Python", sys.version.split()[0], *(f"{name} {version(name)}" for name in ("numba", "numba-cuda", "llvmlite")))
"""


@dataclass(frozen=True)
class NumbaPython:
    """The interpreter, the folders that a sandbox needs for it, and the versions that kernels are compiled with."""

    program: Path
    folders: tuple[Path, ...]
    versions: str


def find_numba_python(layout: Layout) -> NumbaPython:
    """The Python of the checkout's environment, else this one; raises GraderError if neither has Numba."""
    for program in (layout.root / ".venv" / "bin" / "python", Path(sys.executable)):
        if (found := _probe(program)) is not None:
            return found
    raise GraderError("Numba is missing, which compiles submissions in Python.\nType:  harness/setup.sh --python")


@cache
def _probe(program: Path) -> NumbaPython | None:
    try:
        run = subprocess.run(
            [str(program), "-I", "-c", _PROBE], capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if run.returncode != 0:  # a package is missing
        return None
    *folders, versions = run.stdout.splitlines()
    return NumbaPython(program, tuple(sorted({Path(folder) for folder in folders})), versions)
