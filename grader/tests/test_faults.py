"""What goes wrong around one submission costs nobody else's grade, and is no zero."""

import errno
import os
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

CLASS = {"ada": "", "bob": "// fail alpha_one WRONG", "eve": "// EVIL", "zoe": "// fail beta_two SLOW"}


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


def fault(monkeypatch: pytest.MonkeyPatch, error: Callable[[], BaseException], times: int) -> None:
    """Eve's suite raises that error the first `times` times."""
    real, raised = grading.run_suite, 0

    def run(*arguments: object, **named: object) -> object:
        nonlocal raised
        folder = next(one for one in arguments if isinstance(one, Path) and (one / "src").is_dir())
        if "EVIL" in next((folder / "src").glob("*.cu")).read_text() and raised < times:
            raised += 1
            raise error()
        return real(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(grading, "run_suite", run)
    monkeypatch.setattr(grading, "_PAUSE_SECONDS", 0.0)


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


@pytest.fixture
def undisturbed(in_checkout: Layout, submissions: Callable[..., Path]) -> tuple[Path, dict[str, Record]]:
    folder = submissions(**CLASS)
    assert grade(folder, "calm")[0] == 0
    return folder, results(in_checkout, "calm")


@pytest.mark.parametrize("error", FAULTS)
def test_a_fault_that_stays_costs_nobody_else(
    in_checkout: Layout,
    undisturbed: tuple[Path, dict[str, Record]],
    monkeypatch: pytest.MonkeyPatch,
    error: Callable[[], BaseException],
) -> None:
    folder, calm = undisturbed
    fault(monkeypatch, error, 99)
    status, said = grade(folder, "out")
    assert status == 3
    assert "Not graded" in said
    found = results(in_checkout, "out")
    assert found["eve"].score is None
    assert found["eve"].verdict == "HARNESS"
    assert "Tried 3 times" in found["eve"].message
    if not isinstance(error(), InfrastructureError):
        assert type(error()).__name__ in found["eve"].message
    others = {name: one.score for name, one in found.items() if name != "eve"}
    assert others == {name: one.score for name, one in calm.items() if name != "eve"}
    monkeypatch.undo()
    monkeypatch.chdir(in_checkout.root)
    assert grade(folder, "out")[0] == 0
    assert {name: one.score for name, one in results(in_checkout, "out").items()} == {
        name: one.score for name, one in calm.items()
    }


@pytest.mark.parametrize("error", FAULTS)
def test_a_fault_that_passes_is_not_seen(
    in_checkout: Layout,
    undisturbed: tuple[Path, dict[str, Record]],
    monkeypatch: pytest.MonkeyPatch,
    error: Callable[[], BaseException],
) -> None:
    folder, calm = undisturbed
    fault(monkeypatch, error, 2)
    assert grade(folder, "out")[0] == 0
    found = results(in_checkout, "out")
    assert {name: one.score for name, one in found.items()} == {name: one.score for name, one in calm.items()}


def test_a_full_disk_stops_the_class(
    in_checkout: Layout, undisturbed: tuple[Path, dict[str, Record]], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _ = undisturbed
    fault(monkeypatch, lambda: OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "out"), 1)
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
        return Ended(1, output, False, 1.0) if "EVIL" in source.read_text() else ended

    monkeypatch.setattr(build, "run_command", run)
    monkeypatch.setattr(build.cgroup, "ran_out_of_memory", lambda _: used_up)
    status, _ = grade(folder, "out")
    found = results(in_checkout, "out")
    assert (status, found["eve"].verdict) == ((0, "COMPILE") if used_up else (3, "HARNESS"))
    assert found["ada"].score == calm["ada"].score


def test_nobody_claims_that_the_compiler_was_killed(in_checkout: Layout, submissions: Callable[..., Path]) -> None:
    assert not build._KILLED.search("a.cu(1): error: #error nvcc error : 'cicc' died due to signal 9 (Kill signal)")
    assert not build._KILLED.search("nvcc error   : 'cicc' died due to signal 11 (Invalid memory reference)")
