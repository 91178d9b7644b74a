"""From attempts and the policy to grades."""

import random
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from grader.base.errors import GraderError
from grader.course.grades import ABSENT, COUNTS, EXCUSED, NOT_DUE, OPEN, compute_grades
from grader.exports.gradebook import status_text
from grader.model.record import Record
from grader.model.roster import Student
from made_class import ADA, ALAN, GRACE, KNOWN, absent, course, graded, handed_in, one_class, only_grade

DEADLINE = "[assignment.04_reduction]\ndeadline = '2026-11-02 12:00Z'\n"
LATE = "[late]\npenalty = '10 % per day'\n"


def test_without_a_policy_the_last_attempt_counts_as_it_is() -> None:
    grade = only_grade(handed_in(ADA, 90, "01T10:00"), handed_in(ADA, 80, "02T10:00", number=2))
    assert (grade.points, grade.earned, grade.status, len(grade.attempts)) == (80, 80, COUNTS, 2)
    assert grade.steps == ("Attempt 2 of 2 counts, the last",)
    grade = only_grade(handed_in(ADA, 110, bonus=10))
    assert (grade.points, grade.steps, grade.flags) == (110, (), ())


def test_the_example_of_the_page() -> None:
    grade = only_grade(handed_in(ADA, 95, "03T15:00"), toml=LATE + DEADLINE)
    assert grade.steps == ("Late by 1 day 3 hours, 2 days begun: 2 × 10 % of 100 = −20",)
    assert (grade.earned, grade.penalty, grade.points, grade.late_seconds) == (95, 20, 75, 27 * 3600)


@pytest.mark.parametrize(
    ("late", "at", "points", "step"),
    [
        ("penalty = '10 % per day'", "02T12:00", 95, ""),
        ("penalty = '10 % per day'", "02T12:01", 85, "Late by 1 minute, 1 day begun: 1 × 10 % of 100 = −10"),
        ("penalty = '10 % per day'", "03T12:00", 85, "Late by 1 day, 1 day begun: 1 × 10 % of 100 = −10"),
        ("penalty = '10 % per day'\nof = 'earned'", "02T13:00", 85.5,
         "Late by 1 hour, 1 day begun: 1 × 10 % of 95 = −9.5"),
        ("penalty = '2 points per hour'", "02T14:30", 89,
         "Late by 2 hours 30 minutes, 3 hours begun: 3 × 2 points = −6"),
        ("penalty = '20 % once'", "09T12:00", 75, "Late by 7 days: 20 % of 100 = −20"),
        ("penalty = '10 % per day'\ngrace = '15 minutes'", "02T12:15", 95,
         "Late by 15 minutes, within the grace period of 15 minutes: no penalty"),
        ("penalty = '10 % per day'\ngrace = '15 minutes'", "02T12:16", 85,
         "Late by 16 minutes, 1 day begun: 1 × 10 % of 100 = −10"),
        ("penalty = '10 % per day'\nat_most = '50 %'", "12T12:00", 45,
         "Late by 10 days, 10 days begun: 10 × 10 % of 100, at most 50 % of 100 = −50"),
        ("penalty = '40 points per day'", "05T11:00", 0,
         "Late by 2 days 23 hours, 3 days begun: 3 × 40 points = −120, but no further than 0: −95"),
        ("penalty = '10 % per day'\naccept_until = '3 days'", "05T12:00", 65,
         "Late by 3 days, 3 days begun: 3 × 10 % of 100 = −30"),
        ("penalty = '10 % per day'\naccept_until = '3 days'", "05T12:01", 0,
         "Handed in 3 days late, when nothing was accepted any more: 0 points"),
        ("accept_until = '2026-11-04 12:00Z'", "04T12:00", 95, "Late by 2 days: no penalty"),
        ("accept_until = '2026-11-04 12:00Z'", "04T12:01", 0,
         "Handed in 2 days late, when nothing was accepted any more: 0 points"),
    ],
)  # fmt: skip
def test_lateness(late: str, at: str, points: float, step: str) -> None:
    grade = only_grade(handed_in(ADA, 95, at), toml=f"[late]\n{late}\n{DEADLINE}")
    assert grade.points == points
    assert grade.steps == ((step,) if step else ())


