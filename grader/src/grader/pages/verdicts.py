"""How verdicts look on every page: each has a colour and a glyph, so that nothing is told by colour alone."""

from grader.model.record import NOT_BEGUN
from grader.model.result import INCONCLUSIVE

_TONES = {
    "PASS": "good",
    "SLOW": "warn",
    "HARNESS": "harness",
    INCONCLUSIVE: "harness",
    "MISSING": "quiet",
    "EXCUSED": "quiet",
    NOT_BEGUN: "quiet",
}
GLYPHS = {"good": "✓", "warn": "◐", "bad": "✗", "harness": "?", "quiet": "–"}


def tone(verdict: str) -> str:
    """The colour that a verdict is shown in."""
    return _TONES.get(verdict, "bad")


def glyph(verdict: str) -> str:
    """The sign that stands beside the colour."""
    return GLYPHS[tone(verdict)]
