"""Python programs under `vgpu-run --check`: what they print, and the lines that findings name.

The packages are those of this interpreter, or of the one that LOCKSTEP_PYTHON names.
"""

import functools
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import BUILD, ROOT, needs, needs_build

PROGRAMS = ROOT / "harness/tests/python"
PYTHON = os.environ.get("LOCKSTEP_PYTHON", sys.executable)
PUZZLES = 14
SOLUTIONS = ROOT / "reference/12_python"


@functools.cache
def has(module: str) -> bool:
    return subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0


def toolkit() -> Path:
    """The CUDA toolkit that the build compiles with: the packages find NVIDIA's compilers there."""
    names = BUILD / "nvcc.txt"
    return Path(names.read_text().strip()).parents[1] if names.is_file() else Path()


has_compilers = pytest.mark.skipif(
    not all((BUILD / "lib" / f"{name}.so.13").exists() for name in ("libnvrtc", "libnvJitLink")),
    reason="the toolkit has no NVRTC or nvJitLink",
)
needs_numba = needs(has("numba.cuda"), "Numba is missing; type: harness/setup.sh --python")
pytestmark = [needs_build, has_compilers]


def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(BUILD / "bin/vgpu-run"), "--check", PYTHON, str(PROGRAMS / program), *arguments]
    environment = {"CUDA_HOME": str(toolkit())} | os.environ
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def marked_line(program: str, heading: str) -> int:
    """The line that a comment in the program marks as faulty."""
    lines = (PROGRAMS / program).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if re.search(rf"(#|//) {heading}$", line))


def finding(output: str, heading: str) -> str:
    """The first finding of a kind."""
    return output.partition(f"\n{heading}  ")[2].partition("  hint")[0]


@needs_numba
def test_a_race_in_a_numba_kernel_is_named_with_both_lines() -> None:
    done = run("numba_blur.py")
    assert done.stdout == "equal: False\n", done.stderr
    race = finding(done.stderr, "RACE")
    assert "__main__::blur<<<10,64>>>" in race
    assert f"numba_blur.py:{marked_line('numba_blur.py', 'RACE')}  read" in race
    assert "LEAK" not in done.stderr


@needs_numba
def test_cuda_core_compiles_cpp_and_launches_it() -> None:
    done = run("cuda_core_sum.py")
    assert done.stdout == "sum: 499500 of 499500\n", done.stderr
    race = finding(done.stderr, "RACE")
    assert "sum<<<4,256>>>" in race
    assert ":5  " in race  # of the kernel's source


@pytest.mark.skipif(not has("cupy"), reason="no CuPy here")
def test_cupys_kernels_of_three_kinds_run() -> None:
    done = run("cupy_kernels.py")
    assert done.stdout == "square: 9.0 norm: 9000.0 dot: 9000.0\n", done.stderr
    race = finding(done.stderr, "RACE")
    assert "shift<<<2,128>>>" in race
    assert ":3  write" in race


@pytest.mark.skipif(not has("pycuda"), reason="no PyCUDA here")
def test_pycuda_runs_modules_and_arrays() -> None:
    done = run("pycuda_reverse.py")
    assert done.stdout == "doubled: [0.0, 2.0, 4.0, 6.0]\n", done.stderr
    bounds = done.stderr.partition("BOUNDS  ")[2]
    assert "reverse<<<1,128>>>" in bounds
    assert "kernel.cu:5  read" in bounds  # PyCUDA puts a line before the source


def run_by_pycuda(program: str, folder: Path, *words: Path) -> "subprocess.CompletedProcess[str]":
    """Runs a program with real PyCUDA on the virtual GPU, with the kernels of assignment 12."""
    kernels = ROOT / "assignments/12_python/kernels.cu"
    nvcc = str(toolkit() / "bin/nvcc")
    subprocess.run([nvcc, "-ptx", "-arch=compute_80", kernels, "-o", folder / "kernels.ptx"], check=True)
    command = [BUILD / "bin/vgpu-run", PYTHON, PROGRAMS / program, *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)


@pytest.mark.skipif(not has("pycuda"), reason="no PyCUDA here")
@pytest.mark.parametrize(
    "path", [SOLUTIONS / "host.py", *sorted(SOLUTIONS.glob("right/*.py"))], ids=lambda path: path.stem
)
def test_solutions_in_pycuda_are_right_by_the_real_one(path: Path, tmp_path: Path) -> None:
    """For assignment 12, whose workers have a PyCUDA replacement."""
    done = run_by_pycuda("pycuda_host.py", tmp_path, path)
    right = "".join(f"{n} right right right right\n" for n in (0, 1, 255, 256, 257, 5000, 70001))
    assert done.stdout == right, done.stderr


@pytest.mark.skipif(not has("pycuda"), reason="no PyCUDA here")
def test_pycuda_does_what_its_stand_in_is_compared_with(tmp_path: Path) -> None:
    done = run_by_pycuda("pycuda_lines.py", tmp_path)
    assert done.stdout == (PROGRAMS / "pycuda_lines.txt").read_text(encoding="utf-8"), done.stderr


@pytest.mark.daily
@needs_numba
def test_every_solution_to_the_puzzles_is_right_and_has_no_finding() -> None:
    done = run("puzzles.py")
    assert done.stdout.count(" right\n") == PUZZLES, done.stdout + done.stderr
    assert "Findings\n  none\n" in done.stderr


@pytest.mark.daily
@needs_numba
@pytest.mark.parametrize(
    ("puzzle", "heading", "kernel"),
    [
        ("blocks", "BOUNDS", "unguarded"),
        ("pooling", "RACE", "pool_without_barrier"),
        ("prefix sum", "UNINIT", "sums_of_unwritten"),
        ("matrix multiply", "RACE", "multiply_with_one_barrier"),
    ],
)
def test_a_mistake_in_a_puzzle_is_found(puzzle: str, heading: str, kernel: str) -> None:
    done = run("faulty_puzzles.py", puzzle)
    report = finding("\n" + done.stderr, heading)
    assert f"__main__::{kernel}<<<" in report, done.stderr
    lines = (PROGRAMS / "faulty_puzzles.py").read_text().partition(f"def {kernel}(")
    line = lines[0].count("\n") + 1 + lines[2].partition(f"# {heading}")[0].count("\n")
    assert f"faulty_puzzles.py:{line}  " in report
