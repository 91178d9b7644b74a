"""`make test` names the line of a mistake that a single edit undoes (suite/edit_search.h)."""

import subprocess
from pathlib import Path

import pytest

from conftest import BUILD, ROOT, needs_build
from grader.student import command, make

# Assignment, rung, a line's text, the mistake, and the message for the line; empty if no edit should be reported.
BEGIN = "begin(d_bins, kBins, n)"
MISTAKES = {
    "comparison": ("03_circular_shift", 1, "from < n ?", "from <= n ?", "this comparison is off by one"),
    "name": ("15_histogram", 2, "&d_bins[threadIdx.x], s_", "&d_bins[blockIdx.x], s_", "threadIdx.x would be right"),
    "configuration": ("02_handson_launch", 6, "<<<grid, block>>>", "<<<block, grid>>>", "grid and block are exchanged"),
    "kept": ("15_histogram", 1, BEGIN, f"[=] {{ static bool on = {BEGIN}; return on; }}()", "is reset in each call"),
    "guard": ("15_histogram", 2, "b < bins; b += kThreads) s_", "b < 128; b += kThreads) s_", "a factor of 2"),
    "wrong buffer": ("09_streams", 2, "b.out + c.first, c.", "b.in + c.first, c.", ""),
}


@needs_build
@pytest.mark.in_turn
@pytest.mark.parametrize("kind", MISTAKES)
def test_a_single_edit_names_the_line(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(make, "_SEARCH_SECONDS", 300)  # however busy the machine is
    name, rung, right, wrong, cause = MISTAKES[kind]
    (original,) = (ROOT / "reference" / name).glob("*.cu")
    text = original.read_text()
    begin = text.index(right)
    source = tmp_path / original.name
    source.write_text(text[:begin] + wrong + text[begin + len(right) :])
    words = ["test", name, str(rung), "--source", str(source), "--build", str(BUILD), "--seed", "7"]
    assert command.main(words) == 1
    said = capfd.readouterr().out
    is_told = "one change that makes the public tests of this rung pass" in said
    assert is_told == bool(cause), said
    if is_told:
        number = text[:begin].count("\n") + 1
        assert f"  see     {source.name}:{number}  " in said
        assert cause in said


@needs_build
def test_only_public_tests_are_searched() -> None:
    suite = BUILD / "bin" / "03_circular_shift_full_suite"
    said = subprocess.run([suite, "--assignment=x", "--edits=2"], capture_output=True, text=True, check=False)
    assert said.returncode == 3
    assert said.stderr.endswith("--edits, --debug and --page are for public tests\n")
