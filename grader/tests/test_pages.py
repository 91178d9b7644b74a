"""Report cards and the leaderboard: their contents, and that hostile text stays text."""

import html
import re
import signal
import time
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from jinja2 import Template, meta

from conftest import ROOT
from grader.base.deadline import DeadlineError, deadline
from grader.base.layout import Layout
from grader.base.names import shown_block
from grader.commands.cli import cli
from grader.model.result import Device, Line, Profile, SuiteResult
from grader.pages.code_view import Fault, annotate

EVIL = "<script>alert('name')</script>"
VOID = {"meta", "br", "img", "line", "rect", "polyline", "circle", "path"}


class Page(HTMLParser):
    """Collects tags, links and text; checks that tags nest, and that none has an event handler."""

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

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

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
        twice="// fail alpha_one RACE\n// fail beta_two WRONG",
    )
    (folder / "roster.csv").write_text(
        f'name,sid,email,alias\n"{EVIL}",1,mallory@x,"{EVIL}"\nP,2,perfect@x,"<img src=x onerror=alert(1)>"\n'
    )
    (folder / "adjustments.csv").write_text(
        f'student,assignment,points,reason,staff\n2,90_fake,1,"{EVIL}","{EVIL}"\n', encoding="utf-8"
    )
    result = CliRunner().invoke(cli, ["grade", str(folder), "--no-sandbox", "--device", "cuda"])
    assert result.exit_code == 3
    failed = re.search("only the points are on it: .*", result.output)
    assert not failed, f"a report card could not be made; {failed[0]}"
    return in_checkout.root / "out"


def card(out: Path, stem: str, folder: str = "cards") -> str:
    return next((out / folder / "90_fake").glob(f"{stem}-*.html")).read_text()


def test_pages_hold_hostile_text_as_text(out: Path) -> None:
    pages = [*out.glob("*.html"), *out.glob("cards/*/*.html"), *out.glob("staff/cards/*/*.html")]
    assert len(pages) == 12
    for path in pages:
        text = path.read_text()
        page = Page(text)
        # The index has one script, and its policy allows no other.
        assert text.count("<script") == (path.name == "index.html")
        assert "img" not in page.tags
        assert "\u202e" not in text
        assert "\x1b" not in text
        assert all("://" not in link for link in page.links)
    assert EVIL in Page(card(out, "mallory")).text
    assert "<img src=x>" in Page(card(out, "mallory")).text  # of the judge's message
    assert EVIL in Page((out / "index.html").read_text()).text


def test_a_card_shows_what_counts(out: Path) -> None:
    text = Page(card(out, "mallory")).text
    parts = """12|+ 5 bonus|of 20|✗ RACE|0 of 2 tests passed|hint    think|race in k<int>|32.0|Real <b>GPU</b>
        |k<b> is limited by DRAM, at 41 % of what DRAM allows|−0.2 µs (25 %)|(line 2, <b>:3)
        |1 branch per block|full marks: at most 2; no points from 6|8 ms|make test TEST=LadderTest.SumsAll/alpha_one"""
    for part in (part.strip() for part in parts.split("|")):
        assert part.casefold() in text.casefold(), part
    assert "To repeat" not in text
    assert "#error says so" in card(out, "broken")
    assert "not graded" in card(out, "lost")
    staffs = Page(card(out, "mallory", "staff/cards")).text
    for part in (*parts.split("|"), "To repeat", "grader seed mallory", "All 7 tests"):
        assert part.strip().casefold() in staffs.casefold(), part


def test_every_section_is_on_a_card(out: Path) -> None:
    template = (ROOT / "templates/report_card.html.j2").read_text()
    pages = "".join(path.read_text() for path in out.glob("**/cards/*/*.html"))
    for heading in re.findall("<h2.*", template):
        found = re.match(r'<h2 id="(\w+)">', heading)
        assert found, f"this section of report_card.html.j2 has no id, so that nothing can point to it: {heading}"
        assert f'<h2 id="{found[1]}">' in pages, (
            f'no card has the section "{found[1]}": a submission that shows it belongs into the fixture `out`'
        )


