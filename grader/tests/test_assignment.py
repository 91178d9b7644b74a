"""assignment.toml and result files: what is taken, and what a mistake is answered with."""

import json
from pathlib import Path

import pytest

from conftest import FAKE, ROOT
from grader.base.errors import GraderError
from grader.base.schema import SchemaError
from grader.model.assignment import load_assignment
from grader.model.result import FORMAT, listed_tests, parse_result


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
        ('metric = "branches / blocks"', "metric = 2", "metric: expected text"),
        ("full = 2", "full = 2\nonly_where = 2", "only_where: expected text"),
        ('tests = ["*LadderTest.*/beta_two"]', "", "tests, a metric or a timing"),
        ('submission = "ladder.cu"', 'submission = "../x.cu"', "a plain file name"),
        ('id = "90_fake"', 'id = "91_fake"', "the folder's name"),
        ("[limits]", "[limits", "assignment.toml"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, old: str, new: str, says: str) -> None:
    with pytest.raises(GraderError, match=says) as error:
        loaded(tmp_path, old, new)
    assert "assignment.toml" in str(error.value)


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
