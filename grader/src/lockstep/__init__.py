"""Notebooks: ``%load_ext lockstep``, and then cells of CUDA C++ that begin with ``%%cuda`` run on the virtual GPU.

docs/how-to/run-a-program.md#in-a-notebook says what a cell can ask for. Only the standard library is used.
"""

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from grader.base.errors import GraderError
from grader.base.layout import IN_WHEEL, Layout
from grader.student.command import layout_for_programs

_USAGE = "%%cuda [--no-check] [--profile] [--device vgpu|cuda] [-- ARGUMENT …]"


def vgpu_run() -> None:
    """The installed program of a released wheel: execs the real one, which is next to its libraries."""
    os.execv(IN_WHEEL / "build/bin/vgpu-run", ["vgpu-run", *sys.argv[1:]])  # noqa: S606


def load_ipython_extension(shell: Any) -> None:
    """Called by ``%load_ext lockstep``."""

    def cuda(line: str, cell: str) -> None:
        run_cell(line, cell)

    shell.register_magic_function(cuda, magic_kind="cell", magic_name="cuda")


def run_cell(line: str, cell: str) -> None:
    """Compiles a cell and runs it with checkers; shows its output, and findings with the cell's lines."""
    words = shlex.split(line)
    own, program = (words[: words.index("--")], words[words.index("--") + 1 :]) if "--" in words else (words, [])
    device = own[own.index("--device") + 1 : own.index("--device") + 2] if "--device" in own else ["vgpu"]
    left = {*own} - {"--no-check", "--profile", "--device", *device}
    if left or device not in (["vgpu"], ["cuda"]):
        print(f"%%cuda takes no {' '.join(sorted(left)) or 'such device'}. It is used as\n  {_USAGE}", file=sys.stderr)
        return
    try:
        layout = _layout()
    except GraderError as error:
        print(error, file=sys.stderr)
        return
    with tempfile.TemporaryDirectory(prefix="lockstep-") as folder:
        source = Path(folder) / "cell.cu"
        source.write_text(cell, encoding="utf-8")
        flags = ["--check"] if "--no-check" not in own and device == ["vgpu"] else []
        flags += ["--profile"] if "--profile" in own else []
        script = [str(layout.harness / "run.sh"), "--build", str(layout.build), "--device", device[0], *flags]
        ended = subprocess.run([*script, str(source), *program], capture_output=True, text=True, check=False)
        print(ended.stdout, end="")
        print(ended.stderr.replace(f"{folder}/", ""), end="", file=sys.stderr)
        if ended.returncode:
            print(f"{source.name} ended with status {ended.returncode}", file=sys.stderr)


def _layout() -> Layout:
    """The checkout named by LOCKSTEP_ROOT or around the notebook; else the files of this package."""
    build, root = os.environ.get("LOCKSTEP_BUILD"), os.environ.get("LOCKSTEP_ROOT")
    return layout_for_programs(Path(build) if build else None, Path(root) if root else None)
