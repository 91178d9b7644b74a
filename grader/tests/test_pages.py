"""Report cards and the leaderboard: what they show, and that hostile text stays text."""

from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner

from grader.cli import cli
from grader.code_view import annotate
from grader.layout import Layout
from grader.result import Device, Line, Profile, SuiteResult

EVIL = "<script>alert('name')</script>"
VOID = {"meta", "br", "i", "img", "line", "rect", "polyline"}


class Page(HTMLParser):
    """Collects tags and checks that they nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.links: list[str] = []
        self.text = ""
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            assert not name.startswith("on"), (tag, name)
            if name in ("href", "src"):
                self.links.append(value or "")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture
def out(in_checkout: Layout, submissions: Callable[..., Path]) -> Path:
    folder = submissions(
        mallory=f"// fail alpha_one RACE\n/* {EVIL} */ char c = '<'; // \u202e\x1b[0m",
        broken=f"#error {EVIL}",
        perfect="",
        lost="// unfinished",
    )
    (folder / "roster.csv").write_text(
        f'name,sid,email,alias\n"{EVIL}",1,mallory@x,"{EVIL}"\nP,2,perfect@x,"<img src=x onerror=alert(1)>"\n'
    )
    assert CliRunner().invoke(cli, ["grade", str(folder), "--no-sandbox"]).exit_code == 3
    return in_checkout.root / "out"


def card(out: Path, stem: str) -> str:
    return next((out / "cards/90_fake").glob(f"{stem}-*.html")).read_text()


def test_pages_hold_hostile_text_as_text(out: Path) -> None:
    pages = [*out.glob("*.html"), *out.glob("cards/*/*.html")]
    assert len(pages) == 6
    for path in pages:
        text = path.read_text()
        page = Page(text)
        assert "script" not in page.tags
        assert "img" not in page.tags
        assert "\u202e" not in text
        assert "\x1b" not in text
        assert all("://" not in link for link in page.links)
    assert EVIL in Page(card(out, "mallory")).text
    assert "<img src=x>" in Page(card(out, "mallory")).text  # of the judge's message
    assert EVIL in Page((out / "index.html").read_text()).text


def test_a_card_shows_what_counts(out: Path) -> None:
    text = Page(card(out, "mallory")).text
    parts = """15|of 20|RACE|0 of 2 tests pass|hint    think|race in k<int>|32.0
        |sectors a request where 4.0 would do|8 ms|To repeat|seed"""
    for part in (part.strip() for part in parts.split("|")):
        assert part.casefold() in text.casefold(), part
    assert "#error says so" in card(out, "broken")
    assert "not graded" in card(out, "lost")


def test_the_index_leads_to_every_card(out: Path) -> None:
    links = [link for link in Page((out / "index.html").read_text()).links if link.startswith("cards/")]
    assert len(links) == 4
    assert all((out / link).is_file() for link in links)


def test_source_lines_keep_their_numbers() -> None:
    source = "\n\n/* one\n two */ __shared__ int x;\r\nint y;\n"
    counters = {"shared_wavefronts": 4.0, "shared_wavefronts_ideal": 2.0, "branches": 4.0, "divergent_branches": 1.0}
    profile = Profile(
        "a", "submission", 1, 1.0, {}, (), (Line("/x/a.cu", 4, counters), Line("/x/other.cu", 5, counters))
    )
    lines = annotate(
        source, "a.cu", SuiteResult("x", "", 1, True, Device("", "", "", 1), (), (), (), (profile, profile))
    )
    assert len(lines) == 5
    assert "two" in lines[3].code
    assert lines[3].cost.conflicts.text == "2.0×"
    assert lines[3].cost.divergence.text == "25 %"
    assert [line.number for line in lines if line.cost.is_costly] == [4]


def test_compile_errors_stand_at_their_lines() -> None:
    message = 'a.cu(2): error: expected a ";"\na.cu:3:1: fatal error: x.h: No such file\nother.cu(1): error: no\n'
    lines = annotate("one\ntwo\nthree\n", "a.cu", None, message)
    assert [line.faults for line in lines] == [(), ('error: expected a ";"',), ("fatal error: x.h: No such file",)]


def test_a_huge_source_is_cut() -> None:
    assert len(annotate("int x;\n" * 200_000, "a.cu", None)) == 4000
