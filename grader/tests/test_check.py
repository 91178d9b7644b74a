"""`grader check`: what passes, and every kind of refusal."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from grader.authoring import check_files
from grader.authoring.check_run import known_tests, rung_of
from grader.authoring.check_run import tests_above as above
from grader.authoring.declared import Collected
from grader.base.layout import Layout
from grader.commands.cli import cli
from grader.model.assignment import load_assignment
from grader.model.discovery import Submission
from grader.model.roster import Student

pytestmark = pytest.mark.in_turn

ROOT = Path(__file__).resolve().parents[2]

_WRONG = {
    "race.cu": "// verdict: RACE beta_two\n// fail beta_two RACE\n",
    "syntax.cu": "// verdict: COMPILE\n#error\n",
    "slow.cu": "// verdict: SLOW beta_two\n// value beta.fast 9\n// todo gamma_bonus\n",
    "bonus.cu": "// verdict: WRONG gamma_bonus\n// fail gamma_bonus WRONG\n",
}

_RECORDED: list[bytes] = []  # the same for every test: made by the first


def check(*words: str) -> Result:
    return CliRunner().invoke(cli, ["check", "--no-sandbox", *words])


def said(result: Result) -> str:
    return " ".join(result.output.split())


@pytest.fixture
def good(in_checkout: Layout, monkeypatch: pytest.MonkeyPatch) -> Layout:
    """A checkout that passes every check, with recordings that the first test to use it makes."""
    monkeypatch.setattr(check_files, "FEWEST_WRONG", len(_WRONG))
    monkeypatch.setattr(check_files, "FEWEST_RIGHT", 1)
    for name, text in _WRONG.items():
        (in_checkout.reference("90_fake") / "wrong" / name).write_text(text)
    right = in_checkout.reference("90_fake") / "right" / "other.cu"
    right.parent.mkdir()
    right.write_text("// points: 20 + 3\n// value beta.fast 1.5\n")
    paths = (in_checkout.assignment("90_fake") / "figures.json", in_checkout.reference("90_fake") / "wrong.toml")
    if not _RECORDED:
        made = check("--record", "--update-messages")
        assert made.exit_code == 0, made.output
        _RECORDED.extend(path.read_bytes() for path in paths)
    for path, recorded in zip(paths, _RECORDED, strict=True):
        path.write_bytes(recorded)
    return in_checkout


def test_what_is_right_holds_and_is_counted(good: Layout) -> None:
    result = check()
    assert result.exit_code == 0, result.output
    assert "FAIL" not in result.output
    assert (
        "1 stubs and 1 references of 3 rungs, 5 criteria, 1 right solutions of other designs, 4 wrong ones (1 "
        in said(result)
    )
    messages = (good.reference("90_fake") / "wrong.toml").read_text()
    assert "[race]\nmessage = '''RACE  LadderTest.SumsAll/beta_two\n  <img src=x>\n" in messages
    assert '[syntax]\nmessage = "ladder.cu(1): error"\n' in messages
    assert "[slow]\nmessage = '''SLOW  Evidence.Fast/beta_two" in messages


def test_another_seed_is_compared_with_nothing_on_record(good: Layout) -> None:
    (good.reference("90_fake") / "wrong.toml").unlink()
    assert check().exit_code != 0
    assert check("--seed", "2").exit_code == 0
    assert "grader check --record" in str(check("--seed", "2", "--record").exception)


def _replace(path: str, old: str, new: str) -> Callable[[Layout], None]:
    def change(layout: Layout) -> None:
        text = (layout.root / path).read_text()
        assert old in text
        (layout.root / path).write_text(text.replace(old, new))

    return change


def _write(path: str, text: str) -> Callable[[Layout], None]:
    return lambda layout: (layout.root / path).parent.mkdir(exist_ok=True) or _written(layout.root / path, text)


def _written(path: Path, text: str) -> None:
    path.write_text(text)


def _remove(path: str) -> Callable[[Layout], None]:
    return lambda layout: (layout.root / path).unlink()


_OWN, _HIDDEN, _SUITES = "assignments/90_fake", "reference/90_fake", "harness/suites"


# Changes that are tested together in one run, each with its message.
_REFUSALS = {
    "stub": [
        (_write(f"{_OWN}/ladder.cu", "// TODO(alpha)\n// fail beta_two WRONG\n"), "earns full marks for alpha.sum"),
        (lambda _: None, "no TODO names beta_two, gamma_bonus"),
        (_write(f"{_HIDDEN}/ladder.cu", "// value beta.fast 4\n// fail gamma_bonus WRONG\n"), "marks: beta.fast (SLOW"),
        (lambda _: None, "gamma.sum (WRONG: 0 of 2 tests passed)"),
    ],
    "nothing_to_run": [
        (_write(f"{_OWN}/ladder.cu", "#error\n"), "stub: COMPILE"),
        (_remove(f"{_HIDDEN}/hidden_test.cc"), "reference/90_fake/hidden_test.cc is missing"),
        (_remove(f"{_SUITES}/90_fake_test.cc"), "harness/suites/90_fake_test.cc is missing"),
        (_remove(f"{_OWN}/figures.json"), "figures.json: it is missing"),
        (_remove(f"{_HIDDEN}/wrong.toml"), "wrong.toml: it is missing"),
    ],
    "wrong_solutions": [
        (
            _write(f"{_HIDDEN}/wrong/race.cu", "// verdict: RACE alpha_one\n// fail beta_two RACE\n"),
            "declares RACE alpha_one and gets PASS alpha_one",
        ),
        (_write(f"{_HIDDEN}/wrong/slow.cu", "// nothing declared\n"), "wrong/slow.cu: its first line must be"),
        (_write(f"{_HIDDEN}/wrong/bonus.cu", "// verdict: RACE delta\n"), "declares the rung delta"),
        (_write(f"{_HIDDEN}/wrong/syntax.cu", "// verdict: RACE\n"), "declares RACE without a rung"),
        (lambda _: None, "has 1 wrong solutions; at least 4"),
        (_remove(f"{_HIDDEN}/right/other.cu"), "90_fake has 0 right solutions; at least 1"),
    ],
    "right_solutions": [
        (_write(f"{_HIDDEN}/right/other.cu", "// points: 20\n"), "declares 20 points and gets 20 + 3 points"),
        (_write(f"{_HIDDEN}/right/slow.cu", "// points: 20 + 3\n// value beta.fast 4\n"), "marks: beta.fast (SLOW"),
        (_write(f"{_HIDDEN}/right/none.cu", "// fine\n"), "right/none.cu: its first line must be // points: POINTS"),
        (_write(f"{_HIDDEN}/right/bad.cu", "// points: 20\n#error\n"), "right/bad.cu: declares 20 points and gets 0"),
    ],
    "points_and_tests": [
        (_replace(f"{_OWN}/assignment.toml", "points = 4", "points = 5"), "points says 20"),
        (_replace(f"{_OWN}/assignment.toml", "*LadderTest.*/beta_two", "*Gone*"), "in the suite: beta.sum (*Gone*)"),
        (
            _replace(
                f"{_OWN}/assignment.toml",
                "[leaderboard]",
                '[[visibility]]\ntests = ["Open*"]\nshown = "visible"\n\n[leaderboard]',
            ),
            "visibility (Open*)",
        ),
        (
            _write(f"{_HIDDEN}/hidden_test.cc", "TEST_P(HiddenTest, A) {}\nTEST_P(OpenTest, B) {}\nTEST(Late, C) {}\n"),
            "students' cards would show Late.C; begin",
        ),
    ],
    "hints": [
        (
            _write(f"{_OWN}/hints.toml", '[alpha_one]\nsteps = ["Look.", "x = 3;"]\n[delta]\nsteps = ["a", "b"]\n'),
            "beta_two has 0; at least 2",
        ),
        (lambda _: None, "there is no rung delta"),
        (lambda _: None, "a hint for alpha_one is code: x = 3;"),
    ],
    "hints_of_another_form": [(_write(f"{_OWN}/hints.toml", 'alpha_one = "Look."\n'), "[alpha_one] has to have steps")],
    "places": [
        (_write(f"{_OWN}/notes.txt", "x"), "assignments/90_fake/notes.txt is out of place: there belong README.md,"),
        (_write(f"{_OWN}/old/ladder.cu", "x"), "assignments/90_fake/old/ladder.cu is out of place"),
        (_write(f"{_HIDDEN}/ladder.cu.orig", "x"), "reference/90_fake/ladder.cu.orig is out of place"),
        (_write(f"{_HIDDEN}/wrong/notes.md", "x"), "reference/90_fake/wrong/notes.md is out of place"),
        (_remove(f"{_OWN}/Makefile"), "assignments/90_fake/Makefile is missing"),
        (_remove(f"{_OWN}/ladder.h"), "no header with the launchers' signatures"),
        (
            _write(f"{_OWN}/README.md", "![steps](steps.svg)\nalpha_one, beta_two, gamma_bonus\n"),
            "steps.svg is linked to by README.md",
        ),
        (_write(f"{_SUITES}/91_gone_test.cc", "x"), "these belong to no assignment: 91_gone_test.cc"),
        (_write("reference/91_gone/ladder.cu", "x"), "reference/91_gone"),
    ],
    "from_handout": [
        (_write("harness/judge/easy.h", "#pragma once\n// who easy\n"), ""),
        (_write("harness/judge/harder.h", '#include "judge/easy.h"\n#include "easy.h"\n// fail beta_two WRONG\n'), ""),
        (
            _write(f"{_HIDDEN}/from_handout/solves.cu", '// at most: 3 points\n#include "judge/easy.h"\n'),
            "from_handout/solves.cu: what the handout offers earns 23 of at most 3 points",
        ),
        (
            _write(f"{_HIDDEN}/from_handout/part.cu", '// at most: 11 points\n#include "judge/harder.h"  // twice\n'),
            "ok from_handout/part.cu earns 11 of at most 11 points",
        ),
        (_write(f"{_HIDDEN}/from_handout/none.cu", "// 3 points\n"), "none.cu: its first line must be // at most: P"),
        (_write(f"{_HIDDEN}/from_handout/bad.cu", "// at most: 0 points\n#error\n"), "does not compile, and so proves"),
        (
            _write(f"{_HIDDEN}/from_handout/gone.cu", '// at most: 0 points\n#include "judge/gone.h"\n'),
            "ok from_handout/gone.cu wants judge/gone.h, which the handout does not have",
        ),
        (
            _write(f"{_HIDDEN}/from_handout/tests.cu", '// at most: 0 points\n#include "tests/inner_test.cc"\n'),
            "wants tests/inner_test.cc, which the handout does not have",
        ),
    ],
    "on_record": [
        (_write(f"{_HIDDEN}/ladder.cu", "// time beta_two 11\n"), "the reference's counters (beta_two); type: grader"),
        (_replace(f"{_HIDDEN}/wrong.toml", "hint    think", "hint    guess"), "race was RACE"),
        (_replace(f"{_HIDDEN}/wrong.toml", "[slow]", "[other]"), "has other, which does not exist"),
        (lambda _: None, "slow has no message in it"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", _REFUSALS)
def test_what_is_wrong_is_refused(good: Layout, name: str) -> None:
    for change, _ in _REFUSALS[name]:
        change(good)
    result = check()
    assert result.exit_code == 1
    for _, says in _REFUSALS[name]:
        assert says in said(result)


def test_a_handout_that_gives_something_away_is_refused(good: Layout) -> None:
    hidden = "int the_answer_that_nobody_may_read_before_the_deadline_is_over = 42;\n"
    (good.reference("90_fake") / "ladder.cu").write_text(hidden)
    (good.root / "harness" / "worker" / "example.cc").write_text(hidden)
    assert "harness/worker/example.cc has a line of reference/90_fake/ladder.cu" in said(check())


def test_figures_of_another_compiler_are_not_compared(good: Layout) -> None:
    path = good.assignment("90_fake") / "figures.json"
    assert '"nvcc":"13.0.88"' in path.read_text()
    path.write_text(path.read_text().replace("13.0.88", "12.4.1").replace("10.0", "11.0"))
    result = check()
    assert result.exit_code == 0
    assert "recorded with nvcc 12.4.1, and not compared" in said(result)


def test_nothing_is_compiled_twice(good: Layout) -> None:
    script = good.build_script
    log = good.root / "compiled.log"
    script.write_text(script.read_text().replace("set -eu\n", f"set -eu\necho x >> {log}\n"))
    check()
    first = len(log.read_text().splitlines())
    assert first == 4  # the stub, the reference, what does not compile, and a batch of all others
    check()
    assert len(log.read_text().splitlines()) == first


def test_a_wrong_solution_runs_the_test_that_is_known_to_catch_it(good: Layout) -> None:
    path = good.reference("90_fake") / "wrong" / "race.cu"
    path.write_text(f"{path.read_text()}// who race\n")
    log = good.build / "bin" / "runs.log"
    log.write_text("")
    result = check()
    assert result.exit_code == 0
    assert "4 of them were compiled in batches" in said(result)
    assert _tests_run(good, "race") == ["SumsAll/beta_two"]
    check("--whole")
    assert "SumsAll/alpha_one" in _tests_run(good, "race")
    # If that test has another message, the whole solution is run.
    path.write_text(path.read_text().replace("fail beta_two RACE", "fail alpha_one RACE"))
    result = check()
    assert "declares RACE beta_two and gets RACE alpha_one" in said(result)


def test_rungs_above_the_one_that_fails_need_not_run() -> None:
    assignment = load_assignment(ROOT / "assignments" / "04_reduction")
    names = [f"ReductionTest.SumsOneBlock/{rung.id}" for rung in assignment.rungs]
    spared = above(assignment, names, "reduce6_unrolled")
    assert [test.rung for test in spared] == ["reduce7_many", "reduce8_shuffle", "reduce8_max", "reduce8_min"]
    # On a bonus rung: the others have to pass, and later bonus rungs don't matter.
    assert [test.rung for test in above(assignment, names, "reduce8_shuffle")] == ["reduce8_max", "reduce8_min"]
    assert above(assignment, names, "reduce8_min") == []
    assert above(assignment, names, "") == []


def _tests_run(layout: Layout, who: str) -> list[str]:
    log = (layout.build / "bin" / "runs.log").read_text().splitlines()
    return [line.removeprefix(f"test {who} LadderTest.") for line in log if line.startswith(f"test {who} ")]


def _write_wrong(layout: Layout, name: str, rung: str, alpha: str) -> None:
    text = f"// verdict: RACE {rung}\n// fail {rung} RACE\n// who {name}\nvoid alpha_one() {{ {alpha} }}\n"
    (layout.reference("90_fake") / "wrong" / f"{name}.cu").write_text(text)


def test_a_wrong_solution_runs_until_it_fails(good: Layout) -> None:
    _write_wrong(good, "first", "alpha_one", "")
    check("--only", "wrong/first.cu", "--update-messages")
    assert _tests_run(good, "first") == ["SumsAll/alpha_one"]
    assert check("--only", "wrong/first.cu").exit_code == 0


def test_what_runs_on_the_same_code_runs_once(good: Layout) -> None:
    _write_wrong(good, "same1", "beta_two", "good();")
    _write_wrong(good, "same2", "beta_two", "good(); /* again */")
    _write_wrong(good, "same3_other", "beta_two", "better();")
    _write_wrong(good, "same4_wrong", "alpha_one", "good();")
    result = check("--only", "wrong/same*", "--update-messages")
    assert result.exit_code == 0, result.output
    assert _tests_run(good, "same1") == ["SumsAll/alpha_one", "SumsNone/alpha_one", "SumsAll/beta_two"]
    assert _tests_run(good, "same2") == ["SumsAll/beta_two"]
    assert _tests_run(good, "same3_other") == _tests_run(good, "same1")
    assert _tests_run(good, "same4_wrong") == ["SumsAll/alpha_one"]  # the rung that it declares


def test_only_what_has_to_pass_stands_for_others() -> None:
    assignment = load_assignment(ROOT / "assignments" / "04_reduction")
    tests = [f"A.Sums{size}/{rung.id}" for rung in assignment.rungs for size in ("Few", "Large")]
    source = "".join(f"void {rung.id}() {{ good(); }}\n" for rung in assignment.rungs).encode()
    collected = Collected()
    collected.wrong = {
        "wrong/compile": ("COMPILE", ""),
        "wrong/first": ("RACE", "reduce2_strided"),
        "wrong/second": ("RACE", "reduce3_sequential"),
        "wrong/bonus": ("WRONG", "reduce8_max"),
    }
    folders = ["stub", "right/one", *collected.wrong]
    known = known_tests(assignment, tests, [Submission(name, Student(name), source) for name in folders], collected)
    names = {folder: [test.name for test in left_out] for folder, left_out in known.items()}
    two = ("reduce1_interleaved", "reduce2_strided")
    assert names == {
        "wrong/second": ["A.SumsFew/reduce1_interleaved", "A.SumsLarge/reduce1_interleaved"],
        "wrong/bonus": [f"A.Sums{size}/{rung}" for rung in two for size in ("Few", "Large")],
    }


def test_evidence_runs_once_where_all_compared_rungs_are_the_same_code() -> None:
    assignment = load_assignment(ROOT / "assignments" / "06_transpose")
    first, second, third, *_ = ids = [rung.id for rung in assignment.rungs]
    criterion = next(criterion for criterion in assignment.criteria if criterion.rung == third and criterion.metric)
    metric = f"sectors / {second}.sectors"
    assignment = replace(assignment, criteria=(*assignment.criteria, replace(criterion, metric=metric)))
    tests = [f"Evidence.Shown/{rung}" for rung in ids]

    def source(changed: str) -> bytes:
        return "".join(f"void {id}() {{ {'other' if id == changed else 'good'}(); }}\n" for id in ids).encode()

    collected = Collected()
    collected.wrong = dict.fromkeys(["wrong/one", "wrong/same", "wrong/other"], ("WRONG", ""))
    sources = {"wrong/one": source(""), "wrong/same": source(""), "wrong/other": source(second)}
    known = known_tests(
        assignment, tests, [Submission(name, Student(name), text) for name, text in sources.items()], collected
    )
    left_out = {name: {rung_of(test.name) for test in results} for name, results in known.items()}
    assert set(left_out) == {"wrong/same", "wrong/other"}
    assert {first, second, third} <= left_out["wrong/same"]
    assert left_out["wrong/same"] - left_out["wrong/other"] == {second, third}


def test_right_solutions_run_every_test(good: Layout) -> None:
    for name in ("one", "two"):
        text = f"// points: 20 + 3\n// who {name}\nvoid alpha_one() {{}}\n"
        (good.reference("90_fake") / "right" / f"{name}.cu").write_text(text)
    check("--only", "right/*", "--jobs", "1")
    assert len(_tests_run(good, "one")) == len(_tests_run(good, "two")) == 6


def test_shares_grade_each_solution_once(good: Layout) -> None:
    shown = [check("--shard", f"{index}/3") for index in (1, 2, 3)]
    assert [result.exit_code for result in shown] == [0, 0, 0]
    solutions = {
        f"{kind}/{path.name}" for kind in ("wrong", "right") for path in (good.reference("90_fake") / kind).iterdir()
    }
    for name in solutions:
        assert sum(name in said(result) for result in shown) == 1, name
    assert all("full marks" in said(result) for result in shown)


def test_some_solutions_alone_leave_the_record_of_the_others(good: Layout) -> None:
    messages = good.reference("90_fake") / "wrong.toml"
    recorded = messages.read_text()
    messages.write_text(recorded.replace("hint    think", "hint    guess").replace("ladder.cu(1)", "ladder.cu(9)"))
    result = check("--only", "wrong/race.cu", "--only", "right/*")
    assert result.exit_code == 1
    assert "race was RACE" in said(result)
    assert "syntax was" not in said(result)
    assert "1 right solutions of other designs, 1 wrong ones (1 RACE)" in said(result)
    assert check("--only", "wrong/race.cu", "--update-messages").exit_code == 0
    text = messages.read_text()
    assert "ladder.cu(9)" in text
    assert "[race]\nmessage = '''RACE  LadderTest.SumsAll/beta_two\n  <img src=x>\n  hint    think" in text
