"""assignment.toml and result files: valid input, and the messages for mistakes."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from conftest import FAKE, ROOT
from grader.base.errors import GraderError
from grader.base.schema import SchemaError
from grader.model.assignment import load_assignment
from grader.model.result import FORMAT, listed_tests, parse_result
from grader.model.visibility import AFTER_DEADLINE, HIDDEN, VISIBLE, is_open
from grader.student.mistyped import no_rung


def loaded(tmp_path: Path, old: str, new: str) -> None:
    folder = tmp_path / "90_fake"
    folder.mkdir()
    text = (FAKE / "assignment.toml").read_text()
    assert old in text
    (folder / "assignment.toml").write_text(text.replace(old, new, 1))
    load_assignment(folder)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("points = 20", 'points = "20"', 'points: expected a number, got "20"'),
        ("points = 20", "points = inf", "expected a number of at least 0"),
        ("bonus = true", "bonsu = true", 'bonsu: unknown key; did you mean "bonus"?'),
        ('title = "First"', "", r"rung\[0\]: title: missing"),
        ('rung = "alpha_one"', 'rung = "alpha"', '"alpha" is none of the rungs'),
        ('id = "beta_two"', 'id = "alpha_one"', "is there twice|none of the rungs"),
        ("none = 6", "none = 2", "must differ from full"),
        ('timing = "reference"', 'timing = "reference"\nneeds = "beta.slow"', 'beta.time needs "beta.slow"'),
        ('timing = "reference"', 'timing = "reference"\nneeds = "beta.time"', 'beta.time needs "beta.time"'),
        ('metric = "branches / blocks"', "metric = 2", "metric: expected text"),
        ("full = 2", "full = 2\nonly_where = 2", "only_where: expected text"),
        ('tests = ["*LadderTest.*/beta_two"]', "", "tests, a metric or a timing"),
        ('submission = "ladder.cu"', 'submission = "../x.cu"', "a plain file name"),
        ('id = "90_fake"', 'id = "91_fake"', "the folder's name"),
        ("[limits]", "[limits", "assignment.toml"),
        (
            "bonus = true",
            'bonus = true\nvisibility = "secret"',
            "visibility: expected one of visible, after the deadline",
        ),
        ("[limits]", '[[visibility]]\ntests = ["A*"]\nshown = "never"\n[limits]', "shown: expected one of visible"),
        ("[limits]", '[[visibility]]\nshown = "hidden"\n[limits]', r"visibility\[0\]: tests: missing; it takes globs"),
        ("[limits]", '[[visibility]]\ntests = ["A"]\nshown = "hidden"\nhnit = ""\n[limits]', 'did you mean "hint"'),
    ],
)
def test_mistakes_are_named(tmp_path: Path, old: str, new: str, says: str) -> None:
    with pytest.raises(GraderError, match=says) as error:
        loaded(tmp_path, old, new)
    assert "assignment.toml" in str(error.value)


def test_what_students_may_see(tmp_path: Path) -> None:
    text = (FAKE / "assignment.toml").read_text().replace('id = "beta.fast"', 'id = "beta.fast"\nvisibility = "hidden"')
    text += """
[[visibility]]
tests = ["HiddenTest.Late*/*"]
shown = "after the deadline"
title = "Another way to call it"
hint = "Call it twice."