def test_an_assignment_has_its_own_late_rules_on_top_of_the_courses() -> None:
    toml = "[late]\npenalty = '10 % per day'\ngrace = '1 hour'\n" + DEADLINE + "late = {penalty = '50 % per day'}\n"
    assert only_grade(handed_in(ADA, 100, "02T13:00"), toml=toml).points == 100
    assert only_grade(handed_in(ADA, 100, "02T13:01"), toml=toml).points == 50


@pytest.mark.parametrize(
    ("extension", "due", "points"),
    [
        ("'2 days'", "2026-11-04T12:00:00+00:00", 100),
        ("'04_reduction: 1 day 1 hour; 05_scan: 9 days'", "2026-11-03T13:00:00+00:00", 90),
        ("'05_scan: 9 days'", "2026-11-02T12:00:00+00:00", 80),
        ("'2026-11-03 15:00Z'", "2026-11-03T15:00:00+00:00", 100),
        ("'04_reduction: 2026-11-03T15:00Z'", "2026-11-03T15:00:00+00:00", 100),
    ],
)
def test_extensions(extension: str, due: str, points: float) -> None:
    record = handed_in(ADA, 100, "03T15:00")
    toml = f"[extensions]\n'alovelace' = {extension}\n{LATE}{DEADLINE}"
    grade = only_grade(record, toml=toml)
    assert (grade.due, grade.points) == (due, points)
    # The roster may have the extension instead; if it is in both places, the longer one counts.
    own = replace(record, student=replace(ADA, extension=extension.strip("'")))
    assert only_grade(own, toml=LATE + DEADLINE).points == points
    assert only_grade(own, toml=f"[extensions]\n'1815' = '9 days'\n{LATE}{DEADLINE}").points == 100


def test_a_mistake_in_the_rosters_extension_is_told() -> None:
    record = handed_in(replace(ADA, extension="two days"), 100)
    with pytest.raises(GraderError, match=r"roster's extension of Ada Lovelace: expected .*2 days"):
        only_grade(record)


def test_only_a_late_marker_costs_nothing_and_is_to_be_looked_at() -> None:
    marked = handed_in(ADA, 95, late=True)
    grade = only_grade(marked, toml=LATE + DEADLINE)
    assert grade.points == 95
    assert "marks it late and gives no time" in grade.flags[0]
    assert "no deadline" in only_grade(marked).flags[0]


def test_the_bank_of_late_days_is_spent_on_what_was_due_first() -> None:
    classes = one_class(
        handed_in(ADA, 100, "03T11:00"),
        handed_in(ADA, 100, "12T11:00", name="05_scan"),
        handed_in(ADA, 100, "22T11:00", name="06_transpose"),
    )
    toml = (
        "[late_days]\nbank = 4\nper_assignment = 2\n" + LATE + DEADLINE
        + "[assignment.05_scan]\ndeadline = '2026-11-09 12:00Z'\n"
        + "[assignment.06_transpose]\ndeadline = '2026-11-20 12:00Z'\n"
    )  # fmt: skip
    found = graded(classes, toml)["Ada Lovelace"]
    assert [found.assignments[name].late_days for name in KNOWN] == [1, 2, 1]
    assert [found.assignments[name].points for name in KNOWN] == [100, 90, 90]
    assert found.late_days_left == 0
    assert found.assignments["05_scan"].steps == (
        "Late by 2 days 23 hours, 3 days begun, 2 late days spent: 1 × 10 % of 100 = −10",
    )


def test_best_and_last() -> None:
    attempts = (
        handed_in(ADA, 88, "02T10:00"),
        handed_in(ADA, 95, "02T14:00", number=2),
        handed_in(ADA, 70, "02T15:00", number=3),
    )
    best = only_grade(*attempts, toml="counts = 'best'\n" + LATE + DEADLINE)
    assert (best.points, best.record, len(best.attempts)) == (88, attempts[0], 3)
    assert best.steps == ("Attempt 1 of 3 counts, the best after deductions for lateness: 88; others: 85, 60",)
    last = only_grade(*attempts, toml=LATE + DEADLINE)
    assert (last.points, last.record) == (60, attempts[2])
    in_time = only_grade(*attempts, toml="[late]\naccept_until = '1 hour'\n" + DEADLINE)
    assert (in_time.points, in_time.record) == (88, attempts[0])
    assert in_time.steps == ("Attempt 1 of 3 counts, the last that was accepted",)


