"""Problems around one submission affect nobody else's grade, and never give a zero."""

import errno
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from grader.base.errors import InfrastructureError
from grader.base.layout import Layout
from grader.base.process import Ended, run_command
from grader.commands.cli import cli
from grader.model.record import Record
from grader.running import build, grading
from grader.running.store import Journal

pytestmark = pytest.mark.in_turn


def grade(folder: Path, out: str) -> tuple[int, str]:
    result = CliRunner().invoke(cli, ["grade", str(folder), "--no-sandbox", "--out", out])
    assert not result.exception or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


def results(layout: Layout, out: str) -> dict[str, Record]:
    journal = Journal(layout.root / out / "journal.sqlite")
    try:
        return {one.folder: journal.whole("90_fake", one.folder, 1) for one in journal.current("90_fake")}
    finally:
        journal.close()


FAULTS: list[Callable[[], BaseException]] = [
    MemoryError,
    RecursionError,
    lambda: OSError(errno.EMFILE, os.strerror(errno.EMFILE)),
    lambda: OSError(errno.EAGAIN, os.strerror(errno.EAGAIN)),
    lambda: OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)),
    lambda: KeyError("a mistake of ours"),
    lambda: UnicodeDecodeError("utf-8", b"\xff", 0, 1, "a mistake of ours"),
    lambda: InfrastructureError("the judge failed"),
]
EVIL = {f"eve{index}": error for index, error in enumerate(FAULTS)}
CLASS = {"ada": "", "bob": "// fail alpha_one WRONG", "zoe": "// fail beta_two SLOW"} | {
    name: f"// EVIL {name}." for name in EVIL
}


def fault(monkeypatch: pytest.MonkeyPatch, times: int, errors: dict[str, Callable[[], BaseException]]) -> None:
    """These students' suites raise the errors the first `times` times."""
    real, raised = grading.run_suite, Counter[str]()

    def run(*arguments: object, **named: object) -> object:
        folder = next(one for one in arguments if isinstance(one, Path) and (one / "src").is_dir())
        source = next((folder / "src").glob("*.cu")).read_text()
        for name, error in errors.items():
            if f"EVIL {name}." in source and raised[name] < times:
                raised[name] += 1
                raise error()
        return real(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(grading, "run_suite", run)
    monkeypatch.setattr(grading, "_PAUSE_SECONDS", 0.0)


@pytest.fixture
def undisturbed(in_checkout: Layout, submissions: Callable[..., Path]) -> tuple[Path, dict[str, Record]]:
    folder = submissions(**CLASS)
    assert grade(folder, "calm")[0] == 0
    return folder, results(in_checkout, "calm")


def test_faults_that_stay_cost_nobody_else(
    in_checkout: Layout, undisturbed: tuple[Path, dict[str, Record]], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, calm = undisturbed
    fault(monkeypatch, 99, EVIL)
    status, said = grade(folder, "out")
    assert status == 3
    assert "Not graded" in said
    found = results(in_checkout, "out")
    for name, error in EVIL.items():
        assert (found[name].score, found[name].verdict) == (None, "HARNESS")
        assert "Tried 3 times" in found[name].message
        if not isinstance(error(), InfrastructureError):
            assert type(error()).__name__ in found[name].message
    assert {name: found[name].score for name in ("ada", "bob", "zoe")} == {
        name: calm[name].score for name in ("ada", "bob", "zoe")
    }
    monkeypatch.undo()
    monkeypatch.chdir(in_checkout.root)
    assert grade(folder, "out")[0] == 0
    assert {name: one.score for name, one in results(in_checkout, "out").items()} == {
        name: one.score for name, one in calm.items()
    }


def test_faults_that_pass_are_not_seen(
    in_checkout: Layout, undisturbed: tuple[Path, dict[str, Record]], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, calm = undisturbed
    fault(monkeypatch, 2, EVIL)
    assert grade(folder, "out")[0] == 0
    found = results(in_checkout, "out")
    assert {name: one.score for name, one in found.items()} == {name: one.score for name, one in calm.items()}


def test_a_full_disk_stops_the_class(
    in_checkout: Layout, undisturbed: tuple[Path, dict[str, Record]], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _ = undisturbed
    fault(monkeypatch, 1, {"eve0": lambda: OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "out")})
    result = CliRunner().invoke(cli, ["grade", str(folder), "--no-sandbox", "--out", "out"])
    assert isinstance(result.exception, OSError)  # main() makes a sentence of it


@pytest.mark.parametrize(
    "output",
    [
        "nvcc error   : 'cicc' died due to signal 9 (Kill signal)",
        "g++: fatal error: Killed signal terminated program cc1plus\ncompilation terminated.",
    ],
)
@pytest.mark.parametrize("used_up", [False, True])
def test_a_killed_compiler_is_no_mistake_in_the_file(
    in_checkout: Layout,
    undisturbed: tuple[Path, dict[str, Record]],
    monkeypatch: pytest.MonkeyPatch,
    output: str,
    used_up: bool,
) -> None:
    folder, calm = undisturbed

    def run(command: list[str], **named: object) -> Ended:
        ended = run_command(command, **named)  # type: ignore[arg-type]
        source = Path(command[command.index("--source") + 1])
        return Ended(1, output, False, 1.0) if "EVIL eve0." in source.read_text() else ended

    monkeypatch.setattr(build, "run_command", run)
    monkeypatch.setattr(build.cgroup, "ran_out_of_memory", lambda _: used_up)
    status, _ = grade(folder, "out")
    found = results(in_checkout, "out")
    assert (status, found["eve0"].verdict) == ((0, "COMPILE") if used_up else (3, "HARNESS"))
    assert found["ada"].score == calm["ada"].score


def test_nobody_claims_that_the_compiler_was_killed(in_checkout: Layout, submissions: Callable[..., Path]) -> None:
    assert not build._KILLED.search("a.cu(1): error: #error nvcc error : 'cicc' died due to signal 9 (Kill signal)")
    assert not build._KILLED.search("nvcc error   : 'cicc' died due to signal 11 (Invalid memory reference)")
