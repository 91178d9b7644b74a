"""course.toml and adjustments.csv: valid contents, and the messages for mistakes."""

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from conftest import ROOT
from grader.base.csv_files import decoded, parse_csv
from grader.base.errors import GraderError
from grader.course.adjustments import adjustments_from
from grader.course.amounts import Span, after, late_text, read_span
from grader.model.roster import Student
from made_class import ADA, ALAN, GRACE, course, graded, handed_in, one_class

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("time_zome = 'UTC'", 'time_zome: unknown key; did you mean "time_zone"?'),
        ("time_zone = 'Berlin'", 'did you mean "Europe/Berlin"?'),
        ("time_zone = 'Europe/Berlim'", 'did you mean "Europe/Berlin"?'),
        ("time_zone = '../etc/passwd'", "expected a name of the time zone database"),
        ("[assignment.04_reductoin]", 'there is no assignment "04_reductoin"; did you mean "04_reduction"?'),
        ("[assignment.04_reduction]\ndeadlne = '2026-11-02 23:59Z'", 'did you mean "deadline"?'),
        ("[assignment.04_reduction]\ndeadline = '2026-11-02 23:59'", "in which time zone?"),
        ("[assignment.04_reduction]\ndeadline = 2026-11-02", "expected a date and a time"),
        ("[assignment.04_reduction]\ndeadline = '2026-11-02'", "expected a date and a time"),
        ("[assignment.04_reduction]\ndeadline = '2 Nov 2026'", "expected a date and a time"),
        ("[assignment.04_reduction]\ndeadline = 2026-11-02 23:59", "a date without seconds"),
        ("[late]\npenalty = '10%'", 'expected "10 % per day"'),
        ("[late]\npenalty = 'ten % per day'", 'expected something like "10 %"'),
        ("[late]\npenalty = '10 % per week'", 'expected "10 % per day"'),
        ("[late]\npenalty = '-10 % per day'", 'expected something like "10 %"'),
        ("[late]\ngrace = '15'", 'expected something like "2 days"'),
        ("[late]\nof = 'all'", "expected one of possible, earned"),
        ("[late]\nmost = '50 %'", 'unknown key; did you mean "at_most"?'),
        ("counts = 'first'", 'expected one of best, last, got "first"'),
        ("cap = 100", 'expected text, got the number 100'),
        ("[late_days]\nbank = 3", "late days save a penalty, and there is none"),
        ("[[group]]\nname = 'x'\nassignments = ['5_scan']", 'did you mean "05_scan"?'),
        ("[[group]]\nname = 'x'", "the group has none"),
        (
            "[[group]]\nname='a'\nassignments=['05_scan']\n[[group]]\nname='b'\nassignments=['05_scan']",
            "in several groups",
        ),
        (
            "[assignment.05_scan]\nweight = 3\n[[group]]\nname='a'\nassignments=['05_scan']\nweight = 4",
            '"a" has a weight and so has its 05_scan',
        ),
        ("[excused]\n'1815' = ['05_scam']", 'did you mean "05_scan"?'),
        ("[excused]\n'1815' = 'every'", "expected a list"),
        ("[total]\nout_off = 10", 'did you mean "out_of"?'),
        ("drop_lowest = -1", "expected at least 0"),
        ("x = [", "course.toml: "),
    ],
)  # fmt: skip
def test_mistakes_in_course_toml(toml: str, said: str) -> None:
    with pytest.raises(GraderError) as caught:
        course(toml)
    assert said in str(caught.value)
    assert "course.toml" in str(caught.value)


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("[extensions]\n'1816' = '2 days'", "1815"),
        ("[extensions]\n'Ada Lovelase' = '2 days'", "nearest: Ada Lovelace (1815)"),
        ("[extensions]\n'1815' = '2 dogs'", 'expected something like "2 days"'),
        ("[extensions]\n'1815' = '04_reductoin: 2 days'", 'did you mean "04_reduction"?'),
        ("[extensions]\n'1815' = '2 days; 3 days'", "is there twice"),
        ("[excused]\n'nobody' = 'all'", 'no student is "nobody"'),
        ("[assignment.05_scan]\nweight = 10", "none to 04_reduction"),
    ],
)
def test_mistakes_that_show_with_the_class(toml: str, said: str) -> None:
    with pytest.raises(GraderError, match=r"course\.toml") as caught:
        graded(one_class(handed_in(ADA, 50)), toml)
    assert said in str(caught.value)


@pytest.mark.parametrize("named", ["1815", "ADA@class.example", "alovelace", "Lovelace, Ada", "ada lovelace", "11"])
def test_a_student_is_named_in_any_way(named: str) -> None:
    classes = one_class(handed_in(ADA, 50), handed_in(ALAN, 60))
    found = graded(classes, adjustments=f'"{named}",04_reduction,5,why,me\n')
    assert found["Ada Lovelace"].total == 55
    assert found["Turing, Alan"].total == 60


def test_one_name_of_two_students_is_refused() -> None:
    other = type(ADA)("Ada Lovelace", "1816")
    with pytest.raises(GraderError, match=r"line 2: .* fits 2 students: .*1815.*1816"):
        graded(one_class(handed_in(ADA, 50), handed_in(other, 5, folder="x")), adjustments="ada lovelace,,5,why,me\n")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("Adda Lovelace,04_reduction,5,why,me", 'line 2: no student is "Adda Lovelace"; nearest: Ada Lovelace (1815)'),
        ("1815,04_reductoin,5,why,me", 'did you mean "04_reduction"?'),
        ("1815,04_reduction,many,why,me", 'expected points such as 5 or -2.5 (0 for a comment), got "many"'),
        ("1815,04_reduction,nan,why,me", "expected points"),
        ("1815,04_reduction,1_0,why,me", "expected points"),
        ("1815,04_reduction,1e300,why,me", "expected points"),
        ("1815,04_reduction,5,,me", "the reason is missing"),
        (",04_reduction,5,why,me", "which student?"),
        ("1815,04_reduction,5,a, b, me", "has 6 cells"),
        ('1815,04_reduction,5,"open', "line 2: "),
    ],
)
def test_mistakes_in_adjustments(line: str, said: str) -> None:
    with pytest.raises(GraderError, match=r"adjustments\.csv: line 2") as caught:
        graded(one_class(handed_in(ADA, 50), handed_in(GRACE, 50)), adjustments=line + "\n")
    assert said in str(caught.value)


