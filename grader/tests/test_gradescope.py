"""Gradescope's results.json: it is checked by a reader of the documented format that shares no code with the writer."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from grader.base.layout import Layout
from grader.commands.cli import cli
from grader.commands.export_gradescope import gradescope_export
from grader.course.grades import compute_grades
from grader.exports.gradescope import RESULTS, results, results_text
from grader.exports.gradescope_class import write_gradescope
from grader.model.assignment import Assignment, load_assignment
from grader.model.record import NOT_GRADED, Record
from grader.model.visibility import AFTER_DEADLINE, HIDDEN, TestVisibility
from grader.running.store import Journal

FORMATS = {"text", "html", "simple_format", "md", "ansi"}
VISIBILITIES = {"visible", "hidden", "after_due_date", "after_published"}
# Gradescope cuts an output that is longer.
MOST_CHARACTERS = 100_000


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


# The documented format: key → what it has to be. docs/how-to/use-gradescope.md says where it is documented.
TOP: dict[str, Callable[[Any], bool]] = {
    "score": is_number,
    "execution_time": lambda value: is_number(value) and value >= 0,
    "output": lambda value: isinstance(value, str),
    "output_format": lambda value: value in FORMATS,
    "test_output_format": lambda value: value in FORMATS,
    "test_name_format": lambda value: value in FORMATS,
    "visibility": lambda value: value in VISIBILITIES,
    "stdout_visibility": lambda value: value in VISIBILITIES,
    "extra_data": lambda value: isinstance(value, dict),
    "tests": lambda value: isinstance(value, list),
    "leaderboard": lambda value: isinstance(value, list),
}
TEST: dict[str, Callable[[Any], bool]] = {
    "score": is_number,
    "max_score": lambda value: is_number(value) and value >= 0,
    "status": lambda value: value in {"passed", "failed"},
    "name": lambda value: isinstance(value, str),
    "name_format": lambda value: value in FORMATS,
    "number": lambda value: isinstance(value, str),
    "output": lambda value: isinstance(value, str),
    "output_format": lambda value: value in FORMATS,
    "tags": lambda value: isinstance(value, list) and all(isinstance(tag, str) for tag in value),
    "visibility": lambda value: value in VISIBILITIES,
    "extra_data": lambda value: isinstance(value, dict),
}
BOARD: dict[str, Callable[[Any], bool]] = {
    "name": lambda value: isinstance(value, str),
    "value": lambda value: is_number(value) or isinstance(value, str),
    "order": lambda value: value in {"asc", "desc"},
}


def refuse(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def read_results(text: str) -> dict[str, Any]:
    """The document, if it is one that Gradescope documents; ValueError names what is wrong."""
    document = json.loads(text, parse_constant=refuse)
    check(document, TOP, "the document")
    for number, entry in enumerate(document.get("tests", [])):
        check(entry, TEST, f"tests[{number}]")
        if "score" in entry and "score" not in document and "max_score" not in entry:
            raise ValueError(f"tests[{number}] has a score of nothing")
    for number, entry in enumerate(document.get("leaderboard", [])):
        check(entry, BOARD, f"leaderboard[{number}]")
        if not {"name", "value"} <= set(entry):
            raise ValueError(f"leaderboard[{number}] lacks name or value")
    if "score" not in document and not any("score" in entry for entry in document.get("tests", [])):
        raise ValueError("no score, neither of the document nor of a test")
    if sum(len(text) for text in texts(document)) > MOST_CHARACTERS:
        raise ValueError("too long")
    return document


def check(entry: object, keys: dict[str, Callable[[Any], bool]], where: str) -> None:
    if not isinstance(entry, dict):
        raise ValueError(f"{where} is no object")  # noqa: TRY004 - the documents are what is wrong
    for key, value in entry.items():
        if key not in keys:
            raise ValueError(f"{where} has {key}, which is not documented")
        if not keys[key](value):
            raise ValueError(f"{where}: {key} is {value!r}")


def texts(document: dict[str, Any]) -> list[str]:
    """All that a student may read."""
    found = [document.get("output", "")]
    for entry in document.get("tests", []):
        found += [entry.get("name", ""), entry.get("output", "")]
    return found


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"tests": []}', "no score"),
        ('{"score": NaN}', "NaN is no JSON"),
        ('{"score": "3"}', "score is '3'"),
        ('{"score": true}', "score is True"),
        ('{"score": 1, "colour": 1}', "colour, which is not documented"),
        ('{"score": 1, "output_format": "rst"}', "output_format is 'rst'"),
        ('{"score": 1, "tests": [{"visibility": "never"}]}', "visibility is 'never'"),
        ('{"score": 1, "leaderboard": [{"name": "x"}]}', "lacks name or value"),
        ('{"score": 1, "output": "%s"}' % ("x" * 100_001), "too long"),
    ],
)
def test_the_reader_of_the_format_is_strict(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=re.escape(problem)):
        read_results(text)


Graded = Callable[..., dict[str, Record]]


@pytest.fixture
def graded(in_checkout: Layout, submissions: Callable[..., Path]) -> Graded:
    """Grades sources; records by folder."""

    def grade(**sources: str) -> dict[str, Record]:
        CliRunner().invoke(cli, ["grade", str(submissions(**sources)), "--no-sandbox"])
        journal = Journal(in_checkout.root / "out/journal.sqlite")
        try:
            return {
                one.folder: journal.whole("90_fake", one.folder, one.handed.number)
                for one in journal.current("90_fake")
            }
        finally:
            journal.close()

    return grade


@pytest.fixture
def assignment(checkout: Layout) -> Assignment:
    return load_assignment(checkout.assignment("90_fake"))


def test_points_there_and_back(graded: Graded, assignment: Assignment) -> None:
    records = graded(
        perfect="", racy="// fail beta_two RACE\n// fail gamma_bonus WRONG", slow="// value beta.fast 4",
        broken="#error no",
    )  # fmt: skip
    assert len(records) == 4
    for folder, record in records.items():
        document = results(assignment, record)
        assert document is not None
        read = read_results(results_text(document))
        assert record.score is not None
        assert read["score"] == record.score.total
        criteria = {entry["extra_data"]["criterion"]: entry for entry in read["tests"]}
        assert {name: (entry["score"], entry["max_score"]) for name, entry in criteria.items()} == {
            one.id: (one.points, one.possible) for one in record.score.criteria
        }
        assert [entry["status"] for entry in read["tests"]] == [
            "passed" if one.is_full else "failed" for one in record.score.criteria
        ]
        assert read["extra_data"]["verdict"] == record.verdict
        assert ("leaderboard" in read) == (folder in ("perfect",))
    perfect = read_results(results_text(results(assignment, records["perfect"]) or {}))
    assert perfect["leaderboard"] == [{"name": "microseconds of beta_two", "value": 10.0, "order": "asc"}]
    assert perfect["output"] == "20 + 3 bonus of 20 points\nEverything is right"
    racy = results(assignment, records["racy"]) or {}
    assert racy["output"].endswith("First to fix: RACE at rung beta_two: Second")
    broken = results(assignment, records["broken"]) or {}
    assert "First to fix: COMPILE" in broken["output"]
    assert "#error" in broken["output"] or "error" in broken["output"]


def test_another_number_of_points(graded: Graded, assignment: Assignment) -> None:
    record = graded(one="// fail beta_two WRONG")["one"]
    document = read_results(results_text(results(assignment, record, points=5) or {}))
    assert record.score is not None
    assert document["score"] == round(record.score.total / 4, 2)
    assert [entry["max_score"] for entry in document["tests"]] == [2, 2, 1, 0.75]
    assert document["extra_data"]["scale"] == 0.25
    assert document["output"].startswith("2 + 0.75 bonus of 5 points")


def test_hostile_text_is_text_and_short(graded: Graded, assignment: Assignment) -> None:
    record = graded(mallory="// fail alpha_one WRONG\n// print <script>alert(1)</script>")["mallory"]
    assert record.result is not None
    evil = "<script>alert(1)</script> **bold** \x1b[31mred\u202e " + "x" * 300_000
    tests = tuple(replace(test, message=evil, output=evil, hint=evil) for test in record.result.tests)
    record = replace(record, result=record.result.with_tests(tests), message=evil)
    text = results_text(results(assignment, record) or {})
    document = read_results(text)  # its limit of size among others
    assert {document["output_format"], document["test_output_format"], document["test_name_format"]} == {"text"}
    assert {entry[key] for entry in document["tests"] for key in ("output_format", "name_format")} == {"text"}
    assert "\x1b" not in "".join(texts(document))
    assert "\u202e" not in "".join(texts(document))
    assert "<script>" in document["tests"][0]["output"]


def test_no_seed_goes_out(graded: Graded, assignment: Assignment) -> None:
    record = graded(one="// fail alpha_one WRONG")["one"]
    assert record.provenance.seed is not None
    assert str(record.provenance.seed) not in results_text(results(assignment, record) or {})
    assert (
        "repeat  make test TEST=LadderTest.SumsAll/alpha_one"
        in (results(assignment, record) or {})["tests"][0]["output"]
    )


def test_visibilities(graded: Graded, assignment: Assignment) -> None:
    record = graded(one="// fail alpha_one WRONG\n// fail beta_two RACE\n// fail gamma_bonus CRASH")["one"]
    entries = (
        TestVisibility(("*SumsAll/alpha_one",), HIDDEN, "Few after many", "What is left behind?"),
        TestVisibility(("*/beta_two",), AFTER_DEADLINE),
        TestVisibility(("*/gamma_bonus",), HIDDEN),
    )
    levels = {"beta.sum": AFTER_DEADLINE, "gamma.sum": HIDDEN}
    criteria = tuple(replace(one, visibility=levels.get(one.id, one.visibility)) for one in assignment.criteria)
    assignment = replace(assignment, criteria=criteria, visibility=entries)
    document = read_results(results_text(results(assignment, record) or {}))
    first, after, measured, hidden = document["tests"]
    assert [entry["visibility"] for entry in document["tests"]] == ["visible", "after_due_date", "visible", "hidden"]
    # A hidden test of a visible criterion: title, verdict, hint.
    assert "WRONG  Few after many\n  hint    What is left behind?" in first["output"]
    assert "SumsAll" not in first["output"]
    assert "SumsNone/alpha_one" in first["output"]
    # A test as hidden as its criterion is shown in full.
    assert "SumsAll/beta_two" in after["output"]
    assert "SumsAll/gamma_bonus" in hidden["output"]
    assert measured["score"] == 0
    # Gradescope doesn't show a total of which something is hidden; nor does the text.
    assert "points" not in document["output"]
    assert "First to fix: WRONG" in document["output"]


def test_a_failed_harness_has_no_results(graded: Graded, assignment: Assignment) -> None:
    records = graded(lost="// harness 9", perfect="")
    assert records["lost"].status == NOT_GRADED
    assert results(assignment, records["lost"]) is None


def _same(record: Record) -> Record:
    return record


def test_a_class(graded: Graded, assignment: Assignment, tmp_path: Path) -> None:
    records = graded(ada="", bob="// fail alpha_one WRONG", lost="// harness 9")
    grades = compute_grades({"90_fake": (assignment, list(records.values()))})
    written = write_gradescope(assignment, grades, tmp_path / "exported", _same)
    assert [one.folder for one in written.left_out] == ["lost"]
    scores = {path.parent.name[:3]: read_results(path.read_text())["score"] for path in written.files}
    assert {path.name for path in written.files} == {RESULTS}
    assert scores == {"ada": 23, "bob": 15}
    # The score is what counts under the course's policy, and the output says why.
    late = [
        replace(
            one,
            assignments={
                name: replace(grade, points=10.0, steps=("1 day late: −13",)) for name, grade in one.assignments.items()
            },
        )
        for one in grades
        if one.student.name == "ada"
    ]
    document = read_results(write_gradescope(assignment, late, tmp_path / "late", _same).files[0].read_text())
    assert document["score"] == 10
    assert "1 day late: −13" in document["output"]


def test_the_command(graded: Graded, in_checkout: Layout) -> None:
    graded(ada="", lost="// harness 9")
    result = CliRunner().invoke(gradescope_export, ["--points", "10"])
    assert result.exit_code == 0, result.output
    assert "1 submission with a results.json in out/exports/gradescope/90_fake" in result.output
    assert "1 without one, not graded: lost" in result.output
    (path,) = (in_checkout.root / "out/exports/gradescope/90_fake").glob("*/results.json")
    assert read_results(path.read_text())["score"] == 11.5
    wrong = CliRunner().invoke(gradescope_export, ["--assignment", "91_other"])
    assert "was not graded in out" in str(wrong.exception)
