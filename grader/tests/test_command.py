"""`lockstep`: its arguments, its messages for mistyped words, its statuses; also through the root's script and make."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import BUILD, ROOT, make_executable, needs_build
from grader import __version__
from grader.base.layout import Layout, find_layout
from grader.student import command
from grader.student.arguments import COMMANDS
from grader.student.typed import Typed

_COLUMNS = 80


@pytest.fixture
def folder(in_checkout: Layout, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The fake assignment's folder, with another assignment's next to it."""
    monkeypatch.delenv("LOCKSTEP_NAME", raising=False)
    script = in_checkout.harness / "build.sh"
    script.write_text('#!/bin/sh\necho "$@" > "$(dirname "$0")/../build/built.txt"\n')
    make_executable(script)
    folder = in_checkout.assignment("90_fake")
    other = in_checkout.assignment("91_other")
    shutil.copytree(folder, other)
    toml = other / "assignment.toml"
    toml.write_text(toml.read_text().replace("90_fake", "91_other"))
    in_checkout.glue("91_other").write_text("// glue\n")
    shutil.copy(in_checkout.public_suite("90_fake"), in_checkout.public_suite("91_other"))
    return folder


@pytest.mark.parametrize("word", COMMANDS)
def test_help_teaches_with_examples(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    texts = []
    for words in ([word, "--help"], ["help", word]):
        with pytest.raises(SystemExit) as ended:
            command.main(words)
        assert ended.value.code == 0
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1]
    assert f"\nexamples:\n  lockstep {word}" in texts[0]
    assert "status: 0 right, 1 wrong, 2 mistyped" in texts[0]
    assert max(map(len, texts[0].splitlines())) <= _COLUMNS


