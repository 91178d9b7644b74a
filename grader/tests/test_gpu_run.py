"""GPU machine commands: hostile solutions and their verdicts, recorded times, and the generated pages."""

import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from conftest import ROOT
from grader.authoring.gpu_ladders import Measured, Recorded, all_timed, gpu_ladders_page, read_recorded, recorded_text
from grader.authoring.gpu_results import MARKER, GpuRun, load_run, results_page
from grader.authoring.ladder import Ladder
from grader.authoring.opponents import find_corpus
from grader.base.layout import Layout
from grader.base.process import Ended
from grader.commands.cli import cli
from grader.model.assignment import load_assignment
from grader.model.result import Profile
from grader.running import run
from grader.running.run import why_no_gpu

pytestmark = pytest.mark.in_turn


def meet(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["opponents", "--no-sandbox", "--jobs", "2", *arguments])


def write(layout: Layout, name: str, first: str, *directives: str, folder: str = "hostile") -> None:
    path = layout.reference("90_fake") / folder / f"{name}.cu"
    path.parent.mkdir(exist_ok=True)
    lines = [first, f"// Does {name}.", f"// who {name}", *(f"// {line}" for line in directives)]
    path.write_text("\n".join(lines) + "\n")


def test_opponents_get_what_they_declare(in_checkout: Layout) -> None:
    write(in_checkout, "late", "// gpu: WRONG beta_two", "gputime beta.time WRONG")
    write(in_checkout, "idle", "// gpu: PASS beta_two, gains nothing", "ratio beta.time 1.02")
    write(in_checkout, "racing", "// gpu: PASS beta_two; virtual: RACE", "fail beta_two RACE")
    write(in_checkout, "refused", "// gpu: COMPILE beta_two; virtual: COMPILE", "", "#error no")
    write(in_checkout, "exits", "// verdict: CRASH alpha_one; gpu: CRASH", "gpufail alpha_one CRASH", folder="wrong")
    (in_checkout.reference("90_fake") / "hostile" / "refused.cu").write_text(
        "// gpu: COMPILE beta_two; virtual: COMPILE\n// It.\n#error no\n"
    )
    result = meet("--device", "cuda")
    assert result.exit_code == 0, result.output
    assert "5 of 5 opponents get the verdicts they declare" in result.output
    assert "PASS beta_two, 1.020 × the reference" in result.output
    log = (in_checkout.build / "bin" / "runs.log").read_text()
    assert "run idle" not in log  # without the virtual GPU's help
    assert "gpu test idle" not in log  # where it is timed, that alone


def test_an_opponent_that_wins_is_told(in_checkout: Layout) -> None:
    write(in_checkout, "cheat", "// gpu: REJECTED beta_two")
    write(in_checkout, "quick", "// gpu: PASS beta_two, gains nothing", "ratio beta.time 1.2")
    result = meet("--device", "cuda")
    assert result.exit_code == 1
    assert "declares REJECTED and gets PASS" in result.output
    assert "declares that it gains nothing, and is 1.200 times as fast as the reference" in result.output
    assert "0 of 2 opponents" in result.output


def test_without_a_gpu_the_virtual_verdicts_hold(in_checkout: Layout) -> None:
    write(in_checkout, "late", "// gpu: WRONG beta_two", "gputime beta.time WRONG")
    write(in_checkout, "racing", "// gpu: PASS beta_two; virtual: RACE", "fail beta_two RACE")
    assert meet().exit_code == 0


def test_what_is_not_after_a_gpu_is_met_on_both_devices(in_checkout: Layout) -> None:
    write(in_checkout, "racing", "// virtual: RACE beta_two", "fail beta_two RACE")
    assert "1 of 1 opponents" in meet().output
    assert "1 of 1 opponents" in meet("--device", "cuda", "--out", "gpu").output
    log = (in_checkout.build / "bin" / "runs.log").read_text()
    assert log.count("\nrun racing\n") == 2  # the virtual GPU looked each time


def test_points_are_bounded(in_checkout: Layout) -> None:
    write(in_checkout, "thrifty", "// virtual: PASS beta_two, at most 20 points")
    write(in_checkout, "greedy", "// virtual: PASS beta_two, at most 1 point")
    result = meet()
    assert result.exit_code == 1
    assert "declares at most 1 points and gets" in result.output
    assert "1 of 2 opponents" in result.output


def test_the_first_failure_ends_the_run_where_no_points_are_looked_at(in_checkout: Layout) -> None:
    write(in_checkout, "racing", "// virtual: RACE beta_two", "fail beta_two RACE")
    write(in_checkout, "thrifty", "// virtual: RACE beta_two, at most 20 points", "fail beta_two RACE")
    assert meet().exit_code == 0
    log = (in_checkout.build / "bin" / "runs.log").read_text().splitlines()
    assert [line for line in log if line.startswith("test racing")] == ["test racing LadderTest.SumsAll/beta_two"]
    assert len([line for line in log if line.startswith("test thrifty")]) > 1


def test_only_some_are_met(in_checkout: Layout) -> None:
    write(in_checkout, "late", "// virtual: PASS beta_two")
    write(in_checkout, "racing", "// virtual: PASS beta_two", "fail beta_two RACE")
    assert "1 of 1 opponents" in meet("--only", "hostile/l*").output


@pytest.mark.parametrize(
    "first", ["// gpu: WRONG", "// gpu: WRONG nowhere", "// verdict: WRONG beta_two", "// gpu: SO beta_two"]
)
def test_a_first_line_that_says_nothing_is_refused(in_checkout: Layout, first: str) -> None:
    write(in_checkout, "vague", first)
    result = meet()
    assert result.exit_code == 1
    assert "its first line must be" in result.output


