"""`make debug RUNG=3` in a terminal: the debugger on a student's own rung, where the call that fails begins."""

import contextlib
import os
import pty
import subprocess
from pathlib import Path

import pytest

from conftest import BUILD, ROOT, needs_build

pytestmark = [needs_build, pytest.mark.in_turn("harness/vgpu/exec", "grader/src/grader/student")]


def _session(commands: list[str], *words: str | Path) -> tuple[int, list[str]]:
    """The status, and what is shown before the first prompt and behind each command, typed at a prompt."""
    outer, inner = pty.openpty()
    process = subprocess.Popen(["./lockstep", "debug", "04_reduction", "--built", "--build", BUILD, *words], cwd=ROOT,
                               stdin=inner, stdout=inner, stderr=inner, start_new_session=True,
                               env={**os.environ, "TERM": "dumb"})  # fmt: skip
    os.close(inner)
    shown = [""]
    with contextlib.suppress(OSError):  # the other side is closed
        while chunk := os.read(outer, 1 << 16).decode():
            shown[-1] += chunk
            if shown[-1].endswith("(vgpu) "):
                os.write(outer, f"{commands[len(shown) - 1]}\n".encode())
                shown.append("")
    os.close(outer)
    return process.wait(30), [text.replace("\r", "") for text in shown]


def test_stops_where_the_call_that_fails_begins_and_goes_back(tmp_path: Path) -> None:
    lines = (ROOT / "reference/04_reduction/reduction.cu").read_text().split("\n")
    kernel = next(k for k, line in enumerate(lines) if "void reduce3_sequential_kernel" in line)
    update = next(k for k in range(kernel, len(lines)) if "if (tid < s)" in lines[k])
    lines[update] = lines[update].replace("tid < s", "tid < s && n < 1000")
    source = tmp_path / "reduction.cu"
    source.write_text("\n".join(lines))
    status, shown = _session(
        [f"break {update + 1}", "continue", "info locals", "print n", "watch s_data[0]", "reverse-continue", "quit"],
        "3", "--source", source, "--seed", "7",
    )  # fmt: skip
    head, _, stop, variables, n, _, back, _ = shown
    assert status == 0, shown
    assert "WRONG  ReductionTest.SumsAnyLength/reduce3_sequential" in head
    assert "input   n = 1,023" in head  # not the first length: calls before are passed over
    assert f"reduction.cu:{kernel + 1}   reduce3_sequential_kernel   block (0,0,0)" in head
    assert f"=>{update + 1:5}  {lines[update]}\n" in stop
    assert "tid = 96 .. 127 step 1\n" in variables  # by -G
    assert "n = 1023\n" in n
    assert "s_data[tid] = i < n ? d_in[i] : 0;" in back.split("=>")[1].split("\n")[0]


def test_stops_in_the_first_launch_of_a_rung_that_is_right() -> None:
    status, shown = _session(["quit"], "3", "--source", ROOT / "reference/04_reduction/reduction.cu")
    assert status == 0, shown
    assert "ReductionTest.SumsOneBlock/reduce3_sequential passes.\n" in shown[0]
    assert "launch 1, reduce3_sequential_kernel<<<1,128>>>" in shown[0]