def test_the_overview_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], ["--help"], ["help"]):
        with pytest.raises(SystemExit) as ended:
            command.main(words)
        assert ended.value.code == 0
        text = capsys.readouterr().out
        assert all(f"\n  {word} " in text for word in COMMANDS)
        assert max(map(len, text.splitlines())) <= _COLUMNS


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["tset"], "There is no command tset. Did you mean test?\nType:  lockstep test\n"),
        (["frobnicate"], "There is no command frobnicate. There are:\n  test, watch, hint, "),
        (["test", "--rug", "3"], "lockstep test: there is no --rug here; did you mean --rung?\nType:  lockstep test -"),
        (["test", "fak"], "There is no assignment fak. Did you mean 90_fake?\nType:  lockstep test 90_fake\n"),
        (["test", "xyz"], "There is no assignment xyz. There are:\n  90_fake\n  91_other\nType:  lockstep test 90_fak"),
        (["test", "90", "9"], "90_fake has no rung 9. Its rungs are:\n  alpha_one  beta_two"),
        (["test", "3"], "Rung 3 of which assignment?\nType:  lockstep test 90_fake 3\n"),
        (["test", "fake", "7"], "90_fake has no rung 7. Its rungs are:\n  alpha_one  beta_two  gamma_bonus\n"
                                "Type:  lockstep test 90_fake alpha_one\n"),
        (["test", "fake", "alpha", "beta"], "One rung at a time: alpha or beta?\n"),
        (["hint"], "A hint is for one assignment.\nType:  lockstep hint 90_fake\n"),
        (["watch"], "One assignment is watched.\nType:  lockstep watch 90_fake\n"),
        (["run"], "Which program?\nType:  lockstep run my_program.cu\n"),
        (["run", "assignments/90_fake/lader.cu"], "There is no file assignments/90_fake/lader.cu."
                                " Did you mean ladder.cu?\n"
                                "Type:  lockstep run assignments/90_fake/ladder.cu\n"),
        (["run", "assignments/90_fake/ladder.cu", "--device", "gpu"], "There is no device gpu.\n"),
    ],
)  # fmt: skip
def test_a_mistyped_word_is_answered_with_what_to_type(
    folder: Path, words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(words) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(says)
    assert max(map(len, said.err.splitlines())) <= _COLUMNS


def test_in_a_folder_a_word_may_be_a_rung(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    (folder / "ladder.cu").write_text("// todo beta_two\n// TODO(beta)\n")
    assert command.main(["test", "alpha"]) == 0
    assert "2 of 2 tests passed.\nNext: lockstep test\n" in capsys.readouterr().out
    assert command.main(["test", "beta"]) == 1
    assert "beta_two  not begun: TODO(beta) in ladder.cu:2" in capsys.readouterr().out
    assert command.main(["test", "gamm"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("90_fake has no rung gamm.")
    assert said.endswith("Type:  lockstep test gamma_bonus\n")
    # A test of another assignment.
    assert command.main(["test", "../91_other", "--test", "SumsNone"]) == 1
    assert "  again   lockstep test 91_other --test SumsNone/alpha_one --seed 5" in capsys.readouterr().out


@pytest.mark.parametrize("word", ["90_fake", "fake", "90", "assignments/90_fake/", "assignments/90_fake/ladder.cu"])
def test_an_assignment_has_several_names(
    folder: Path, in_checkout: Layout, word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "ladder.cu").write_text("")
    assert command.main(["test", word]) == 0
    assert "hand in ladder.cu" in capsys.readouterr().out
    built = (in_checkout.build / "built.txt").read_text()
    assert built == f"--build {in_checkout.build} cudart lockstep_worker vgpu-run 90_fake_suite\n"


def test_a_build_that_fails_is_not_the_students_fault(folder: Path, in_checkout: Layout) -> None:
    (in_checkout.harness / "build.sh").write_text("#!/bin/sh\nexit 1\n")
    assert command.main(["test", "fake"]) == 3


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Next: make test", "Next: L test"),
        ("Next: \033[1mmake profile RUNG=3\033[0m  Title", "Next: \033[1mL profile 3\033[0m  Title"),
        ("make test RUNG=3 VERBOSE=1", "L test 3 --verbose"),
        ("make test TEST=SumsOne/reduce1 SEED=7.", "L test --test SumsOne/reduce1 --seed 7."),
        ("Type:  make test DEVICE=cuda      for", "Type:  L test --device cuda      for"),
        ("cd assignments/04_reduction && make test RUNG=1", "L test 04_reduction 1"),
        ("make run FILE=a.cu CHECK=1 ARGS='1 2'", "L run a.cu --check -- 1 2"),
        ("remake testing; make tests", "remake testing; make tests"),
    ],
)
def test_what_to_type_is_in_the_words_that_were_typed(text: str, says: str) -> None:
    assert Typed("L")(text) == says
    assert Typed()(text) == text
    assert Typed("L", "05_scan")("make hint RUNG=2, make run FILE=x.cu") == "L hint 05_scan 2, L run x.cu"


def _lockstep(*words: str, cwd: Path, path: str = "") -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "PATH": path or os.environ["PATH"]}
    return subprocess.run(words, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def test_the_script_says_its_version_and_its_name(tmp_path: Path) -> None:
    script = ROOT / "lockstep"
    assert _lockstep(str(script), "--version", cwd=tmp_path).stdout == f"lockstep, version {__version__}\n"
    link = tmp_path / "lockstep"
    link.symlink_to(script)
    assert _lockstep("./lockstep", "--version", cwd=tmp_path).stdout == f"lockstep, version {__version__}\n"
    folder = ROOT / "assignments" / "04_reduction"
    assert "Type:  ../../lockstep test\n" in _lockstep("../../lockstep", "tset", cwd=folder).stderr
    on_path = f"{ROOT}:{os.environ['PATH']}"
    assert "Type:  lockstep test\n" in _lockstep("lockstep", "tset", cwd=folder, path=on_path).stderr


@needs_build
def test_make_adds_a_line_to_a_failure_and_lockstep_does_not(tmp_path: Path) -> None:
    build = find_layout(BUILD, ROOT).build
    folder = ROOT / "assignments" / "02_handson_launch"
    by_make = _lockstep("make", "test", "RUNG=1", f"BUILD={build}", cwd=folder)
    direct = _lockstep("../../lockstep", "test", "1", "--build", str(build), cwd=folder)
    assert (by_make.returncode, direct.returncode) == (2, 1)
    assert "Error 1" in by_make.stderr
    assert direct.stderr == ""
    assert "not begun: TODO(" in direct.stdout
    # A program's own status, and its arguments one by one.
    program = tmp_path / "count.cu"
    program.write_text("#include <cstring>\nint main(int n, char** words) { return 10 * n + std::strlen(words[1]); }\n")
    words = ("run", str(program), "--build", str(build), "--", "two words", "x")
    assert _lockstep(str(ROOT / "lockstep"), *words, cwd=tmp_path).returncode == 39