def test_an_attempt_that_the_harness_failed_on() -> None:
    attempts = (handed_in(ADA, 60), handed_in(ADA, None, number=2))
    last = only_grade(*attempts)
    assert (last.status, last.points, last.earned) == (OPEN, None, None)
    best = only_grade(*attempts, toml="counts = 'best'")
    assert (best.status, best.points, best.flags) == (COUNTS, 60, ("Not graded yet: attempt 2 of 2",))
    by_hand = only_grade(attempts[1], adjustments="1815,04_reduction,80,read it myself,hopper\n")
    assert (by_hand.status, by_hand.points) == (COUNTS, 80)
    assert by_hand.steps[-1] == "+80 points: read it myself (hopper)"


def test_bonus_and_caps() -> None:
    record = handed_in(ADA, 112, "01T10:00", bonus=12)
    assert only_grade(record, toml="bonus = false").points == 100
    assert only_grade(record, toml="cap = '105 %'").steps == ("At most 105 % of 100: 112 becomes 105",)
    assert only_grade(record, toml="cap = '105 %'\n[assignment.04_reduction]\ncap = '100 points'").points == 100
    late = handed_in(ADA, 112, "02T13:00", bonus=12)
    grade = only_grade(late, toml="cap = '100 %'\n" + LATE + DEADLINE)
    assert grade.points == 90  # points for lateness are taken off after the cap


def test_excused() -> None:
    classes = one_class(absent(ADA), handed_in(ADA, 50, name="05_scan"), handed_in(ALAN, 60), absent(ALAN, "05_scan"))
    found = graded(classes, "[excused]\n'1815' = ['04_reduction']\n'1912' = 'all'\n")
    ada, alan = found["Ada Lovelace"], found["Turing, Alan"]
    assert (ada.assignments["04_reduction"].status, ada.assignments["04_reduction"].points) == (EXCUSED, None)
    assert (ada.total, ada.possible) == (50, 100)
    assert (alan.total, alan.possible) == (None, 0)


def test_missing_counts_nothing_unless_it_is_not_due_yet() -> None:
    classes = one_class(absent(ADA), absent(ALAN))
    toml = "[extensions]\n'1912' = '2 days'\n" + DEADLINE
    found = graded(classes, toml, now=datetime(2026, 11, 3, tzinfo=UTC))
    ada, alan = (found[name].assignments["04_reduction"] for name in ("Ada Lovelace", "Turing, Alan"))
    assert (ada.status, ada.points, alan.status, alan.points) == (ABSENT, 0, NOT_DUE, None)
    assert (found["Turing, Alan"].total, found["Turing, Alan"].possible) == (None, 0)


def test_adjustments_come_last_and_may_go_below_zero() -> None:
    lines = '1815,04_reduction,-120,"copied, see mail",hopper\n1815,04_reduction,0,come and see me,\n'
    grade = only_grade(handed_in(ADA, 100), toml="cap = '100 %'", adjustments=lines)
    assert grade.points == -20
    assert grade.steps == ("−120 points: copied, see mail (hopper)",)
    assert [one.reason for one in grade.adjustments] == ["copied, see mail", "come and see me"]


def test_drop_lowest_and_weights() -> None:
    records = [handed_in(ADA, points, name=name) for name, points in zip(KNOWN, (80, 50, 90), strict=True)]
    found = graded(one_class(*records), "drop_lowest = 1")["Ada Lovelace"]
    assert (found.total, found.possible) == (170, 200)
    assert found.assignments["05_scan"].is_dropped
    assert found.assignments["05_scan"].steps == ("Dropped: among the lowest 1 of all assignments",)
    assert graded(one_class(*records), "drop_lowest = 7")["Ada Lovelace"].total == 90  # one stays

    toml = (
        "[[group]]\nname = 'ladders'\nassignments = ['04_reduction', '05_scan']\ndrop_lowest = 1\nweight = 60\n"
        "[assignment.06_transpose]\nweight = 40\n"
    )
    found = graded(one_class(*records), toml)["Ada Lovelace"]
    assert (found.total, found.possible) == (84, 100)
    assert found.steps == ("(80 % × 60 + 90 % × 40) / 100",)
    found = graded(one_class(*records), toml + "[excused]\n'1815' = ['06_transpose']")["Ada Lovelace"]
    assert found.total == 80
    found = graded(one_class(*records), "[total]\nout_of = 20\n", "1815,course,1.5,forum,hopper\n")["Ada Lovelace"]
    assert (found.total, found.possible) == (16.17, 20)
    assert found.steps == ("220 of 300, of 20 in all", "+1.5 points: forum (hopper)")
    bonus = graded(one_class(handed_in(ADA, 110)), "[total]\ncap = '100 %'")["Ada Lovelace"]
    assert (bonus.total, bonus.steps) == (100, ("At most 100 % of 100: 110 becomes 100",))


