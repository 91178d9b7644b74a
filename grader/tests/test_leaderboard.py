"""The leaderboard: who is on it, which figures are distinguishable, and its texts."""

import csv
import io
import itertools
import json
import math
import re
import statistics
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from conftest import ROOT
from grader.base.layout import Layout
from grader.commands.cli import cli
from grader.model.roster import Student
from grader.pages.board_text import beside_reference
from grader.pages.leaderboard import MODEL_ERROR, Board, Entry, groups_of_equals, ranks
from grader.pages.overall import FASTEST, SLOWEST, make_overall

Submissions = Callable[..., Path]


def grade(folder: Path) -> None:
    result = CliRunner().invoke(cli, ["grade", str(folder), "--no-sandbox"])
    assert result.exit_code == 0, result.output


def boards(layout: Layout) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((layout.root / "out/leaderboard.json").read_text())["boards"]
    return found


def test_the_right_ones_are_ranked_under_aliases(in_checkout: Layout, submissions: Submissions) -> None:
    folder = submissions(
        a="// time beta_two 20", b="// time beta_two 5", c="// time beta_two 20.5",
        liar="// time beta_two 1\n// fail alpha_one WRONG", zero="// time beta_two 0",
        short="// time beta_two 2\n// value beta.fast 3",
    )  # fmt: skip
    others = "".join(f"{name},{index},,\n" for index, name in enumerate(("c", "liar", "zero", "short"), 3))
    (folder / "roster.csv").write_text(f"name,sid,email,alias\na,1,,Alias of a\nb,2,,Alias of b\n{others}")
    grade(folder)
    (board,) = boards(in_checkout)
    assert (board["device"], board["is_measured"]) == ("virtual GPU, H200 model", False)
    assert [(e["rank"], e["is_tied"], e["value"], e["words"]) for e in board["entries"]] == [
        (1, False, 5, "60 % faster than the reference"),
        (2, True, 20, "2.5 times as slow as the reference"),
        (2, True, 20.5, "2.6 times as slow as the reference"),
    ]
    assert [e["alias"] for e in board["entries"][:2]] == ["Alias of b", "Alias of a"]
    assert board["entries"][0]["ratio"] == pytest.approx(1.6)
    rows = list(csv.DictReader(io.StringIO((in_checkout.root / "out/leaderboard.csv").read_text())))
    assert [(row["device"], row["rank"], row["alias"]) for row in rows[:2]] == [
        ("virtual GPU, H200 model", "1", "Alias of b"),
        ("virtual GPU, H200 model", "2", "Alias of a"),
    ]
    shown = CliRunner().invoke(cli, ["leaderboard"])
    assert shown.exit_code == 0
    page = (in_checkout.root / "out/leaderboard.html").read_text()
    for words in (
        "Alias of a",
        "60 % faster than the reference",
        "virtual GPU, H200 model",
        "within 10 % share a rank",
    ):
        assert words in re.sub(r"\s+", " ", shown.output), words
        assert words in page, words
    for text in (page, (in_checkout.root / "out/leaderboard.csv").read_text(), json.dumps(board)):
        assert "score" not in text  # points are nobody else's business
        assert '"students"' not in text


def test_history_has_a_point_for_each_submission(in_checkout: Layout, submissions: Submissions) -> None:
    folder = submissions(a="// time beta_two 20")
    grade(folder)
    (folder / "a" / "ladder.cu").write_text("// who a\n// time beta_two 4\n")
    grade(folder)
    (in_checkout.libraries / "liblockstep_worker.a").write_text("another library\n")  # all is graded again
    grade(folder)
    (board,) = boards(in_checkout)
    assert [point["value"] for point in board["entries"][0]["history"]] == [20, 4]
    page = (in_checkout.root / "out/leaderboard.html").read_text()
    assert "from 20 µs to 4 µs in 2 submissions" in page


def test_intervals_that_reach_the_best_share_its_rank() -> None:
    groups = groups_of_equals([(0.95, 1.05), (0.94, 0.99), (0.90, 0.96), (0.80, 0.949), (0.80, 0.92)])
    assert groups == [0, 0, 0, 1, 1]  # the fourth reaches the third, but not the best
    assert ranks(groups) == [(1, True), (1, True), (1, True), (4, True), (4, True)]
    assert groups_of_equals([]) == []


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (1.03, "3 % faster than the reference"),
        (1.004, "as fast as the reference"),
        (0.997, "as fast as the reference"),
        (1 / 1.12, "12 % slower than the reference"),
        (2.4, "2.4 times as fast as the reference"),
        (0.25, "4.0 times as slow as the reference"),
    ],
)
def test_a_ratio_in_words(ratio: float, words: str) -> None:
    assert beside_reference(ratio, ratio * 0.99, ratio * 1.01, is_measured=False) == words