def test_cards_show_what_they_are_given_in_a_style_that_exists(
    in_checkout: Layout, submissions: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    given: set[str] = set()
    used: set[str] = set()
    sources = {path.name: path.read_text() for path in (ROOT / "templates").glob("*.j2")}
    render = Template.render

    def recorded(template: Template, **values: Any) -> str:
        if template.name == "report_card.html.j2":
            given.update(values)
            used.update(meta.find_undeclared_variables(template.environment.parse(sources[template.name])))
        return render(template, **values)

    monkeypatch.setattr(Template, "render", recorded)
    CliRunner().invoke(cli, ["grade", str(submissions(ada="")), "--no-sandbox"])
    assert given, "no card was rendered"
    assert given <= used, f"cards.py gives what report_card.html.j2 does not show: {sorted(given - used)}"
    styles = "".join(path.read_text() for path in (ROOT / "templates").glob("*.css"))
    rules = set(re.findall(r"\.([a-z][a-z-]*)", styles))
    for name in ("report_card.html.j2", "failure.html.j2", "macros.html.j2"):
        for value in re.findall(r'class="([^"]*)"', sources[name]):
            words = set(re.sub(r"{[{%].*?[%}]}", " ", value).split())
            assert words <= rules, f"{name} uses classes that no style sheet has: {sorted(words - rules)}"


def test_the_index_leads_to_every_card(out: Path) -> None:
    links = {link for link in Page((out / "index.html").read_text()).links if link.startswith("staff/cards/")}
    assert len(links) == 5
    assert all((out / link).is_file() for link in links)


def test_source_lines_keep_their_numbers() -> None:
    source = "\n\n/* one\n two */ __shared__ int x;\r\nint y;\n"
    counters = {"shared_wavefronts": 4.0, "shared_wavefronts_ideal": 2.0, "branches": 4.0, "divergent_branches": 1.0}
    profile = Profile(
        "a", "submission", 1, 1.0, {}, (), (Line("/x/a.cu", 4, counters), Line("/x/other.cu", 5, counters))
    )
    lines = annotate(
        source, "a.cu", SuiteResult("x", "", 1, True, Device("", "", "", 1), (), (), (), (profile, profile))
    ).lines
    assert len(lines) == 5
    assert "two" in lines[3].code
    assert lines[3].cost.conflicts.text == "2.0×"
    assert lines[3].cost.divergence.text == "25 %"
    assert [line.number for line in lines if line.cost.is_costly] == [4]


def test_compile_errors_stand_at_their_lines() -> None:
    message = 'a.cu(2): error: expected a ";"\na.cu:3:1: fatal error: x.h: No such file\nother.cu(1): error: no\n'
    lines = annotate("one\ntwo\nthree\n", "a.cu", None, message).lines
    faults = [(), (Fault('error: expected a ";"'),), (Fault("fatal error: x.h: No such file"),)]
    assert [line.faults for line in lines] == faults


def test_a_huge_source_is_cut_and_says_so() -> None:
    view = annotate("int x;\n" * 200_000, "a.cu", None)
    assert 500 < len(view.lines) < 4000
    assert sum(len(line.code) for line in view.lines) < 110_000
    assert view.notes == (
        "Only the first 200,000 of 1,399,999 characters are shown.",
        f"Only the first {len(view.lines):,} lines are shown.",
    )
    view = annotate("\n" * 10_000 + "x", "a.cu", None)
    assert view.notes == (f"Only the first {len(view.lines):,} lines are shown.",)
    assert annotate("x " * 90_000, "a.cu", None).notes == ("Only the first 0 lines are shown.",)


def test_tokens_have_their_colours() -> None:
    source = """#include <x.h>  // why
__global__ void k(const int* p, float4 v) { p[threadIdx.x] = 0x1Fu + 1'000 + .5e-3f; call("a\\"<b>", 'c', R"(raw
)"); } /* end
of it */ int after;"""
    view = annotate(source, "a.cu", None)
    lines = [str(line.code) for line in view.lines]
    assert lines == [
        '<span class="cp">#include &lt;x.h&gt;  </span><span class="c">// why</span>',
        '<span class="k">__global__</span> <span class="kt">void</span> <span class="nf">k</span>('
        '<span class="k">const</span> <span class="kt">int</span>* p, <span class="kt">float4</span> v) '
        '{ p[threadIdx.x] = <span class="m">0x1Fu</span> + <span class="m">1&#39;000</span> + '
        '<span class="m">.5e-3f</span>; call(<span class="s">&#34;a\\&#34;&lt;b&gt;&#34;</span>, '
        '<span class="s">&#39;c&#39;</span>, <span class="s">R&#34;(raw</span>',
        '<span class="s">)&#34;</span>); } <span class="c">/* end</span>',
        '<span class="c">of it */</span> <span class="kt">int</span> after;',
    ]


CHARS = 60_000
REPEATED = [
    "\n", " ", "\t", "a", "a ", "a\n", "a(", "a(\n", "a::", "a &*",
    "/*", "/**", "*/", "//", "//\\\n", "/", "\\", '"', "'",
    'R"(', 'R"x(', 'u8R"', '")', "#", "#if 0\n", " #\n", "\n #", "#define a \\\n", "1", "1e+", "1'", "0x", ".",
    "{", "}",
    "<", "a<", "template<", "case a:", "struct ", "é", "\u0301", "\u202e", "\ud800", "\r", "\x00", "\f", "\u2028",
]  # fmt: skip


@pytest.mark.parametrize("start", ["a ", "/*", 'R"x('])
@pytest.mark.parametrize("repeated", REPEATED)
def test_no_source_takes_long(start: str, repeated: str) -> None:
    source = start + repeated * (CHARS // len(repeated)) + "x"
    began = time.process_time()
    view = annotate(source, "a.cu", None)
    assert time.process_time() - began < 5
    assert sum(len(line.code) for line in view.lines) < 40 * CHARS
    text = html.unescape(re.sub("<[^>]*>", "", "\n".join(line.code for line in view.lines)))
    assert shown_block(source, 2 * CHARS).startswith(text)


def test_a_line_has_few_faults() -> None:
    message = "".join(f"a.cu(1): error: number {index}\n" for index in range(5000))
    (line,) = annotate("x", "a.cu", None, message).lines
    assert len(line.faults) == 9
    assert line.faults[-1] == Fault("and 992 more")


def test_colours_stop_when_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.pages.code_view._SECONDS", -1.0)
    view = annotate("int <x>;\nint y;", "a.cu", None)
    assert [line.code for line in view.lines] == ["int &lt;x&gt;;", "int y;"]
    assert "shown plain" in view.notes[0]


def test_a_deadline_ends_loops_and_regular_expressions() -> None:
    def loop() -> None:
        while True:
            pass

    for slow in (loop, lambda: re.match("(a+)+b", "a" * 60)):
        began = time.monotonic()
        with pytest.raises(DeadlineError, match=r"more than 0\.2 seconds"), deadline(0.2):
            slow()
        assert time.monotonic() - began < 30
    with deadline(10):
        pass
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)  # nothing comes afterwards


@pytest.mark.parametrize("fault", ["error", "slow"])
def test_a_page_that_fails_costs_that_page(
    in_checkout: Layout, submissions: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    def annotate_or_fail(source: str, *others: Any) -> Any:
        if "mallory" in source:
            assert (in_checkout.root / "out/gradebook.csv").is_file()
            if fault == "slow":
                while True:
                    pass
            raise ValueError("\x1b[31m[bold]broken")
        return annotate(source, *others)

    monkeypatch.setattr("grader.pages.cards.annotate", annotate_or_fail)
    monkeypatch.setattr("grader.pages.publish._CARD_SECONDS", 3.0)
    folder = submissions(ada="", mallory="// fail beta_two WRONG", zuse="")
    result = CliRunner().invoke(cli, ["grade", str(folder), "--no-sandbox"])
    assert result.exit_code == 3
    assert "Report card of mallory shows only the points" in result.output
    assert "\x1b" not in result.output
    out = in_checkout.root / "out"
    assert "The rest of this page could not be made" in Page(card(out, "mallory")).text
    assert "11 of 20" in Page(card(out, "mallory")).text
    assert all("Points" in Page(card(out, name)).text for name in ("ada", "zuse"))
    assert len(list((out / "staff/results/90_fake").glob("*.json"))) == 3
    assert CliRunner().invoke(cli, ["report"]).exit_code == 3
    monkeypatch.setattr("grader.pages.cards.annotate", annotate)
    assert CliRunner().invoke(cli, ["report"]).exit_code == 0
    assert "Points" in Page(card(out, "mallory")).text
