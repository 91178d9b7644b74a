"""Grading with a GPU: two runs per submission, the worse verdict of each test, conclusive and inconclusive times."""

import itertools
import json
import os
import re
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from conftest import journal_rows
from grader.base.layout import Layout
from grader.commands.cli import cli, main
from grader.model.result import Device, SuiteResult, passed_test
from grader.running.devices import merge

Submissions = Callable[..., Path]


def grade(folder: Path, *arguments: str) -> Result:
    return CliRunner().invoke(
        cli, ["grade", str(folder), "--no-sandbox", "--jobs", "3", "--device", "cuda", *arguments]
    )


def log(layout: Layout) -> list[str]:
    return (layout.build / "bin" / "runs.log").read_text().splitlines()


def result_of(layout: Layout, who: str) -> dict:  # type: ignore[type-arg]
    return next(
        found
        for path in (layout.root / "out/staff/results/90_fake").glob("*.json")
        if (found := json.loads(path.read_text()))["folder"] == who
    )


def card_of(layout: Layout, who: str) -> str:
    return (layout.root / "out" / result_of(layout, who)["card"]).read_text()


def test_the_virtual_gpu_finds_what_the_gpu_does_not_show(in_checkout: Layout, submissions: Submissions) -> None:
    assert grade(
        submissions(racing="// fail alpha_one RACE", both="// fail alpha_one RACE\n// gpufail alpha_one WRONG")
    )
    found = result_of(in_checkout, "racing")
    assert (found["verdict"], found["score"]["rung"]) == ("RACE", "alpha_one")
    device = {"label": "device", "text": "virtual GPU; on the Real <b>GPU</b> it is PASS", "file": "", "line": 0}
    assert found["result"]["tests"][0]["lines"][-1] == device
    assert found["result"]["tests"][0]["hint"] == "think"
    assert found["result"]["device"] == {"kind": "cuda", "name": "Real <b>GPU</b>", "profile": "h200", "threads": 1}
    assert "on the Real <b>GPU</b> it is WRONG" in str(result_of(in_checkout, "both")["result"]["tests"][0]["lines"])


def test_the_gpu_has_a_verdict_of_its_own(in_checkout: Layout, submissions: Submissions) -> None:
    grade(submissions(late="// gpufail beta_two WRONG"))
    found = result_of(in_checkout, "late")
    assert (found["verdict"], found["score"]["rung"]) == ("WRONG", "beta_two")
    test = next(test for test in found["result"]["tests"] if test["rung"] == "beta_two")
    assert test["device"] == "Real <b>GPU</b>"
    assert "on the virtual GPU it is PASS" in test["lines"][-1]["text"]


@pytest.mark.parametrize(
    ("virtual", "gpu", "wanted"),
    [("PASS", "PASS", "PASS"), ("RACE", "WRONG", "RACE"), ("WRONG", "CRASH", "CRASH"), ("BOUNDS", "BOUNDS", "BOUNDS"),
     ("UNINIT", "PASS", "UNINIT"), ("PASS", "REJECTED", "REJECTED")],
)  # fmt: skip
def test_the_worse_verdict_holds(virtual: str, gpu: str, wanted: str) -> None:
    def result(kind: str, verdict: str) -> SuiteResult:
        test = replace(
            passed_test("T.A/r", "r"), verdict=verdict, message=f"{verdict}  {kind}" if verdict != "PASS" else ""
        )
        return SuiteResult("a", "full", 1, True, Device(kind, "", kind.upper(), 1), (test,), (), (), ())

    merged = merge(result("vgpu", virtual), result("cuda", gpu)).tests[0]
    assert merged.verdict == wanted
    assert merged.device == ("" if wanted == "PASS" else "CUDA" if virtual != wanted else "virtual GPU")
    assert merged.message.startswith(wanted) == (wanted != "PASS")


def test_evidence_is_counted_once_and_not_on_the_gpu(in_checkout: Layout, submissions: Submissions) -> None:
    grade(submissions(ada="// value beta.fast 4"))
    found = result_of(in_checkout, "ada")
    assert [entry["value"] for entry in found["result"]["evidence"]] == [4]
    assert len(found["result"]["profiles"]) == 6
    assert len(found["result"]["tests"]) == 7
    assert not [line for line in log(in_checkout) if line.startswith("gpu test") and "Evidence" in line]


def test_measured_time_counts(in_checkout: Layout, submissions: Submissions) -> None:
    assert grade(submissions(fast="", middling="// ratio beta.time 0.75")).exit_code == 0
    points = {who: result_of(in_checkout, who)["score"]["total"] for who in ("fast", "middling")}
    assert points == {"fast": 25, "middling": 24}
    timing = result_of(in_checkout, "fast")["result"]["timings"][0]
    assert (timing["value"], timing["low"], timing["high"], timing["bytes"]) == (1.0, 0.99, 1.02, 16_000_000)


def test_without_a_gpu_no_point_for_time_is_spoken_of(in_checkout: Layout, submissions: Submissions) -> None:
    folder = submissions(ada="", broken="#error no")
    CliRunner().invoke(cli, ["grade", str(folder), "--no-sandbox"])
    for who in ("ada", "broken"):
        assert "beta.time" not in [entry["id"] for entry in result_of(in_checkout, who)["score"]["criteria"]]


def test_what_is_wrong_while_it_is_timed_is_wrong(in_checkout: Layout, submissions: Submissions) -> None:
    grade(submissions(cheat="// gputime beta.time REJECTED"))
    found = result_of(in_checkout, "cheat")
    assert (found["verdict"], found["score"]["rung"]) == ("REJECTED", "beta_two")
    by_id = {entry["id"]: entry for entry in found["score"]["criteria"]}
    assert by_id["beta.sum"]["detail"] == "2 of 3 tests passed"
    assert (by_id["beta.fast"]["points"], by_id["beta.time"]["points"], by_id["alpha.sum"]["points"]) == (0, 0, 8)
    page = card_of(in_checkout, "cheat")
    assert "Real &lt;b&gt;GPU&lt;/b&gt;, while it was timed" in page