[[visibility]]
tests = ["LadderTest.SumsNone/*", "HiddenTest.*"]
shown = "visible"
"""
    (tmp_path / "90_fake").mkdir()
    (tmp_path / "90_fake/assignment.toml").write_text(text)
    assignment = load_assignment(tmp_path / "90_fake")
    seen = {
        "LadderTest.SumsAll/alpha_one": VISIBLE,
        "LadderTest.SumsNone/alpha_one": VISIBLE,
        "HiddenTest.LateOnes/beta_two": AFTER_DEADLINE,  # the first entry that fits
        "HiddenTest.Others/beta_two": VISIBLE,
        "HiddenLadderTest.SumsAll/beta_two": HIDDEN,
        "All/HiddenLadderTest.SumsAll/0": HIDDEN,
        "Evidence.Fast/beta_two": VISIBLE,
    }
    assert {name: assignment.visibility_of(name) for name in seen} == seen
    assert assignment.visibility_of_criterion("beta.fast") == HIDDEN
    assert assignment.visibility_of_criterion("beta.sum") == VISIBLE
    with pytest.raises(KeyError):
        assignment.visibility_of_criterion("gone")


def test_what_opens_after_the_deadline_stays_closed_without_one() -> None:
    deadline = datetime(2026, 3, 1, 12, tzinfo=UTC)
    before, after = deadline - timedelta(seconds=1), deadline + timedelta(seconds=1)
    for visibility, when, due, seen in (
        (VISIBLE, before, deadline, True),
        (AFTER_DEADLINE, before, deadline, False),
        (AFTER_DEADLINE, deadline, deadline, False),
        (AFTER_DEADLINE, after, deadline, True),
        (AFTER_DEADLINE, after, None, False),
        (HIDDEN, after, deadline, False),
    ):
        assert is_open(visibility, deadline=due, now=when) is seen


@pytest.mark.parametrize("path", sorted((ROOT / "assignments").glob("*/assignment.toml")), ids=lambda p: p.parent.name)
def test_the_real_ones_are_right(path: Path) -> None:
    assignment = load_assignment(path.parent)
    assert sum(c.points for c in assignment.criteria if not c.bonus) == assignment.points


def result(**changes: object) -> bytes:
    test = {"name": "T.x/a", "rung": "a", "verdict": "PASS"}
    return json.dumps(
        {"format": FORMAT, "assignment": "x", "seed": 1, "finished": True, "tests": [test]} | changes
    ).encode()


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b'{"format": NaN}', "NaN is no JSON number"),
        (b"\xff", "no JSON"),
        (b"[]", "expected a table"),
        (result(format=1), "reads format 2, not 1"),
        (result(finished=1), "expected true or false"),
        (result(seed=-1), "at least 0"),
        (result(seed="-1"), "expected a whole number, got text"),
        (result(seed="٣"), "expected a whole number, got text"),
        (result(seed="9" * 101), "longer than 100"),
        (result(seed=1.5), "expected a whole number, got"),
        (result(tests=[{"name": "x", "verdict": "GREAT"}]), "expected one of PASS"),
        (result(tests=[{"name": "x", "verdict": "PASS", "seconds": 1e999}]), "Infinity|finite|at least"),
        (result(tests={}), "expected a list"),
        (result(profiles=[{"rung": "a", "source": "me"}]), "expected one of submission"),
        (result(profiles=[{"rung": "a", "source": "reference", "counters": {"x": "1"}}]), "expected a number"),
    ],
)
def test_results_are_read_strictly(data: bytes, says: str) -> None:
    with pytest.raises(SchemaError, match=says):
        parse_result(data)


def test_lone_surrogates_become_harmless() -> None:
    test = {"name": "x", "verdict": "PASS", "output": "\ud800"}
    parse_result(result(tests=[test])).tests[0].output.encode("utf-8")


def test_listed_tests() -> None:
    text = "Running main()\nA/LadderTest.\n  SumsAll/x  # GetParam() = x\n  SumsAll/y\nEvidence.\n  Fast/x\n"
    assert listed_tests(text) == ["A/LadderTest.SumsAll/x", "A/LadderTest.SumsAll/y", "Evidence.Fast/x"]


def test_rungs_that_share_a_number_have_letters() -> None:
    assignment = load_assignment(ROOT / "assignments/04_reduction")
    assert [rung.label for rung in assignment.rungs][-4:] == ["7", "8a", "8b", "8c"]

    def named(word: str) -> list[str]:
        return [rung.id for rung in assignment.rungs_named(word)]

    assert named("8b") == named("8B") == named("reduce8b") == named("reduce8_max") == ["reduce8_max"]
    assert named("8") == named("reduce8") == ["reduce8_shuffle", "reduce8_max", "reduce8_min"]
    assert named("3") == named("reduce3") == ["reduce3_sequential"]
    assert named("8d") == named("3a") == []
    assert "reduce8_max (8b)" in no_rung(assignment, "8d")
