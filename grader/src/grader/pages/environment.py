"""The Jinja environment that all pages share: it escapes everything that a student wrote."""

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from grader.base.names import shown
from grader.model.picture import of_sm
from grader.model.score import plain, points_text
from grader.model.verdicts import GLYPHS, glyph, tone
from grader.pages.chart import microseconds_text


@cache
def make_environment(templates: Path) -> Environment:
    """Loads templates from a folder, with the filters that all pages need; each is compiled once per process."""
    environment = Environment(
        loader=FileSystemLoader(templates),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "points": points_text,
        "plain": plain,
        "shown": shown,
        "tone": tone,
        "glyph": glyph,
        "sign": GLYPHS.__getitem__,
        "time": microseconds_text,
        "sm": of_sm,
        "when": lambda text: text.replace("T", " ").replace("+00:00", " UTC"),
    }
    return environment
