"""Markdown: finds and replaces the links of a page, and finds its headings and anchors."""

import re
from collections.abc import Callable
from pathlib import Path

# [text](target#anchor), ![text](target), and the attributes of HTML in Markdown.
_LINK = re.compile(
    r"""(?P<before>\]\(|\b(?:src|srcset|href)=")(?P<target>[^)\s"#]*)(?P<anchor>\#[^)\s"]*)?(?P<after>\)|")"""
)
_NOTES = re.compile(r"^(\s*(?:```|~~~)[\w-]+) .*$", re.MULTILINE)
_FENCE = re.compile(r"^\s*(```|~~~)")
_HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*$")
_ELSEWHERE = re.compile(r"^[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def replace(text: str, new: Callable[[str, str], str]) -> str:
    """The text with each link's target, anchor included, replaced by what new(target, anchor) returns.

    Code and addresses of other places on the net stay as they are.
    """

    def one(match: re.Match[str]) -> str:
        target, anchor = match["target"], match["anchor"] or ""
        if _ELSEWHERE.match(target):
            return match[0]
        return f"{match['before']}{new(target, anchor)}{match['after']}"

    def outside_code(line: str) -> str:
        # Every second piece is code, between backticks.
        pieces = re.split(r"(`[^`]*`)", line)
        if len(pieces) == 1:
            return _LINK.sub(one, line)
        # A link's text may be code. The link's brackets are outside it, so each piece can be searched by itself.
        return "".join(piece if index % 2 else _LINK.sub(one, piece) for index, piece in enumerate(pieces))

    return "".join(line if code else outside_code(line) for code, line in _lines(text))


def targets(text: str) -> list[tuple[str, str]]:
    """Target and anchor of each link, in order; the target is empty where the link stays on the page."""
    found = []

    def note(target: str, anchor: str) -> str:
        found.append((target, anchor.removeprefix("#")))
        return target + anchor

    replace(text, note)
    return found


def headings(text: str) -> list[tuple[int, str]]:
    """Level and text of each heading."""
    matches = (_HEADING.match(line) for code, line in _lines(text) if not code)
    return [(len(match[1]), match[2]) for match in matches if match]


def title(path: Path) -> str:
    """The page's first heading, without its marks for code."""
    for level, text in headings(path.read_text(encoding="utf-8")):
        if level == 1:
            return text.replace("`", "")
    raise ValueError(f"{path} has no heading of level 1, which is its name in the navigation")


def anchors(text: str) -> set[str]:
    """The anchors that links to the page may use."""
    found: set[str] = set()
    for _, heading in headings(text):
        slug, number = _slug(heading), 0
        while (name := f"{slug}_{number}" if number else slug) in found:
            number += 1
        found.add(name)
    return found


def plain_blocks(text: str) -> str:
    """Code blocks with the language alone; the words after it are for our tests only."""
    return _NOTES.sub(r"\1", text)


def _slug(heading: str) -> str:
    """A heading's anchor, by the rule of GitHub and of the site."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    return re.sub(r"[^\w\- ]", "", plain.lower()).strip().replace(" ", "-")


def _lines(text: str) -> list[tuple[bool, str]]:
    """Each line with its end, and whether it belongs to a block of code."""
    inside = False
    found = []
    for line in text.splitlines(keepends=True):
        fence = _FENCE.match(line) is not None
        found.append((inside or fence, line))
        inside ^= fence
    return found
