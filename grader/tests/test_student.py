"""A student's terminal output as golden texts; and what is built and run for it."""

import ast
import re
import shutil
import sys
from pathlib import Path

import pytest

from conftest import make_executable
from golden import check_golden
from grader.authoring.imports import closure
from grader.base.layout import Layout
from grader.base.worker_key import worker_key
from grader.model.assignment import load_assignment
from grader.model.result import FORMAT, Line, Profile, result_from
from grader.student import command, make
from grader.student.mistyped import no_rung, no_test
from grader.student.text import Choice, Terminal, profile_text, report

_TODOS = "// TODO(alpha): this\n\n// TODO(beta_two): that\n// TODO(gamma): more\n"
_STUB = _TODOS + "// todo alpha_one\n// todo beta_two\n// todo gamma_bonus\n"
_SOURCES = {
    "stub": _STUB,
    "first_rung": _TODOS + "// todo beta_two\n// todo gamma_bonus\n",
    "wrong": _TODOS + "// fail alpha_one RACE\n// print one line\n// todo beta_two\n// todo gamma_bonus\n",
    "over_budget": "// value beta.fast 4\n// todo gamma_bonus\n",
    "all_right": "// nothing to fix\n",
}


@pytest.fixture
def folder(in_checkout: Layout, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TERM", "dumb")
    script = in_checkout.harness / "build.sh"
    script.write_text("#!/bin/sh\n")
    make_executable(script)
    return in_checkout.assignment("90_fake")


def main(words: list[str]) -> int:
    """A command as the Makefiles call it."""
    return command.main([*words, "--by-make"])


def run(folder: Path, source: str, *words: str) -> int:
    (folder / "ladder.cu").write_text(source)
    return main([*words[:1], "90_fake", *words[1:]])


@pytest.mark.parametrize("name", _SOURCES)
def test_one_screen_says_what_to_do_next(folder: Path, name: str, capfd: pytest.CaptureFixture[str]) -> None:
    status = run(folder, _SOURCES[name], "test")
    text = capfd.readouterr().out
    assert status == (0 if name == "all_right" else 1)
    assert len(text.splitlines()) <= 24
    check_golden(f"student_{name}.txt", text)


def test_one_rung_and_one_test(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(folder, _SOURCES["wrong"], "test", "--rung", "beta") == 1
    text = capfd.readouterr().out
    assert "beta_two  not begun: TODO(beta) in ladder.cu:3" in text
    assert "alpha_one" not in text
    assert run(folder, "// print hello\n", "test", "--test", "SumsNone", "--rung", "alpha") == 0
    text = capfd.readouterr().out
    assert "    hello" in text
    assert "1 of 1 test passed" in text
    assert run(folder, "", "test", "--test", "Nowhere", "--rung", "alpha") == 2
    said = capfd.readouterr().err
    assert said.startswith("90_fake has no test with Nowhere in its name. Its tests are:\n  SumsAll  SumsNone")
    assert said.endswith("Type:  make test TEST=SumsAll\n")


def test_without_its_todo_a_rung_says_what_is_missing(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run(folder, "// todo alpha_one\n", "test")
    assert "alpha_one    not begun: <img src=x>\n" in capfd.readouterr().out
    run(folder, "", "test", "--flags=--gtest_filter=Nothing")
    assert "No test ran" in capfd.readouterr().out


def test_faults_are_listed_once(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(folder, "// fail alpha_one RACE\n", "check") == 1
    text = capfd.readouterr().out
    assert "and in  1 other test" in text
    assert "1 fault in 6 tests." in text
    assert run(folder, "", "check") == 0
    assert "no fault in 6 tests" in capfd.readouterr().out
    run(folder, _STUB, "check")
    assert "You have not written a kernel yet" in capfd.readouterr().out


def test_profile_sets_costs_beside_lines(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(folder, "__global__ void k() { first(); }\n", "profile", "--rung", "alpha") == 0
    check_golden("student_profile.txt", capfd.readouterr().out)
    assert run(folder, _STUB, "profile") == 1
    assert "Nothing to profile yet" in capfd.readouterr().out


def test_a_compilers_message_is_the_whole_answer(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(folder, "#error\n", "test") == 1
    text = capfd.readouterr().out
    assert text.startswith("ladder.cu(1): error: #error says so\n")
    assert "fix the first error above" in text


def test_a_worker_is_built_again_only_after_a_change(
    folder: Path, in_checkout: Layout, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    there = []
    for source in ("// one\n", "// one\n", "// two\n"):
        run(folder, source, "test")
        workers = (in_checkout.build / "workers").glob("90_fake.*")
        there.append({one.stat().st_ino for one in workers if one.suffix != ".said"})
    assert len(there[0]) == 1
    assert there[0] == there[1] < there[2]
    # A worker contains the path of its libraries: a copy of the build tree elsewhere needs other workers.
    moved = Layout(in_checkout.root, shutil.copytree(in_checkout.build, tmp_path / "moved"))
    assert worker_key(moved, "90_fake", b"", "") != worker_key(in_checkout, "90_fake", b"", "")
    capfd.readouterr()


@pytest.mark.parametrize(("fault", "says"), [("garbage", "no JSON"), ("unfinished", "before its tests did")])
def test_a_failing_harness_is_not_the_students_fault(
    folder: Path, fault: str, says: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(folder, f"// {fault}\n", "test") == 3
    seen = capfd.readouterr()
    assert "hand in" not in seen.out
    assert says in seen.err or "left no result" in seen.err


def test_overview_has_a_line_each(folder: Path, in_checkout: Layout, capfd: pytest.CaptureFixture[str]) -> None:
    suite = in_checkout.public_suite("90_fake")
    for number, (name, source) in enumerate([*_SOURCES.items(), ("broken", "#error\n")], 91):
        other = in_checkout.assignment(f"{number}_{name}")
        shutil.copytree(folder, other)
        toml = other / "assignment.toml"
        toml.write_text(toml.read_text().replace("90_fake", other.name))
        (other / "ladder.cu").write_text(source)
        in_checkout.glue(other.name).write_text("// glue\n")
        shutil.copy(suite, in_checkout.public_suite(other.name))
    shutil.rmtree(folder)
    assert main(["test"]) == 1
    text = capfd.readouterr().out
    check_golden("student_overview.txt", text)
    for name in in_checkout.assignments():
        (in_checkout.assignment(name) / "ladder.cu").write_text(_SOURCES["all_right"])
    assert main(["test"]) == 0
    text = capfd.readouterr().out
    assert "All done" in text
    assert "Next:" not in text


def test_colour_is_only_for_terminals(in_checkout: Layout) -> None:
    assignment = load_assignment(in_checkout.assignment("90_fake"))
    test = {"name": "LadderTest.A/alpha_one", "rung": "alpha_one", "verdict": "RACE", "message": "RACE  A"}
    test["lines"] = [{"label": "at", "text": "x.cu:3", "file": "x.cu", "line": 3}]
    document = {"format": FORMAT, "assignment": "90_fake", "seed": 1, "finished": True, "device": {}, "tests": [test]}
    result = result_from(document)
    plain = report(assignment, result, "", Choice(), "", Terminal())
    coloured = report(assignment, result, "", Choice(), "", Terminal(colour=True))
    assert "\033" not in plain
    assert "\033[1mx.cu:3" in coloured
    assert re.sub(r"\033\[[\d;]*m", "", coloured) == plain


def test_students_need_no_python_packages() -> None:
    modules = closure("grader.student.__main__")
    assert {f"{path.parent.name}/{path.name}" for path in modules} >= {"student/text.py", "base/files.py"}
    for path in modules:
        for node in ast.walk(ast.parse(path.read_text())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                assert name.partition(".")[0] in sys.stdlib_module_names | {"grader"}, (path, name)


def test_a_gpu_that_is_not_there(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(make, "GPU_NODES", (tmp_path / "nvidiactl",))
    assert run(folder, "", "test", "--device", "cuda") == 3
    said = capfd.readouterr()
    assert said.out == ""
    assert said.err == "This machine has no NVIDIA GPU.\nType:  make test      for the virtual GPU, which needs none\n"
    # The checkers and counters are the virtual GPU's.
    assert run(folder, "", "check", "--device", "cuda") == 0
    assert capfd.readouterr().out.startswith("make check uses the virtual GPU: only it has what that takes.\n")


def test_what_there_is_not_is_answered_by_what_there_is(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(folder, "", "test", "--device", "gpu") == 2
    assert "There is no device gpu.\nType:  make test   " in capfd.readouterr().err
    (folder / "ladder.cu").rename(folder / "my_ladder.cu")
    assert main(["test", "90_fake"]) == 3
    said = capfd.readouterr().err
    assert said == "ladder.cu is missing, but my_ladder.cu is there. Rename it.\nType:  mv my_ladder.cu ladder.cu\n"
    (folder / "other.cu").write_text("")
    assert main(["test", "90_fake"]) == 3
    assert "ladder.cu is missing; its folder has my_ladder.cu, other.cu.\n" in capfd.readouterr().err
    fake = load_assignment(folder)
    assert no_rung(fake, "99").startswith(
        "90_fake has no rung 99. Its rungs are:\n  alpha_one  beta_two  gamma_bonus\n"
    )
    many = [f"LadderTest.SumsArraysOfLength{number}/alpha_one" for number in range(40)]
    assert max(map(len, no_test(fake, "x", many).splitlines())) < 80


def test_a_hint_more_each_time(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "hints.toml").write_text('[beta_two]\nsteps = ["Look there.", "Think of that.", "Do this."]\n')
    (folder / "ladder.cu").write_text("// TODO(beta)\n")
    seen = []
    for _ in range(4):
        assert main(["hint", "90_fake"]) == 0
        seen.append(capfd.readouterr().out)
    assert seen[0].startswith(
        "Second, hint 1 of 3\n\n  1  Look there.\n\nNext: make hint RUNG=beta_two for one more, or"
    )
    assert ["Do this." in text for text in seen] == [False, False, True, True]
    assert "for one more" not in seen[3]
    assert main(["hint", "90_fake", "--rung", "alpha"]) == 0
    assert "There is no hint for alpha_one" in capfd.readouterr().out
    assert main(["hint", "90_fake", "--rung", "7"]) == 2
    assert "90_fake has no rung 7" in capfd.readouterr().err
    assert main(["hint", "90_fake", "90_fake"]) == 2


def test_a_test_that_takes_long_is_not_waited_for_in_silence(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(make, "_PATIENCE_SECONDS", 0.1)
    run(folder, "// slow 0.5\n", "test")
    assert "waiting 0 s for SumsAll: an endless loop?" in capfd.readouterr().out


def test_a_profile_is_of_the_file_that_was_given() -> None:
    lines = (Line("ladder.cu", 1, {"warp_instructions": 9.0}), Line("mine.cu", 2, {"warp_instructions": 3.0}))
    run = Profile("alpha_one", "submission", 64, 1.0, {"warp_instructions": 12.0}, (), lines)
    text = profile_text("mine.cu", [run], "first();\nsecond();\n", Terminal())
    assert "25.0 %" in text
    assert "│ second();" in text
    assert "first();" not in text
