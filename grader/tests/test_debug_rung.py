"""`make debug RUNG=3` in a terminal: the debugger on a student's own rung, where the call that fails begins."""

import contextlib
import os
import pty
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import BUILD, ROOT, needs_build

pytest_plugins = ("browser",)
pytestmark = [needs_build, pytest.mark.in_turn]


def _session(commands: list[str], *words: str | Path) -> tuple[int, list[str]]:
    """The status, and what is shown before the first prompt and after each command, which is typed at a prompt."""
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


def _lockstep(command: str, *words: str | Path) -> str:
    run = ["./lockstep", command, "04_reduction", "3", "--built", "--build", BUILD, *words]
    return subprocess.run(run, cwd=ROOT, check=False, capture_output=True, text=True).stdout


def _race(tmp_path: Path) -> tuple[Path, int]:
    """Rung 3 without the barrier of its loop, and the line with the race."""
    lines = (ROOT / "reference/04_reduction/reduction.cu").read_text().split("\n")
    kernel = next(k for k, line in enumerate(lines) if "void reduce3_sequential_kernel" in line)
    update = next(k for k in range(kernel, len(lines)) if "if (tid < s)" in lines[k])
    lines[update + 1] = ""
    source = tmp_path / "reduction.cu"
    source.write_text("\n".join(lines))
    return source, update + 1


def test_a_race_of_test_is_in_its_page_and_in_the_debugger(tmp_path: Path, open_page: Callable[..., Any]) -> None:
    source, line = _race(tmp_path)
    said = _lockstep("test", "--source", source, "--page")
    seed = re.search(r"--seed (\d+)", said)
    path = re.search(r"For a browser: (\S+)", said)
    assert seed, said
    assert path, said
    page = open_page(Path(path[1]), width=360)
    assert page.locator("h1").inner_text().startswith("RACE: ReductionTest.")
    assert f"reduction.cu:{line}" in page.locator("#findings").inner_text()
    assert page.locator(f"[id='reduction.cu:{line}'] .note").inner_text() == "✗ RACE"
    page.get_by_role("button", name="Step through it").press("Enter")
    assert f"at line {line}, with no barrier between the two" in page.locator("#replay").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.locator("#notes").inner_text().endswith(f"The seed is {seed[1]}.")
    # The debugger has the seed of that run, and stops at the accesses that it found.
    _, shown = _session(["continue", "print s_data[tid] + s_data[tid + s]", "quit"], "3", "--source", source)
    assert f"The seed is {seed[1]}, as in the last " in shown[0]
    (first, *_) = re.findall(rf"break reduction.cu:{line} (block \S+) thread", shown[0])
    assert f"reduction.cu:{line}   reduce3_sequential_kernel   {first}, warp " in shown[1]
    assert "s_data[tid] + s_data[tid + s] = " in shown[2]


def test_a_measured_rung_can_be_stepped_through(open_page: Callable[..., Any]) -> None:
    said = _lockstep("profile", "--source", ROOT / "reference/04_reduction/reduction.cu", "--page")
    path = re.search(r"For a browser: (\S+)", said)
    assert path, said
    page = open_page(Path(path[1]))
    page.get_by_role("button", name="Step through block (0,0,0) of launch").first.press("Enter")
    for _ in range(30):
        page.get_by_role("button", name="step ▸", exact=True).press("Enter")
    assert "words of shared memory, a row across the 32 banks. Written by" in page.locator("#replay").inner_text()
    assert Path(path[1]).stat().st_size < 2_000_000
