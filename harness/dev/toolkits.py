#!/usr/bin/env python3
"""Which toolkits build the course: stubs and references of all assignments with each, in docs/records/toolkits.md.

    harness/dev/toolkits.py BUILD [VERSION …]      # such as 13.0 13.5; default: 13.0 to 13.5

Toolkits are installed as Python packages in a temporary folder. Headers of cuBLAS and cuFFT, which assignment 11
includes, are the build's own toolkit's: the packages have 1 GB of kernels. BUILD is not changed: a copy of it is used.
"""

import datetime
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/records/toolkits.md"
VERSIONS = ("13.0", "13.1", "13.2", "13.3", "13.4", "13.5")
# From 13.3 on CCCL has its own version numbers: 13.3.3 came with 13.3, 13.3.4 with 13.4.
CCCL = {"13.3": "13.3.3", "13.4": "13.3.4", "13.5": "13.3.5"}
HEAD = """# Toolkits

Stubs and references of every assignment, compiled by each toolkit of the year and run on the virtual GPU: an assignment
is right where its stub fails as it should, its reference gets full marks, and, with the nvcc that recorded them, its
figures are those on record. Made by `harness/dev/toolkits.py`.

"""


def install(version: str, folder: Path, own: Path) -> tuple[Path, str]:
    """Fetches a toolkit; returns its nvcc, and the versions of nvcc and CCCL as cells of the table."""
    cccl = CCCL.get(version, version)
    names = [f"nvidia-cuda-{part}=={version}.*" for part in ("nvcc", "crt", "runtime")]
    words = [*names, f"nvidia-nvvm=={version}.*", f"nvidia-cuda-cccl=={cccl}.*"]
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(folder), *words]
    subprocess.run(pip, check=True)
    (nvcc,) = folder.glob("nvidia/cu*/bin/nvcc")
    include = nvcc.parents[1] / "include"
    for pattern in ("cublas*.h", "cufft*.h", "library_types.h"):
        for header in (own.parents[1] / "include").glob(pattern):
            if not (include / header.name).exists():
                shutil.copy(header, include)
    said = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=True).stdout
    stated = next(include.rglob("cuda/std/__cccl/version.h")).read_text()
    number = int(re.findall(r"CCCL_VERSION (\d+)", stated)[0])
    return nvcc, f"{re.findall(r'V([0-9.]+)', said)[0]} | {number // 1000000}.{number // 1000 % 1000}.{number % 1000}"


def check(build: Path, name: str) -> str:
    """Checks one assignment with one toolkit; returns the cell for the table."""
    words = [str(ROOT / ".venv/bin/grader"), "check", name, "--build", str(build)]
    words += ["--only", "stub", "--only", "reference"]
    ended = subprocess.run(words, capture_output=True, text=True, check=False)
    failed = re.findall(r"^  (?!ok\b)(?:\S+) {2,}(.+?) {2,}(.+)$", ended.stdout, re.MULTILINE)
    if ended.returncode == 0:
        return "right"
    said = re.findall(r"error: (.*)", ended.stderr)
    return " ".join(failed[0]) if failed else said[0] if said else f"ended with {ended.returncode}"


def main() -> None:
    """Checks the toolkits, and writes the page."""
    build, *versions = sys.argv[1:]
    own = Path((Path(build) / "nvcc.txt").read_text().strip())
    assignments = sorted(path.name for path in (ROOT / "reference").glob("[0-9]*_*") if path.is_dir())
    rows = []
    for version in versions or VERSIONS:
        with tempfile.TemporaryDirectory(prefix="toolkit-", dir=Path(build).resolve().parent) as scratch:
            nvcc, said = install(version, Path(scratch) / "toolkit", own)
            tree = Path(scratch) / "build"
            shutil.copytree(build, tree, copy_function=os.link, symlinks=True, ignore=shutil.ignore_patterns("release"))
            (tree / "nvcc.txt").unlink()
            (tree / "nvcc.txt").write_text(f"{nvcc}\n")
            cells = {name: check(tree, name) for name in assignments}
        wrong = [f"{name}: {cell}" for name, cell in cells.items() if cell != "right"]
        rows.append(f"| {said} | {len(cells) - len(wrong)} of {len(cells)} | {'; '.join(wrong) or 'none'} |")
        print(rows[-1], flush=True)
    table = ["| nvcc | CCCL | right | others |", "|---|---|---:|---|", *rows]
    when = f"\n{datetime.date.today()}, {platform.machine()}. cuBLAS's and cuFFT's headers are 13.0's.\n"
    PAGE.write_text(HEAD + "\n".join(table) + "\n" + when)


main()
