"""assignment.toml and result files: what is taken, and what a mistake is answered with."""

import json
from pathlib import Path

import pytest

from conftest import FAKE, ROOT
from grader.base.errors import GraderError
from grader.base.schema import SchemaError
from grader.model.assignment import load_assignment
from grader.model.metric import Condition, counter_of, evaluate, parse_condition, parse_metric
from grader.model.result import Launch, Profile, parse_result
from grader.running.run import listed_tests


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
        ('metric = "branches / blocks"', 'metric = "branches // 2"', "is no metric"),
        ('metric = "branches / blocks"', 'metric = "other.branches"', '"other" is no rung'),
        ("full = 2", 'full = 2\nonly_where = "branches"', "is no condition"),
        ("full = 2", 'full = 2\nonly_where = "other.branches <= 2"', '"other" is no rung'),
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


def test_metrics() -> None:
    counters = {"branches": 8.0, "shared_wavefronts": 5.0, "shared_wavefronts_ideal": 2.0}
    launches = (Launch("k", (4, 2, 1), (32, 1, 1), 1.0, ""), Launch("k", (1, 1, 1), (32, 1, 1), 1.0, ""))
    own = {"a": Profile("a", "submission", 100, 3.0, counters, launches, ())}
    reference = {"a": Profile("a", "reference", 100, 1.5, counters, launches, ())}

    def value(text: str) -> float | None:
        return evaluate(parse_metric(text), "a", own, reference)

    assert value("branches") == 8
    assert value("branches / blocks") == pytest.approx(8 / 9)
    assert value("max_blocks") == 8
    assert value("threads / launches") == 144
    assert value("branches / blocks of 100 elements") == 8
    assert value("branches / blocks of 40 elements") == pytest.approx(8 / 3)
    assert value("branches / blocks of 1 elements") == pytest.approx(8 / 9)
    assert value("shared_conflicts") == 3
    assert value("microseconds / reference.microseconds") == 2
    assert value("elements / missing") is None
    assert value("b.branches") is None
    assert value("sectors / sectors_ideal") == 0
    assert value("branches / sectors") is None


def test_conditions() -> None:
    condition = parse_condition("branches / blocks of 4 elements <= 0.5")
    assert (condition.metric.text, condition.at_most, condition.bound) == ("branches / blocks of 4 elements", True, 0.5)
    assert parse_condition("b.branches>=2e3") == Condition(parse_metric("b.branches"), False, 2000)
    for text in ("", "branches", "branches < 2", "branches <=", "branches <= e", "branches <= 2 elements", "<= 2"):
        with pytest.raises(ValueError, match="is no"):
            parse_condition(text)


def test_atomics_are_traffic() -> None:
    counters = {
        "global_load_requests": 1.0,
        "global_store_requests": 2.0,
        "global_load_sectors": 8.0,
        "global_load_sectors_ideal": 4.0,
        "global_store_sectors": 16.0,
        "global_store_sectors_ideal": 16.0,
        "atomics": 4.0,
        "atomic_sectors": 32.0,
        "shared_wavefronts": 10.0,
        "shared_wavefronts_ideal": 7.0,
        "float32_instructions": 100.0,
        "float64_instructions": 200.0,
        "shared_atomics": 400.0,
    }
    profile = Profile("a", "submission", 1, 1.0, counters, (), ())
    figures = {
        "requests": 7,
        "load_requests": 5,
        "store_requests": 6,
        "sectors": 56,
        "store_sectors": 48,
        "sectors_ideal": 20,
        "wasted_passes": 35,
        "float_operations": 704,
    }
    assert {name: counter_of(profile, name) for name in figures} == figures


def result(**changes: object) -> bytes:
    test = {"name": "T.x/a", "rung": "a", "verdict": "PASS"}
    return json.dumps({"format": 1, "assignment": "x", "seed": 1, "finished": True, "tests": [test]} | changes).encode()


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b'{"format": NaN}', "NaN is no JSON number"),
        (b"\xff", "no JSON"),
        (b"[]", "expected a table"),
        (result(format=2), "reads format 1, not 2"),
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