def test_every_opponent_in_the_repository_declares_something() -> None:
    layout = Layout(ROOT, ROOT / "build")
    found = [find_corpus(layout, load_assignment(layout.assignment(name))) for name in layout.assignments()]
    assert [problem for _, problems in found for problem in problems] == []
    opponents = [opponent for some, _ in found for opponent in some]
    assert len(opponents) >= 20
    assert all(opponent.says for opponent in opponents)


@pytest.mark.parametrize("name", ["04_reduction", "05_scan", "06_transpose"])
def test_a_copy_of_the_assignment_times_every_rung(name: str) -> None:
    path = ROOT / "assignments" / name / "assignment.toml"
    rungs = [rung.id for rung in load_assignment(path.parent).rungs]
    copy = tomllib.loads(all_timed(path.read_text(), rungs))
    original = tomllib.loads(path.read_text())
    assert [one["rung"] for one in copy["criterion"] if "timing" in one] == rungs
    assert "timing" not in copy
    untimed = [one for one in original["criterion"] if "timing" not in one]
    assert [one for one in copy["criterion"] if "timing" not in one] == untimed
    assert copy["rung"] == original["rung"]
    assert copy["leaderboard"] == original["leaderboard"]


def test_recorded_times_come_back(tmp_path: Path) -> None:
    recorded = Recorded("A GPU, driver 1, 2026-11-21", {"alpha_one": Measured("alpha_one", 4096, 12.34, 56.0)})
    path = tmp_path / "ladders.csv"
    path.write_text(recorded_text(recorded))
    assert read_recorded(path) == recorded
    assert read_recorded(tmp_path / "none.csv") == Recorded("", {})


def test_the_ladders_page_has_all_figures_of_a_rung_in_one_row(checkout: Layout) -> None:
    assignment = load_assignment(checkout.assignment("90_fake"))
    counters = {"divergent_branches": 7.0, "barriers": 5.0, "warp_instructions": 12345.0}
    profile = Profile("alpha_one", "submission", 1024, 33.3, counters, (), (), {"sectors": 99.0})
    course = Profile("alpha_one", "submission", 1024, 8500.0, counters, (), ())
    recorded = Recorded("A GPU", {"alpha_one": Measured("alpha_one", 2048, 4.5, 99.0)})
    page = gpu_ladders_page([(assignment, Ladder({"alpha_one": profile}, {"alpha_one": course}))], recorded, "13.0")
    row = next(line for line in page.splitlines() if line.startswith("| `alpha_one`"))
    assert row == "| `alpha_one` | 8.000 | 1 024 | 8.500 | 33.3 | 7 | 0 | 99 | 5 | 12 345 | 2 048 | 4.50 | 99 |"
    assert "| `beta_two` |" in page
    assert "Measured: A GPU." in page


def test_the_results_page_says_what_a_run_found(in_checkout: Layout, tmp_path: Path) -> None:
    folder = tmp_path / "class"
    for name, directive in (("reference", ""), ("racing", "// fail alpha_one RACE"), ("noisy", "// noisy 9")):
        (folder / name).mkdir(parents=True)
        (folder / name / "ladder.cu").write_text(f"// who {name}\n{directive}\n")
    for out in ("references", "class"):
        CliRunner().invoke(cli, ["grade", str(folder), "--no-sandbox", "--device", "cuda", "--out", out])
    write(in_checkout, "late", "// gpu: WRONG beta_two", "gputime beta.time WRONG")
    write(in_checkout, "other", "// gpu: RACE beta_two", "gputime beta.time WRONG")
    meet("--device", "cuda", "--out", "opponents")
    run = load_run(in_checkout, Path("references"), Path("class"), Path("opponents"))
    page = results_page(run, "A GPU, driver 1", "make gpu", f"old\n{MARKER}\n\nBy hand.\n")
    assert "| `90_fake` | PASS | 7 of 7 | 25 of 20 |" in page
    assert "| racing | RACE | `alpha_one` | virtual GPU | 17 |" in page
    assert "inconclusive |" in page
    assert "1 of 2 hostile solutions" in page
    assert "`late`" not in page
    assert "| `other` | Does other. | RACE | **WRONG** |  |" in page
    assert page.endswith(f"{MARKER}\n\nBy hand.\n")
    assert page.startswith("# Results on a GPU")
    assert results_page(GpuRun({}, {}, []), "x", "y", "").endswith(f"{MARKER}\n")


@pytest.mark.skipif(shutil.which("nvidia-smi") is not None, reason="there may be a GPU here")
def test_of_several_gpus_the_judge_uses_the_one_that_was_given(
    in_checkout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[dict[str, str]] = []

    def run_command(command: list[str], **named: object) -> Ended:
        seen.append(named["environment"])  # type: ignore[arg-type]
        return Ended(0, "", False, 0.0)

    monkeypatch.setattr(run, "run_command", run_command)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    monkeypatch.setenv("CUDA_LAUNCH_BLOCKING", "1")
    assert why_no_gpu(in_checkout, load_assignment(in_checkout.assignment("90_fake"))) == ""
    assert seen[0]["CUDA_VISIBLE_DEVICES"] == "1"
    assert "CUDA_LAUNCH_BLOCKING" not in seen[0]


def test_without_a_gpu_make_gpu_says_so() -> None:
    done = subprocess.run([ROOT / "harness" / "dev" / "gpu.sh"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "needs a machine with an NVIDIA GPU" in done.stderr
    assert "make demo" in done.stderr
