"""The worker's PyCUDA replacement prints the same as the real PyCUDA: harness/tests/python/pycuda_lines.txt.

test_python_programs.py checks the real one's lines, if it is installed.
"""

import json
import subprocess
from pathlib import Path

from conftest import BUILD, ROOT, needs, needs_build

ASSIGNMENT = ROOT / "assignments/12_python"
LINES = ROOT / "harness/tests/python/pycuda_lines.txt"
pytestmark = [
    needs_build,
    needs(
        (BUILD / "lib" / "liblockstep_python.a").is_file(),
        "the build has no Python for workers; type: harness/setup.sh --python && make build",
    ),
]


def run(source: Path, folder: Path, test: str) -> str:
    """A submission's output in one test of the public suite."""
    worker = folder / "worker"
    words = ["--assignment", ASSIGNMENT, "--source", source, "--build", BUILD, "--out", worker]
    built = subprocess.run([ROOT / "harness/worker/build.sh", *words], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    flags = [f"--assignment={ASSIGNMENT}", f"--worker={worker}", f"--result={folder / 'result'}", "--threads=1"]
    suite = BUILD / "bin/12_python_suite"
    subprocess.run([suite, *flags, f"--gtest_filter={test}", "--quiet"], capture_output=True, check=False)
    result = json.loads((folder / "result").read_text(encoding="utf-8"))
    return "".join(test.get("output", "") for test in result["tests"])


def test_it_prints_what_pycuda_prints(tmp_path: Path) -> None:
    printed = run(LINES.with_suffix(".py"), tmp_path, "RoundTripTest.CopiesNothing/python1_round_trip")
    assert printed == LINES.read_text(encoding="utf-8")


REFUSED = """
import numpy
import pycuda.autoinit
import pycuda.compiler
import pycuda.driver as drv
from pycuda import gpuarray

a = numpy.zeros(3, numpy.int32)
d = gpuarray.to_gpu(a)


def shift(types="PPII", grid=(1, 1), block=(32, 1, 1), *arguments):
    drv.module_from_file("kernels.ptx").get_function("circular_shift").prepare(types).prepared_call(
        grid, block, *(arguments or (d.gpudata, d.gpudata, 3, 1))
    )


def python1_round_trip(h_in, h_out):
    for code in CODE:
        try:
            eval(code)
        except Exception as error:
            print(f"{type(error).__name__}: {error}", flush=True)


def python2_shift(d_in, d_out, shift): ...
def python3_sum(d_in, d_sum): ...
def python4_streams(h_in, d_background, h_out): ...


CODE =
"""
SAYS = {
    'shift("PPI")': "TypeError: prepare('PPI'): circular_shift has 4 parameters, and these are 3 types",
    'shift("PPIz")': "TypeError: prepare('PPIz'): no type has the letter 'z'",
    'shift("PPqI")': "TypeError: prepare('PPqI'): 'q' is an integer of 8 bytes, and parameter 3 of circular_shift is an"
    " integer of 4 bytes",
    'shift("dPII")': "TypeError: prepare('dPII'): 'd' is a float of 8 bytes, and parameter 1 of circular_shift is a"
    " pointer or an integer of 8 bytes",
    'shift("PPII", (1.5, 1))': "TypeError: prepared_call: the grid (1.5, 1) has 1.5, which is no integer",
    'shift("PPII", (-1, 1))': "OverflowError: prepared_call: the grid (-1, 1) is out of range",
    'shift("PPII", (1, 1), (32, 1))': "TypeError: prepared_call: the block is a tuple of three numbers, not (32, 1)",
    'shift("PPII", (1, 1), (32, 1, 1), d, d, 3, 1)': "TypeError: argument 1 of circular_shift ('P'): expected device"
    " memory, got a GPUArray: its .gpudata is meant",
    'shift("PPII", (1, 1), (32, 1, 1), d.ptr, d.ptr, 3, -1)': "OverflowError: argument 4 of circular_shift ('I'): -1"
    " does not fit uint32",
    'shift("PPII", (1, 1), (32, 1, 1), d.ptr, d.ptr, 3.0, 1)': "TypeError: argument 3 of circular_shift ('I'): expected"
    " an integer, got float 3.0",
    'pycuda.compiler.SourceModule("")': "TypeError: SourceModule: the kernels are given here; ",
    "drv.managed_zeros": "AttributeError: pycuda.driver.managed_zeros is not there: see docs/reference/pycuda.md",
    "d + d": "TypeError: unsupported operand type(s) for +: 'GPUArray' and 'GPUArray'",
    "a.sum()": "AttributeError: ndarray.sum is not there: host code moves data, and kernels compute",
    "drv.memcpy_htod(d, a)": "TypeError: memcpy_htod: dest: expected device memory, got a GPUArray",
    "drv.memcpy_dtoh(d.gpudata, d.gpudata)": "TypeError: memcpy_dtoh: dest: expected an array on the host, got ",
}


def test_mistakes_are_said_in_words_of_its_own(tmp_path: Path) -> None:
    source = tmp_path / "host.py"
    source.write_text(REFUSED.rstrip("\n") + f" {list(SAYS)!r}\n", encoding="utf-8")
    lines = run(source, tmp_path, "RoundTripTest.CopiesNothing/python1_round_trip").splitlines()
    for code, says in SAYS.items():
        assert any(line.startswith(says) for line in lines), f"{code}: {says}\n" + "\n".join(lines)
