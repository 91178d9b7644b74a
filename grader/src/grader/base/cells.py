"""Makes table cells safe for spreadsheets: none is read as a formula."""

import re
import unicodedata

# Characters that programs skip before looking for a formula: separators, controls, marks, quotes.
_SKIPPED_CATEGORIES = frozenset(("Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co", "Cn", "Mn", "Mc", "Me", "Pi", "Pf", "Sk"))
_QUOTES = frozenset("\"'‚„＂＇\ufffd")
_OTHER_SEPARATORS = re.compile(r"([;|\t])")


def safe_cell(value: str) -> str:
    """Text that no spreadsheet reads as a formula: text that might start one gets an apostrophe in front.

    Full-width, small, raised and lowered forms of = + - @ count, so do dashes of every length, and all of these after
    blanks or quotes. Where a program splits cells at semicolons, a formula may begin after one. An existing apostrophe
    gets another, so that two texts never become one.
    """
    pieces = _OTHER_SEPARATORS.split(value)  # pieces alternate with separators
    return "".join(piece if index % 2 else _safe_piece(piece) for index, piece in enumerate(pieces))


def _safe_piece(value: str) -> str:
    return f"'{value}" if _may_be_formula(value) or value.startswith(("'", "\r", "\n")) else value


def _may_be_formula(value: str) -> bool:
    for char in value:
        category = unicodedata.category(char)
        if category not in _SKIPPED_CATEGORIES and char not in _QUOTES:
            return category == "Pd" or unicodedata.normalize("NFKC", char)[0] in "=+-@\u2212"
    return False


def plain_cell(cell: str) -> str:
    """The inverse of `safe_cell`."""
    return "".join(piece.removeprefix("'") for piece in _OTHER_SEPARATORS.split(cell))
