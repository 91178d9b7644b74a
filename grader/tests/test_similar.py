"""Similar submissions: what counts as a pair, hostile sources, and the pages."""

import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from conftest import ROOT, hidden_entries
from grader.base.layout import Layout
from grader.commands.cli import cli
from grader.model.assignment import load_assignment
from grader.model.similarity import Pair, identical, similar_pairs, tokenise
from grader.pages.environment import make_environment
from grader.pages.similar import Likeness, SimilarPages, Work
from test_grade import grade

pytest_plugins = ("browser",)

EVIL = "<script>alert('name')</script>"
_TEMPLATES = ROOT / "templates"
_RIGHT = sorted(ROOT.glob("reference/*/right/*.cu"))
_CLASS_SECONDS = 6.0  # 200 submissions of two assignments; measured: 4.5 s on a busy machine
_CLASS_LOOPS = 11.0  # the same limit where Python is slower: as many times a plain loop
_HOSTILE_SECONDS = 5.0  # measured: at most 1 s


def source(path: str) -> str:
    return (ROOT / "reference" / path).read_text(encoding="utf-8")


def stub_of(assignment: str) -> str:
    loaded = load_assignment(ROOT / "assignments" / assignment)
    return (loaded.path.parent / loaded.submission).read_text(encoding="utf-8")


def pairs(*sources: str, stub: str = "", least: float = 0.5) -> list[Pair]:
    return similar_pairs([tokenise(one) for one in sources], tokenise(stub) if stub else None, least)


def disguised(text: str) -> str:
    """The same code with other names, comments and layout."""
    known = {"if", "for", "int", "float", "return", "void", "const", "extern", "template", "typename"}

    def other(match: re.Match[str]) -> str:
        word = match[0]
        return word if word in known or word.startswith(("_", "cuda", "atomic")) or len(word) < 3 else f"my_{word}"

    text = re.sub(r"//[^\n]*", "// mine", text)
    body = re.sub(r"(?m)^(?!#).*$", lambda line: re.sub(r"\b[a-z]\w*\b", other, line[0]), text)
    return body.replace("    ", "\t").replace("{\n", "\n{\n")


def test_a_copy_with_other_names_and_layout_is_found() -> None:
    right = source("05_scan/right/shuffles.cu")
    found = pairs(right, disguised(right), source("05_scan/right/textbook.cu"), stub=stub_of("05_scan"))
    assert [(one.first, one.second) for one in found] == [(0, 1)]
    assert found[0].share > 0.75
    assert found[0].regions[0].first[0] > 1