def test_an_inconclusive_time_is_no_zero_and_is_measured_again(in_checkout: Layout, submissions: Submissions) -> None:
    folder = submissions(ada="// noisy 1", grace="")
    first = grade(folder)
    assert first.exit_code == 3
    assert "Inconclusive times; run the same command to measure them again: ada (beta_two)" in " ".join(
        first.output.split()
    )
    found = result_of(in_checkout, "ada")
    assert (found["status"], found["verdict"], found["score"]["total"]) == ("graded", "PASS", 23)
    criterion = next(entry for entry in found["score"]["criteria"] if entry["id"] == "beta.time")
    assert criterion["verdict"] == "INCONCLUSIVE"
    page = card_of(in_checkout, "ada")
    assert "INCONCLUSIVE" in page
    assert "That is not a zero: it will be measured again." in page
    staff = in_checkout.root / "out" / "staff" / result_of(in_checkout, "ada")["card"]
    assert "--device cuda" in staff.read_text()
    before = len(log(in_checkout))
    second = grade(folder)
    assert (second.exit_code, result_of(in_checkout, "ada")["score"]["total"]) == (0, 25)
    lines = log(in_checkout)[before:]
    assert [line for line in lines if "grace" in line] == []
    assert [line for line in lines if "test ada" in line] == []  # only the time was open


def test_a_gpu_run_that_was_cut_short_goes_on(in_checkout: Layout, submissions: Submissions) -> None:
    folder = submissions(ada="// stall 2")
    stopper = threading.Thread(target=_stop_after_gpu_tests, args=(in_checkout, 2))
    stopper.start()
    grade(folder)
    stopper.join()
    before = log(in_checkout)
    assert sum(line.startswith("gpu test") for line in before) == 2
    (in_checkout.build / "bin" / "no_gpu").unlink()
    assert grade(folder).exit_code == 0
    after = log(in_checkout)[len(before) :]
    assert not [line for line in after if line.startswith("test ada")]  # the virtual GPU's part was done
    assert after.count("time ada") == 1
    assert sum(line.startswith("gpu test") for line in after) == 4
    assert result_of(in_checkout, "ada")["score"]["total"] == 25


def _stop_after_gpu_tests(layout: Layout, count: int) -> None:
    """Kills the suite on the GPU, and lets no other start."""
    while len(journal_rows(layout, "SELECT 1 FROM test WHERE key LIKE '%/cuda'")) < count:
        time.sleep(0.02)
    (layout.build / "bin" / "no_gpu").touch()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"--device=cuda" in words and any(word.startswith(b"--result=" + bytes(layout.root)) for word in words):
            os.kill(int(process.name), signal.SIGKILL)


def test_nothing_else_is_on_the_gpu_while_one_is_timed(in_checkout: Layout, submissions: Submissions) -> None:
    assert grade(submissions(**{f"student{i}": "// slow 0.05" for i in range(6)}), "--jobs", "6").exit_code == 0
    order = [line for line in log(in_checkout) if line.split()[0] in ("gpu", "time", "timed")]
    begun = [(line, after) for line, after in itertools.pairwise(order) if line.startswith("time ")]
    assert len(begun) == 6
    assert all(after == line.replace("time ", "timed ") for line, after in begun)


def test_a_rung_that_is_wrong_is_not_timed(in_checkout: Layout, submissions: Submissions) -> None:
    grade(
        submissions(racing="// fail beta_two RACE", wrong="// gpufail beta_two WRONG", other="// fail alpha_one WRONG")
    )
    assert [line for line in log(in_checkout) if line.startswith("time ")] == ["time other"]
    by_id = {entry["id"]: entry for entry in result_of(in_checkout, "racing")["score"]["criteria"]}
    assert by_id["beta.time"]["detail"] == "counts once this rung's tests pass"


def test_without_a_gpu_the_command_says_so_at_once(
    in_checkout: Layout, submissions: Submissions, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (in_checkout.build / "bin" / "no_gpu").touch()
    folder = submissions(ada="")
    monkeypatch.setattr("sys.argv", ["grader", "grade", str(folder), "--no-sandbox", "--device", "cuda"])
    assert main() == 1
    said = re.sub(r"\s+", " ", capsys.readouterr().err)
    assert "needs an NVIDIA GPU. 90_fake_suite: --device=cuda found no GPU (cudaErrorNoDevice)" in said
    assert "without --device cuda" in said
    assert not (in_checkout.build / "bin" / "runs.log").exists()


def test_the_board_ranks_what_was_measured(in_checkout: Layout, submissions: Submissions) -> None:
    grade(
        submissions(
            quick="// ratio beta.time 1.25\n// time beta_two 99", slow="// ratio beta.time 1.1\n// time beta_two 5"
        )
    )
    board, model = json.loads((in_checkout.root / "out/leaderboard.json").read_text())["boards"]
    assert (board["is_measured"], board["device"]) == (True, "Real <b>GPU</b>")
    assert (model["is_measured"], model["device"]) == (False, "virtual GPU, H200 model")
    assert [entry["value"] for entry in model["entries"]] == [5, 99]
    assert [(entry["alias"], entry["value"], entry["ratio"]) for entry in board["entries"]] == [
        (board["entries"][0]["alias"], pytest.approx(6.4), pytest.approx(1.25)),
        (board["entries"][1]["alias"], pytest.approx(8 / 1.1), pytest.approx(1.1)),
    ]
