"""Finds nvcc, and identifies the compilers that a grade was made with."""

import re
import shutil
import subprocess
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from grader.base.errors import GraderError
from grader.base.layout import Layout

_SECONDS = 30


@dataclass(frozen=True)
class Toolchain:
    """The compilers; `toolkit` is the folder that a sandbox needs besides /usr, and `nvcc` is the program in it."""

    nvcc: Path
    toolkit: Path
    nvcc_version: str
    host_version: str


def find_toolchain(layout: Layout) -> Toolchain:
    """The nvcc of the build tree, of PATH, of /usr/local/cuda, or of the toolkit's Python packages."""
    for candidate in _candidates(layout):
        if candidate.is_file():
            nvcc = candidate.resolve()
            return Toolchain(nvcc, nvcc.parent.parent, _nvcc_version(nvcc), _first_line(["g++", "--version"]))
    raise GraderError(
        "no nvcc: it is neither on PATH nor in /usr/local/cuda, and the toolkit's Python packages are not installed.\n"
        "Type:  .venv/bin/pip install -r harness/nvcc-requirements.txt"
    )


def _candidates(layout: Layout) -> list[Path]:
    recorded = layout.build / "nvcc.txt"
    on_path = shutil.which("nvcc")
    packages = Path(sysconfig.get_path("purelib")) / "nvidia"
    return [
        *([Path(recorded.read_text(encoding="utf-8").strip())] if recorded.is_file() else []),
        *([Path(on_path)] if on_path else []),
        Path("/usr/local/cuda/bin/nvcc"),
        *(path / "bin" / "nvcc" for path in sorted(packages.glob("cu1[23]"), reverse=True)),
        packages / "cuda_nvcc" / "bin" / "nvcc",
    ]


def _nvcc_version(nvcc: Path) -> str:
    text = _output([str(nvcc), "--version"])
    found = re.search(r"V(\d+\.\d+\.\d+)", text)
    if not found:
        raise GraderError(f"{nvcc} --version says nothing that a CUDA compiler says.\nType:  {nvcc} --version")
    return found[1]


def _first_line(command: list[str]) -> str:
    return _output(command).partition("\n")[0].strip()


def _output(command: list[str]) -> str:
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return run.stdout
