"""Pictures match the recorded addresses, for random accesses and findings."""

import json
import random
import re
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from grader.model import result as recorded
from grader.model.assignment import load_assignment
from grader.model.picture import WIDTH, Picture, of_finding, of_line, of_sm, of_test
from grader.model.result import Access, Finding, Line, Memory, Place, SaidLine, TestResult, result_from
from grader.pages.environment import make_environment
from grader.student.page import profile_page, read_template

pytest_plugins = ("browser",)
_RACE = Finding(
    "race", "k", (Place("a.cu", 41, (0, 0, 0), (64, 0, 0), "store"), Place("a.cu", 43, (0, 0, 0), (0, 0, 0), "load")),
    "", 1, "barrier", Memory("sdata", "shared", 256, 4, 512),
)  # fmt: skip
_EVIL = "</script><script>alert(1)</script>"


def random_access(space: str, seed: int) -> Access:
    random_ = random.Random(seed)
    width = random_.choice([1, 2, 4, 8, 16])
    step = random_.choice([0, 1, 2, 5, 32, 33, None])
    lanes = [random_.randrange(4096) * width if step is None else lane * step * width for lane in range(32)]
    active = [at if random_.random() < 0.8 else -1 for at in lanes]
    active[random_.randrange(32)] = lanes[0]
    return Access(space, "load", width, 7, 3, 5, 1, tuple(active))


def boxes(picture: Picture, style: str) -> list[tuple[float, ...]]:
    found = [path for kind, path in picture.paths if kind == style]
    return [tuple(map(float, box)) for path in found for box in re.findall(r"M(\S+) (\S+?)h(\S+?)v(\S+?)h", path)]


