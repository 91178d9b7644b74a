"""The build's messages for Python host code with given kernels; the code is read, not run."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

SCRIPT = ROOT / "harness/worker/python/pack_host_code.py"
ASSIGNMENT = ROOT / "assignments/12_python"
STUB = (ASSIGNMENT / "host.py").read_text(encoding="utf-8")


def pack(source: bytes, folder: Path) -> tuple[int, str]:
    (folder / "host.py").write_bytes(source)
    (folder / "kernels.ptx").write_text("// PTX", encoding="utf-8")
    words = {"source": "host.py", "kernels": "kernels.ptx", "out": "out.json"}
    named = [word for name, file in words.items() for word in (f"--{name}", str(folder / file))]
    command = [sys.executable, "-I", str(SCRIPT), "--assignment", str(ASSIGNMENT), *named]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.stdout == ""
    return run.returncode, run.stderr


def test_a_file_is_packed_with_the_kernels(tmp_path: Path) -> None:
    assert pack(STUB.encode(), tmp_path) == (0, "")
    packed = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert packed["source"] == STUB
    assert packed["files"] == {"kernels.ptx": "// PTX"}
    assert packed["path"] == str(tmp_path / "host.py")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "def python3_sum(",
            "def python3_summe(",
            "host.py: error: the function python3_sum is missing, which the tests call\n",
        ),
        (
            "def python2_shift(d_in, d_out, shift):",
            "def python2_shift(d_in, d_out):",
            "host.py(25): error: python2_shift is called with 3 arguments: d_in, d_out, shift\n"
            "def python2_shift(d_in, d_out):\n",
        ),
        ("def python2_shift(d_in, d_out, shift):", "def python2_shift(*everything):", ""),
        ("def python2_shift(d_in, d_out, shift):", "def python2_shift(d_in, d_out, shift, block=256):", ""),
        ("def python2_shift(", "python2_shift = print\n\n\ndef another(", ""),
        ("def python1", "    def python1", "host.py(15): error: the indentation is wrong here"),
        ("kernels = drv", "kernels = = drv", "host.py(12): error: the syntax is wrong here"),
        ("kernels = drv", "raise SystemExit(3)\nkernels = drv", ""),
    ],
)
def test_what_is_wrong_is_said_with_its_line(old: str, new: str, says: str, tmp_path: Path) -> None:
    assert old in STUB
    status, said = pack(STUB.replace(old, new, 1).encode(), tmp_path)
    assert (status, said.startswith(says)) == (1 if says else 0, True), said
    assert bool(said) == bool(says)


@pytest.mark.parametrize("source", [b"\xff\xfe", b"x = 1\0", b"(" * 5000 + b")" * 5000])
def test_what_is_no_python_is_refused(source: bytes, tmp_path: Path) -> None:
    status, said = pack(source, tmp_path)
    assert status == 1
    assert said.startswith("host.py")
    assert ": error: " in said
