"""The words for how something ended: one list, which terminal, pages, tables and documents share.

A judge says one of JUDGED. The other words are the grader's, for what no judge looked at. Each has a tone, which pages
and terminal show as a colour and always with a glyph, so that nothing is told by colour alone.
docs/reference/verdicts.md explains them all.
"""

PASS, SLOW, HARNESS = "PASS", "SLOW", "HARNESS"
JUDGED = (
    PASS, "WRONG", "RACE", "BOUNDS", "UNINIT", "BARRIER", "TIMEOUT", "CRASH", "COMPILE", "API", SLOW, "REJECTED",
    HARNESS,
)  # fmt: skip
NOT_BEGUN = "NOT BEGUN"  # the rung that the verdict is about has its TODO still
MISSING = "MISSING"  # nothing was handed in
NOT_DUE = "NOT DUE"  # nothing was handed in, and the deadline is still to come
EXCUSED = "EXCUSED"  # the course's files say so
INCONCLUSIVE = "INCONCLUSIVE"  # a time that the repeats do not decide; the judge calls it HARNESS
WORDS = (*JUDGED, NOT_BEGUN, MISSING, NOT_DUE, EXCUSED, INCONCLUSIVE)

GLYPHS = {"good": "✓", "warn": "◐", "bad": "✗", "harness": "?", "quiet": "–"}
_TONES = {
    PASS: "good",
    SLOW: "warn",
    HARNESS: "harness",
    INCONCLUSIVE: "harness",
    NOT_BEGUN: "quiet",
    MISSING: "quiet",
    NOT_DUE: "quiet",
    EXCUSED: "quiet",
}


def tone(verdict: str) -> str:
    """The colour that a verdict is shown in: good, warn, bad, harness or quiet."""
    return _TONES.get(verdict, "bad")


def glyph(verdict: str) -> str:
    """The sign that stands beside the colour."""
    return GLYPHS[tone(verdict)]


def place(verdict: str) -> int:
    """The sort key of a verdict, PASS first."""
    return WORDS.index(verdict) if verdict in WORDS else len(WORDS)