def test_what_repeats_do_not_tell_apart_is_as_fast() -> None:
    assert beside_reference(1.03, 0.99, 1.06, is_measured=True) == "as fast as the reference"
    assert beside_reference(1.03, 1.01, 1.05, is_measured=True) == "3 % faster than the reference"
    assert beside_reference(1.5, 1.4, 1.6, is_measured=False, is_time=False) == "50 % better than the reference"


def entry(student: Student, ratio: float) -> Entry:
    return Entry(1, False, student.alias, 1.0, ratio, ratio * 0.95, ratio * 1.05, "", (), (student,))


def board(name: str, *entries: Entry, device: str = "virtual GPU, H200 model") -> Board:
    ordered = sorted(entries, key=lambda one: -(one.ratio or 0))
    return Board(name, name, device, False, "microseconds", "r", "r", True, 1.0, tuple(ordered))


def test_the_overall_board_cannot_be_gamed() -> None:
    ada, bob, eve = (Student(name, alias=name) for name in ("Ada", "Bob", "Eve"))
    first = board("1", entry(ada, 1.2), entry(bob, 1.1), entry(eve, 1000.0))
    second = board("2", entry(ada, 1.0), entry(bob, 0.1))
    (overall,) = make_overall([first, second])
    speeds = {place.alias: place.speed for place in overall.places}
    assert [(place.alias, place.boards) for place in overall.places] == [("Ada", 2), ("Eve", 1), ("Bob", 2)]
    assert speeds["Ada"] == pytest.approx(math.sqrt(1.2))
    assert speeds["Eve"] == pytest.approx(math.sqrt(FASTEST * SLOWEST))  # one freak figure, and nothing else
    # An entry never harms, and leaving one out never helps.
    (without,) = make_overall([first, board("2", entry(ada, 1.0))])
    assert {p.alias: p.speed for p in without.places}["Bob"] <= speeds["Bob"]
    # Who else takes part doesn't matter.
    (alone,) = make_overall([board("1", entry(ada, 1.2)), board("2", entry(ada, 1.0))])
    assert alone.places[0].speed == speeds["Ada"]


def test_overall_boards_are_of_one_device() -> None:
    ada = Student("Ada", alias="Ada")
    model = [board(name, entry(ada, 1.0)) for name in "12"]
    gpu = [replace(board("1", entry(ada, 3.0)), device="NVIDIA H200", is_measured=True)]
    assert [(one.device, one.of) for one in make_overall([*model, *gpu])] == [("virtual GPU, H200 model", 2)]


def test_the_models_error_is_the_one_on_record() -> None:
    """The error of modelled ratios between versions of one kernel, compared with an H200."""
    section = (ROOT / "docs/records/gpu-time.md").read_text().split("## On the profile `h200`")[1].split("\n## ")[0]
    families: dict[str, list[tuple[float, float]]] = {}
    for row in section.splitlines():
        cells = [cell.strip().replace(" ", "") for cell in row.split("|")]
        if len(cells) > 4 and re.fullmatch(r"[\d.]+", cells[2]):
            name = re.split("[:,]", row.split("|")[1].strip())[0]
            families.setdefault(name, []).append((float(cells[2]), float(cells[3])))
    pairs = [
        ((one[1] / other[1]) / (one[0] / other[0]))
        for family in families.values()
        for one, other in itertools.combinations(family, 2)
        if 2 / 3 < one[0] / other[0] < 3 / 2
    ]
    assert len(pairs) >= 15
    typical = math.exp(statistics.median(abs(math.log(ratio)) for ratio in pairs)) - 1
    assert 0.75 * MODEL_ERROR < typical < MODEL_ERROR, f"the median error is {typical:.1%}: MODEL_ERROR and its pages"


def test_watching_writes_the_boards_when_results_come_in(
    in_checkout: Layout, submissions: Submissions, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = submissions(a="// time beta_two 20")
    grade(folder)
    path = in_checkout.root / "out/leaderboard.json"
    path.unlink()
    looked: list[int] = []

    def look(_: float) -> None:
        """Replaces waiting: first nothing happens, then a result arrives, then Ctrl-C."""
        looked.append(path.stat().st_mtime_ns)
        if len(looked) == 2:
            (folder / "a" / "ladder.cu").write_text("// who a\n// time beta_two 4\n")
            grade(folder)
            path.unlink()
            path.write_text("{}")
        if len(looked) == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr("grader.commands.leaderboard.sleep", look)
    result = CliRunner().invoke(cli, ["leaderboard", "--watch"])
    assert result.exit_code == 0, result.output
    assert looked[0] == looked[1], "written again though nothing had changed"
    assert [entry["value"] for entry in boards(in_checkout)[0]["entries"]] == [4]
    assert "1 entry" in result.output
    assert "Stopped watching." in result.output
