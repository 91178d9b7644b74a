"""The verdicts: one list shared by terminal, pages, tables and documents.

A judge gives one of JUDGED. The other words are the grader's, for submissions that no judge ran. Each has a tone, which
pages and terminal show as a colour and always with a glyph, so that nothing depends on colour alone.
docs/reference/verdicts.md explains them all.
"""

PASS, SLOW, HARNESS = "PASS", "SLOW", "HARNESS"
JUDGED = (
    PASS, "WRONG", "RACE", "BOUNDS", "UNINIT", "BARRIER", "TIMEOUT", "CRASH", "COMPILE", "API", SLOW, "REJECTED",
    HARNESS,
)  # fmt: skip
NOT_BEGUN = "NOT BEGUN"  # the verdict's rung still has its TODO
MISSING = "MISSING"  # nothing was handed in
NOT_DUE = "NOT DUE"  # nothing was handed in, but the deadline has not passed
EXCUSED = "EXCUSED"  # according to the course's files
INCONCLUSIVE = "INCONCLUSIVE"  # the repeats of a timing are inconclusive; the judge calls it HARNESS
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
    """The symbol shown with the colour."""
    return GLYPHS[tone(verdict)]


def place(verdict: str) -> int:
    """The sort key of a verdict, PASS first."""
    return WORDS.index(verdict) if verdict in WORDS else len(WORDS)
