"""Programs that are built with make: folders with a Makefile and CUDA sources, as in many benchmark suites.

A program is built with its own Makefile; `NVCC_APPEND_FLAGS` adds what the virtual GPU needs. It is run as the suite
says: by the Makefile's target `run`, else by the folder's script `run` or `run.sh`, else without arguments. A
file may give other arguments, since work that is sized for a GPU may take a CPU long.
The whole suite is copied first, as programs take data and headers from neighbouring folders.
"""

import argparse
import os
import re
import shutil
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from checkout import runs_in
from trial import Finished, execute

SCRIPTS = ("run", "run.sh")
ELF = b"\x7fELF"


@dataclass(frozen=True)
class MakeProgram:
    """One folder with a Makefile; the name is its path in the suite."""

    name: str
    folder: Path
    needs: str = ""

    def lacks(self, _libraries: Path) -> str:
        """The libraries that it needs, as far as they are known before make runs."""
        return self.needs


def is_program(path: Path) -> bool:
    """Whether a file is an executable, and no script or object."""
    if not path.is_file() or not os.access(path, os.X_OK) or path.suffix in (".o", ".so"):
        return False
    with path.open("rb") as file:
        return file.read(len(ELF)) == ELF


@dataclass(frozen=True)
class MakeTree:
    """A suite of such programs."""

    root: Path

    @cached_property
    def samples(self) -> list[MakeProgram]:
        """All programs, by name; a folder that only calls make in others has no sources of its own."""
        folders = [path.parent for path in sorted(self.root.rglob("Makefile"))]
        folders = [folder for folder in folders if any(folder.glob("*.cu")) or any(folder.glob("*/*.cu"))]
        inner = {outer for outer in folders if any(outer in folder.parents for folder in folders)}
        chosen = (folder for folder in folders if folder not in inner or any(folder.glob("*.cu")))
        return [MakeProgram(str(folder.relative_to(self.root)), folder) for folder in chosen]

    def commands(self, name: str, folder: Path, options: argparse.Namespace) -> list[list[str]]:
        """The commands that run what was built: with given arguments; else `make run`, a script, or no arguments."""
        built = [
            path
            for path in sorted(folder.iterdir())
            if is_program(path) and not (self.root / name / path.name).exists()
        ]
        runs = runs_in(options.arguments, name)
        if runs:
            return [[f"./{path.name}", *run] for path in built for run in runs]
        text = (folder / "Makefile").read_text(encoding="utf-8", errors="replace")
        if re.search(r"^run\s*:", text, re.MULTILINE):
            return [["make", "--no-print-directory", *options.make, "run"]]
        for script in SCRIPTS:
            if (folder / script).is_file():
                return [["sh", script]]
        return [[f"./{path.name}"] for path in built]

    def build(self, name: str, work: Path, options: argparse.Namespace) -> tuple[Path, Finished]:
        """Build a program in a copy of the suite, which is made where it is missing."""
        copy = work / self.root.name
        if not copy.exists():
            shutil.copytree(self.root, copy, ignore=shutil.ignore_patterns(".git"), symlinks=True)
        environment = {"NVCC_APPEND_FLAGS": " ".join(["-cudart", "shared", *options.nvcc_flag])}
        return copy / name, execute(["make", *options.make], copy / name, options.seconds, environment)