@pytest.mark.parametrize("seed", range(60))
def test_an_access_is_drawn_as_its_addresses_say(seed: int) -> None:
    access = random_access("shared" if seed % 2 else "global", seed)
    (picture,) = of_line(Line("a.cu", 1, {}, (access,)))
    used = {byte for at in access.lanes if at >= 0 for byte in range(at, at + access.bytes)}
    if access.space == "global":
        drawn = boxes(picture, "sector")
        assert len(drawn) == len({byte // 32 for byte in used})
        assert len(boxes(picture, "lane")) == sum(at >= 0 for at in access.lanes)
        covered = sum(box[2] for box in boxes(picture, "held")) / drawn[0][2] * 32
        assert covered == pytest.approx(len(used), rel=0.01)
        assert len(boxes(picture, "ideal")) == access.ideal
    else:
        words = {byte // 4 for byte in used}
        assert len(boxes(picture, "held")) + len(boxes(picture, "over")) == len(words)
        in_bank = max(sum(word % 32 == bank for word in words) for bank in range(32))
        assert f"up to {in_bank} words in one" in picture.told
    every = [box for style, _ in picture.paths if style != "thread" for box in boxes(picture, style)]
    assert all(x >= 0 and x + w <= WIDTH and y + h <= picture.height for x, y, w, h in every)
    assert str(access.cost) in picture.told
    assert all(len(row) < 80 for row in picture.rows)


def test_a_branch_is_drawn_where_it_diverges_much() -> None:
    lanes = (-1, *(lane % 3 == 0 for lane in range(1, 32)))
    access = Access("branch", "branch", 1, 2, 1, 5, 1, tuple(map(int, lanes)))
    (picture,) = of_line(Line("a.cu", 1, {"branches": 4, "divergent_branches": 4}, (access,)))
    assert [len(boxes(picture, style)) for style in ("held", "over")] == [10, 21]
    assert "10 lanes take the branch, 21 lanes go on." in picture.told
    assert [row.count("█") for row in picture.rows] == [10, 21]
    assert of_line(Line("a.cu", 1, {"branches": 400, "divergent_branches": 4}, (access,))) == ()


@pytest.mark.parametrize(("blocks", "threads", "limit"), [(6, 256, "registers"), (2, 96, "shared memory")])
def test_an_sm_is_drawn_with_its_blocks(blocks: int, threads: int, limit: str) -> None:
    sm = recorded.FilledSm(blocks, 32, blocks * threads // 32, 64, limit, threads, 40, 65536, 100_000, 233_472)
    picture = of_sm(sm)
    assert picture
    slots = [box for style in ("held", "other") for box in boxes(picture, style) if box[2] == pytest.approx(8.5)]
    assert len(slots) == sm.warps
    assert f"{sm.warps} of 64 warps, limited by {limit}" in picture.told
    assert f"{blocks * threads * 40:,} of 65,536 registers" in picture.told
    (bar,) = boxes(picture, "over")
    full = blocks * threads * 40 / 65536 if limit == "registers" else 200_000 / 233_472
    assert bar[2] == pytest.approx(110 * full, rel=0.01)
    assert picture.rows[0].count("█") == sm.warps // 2
    for wrong in (replace(sm, blocks=0), replace(sm, most_warps=1 << 40), replace(sm, most_shared=0)):
        assert of_sm(wrong) is None


def test_a_picture_is_of_the_finding_that_the_message_is_about() -> None:
    other = replace(_RACE, places=(Place("a.cu", 7, (0, 0, 0), (1, 0, 0), "store"), *_RACE.places[1:]))
    said = (SaidLine("first", "", "a.cu", 41), SaidLine("second", "", "a.cu", 43))
    test = TestResult(
        message="RACE", lines=said, name="A.B/c", rung="c", verdict="RACE", seconds=0, output="", reproduce="",
        findings=(other, _RACE),
    )  # fmt: skip
    drawn = of_test(test)
    assert drawn is not None
    assert "at line 41" in drawn.told
    assert of_test(replace(test, lines=said[:1])) is None


@pytest.mark.parametrize(("offset", "index"), [(520, 130), (-4, -1), (1 << 40, 1 << 38), (513, 513)])
def test_an_index_stands_outside_of_its_buffer(offset: int, index: int) -> None:
    memory = Memory("d_in", "global", offset, 4, 512)
    picture = of_finding(replace(_RACE, kind="out of bounds", missing="", memory=memory))
    assert picture
    assert f"index {index:,} of d_in" in picture.told
    ((x, _, width, _),) = boxes(picture, "held")
    (cross,) = re.findall(r"^M(\S+) ", next(path for style, path in picture.paths if style == "cross"))
    assert (float(cross) + 5 < x) if index < 0 else (float(cross) + 5 > x + width)


def test_a_race_names_both_threads_and_what_is_missing() -> None:
    picture = of_finding(_RACE)
    assert picture
    for part in ("thread (64,0,0) writes sdata[64] at line 41", "thread (0,0,0) reads", "no barrier"):
        assert part in picture.told
    assert [":41" in picture.rows[0], ":43" in picture.rows[1], "no barrier" in picture.rows[2]] == [True] * 3


def test_nothing_is_drawn_of_what_is_not_known() -> None:
    hidden = replace(_RACE, places=(Place("a.cu", 41), Place("a.cu", 43)), missing="", memory=None)
    beside = replace(_RACE, missing="streams")
    for finding in (hidden, beside, replace(hidden, kind="out of bounds")):
        assert of_finding(finding) is None
    access = random_access("global", 1)
    for wrong in (replace(access, lanes=()), replace(access, bytes=10**9), replace(access, lanes=(-1,) * 32)):
        assert of_line(Line("a.cu", 1, {}, (wrong,))) == ()


def _recorded(work: int, source: str) -> dict[str, Any]:
    """What the judge's --page writes of a measured rung."""
    accesses = [dict(vars(random_access(space, 8))) for space in ("global", "shared")]
    line = {"file": "/x/reduction.cu", "line": 2, "counters": {"warp_instructions": work}, "accesses": accesses}
    change = {"technique": "tile", "text": "", "saved_microseconds": 1, "lines": [{"file": "reduction.cu", "line": 2}]}
    limits = {"microseconds": 2.5, "intensity": 0.5, "ridge": 14, "share": 0.41}
    sm = asdict(recorded.FilledSm(6, 32, 48, 64, "registers", 256, 40, 65536, 1024, 233_472))
    advice = {"kernel": "k", "bound_by": "dram", "changes": [change], "sm": sm, **limits}
    kernel = {
        "name": "k", "launches": 1, "grid": "1", "block": "64", "us": 2.5, "bound_by": "dram", "occupancy": 1,
        "counters": {"warp_instructions": work}, "lines": [line], "advice": [advice],
    }  # fmt: skip
    data = {"kernels": [kernel], "notes": [], "files": [{"path": "/x/reduction.cu", "text": source}]}
    return {"reduce1_interleaved": json.loads(json.dumps({"data": data, "replays": []}))}


@pytest.fixture
def page(tmp_path: Path) -> Path:
    assignment = load_assignment(ROOT / "assignments/04_reduction")
    template = read_template(ROOT / "harness")
    document = {"format": 2, "assignment": "04_reduction", "seed": "1", "finished": True}
    result = result_from(document)
    slow, same = "// before\nout[i] = in[32 * j];\n", f"// {_EVIL}\nout[i] = in[j];\n"
    text = profile_page(template, assignment, result, _recorded(16, slow))
    text = profile_page(template, assignment, result, {}, text)
    for _ in range(2):  # the second time with the same code
        text = profile_page(template, assignment, result, _recorded(8, same), text)
    path = tmp_path / "page.html"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_page_holds_hostile_text_as_text(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert _EVIL not in text
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert data
    assert _EVIL in json.loads(data[1])["files"][0]["text"]
    before = re.search(r'id="before">(.*?)</script>', text, re.DOTALL)
    assert before
    kernels = [[kernel["counters"] for kernel in run["kernels"]] for run in json.loads(before[1])]
    assert kernels == [[], [{"warp_instructions": 16}]]


@pytest.mark.parametrize(("width", "dark"), [(360, True), (1280, False)])
def test_a_page_shows_lines_and_accesses(page: Path, open_page: Callable[..., Any], width: int, *, dark: bool) -> None:
    opened = open_page(page, width=width, dark=dark)
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    assert opened.locator(".value").all_inner_texts() == ["", "", "8", "16"]
    assert "It is bound by dram, and reaches 41 % of what DRAM allows" in opened.locator("#kernels").inner_text()
    assert "6 blocks of 8 warps fit on an SM: 48 of 64 warps" in opened.locator("#kernels figcaption").inner_text()
    assert "−1 µs (40 %) tile (line 2)" in opened.locator("#kernels").inner_text()
    opened.select_option("#gauge", label="bank conflicts")
    assert opened.locator(".value", has_text="8").count() == 0
    opened.select_option("#gauge", label="instructions")
    for summary in opened.locator("summary").all():
        summary.press("Enter")
    opened.locator("figure svg").nth(1).wait_for()
    assert opened.evaluate("document.documentElement.scrollWidth") <= width


def test_a_drawing_is_escaped() -> None:
    memory = Memory(_EVIL, "shared", 256, 4, 512)
    template = make_environment(ROOT / "templates").from_string(
        '{% from "macros.html.j2" import picture %}{{ picture(drawn) }}'
    )
    assert "<script" not in template.render(drawn=of_finding(replace(_RACE, memory=memory)))