def test_adjustments_from_a_german_spreadsheet() -> None:
    text = "Student;Assignment;Points;Reason;Staff\r\n1815;04_reduction;−2,5;Zu spät; Zuse\r\n"
    for data in (text.encode("utf-8-sig"), text.encode("utf-16"), text.replace("−", "-").encode("cp1252")):
        (found,) = adjustments_from(parse_csv(decoded(data), "a.csv"), ["04_reduction"])
        assert (found.points, found.reason, found.staff) == (-2.5, "Zu spät", "Zuse")


def test_spans() -> None:
    assert read_span("2 days 12 hours", "x") == Span(2, 12 * 3600)
    assert read_span("1 week and 90 minutes", "x") == Span(7, 5400)
    assert read_span("36h", "x") == Span(0, 36 * 3600)
    assert Span(1, 5400).text() == "1 day 1 hour 30 minutes"
    assert [late_text(s) for s in (5, 60, 3599, 3600, 97200, 86400)] == [
        "less than a minute", "1 minute", "59 minutes", "1 hour", "1 day 3 hours", "1 day",
    ]  # fmt: skip


def test_days_keep_their_time_of_day_where_clocks_change() -> None:
    start = datetime(2026, 10, 24, 23, 59, tzinfo=BERLIN).astimezone(UTC)
    two_days = after(start, Span(2), BERLIN)
    assert two_days.astimezone(BERLIN).strftime("%d %H:%M") == "26 23:59"
    assert two_days - start == timedelta(hours=49)
    # An ambiguous hour means its second occurrence; a skipped one, the hour after.
    policy = course("time_zone = 'Europe/Berlin'\n[assignment.05_scan]\ndeadline = '2026-10-25 02:30'\n").policy
    assert policy.of("05_scan").deadline == datetime(2026, 10, 25, 1, 30, tzinfo=UTC)
    policy = course("time_zone = 'Europe/Berlin'\n[assignment.05_scan]\ndeadline = 2026-03-29T02:30:00\n").policy
    assert policy.of("05_scan").deadline == datetime(2026, 3, 29, 1, 30, tzinfo=UTC)


def test_an_offset_stands_against_the_zone() -> None:
    policy = course(
        "time_zone = 'America/New_York'\n[assignment.05_scan]\ndeadline = 2026-11-02T23:59:00+01:00\n"
    ).policy
    assert policy.of("05_scan").deadline == datetime(2026, 11, 2, 22, 59, tzinfo=UTC)


def blocks(language: str) -> list[str]:
    page = (ROOT / "docs/reference/course-toml.md").read_text(encoding="utf-8")
    every = re.findall(r"^```(\w*)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    return [text for kind, text in every if kind == language]


def test_the_example_of_the_page() -> None:
    ada = Student("Ada Lovelace", "1815", "lovelace_ada@class.example")
    records = [
        handed_in(student, 100, "04T13:00", name=name)
        for student in (ada, ALAN, GRACE)
        for name in ("04_reduction", "05_scan", "06_transpose")
    ]
    (toml,), (_, lines) = blocks("toml"), blocks("csv")
    found = graded(one_class(*records), toml, lines.partition("\n")[2])
    points = {name: [grade.points for grade in one.assignments.values()] for name, one in found.items()}
    assert points == {
        "Ada Lovelace": [105, 100, 100],  # within her extension
        "Turing, Alan": [100, 90, 100],
        "Grace Hopper": [100, None, 100],  # two late days spent; excused from one
    }
    assert {name: one.total for name, one in found.items()} == {
        "Ada Lovelace": 100, "Turing, Alan": 99, "Grace Hopper": 100,
    }  # fmt: skip
    assert found["Grace Hopper"].late_days_left == 2


def test_the_steps_of_the_page() -> None:
    (steps,) = [block for block in blocks("") if block.startswith("Attempt")]
    attempts = [handed_in(ADA, 95, "03T15:00"), handed_in(ADA, 90, "05T11:00", number=2)]
    toml = "counts = 'best'\n[late]\npenalty='10 % per day'\n[assignment.04_reduction]\ndeadline='2026-11-02 12:00Z'\n"
    line = "1815,04_reduction,5,explained the race in office hours,Hopper\n"
    grade = graded(one_class(*attempts), toml, line)["Ada Lovelace"].assignments["04_reduction"]
    assert list(grade.steps) == steps.splitlines()


def test_every_key_is_on_the_page() -> None:
    page = (ROOT / "docs/reference/course-toml.md").read_text(encoding="utf-8")
    source = (ROOT / "grader/src/grader/course/policy.py").read_text(encoding="utf-8")
    readers = "text|number|whole|flag|choice|texts|table|tables|named_tables|words|names|moment|has"
    keys = set(re.findall(rf'(?:{readers})\("(\w+)"', source))
    keys |= set(re.findall(r'_(?:amount|moment|span_or_moment)\(\w+, "(\w+)"', source))
    assert {"deadline", "at_most", "accept_until", "cap", "excused", "bank"} <= keys
    assert [key for key in sorted(keys) if f"`{key}`" not in page and f"[{key}" not in page] == []