def test_extra_credit_comes_on_top() -> None:
    records = [handed_in(ADA, points, name=name) for name, points in zip(KNOWN, (80, 50, 90), strict=True)]
    extra = "[assignment.05_scan]\nextra_credit = true\n"
    found = graded(one_class(*records), extra)["Ada Lovelace"]
    assert (found.total, found.possible) == (220, 200)
    assert [found.assignments[name].is_extra for name in KNOWN] == [False, True, False]
    # Extra credit is never dropped as the lowest.
    found = graded(one_class(*records), "drop_lowest = 1\n" + extra)["Ada Lovelace"]
    assert (found.total, found.possible) == (140, 100)
    # A student without it loses nothing, and the gradebook does not mention it.
    found = graded(one_class(*records[::2], absent(ADA, "05_scan")), extra)["Ada Lovelace"]
    assert (found.total, found.possible, status_text(found)) == (170, 200, "")
    found = graded(one_class(*records), "[total]\nout_of = 20\n" + extra)["Ada Lovelace"]
    assert (found.total, found.possible) == (22, 20)
    # Its weight is added, but is not part of the whole.
    weights = "[assignment.04_reduction]\nweight = 60\n[assignment.06_transpose]\nweight = 40\n"
    found = graded(one_class(*records), weights + extra + "weight = 10\n")["Ada Lovelace"]
    assert (found.total, found.possible) == (89, 100)
    assert found.steps == ("(80 % × 60 + 90 % × 40 + 50 % × 10) / 100",)


def test_assignment_toml_says_what_is_extra_credit_and_course_toml_has_the_last_word() -> None:
    classes = one_class(*(handed_in(ADA, 80, name=name) for name in KNOWN))
    classes["05_scan"] = (replace(classes["05_scan"][0], extra_credit=True), classes["05_scan"][1])
    assert graded(classes)["Ada Lovelace"].possible == 200
    assert graded(classes, "[assignment.05_scan]\nextra_credit = false")["Ada Lovelace"].possible == 300
    # If the class has no other assignment, it counts like an ordinary one.
    assert graded({"05_scan": classes["05_scan"]})["Ada Lovelace"].possible == 100


def test_a_team_gets_one_score_and_each_member_their_own_deadline() -> None:
    record = handed_in(ADA, 90, "02T13:00", group=(ADA, ALAN), folder="team-1")
    found = graded(one_class(record, absent(GRACE)), LATE + "[extensions]\n'1912' = '2 hours'\n" + DEADLINE)
    assert {name: one.total for name, one in found.items()} == {
        "Ada Lovelace": 80,
        "Turing, Alan": 90,
        "Grace Hopper": 0,
    }
    assert found["Turing, Alan"].assignments["04_reduction"].record == record


def test_who_matches_nobody_comes_last() -> None:
    unknown = handed_in(Student("Aaron"), 50, is_matched=False, nearest=("Ada Lovelace",))
    # Having the same name as somebody on the roster does not make one that student.
    twin = handed_in(Student("Ada Lovelace"), 70, is_matched=False, folder="twin")
    found = compute_grades(one_class(unknown, absent(ADA), twin, handed_in(GRACE, 60)))
    assert [(one.student.name, one.is_matched, one.total) for one in found] == [
        ("Ada Lovelace", True, 0), ("Grace Hopper", True, 60), ("Aaron", False, 50), ("Ada Lovelace", False, 70),
    ]  # fmt: skip


def test_one_student_under_two_names_is_one_row_and_to_be_looked_at() -> None:
    grade = only_grade(handed_in(ADA, 50, folder="ada"), handed_in(ADA, 60, folder="lovelace"))
    assert grade.points == 60
    assert grade.flags == ("Handed in under 2 names: ada, lovelace",)


def test_a_roster_that_grew_keeps_one_row_a_student() -> None:
    before = replace(ADA, login="", platform_id="")
    found = compute_grades(one_class(handed_in(before, 50), handed_in(ADA, 60, name="05_scan")))
    assert [(one.student, one.total) for one in found] == [(ADA, 110)]