def test_a_part_that_was_copied_is_found() -> None:
    one, other = source("06_transpose/right/" + _names("06_transpose")[0]), source("05_scan/right/textbook.cu")
    lines = one.splitlines()
    (found,) = pairs(one, other + "\n".join(lines[len(lines) // 4 :]), least=0.5)
    assert found.first_share > 0.5 > found.second_share


def _names(assignment: str) -> list[str]:
    return [path.name for path in _RIGHT if path.parts[-3] == assignment]


@pytest.mark.parametrize("assignment", sorted({path.parts[-3] for path in _RIGHT}))
def test_right_designs_of_one_task_are_no_pairs(assignment: str) -> None:
    texts = [source(f"{assignment}/right/{name}") for name in _names(assignment)]
    found = pairs(*texts, stub=stub_of(assignment))
    assert len(texts) >= 8
    for one in found:  # what is listed is one file that was changed in places
        first, second = ({line.strip() for line in texts[index].splitlines()} for index in (one.first, one.second))
        assert len(first & second) > 0.6 * min(len(first), len(second))
    assert len(found) <= len(texts) / 4


def test_code_of_the_stub_counts_for_nothing() -> None:
    stub = source("04_reduction/right/atomic_per_block.cu")
    own = "__global__ void {0}(int *p) {{ for (int i = 0; i < {1}; i++) p[i] = i {2} 3; }}\n"
    assert pairs(stub + own.format("a", 5, "+"), stub + own.format("b", 7, "%"), stub=stub) == []
    assert pairs(stub + own.format("a", 5, "+"), stub + own.format("b", 7, "%"))  # if no stub is named, they are a pair


def test_what_many_have_is_left_out() -> None:
    shared = source("04_reduction/right/atomic_per_block.cu")
    assert pairs(*(shared + f"int x{index}[] = {{{'1, ' * index} 0}};" for index in range(20))) == []


def test_identical_means_the_same_tokens() -> None:
    files = ["int a; // one", "int  a;\n", "int b;", "// nothing", "", "int stub;", "/* x */ int stub ;"]
    assert identical([tokenise(one) for one in files], tokenise("int stub;")) == [[0, 1]]


_UNIT = "a+b-c*d%e&f|g^h(i)j{k}l[m]n;o<p>q=r!s~t,u?v:w.x"
_HOSTILE = {
    "raw strings": 'R"(' * 40_000,
    "open comments": "/*" * 60_000,
    "open texts": '"\\' * 60_000,
    "directives": "#   " * 30_000,
    "one directive": "#" + " " * 110_000,
    "digits": "1'a" * 40_000,
    "points": "." * 110_000,
    "a unit over and over": _UNIT * 2_500,
    "a table": "int t[] = {" + "1, 2, 3, -4, " * 9_000 + "};",
    "line feeds": "a\n" * 60_000,
}


@pytest.mark.parametrize("kind", _HOSTILE)
def test_no_source_takes_long(kind: str) -> None:
    start = time.process_time()
    text = _HOSTILE[kind]
    pairs(text, f"x+y;{text}", f"{_UNIT}{text}{_UNIT}", least=0.1)
    assert time.process_time() - start < _HOSTILE_SECONDS


def test_time_grows_with_the_file_and_not_with_its_square() -> None:
    def seconds(text: str) -> float:
        start = time.process_time()
        tokenise(text)
        return time.process_time() - start

    for text in _HOSTILE.values():
        short, long = (min(seconds(text[:size]) for _ in range(3)) for size in (10_000, 80_000))
        assert long < 8 * 4 * max(short, 0.002)  # its square would be 64 times as much


def work(name: str, text: str, *people: str, folder: str = "") -> Work:
    return Work(name, folder or name, frozenset((True, "sid", one) for one in people or (name,)), text)


def compared(out: Path, *submissions: Work) -> Likeness:
    assignment = load_assignment(ROOT / "assignments/05_scan")
    pages = SimilarPages(make_environment(_TEMPLATES), out, 0.5)
    likeness = pages.add(assignment, submissions)
    pages.finish(["state"])
    return likeness


def test_attempts_of_one_student_and_members_of_a_team_are_no_pair(tmp_path: Path) -> None:
    right = source("05_scan/right/shuffles.cu")
    changed = right.replace("+", "-", 3)
    assert compared(tmp_path, work("Ada", right), work("Ada", changed, folder="Ada-1")).pairs == ()
    assert compared(tmp_path, work("Ada", right, "Ada", "Bo"), work("Bo", changed, "Bo")).pairs == ()
    assert compared(tmp_path, work("Ada", right), work("Ada", right, folder="Ada-1")).groups == ()
    likeness = compared(
        tmp_path, work("Ada", right), work("Ada", right, folder="x"), work("Bo", right), work("Cy", changed)
    )
    assert likeness.groups == (("Ada", "Bo"),)
    (alike,) = likeness.pairs
    assert (alike.first, alike.first_more, alike.second) == ("Ada", 2, "Cy")
    # Ada's other attempt is like Bo's, not like her own.
    (alike,) = compared(tmp_path, work("Ada", right), work("Bo", right), work("Ada", changed, folder="y")).pairs
    assert (alike.first, alike.second) == ("Bo", "Ada")


def _plain_loop() -> float:
    start, total = time.process_time(), 0
    for number in range(10_000_000):
        total += number * number % 7
    assert total
    return time.process_time() - start


@pytest.mark.daily
def test_a_class_of_200_takes_seconds(tmp_path: Path) -> None:
    loop = _plain_loop()
    start = time.process_time()
    pages = SimilarPages(make_environment(_TEMPLATES), tmp_path, 0.5)
    entries = hidden_entries()
    for name in ("04_reduction", "05_scan"):
        found = {str(path): path.read_bytes() for path in (ROOT / "reference" / name).glob("*/*.cu")}
        found |= {path: source for path, source in entries.items() if name in path}
        files = [found[path].decode() for path in sorted(found)]
        texts = [files[index % len(files)] + f"int own_{index}[{index}];\n" * index for index in range(200)]
        likeness = pages.add(
            load_assignment(ROOT / "assignments" / name),
            [work(f"Student {index}", text) for index, text in enumerate(texts)],
        )
        assert likeness.submissions == 200
    pages.finish([])
    assert time.process_time() - start < max(_CLASS_SECONDS, _CLASS_LOOPS * loop)
    assert sum(path.stat().st_size for path in tmp_path.rglob("*.html")) < 60_000_000


@pytest.fixture
def graded(in_checkout: Layout, submissions: Callable[..., Path]) -> Path:
    right = source("05_scan/right/shuffles.cu").replace('"', "")
    folder = submissions(ada=right, grace=f"// hers\n{right.replace('+', '-', 3)}", alan="int other;")
    twin = folder / "mallory"
    twin.mkdir()
    (twin / "ladder.cu").write_text((folder / "ada" / "ladder.cu").read_text() + f"// {EVIL}\n")
    (folder / "roster.csv").write_text(f'name,sid\nada,1\ngrace,2\nalan,3\n"{EVIL}",mallory\n')
    result = CliRunner().invoke(cli, ["grade", str(folder), "--no-sandbox"])
    assert result.exit_code == 0, result.output
    return in_checkout.root / "out"


def test_the_command_lists_pairs_and_writes_pages(graded: Path) -> None:
    page = graded / "staff/similar.html"
    assert "have not been compared yet" in page.read_text()
    assert 'href="staff/similar.html"' in (graded / "index.html").read_text()
    result = CliRunner().invoke(cli, ["similar"])
    assert result.exit_code == 0, result.output
    assert "4 submissions, 1 group with the same code, 1 pair to look at" in " ".join(result.output.split())
    assert str(page) in result.output.replace("\n", "") or "out/staff/similar.html" in result.output
    assert "have not been compared yet" not in page.read_text()
    assert len(list(graded.glob("staff/similar/90_fake/*.html"))) == 1
    assert CliRunner().invoke(cli, ["report"]).exit_code == 0
    assert "have not been compared yet" not in page.read_text()  # nothing has changed
    assert CliRunner().invoke(cli, ["report", "--anonymous"]).exit_code == 0
    assert "have not been compared yet" in page.read_text()  # and no name is left
    assert list(graded.glob("staff/similar/*/*")) == []
    assert CliRunner().invoke(cli, ["similar"]).exit_code == 0
    shown = page.read_text() + "".join(path.read_text() for path in graded.glob("staff/similar/*/*"))
    assert "grace" not in re.sub(r"// who \w+", "", shown)
    high = CliRunner().invoke(cli, ["similar", "--threshold", "100"])
    assert "0 pairs to look at" in " ".join(high.output.split())


def test_without_results_it_says_what_to_type(in_checkout: Layout) -> None:
    result = CliRunner().invoke(cli, ["similar", "--out", "nowhere"])
    assert result.exit_code != 0
    assert "has no results yet" in str(result.exception)


def test_the_pages_in_a_browser(graded: Path, open_page: Callable[..., Any]) -> None:
    assert CliRunner().invoke(cli, ["similar"]).exit_code == 0
    page = open_page(graded / "staff/similar.html")
    assert EVIL in page.inner_text("main")
    assert page.locator("script").count() == 0
    page.locator("a", has_text="side by side").click()
    page.wait_for_load_state()
    assert page.locator(".side").count() == 2
    assert page.locator("script").count() == 0
    page.locator(".jump a").first.click()
    assert page.evaluate("document.querySelector(':target').id") == "a1"
    page.locator("#a1 .which a").click()
    assert page.evaluate("document.querySelector(':target').id") == "b1"
    for width in (390, 1280):
        narrow = open_page(Path(page.url.partition("#")[0].removeprefix("file://")), width=width)
        assert narrow.evaluate("document.documentElement.scrollWidth") <= width
    page.locator(".eyebrow a").click()
    page.wait_for_load_state()
    assert page.url.endswith("similar.html#90_fake")


@pytest.mark.parametrize("before", ["// nothing\n" * 12_000, "/*" + "x " * 60_000 + "*/\n", "int v;\n" * 16_000])
def test_a_copy_behind_a_long_beginning_is_found_and_shown(tmp_path: Path, before: str) -> None:
    copied = (ROOT / "reference/05_scan/scan.cu").read_text()
    likeness = compared(tmp_path, work("ada", copied), work("grace", before + copied))
    assert [(one.first, one.second) for one in likeness.pairs] == [("ada", "grace")] or likeness.groups
    for alike in likeness.pairs:
        text = (tmp_path / alike.page).read_text()
        assert text.count('class="line') < 9000
        assert str(before.count("\n") + 20) in text


def test_an_earlier_class_is_compared_with_this_one_and_not_with_itself(tmp_path: Path) -> None:
    copied = (ROOT / "reference/05_scan/scan.cu").read_text()
    other = "int v;\n" * 9 + copied
    old = [replace(work(name, text), is_earlier=True) for name, text in (("x (2025)", copied), ("y (2025)", other))]
    likeness = compared(tmp_path, *old)
    assert (likeness.pairs, likeness.groups, likeness.submissions) == ((), (), 0)
    likeness = compared(tmp_path, work("ada", other + "int w;\n"), *old)
    assert {name for one in likeness.pairs for name in (one.first, one.second)} == {"ada", "x (2025)", "y (2025)"}
    likeness = compared(tmp_path, work("ada", copied), *old)
    assert likeness.groups == (("ada", "x (2025)"),)


def test_the_command_takes_results_and_submissions_of_earlier_years(
    in_checkout: Layout, submissions: Callable[..., Path], tmp_path: Path
) -> None:
    body = "".join(
        f"__global__ void k{i}(int* a) {{ a[{i}] = a[{i} + 1] * {i}; if (a[{i}] > {i}) a[0]++; }}\n" for i in range(9)
    )
    assert grade(submissions(ada=body), "--out", "now").exit_code == 0
    assert grade(submissions(grace=body + "int x;\n"), "--out", "then").exit_code == 0
    (tmp_path / "older/zoe").mkdir(parents=True)
    (tmp_path / "older/zoe/ladder.cu").write_text(body + "int y;\n")
    command = ["similar", "--out", "now", "--earlier", "then", "--earlier", str(tmp_path / "older")]
    told = CliRunner().invoke(cli, command)
    assert told.exit_code == 0, told.output
    assert "ada and grace (then)" in told.output
    assert "ada and zoe (older)" in told.output
    assert "grace (then) and" not in told.output
