"""Report cards and the leaderboard in a browser: students' cards and staff's, of every kind, on paper and on a phone.

The fixture `open_page` fails a test whose page writes to the console or asks for anything.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from card_gallery import EVIL, make_gallery
from conftest import make_checkout
from grader.model.verdicts import GLYPHS

pytest_plugins = ("browser",)

Open = Callable[..., Any]
Gallery = dict[str, Path]
_MOST_BYTES = 300_000
_LEAST_CONTRAST = 4.5
# A page's links and folds in the order of the keyboard: those in folds that are closed are left out.
_STOPS = """() => [...document.querySelectorAll("a[href], summary")]
    .filter(e => e.checkVisibility({contentVisibilityAuto: true}))
    .map(e => e.tagName + (e.getAttribute("href") || "") + e.textContent)"""
_WIDTHS = "() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
# Texts with too little contrast: the text's colour against the background painted under it.
_FAINT = """(least) => {
    const parse = c => (c.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
    const over = (top, under) => {
        const a = top[3] ?? 1;
        return [0, 1, 2].map(i => a * top[i] + (1 - a) * under[i]);
    };
    const light = c => {
        const [r, g, b] = c.map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const faint = new Set();
    let count = 0;
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const e = walker.currentNode.parentElement;
        if (!walker.currentNode.textContent.trim() || !e.checkVisibility() || e.closest("title")) continue;
        const layers = [];
        for (let at = e; at; at = at.parentElement) layers.unshift(parse(getComputedStyle(at).backgroundColor));
        const ground = layers.reduce((under, top) => over(top, under), [255, 255, 255]);
        const style = getComputedStyle(e);
        const ink = over(parse(e.ownerSVGElement ? style.fill : style.color), ground);
        const [high, low] = [light(ink), light(ground)].sort((a, b) => b - a);
        const ratio = (high + 0.05) / (low + 0.05);
        count += 1;
        if (ratio < least) faint.add(`${e.tagName}.${e.className.baseVal ?? e.className}: ${ratio.toFixed(2)}`);
    }
    return [count, [...faint]];
}"""


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Gallery:
    folder = tmp_path_factory.mktemp("gallery")
    return make_gallery(make_checkout(folder), folder)


def test_every_anchor_leads_somewhere(gallery: Gallery, open_page: Open) -> None:
    links = 0
    for name, path in gallery.items():
        page = open_page(path)
        hrefs = page.eval_on_selector_all("a[href]", "all => all.map(a => a.getAttribute('href'))")
        ids = page.eval_on_selector_all("[id]", "all => all.map(e => e.id)")
        assert len(ids) == len(set(ids)), f"{name} has an id twice"
        for href in hrefs:
            is_there = href[1:] in ids if href.startswith("#") else (path.parent / href).is_file()
            assert is_there, f"{name} leads to {href}, which is nowhere"
        links += len(hrefs)
        page.close()
    assert links > 500


def test_both_parties_of_a_race_point_at_each_other(gallery: Gallery, open_page: Open) -> None:
    for name in ("two parties", "staff two parties"):
        page = open_page(gallery[name])
        for here, there in ((4, 7), (7, 4)):
            assert page.locator(f"#L{here} .note").inner_text() == f"✗ race in k0 with line {there}"
            page.locator(f"#L{here} .note a").click()
            assert page.url.endswith(f"#L{there}")
            assert page.locator(f"#L{there}").bounding_box()["y"] < page.viewport_size["height"]
        # The first thing to fix marks its line, with two lines of context on both sides, and links to it.
        excerpt = page.locator(".excerpt").first
        assert excerpt.locator("tr").count() == 5
        assert excerpt.locator("tr.here .at").all_inner_texts() == ["▸ 4"]
        assert excerpt.locator("tr.here a").get_attribute("href") == "#L4"


@pytest.mark.parametrize("name", ["two parties", "staff late", "noisy", "compile", "gpu board"])
def test_the_keyboard_reaches_and_operates_everything(gallery: Gallery, open_page: Open, name: str) -> None:
    page = open_page(gallery[name])
    for _ in range(2):  # folds as they are, and then all of them open
        stops = page.evaluate(_STOPS)
        assert stops
        page.evaluate("() => { document.body.tabIndex = -1; document.body.focus(); }")  # start again
        reached = []
        for _ in stops:
            page.keyboard.press("Tab")
            text, ring = page.evaluate(
                """() => { const e = document.activeElement, s = getComputedStyle(e);
                return [e.tagName + (e.getAttribute("href") || "") + e.textContent,
                        s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 1]; }"""
            )
            assert ring, f"{text} shows no focus"
            reached.append(text)
        assert reached == stops
        for summary in page.locator("summary").all():
            if summary.evaluate("e => !e.parentElement.open && e.checkVisibility()"):
                summary.focus()
                page.keyboard.press("Enter")
                assert summary.evaluate("e => e.parentElement.open")
    link = page.locator("a[href^='#']").last
    link.focus()
    page.keyboard.press("Enter")
    assert page.url.endswith(link.get_attribute("href"))


@pytest.mark.parametrize("width", [390, 1280])
def test_no_card_scrolls_sideways_and_hostile_text_stays_text(gallery: Gallery, open_page: Open, width: int) -> None:
    for name, path in gallery.items():
        page = open_page(path, width=width)
        page.on("dialog", lambda _: pytest.fail("a script ran"))
        page.eval_on_selector_all("details", "all => all.forEach(e => e.open = true)")
        scroll, client = page.evaluate(_WIDTHS)
        assert scroll <= client == width, f"{name} is {scroll} pixels wide"
        assert page.locator("script, img, iframe, object, embed, link, form, [onerror], [onclick]").count() == 0
        text = page.locator("html").inner_text()
        assert not {"\u202e", "\x1b", "\x07"} & set(text), name
        if name in ("evil", "hostile", "staff hostile"):
            assert EVIL in text
        page.close()


@pytest.mark.parametrize("dark", [False, True])
def test_every_text_has_contrast(gallery: Gallery, open_page: Open, dark: bool) -> None:
    texts = 0
    for name in gallery.keys() - {"huge", "staff huge", "all fail", "staff all fail"}:
        page = open_page(gallery[name], dark=dark)
        page.eval_on_selector_all("details", "all => all.forEach(e => e.open = true)")
        count, faint = page.evaluate(_FAINT, _LEAST_CONTRAST)
        assert not faint, f"{name}: {faint}"
        texts += count
        page.close()
    assert texts > 2000


def test_faint_text_is_found(tmp_path: Path, open_page: Open) -> None:
    """Checks the measure itself: #767676 on white has 4.54, #777777 has 4.48."""
    (tmp_path / "page.html").write_text(
        "<!doctype html><p style='color:#767676'>a</p><p style='color:#777'>b</p>"
        "<div style='background:#0008'><i style='color:#000c'>c</i></div>"
    )
    assert open_page(tmp_path / "page.html").evaluate(_FAINT, _LEAST_CONTRAST) == [3, ["P.: 4.48", "I.: 3.98"]]


@pytest.mark.in_turn
def test_cards_are_small(gallery: Gallery) -> None:
    sizes = {name: path.stat().st_size for name, path in gallery.items()}
    largest = max(sizes, key=lambda name: sizes[name])
    assert sizes[largest] < _MOST_BYTES, f"{largest} has {sizes[largest]:,} bytes"
    assert sizes["all fail"] > 100_000, "the worst case is no longer a large one"


@pytest.mark.parametrize("name", ["full", "two parties", "slow", "all fail", "staff late", "measured"])
def test_paper_has_all_that_matters(gallery: Gallery, open_page: Open, name: str) -> None:
    page = open_page(gallery[name], width=794)
    page.emulate_media(media="print")
    assert not page.evaluate(
        """() => [...document.querySelectorAll(".criteria td, .message, .score, #first, #points, #source")]
        .filter(e => !e.closest("details.more") && !e.closest(".failure details") && !e.checkVisibility())
        .map(e => e.textContent)"""
    )
    # A closed fold says how much it contains.
    for summary in page.locator("details.more > summary").all_inner_texts():
        assert any(character.isdigit() for character in summary), summary
    scroll, client = page.evaluate(_WIDTHS)
    assert scroll <= client


def test_signs_have_words(gallery: Gallery, open_page: Open) -> None:
    """For screen readers every link, fold and picture has a name, and no symbol is read out."""
    signs = set("".join(GLYPHS.values())) - {"?", "–"} | set("■▪▸▾▴●")
    for name in ("two parties", "staff late", "measured", "slow", "missing", "board"):
        page = open_page(gallery[name])
        page.eval_on_selector_all("details", "all => all.forEach(e => e.open = true)")
        tree = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
        nodes = [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in tree if "role" in node]
        named = [(role, said) for role, said in nodes if role in ("link", "img", "image", "DisclosureTriangle")]
        assert named
        for role, said in named:
            assert said.strip(), f"{name}: a {role} without a name"
            assert not signs & set(said), f"{name}: {said}"
        page.close()


def test_nothing_is_told_by_colour_alone(gallery: Gallery, open_page: Open) -> None:
    """States with their own colours also have their own symbols; so do marked lines of code."""
    assert len(set(GLYPHS.values())) == len(GLYPHS)
    for name in ("two parties", "slow", "staff timeout", "begun", "noisy"):
        page = open_page(gallery[name])
        for step in page.locator(".strip .step").all():
            state = set(step.get_attribute("class").split()) & set(GLYPHS)
            assert step.locator("i").inner_text() == GLYPHS[state.pop()]
        for kind, sign in (("fault", "✗"), ("hot", "■"), ("warm", "▪")):
            for line in page.locator(f".code tr.{kind} .at").all_inner_texts():
                assert line.startswith(sign)
        page.close()


def test_the_first_screen(gallery: Gallery, open_page: Open) -> None:
    """The score, the device, what to fix first and its code are seen without scrolling."""
    page = open_page(gallery["two parties"])
    height = page.viewport_size["height"]
    for selector in (".score", ".facts", "#first", ".excerpt"):
        box = page.locator(selector).first.bounding_box()
        assert box["y"] + box["height"] < height, selector
    assert page.locator(".score").inner_text().split() == ["8", "+", "3", "bonus", "of", "20"]
    assert "virtual GPU, Fake <b>GPU</b> model" in page.locator(".facts").inner_text()
    assert "Real <b>GPU</b>" in open_page(gallery["measured"]).locator(".facts").inner_text()


def test_code_is_as_wide_as_the_window(gallery: Gallery, open_page: Open) -> None:
    page = open_page(gallery["evil"], width=1900)
    assert page.locator("#source").bounding_box()["width"] <= 960
    assert page.locator(".wide > .code").bounding_box()["width"] > 1800


def test_what_the_card_says_fits_its_points(gallery: Gallery, open_page: Open) -> None:
    said = {
        "full": "Every test passes, with full marks on every rung.",
        "slower": "Full marks. What is left is a bonus.",
        "noisy": "Every test passes. A time is not decided yet.",
        "missing": "Nothing was submitted.",
        "two parties": "Look first at beta_two, line 4.",
        "lost": "That is not your fault",
    }
    for name, words in said.items():
        assert words in open_page(gallery[name]).locator(".facts").inner_text().replace("\n", " "), name
    noisy = open_page(gallery["noisy"]).locator(".strip .step").nth(1)
    assert "not decided" in noisy.get_attribute("aria-label")
    assert open_page(gallery["missing"]).locator("#source").count() == 0