POLICIES = (
    "",
    "counts = 'best'\n" + LATE + DEADLINE,
    "counts = 'best'\ncap = '105 %'\n[late]\npenalty = '7 points per hour'\nof = 'earned'\ngrace = '30 minutes'\n"
    + DEADLINE,
    "counts = 'best'\n[late_days]\nbank = 3\n[late]\npenalty = '25 % per day'\naccept_until = '5 days'\n" + DEADLINE,
    "drop_lowest = 1\n[total]\nout_of = 50\n[late]\npenalty = '10 % once'\n" + DEADLINE,
)


def random_records(rng: random.Random) -> list[Record]:
    records = []
    for student in (ADA, ALAN, GRACE):
        for name in KNOWN:
            numbers = range(1, rng.randint(1, 4))
            times = sorted(f"{rng.randint(1, 9):02}T{rng.randint(0, 23):02}:{rng.randint(0, 59):02}" for _ in numbers)
            records += [
                handed_in(student, None if rng.random() < 0.05 else rng.randint(0, 220) / 2, at, name=name, number=one)
                for one, at in zip(numbers, times, strict=True)
            ] or [absent(student, name)]  # fmt: skip
    return records


@pytest.mark.parametrize("policy", POLICIES)
def test_properties(policy: str) -> None:
    rng = random.Random(17)
    better = 0
    for _ in range(60):
        records = random_records(rng)
        classes = one_class(*records)
        found = compute_grades(classes, course(policy))
        # The order of the records makes no difference.
        shuffled = {name: (one, rng.sample(own, len(own))) for name, (one, own) in classes.items()}
        assert compute_grades(shuffled, course(policy)) == found
        for student in found:
            for name, grade in student.assignments.items():
                assert grade.points is None or grade.points >= 0
                last = grade.attempts[-1]
                if not policy and grade.status != ABSENT:
                    assert grade.points == (last.score.total if last.score else None)
                if grade.points is not None and grade.earned != grade.points:
                    assert grade.steps
                if "best" not in policy or grade.points is None:
                    continue
                # One more attempt, as late as the one that counts and better, never lowers the grade.
                assert grade.record
                more = replace(grade.record, key="more", handed=replace(grade.record.handed, number=9))
                more = replace(
                    more, score=more.score and replace(more.score, total=more.score.total + rng.randint(0, 20))
                )
                own = {**classes, name: (classes[name][0], [*classes[name][1], more])}
                again = next(one for one in compute_grades(own, course(policy)) if one.student == student.student)
                assert again.assignments[name].points is not None
                assert again.assignments[name].points >= grade.points
                better += again.assignments[name].points > grade.points
    assert better > 100 or "best" not in policy


def test_where_nothing_tells_the_time_it_is_said_and_nothing_is_taken() -> None:
    toml = LATE + DEADLINE
    grade = only_grade(handed_in(ADA, 90), toml=toml)
    assert (grade.points, grade.is_time_unknown, grade.flags) == (90, True, ())
    # If a platform marks late hand-ins and did not mark this one, it was in time.
    assert not only_grade(handed_in(ADA, 90, source="file names"), toml=toml).is_time_unknown
    late = only_grade(handed_in(ADA, 90, source="file names", late=True), toml=toml)
    assert (late.points, late.is_time_unknown, len(late.flags)) == (90, False, 1)
    assert not only_grade(handed_in(ADA, 90), toml=LATE).is_time_unknown
    grades = compute_grades(one_class(handed_in(ADA, 90)), course(toml))
    assert status_text(grades[0]) == "04_reduction hand-in time not known"


def test_the_later_of_the_courses_and_the_platforms_deadline_holds() -> None:
    for extended, points in (("2026-11-04T12:00:00+00:00", 90), ("2026-11-01T12:00:00+00:00", 70), ("soon", 70)):
        assert only_grade(handed_in(ADA, 90, "04T11:00", extended=extended), toml=LATE + DEADLINE).points == points


def test_of_a_repositorys_states_the_best_counts() -> None:
    """A README changed after the deadline costs nothing, and neither does a worse late state."""
    states = [
        handed_in(ADA, 60, "01T10:00", is_version=True),
        handed_in(ADA, 75, "03T10:00", number=2, is_version=True),
    ]
    assert only_grade(*states, toml=LATE + DEADLINE).points == 65
    assert only_grade(*states, toml="[late]\npenalty = '40 % per day'\n" + DEADLINE).points == 60
    handed = [replace(one, handed=replace(one.handed, is_version=False)) for one in states]
    assert only_grade(*handed, toml="[late]\npenalty = '40 % per day'\n" + DEADLINE).points == 35
