"""Cleans names that strangers chose before they are shown or used in file names."""

import hashlib
import json
import re
import unicodedata
from functools import lru_cache

_LONGEST = 120
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_MARKS = {"Mn", "Me"}
_MOST_MARKS = 4  # per character: no script needs more, and a hundred would cover the lines above
# Letters, a symbol and marks that are invisible.
_BLANK = set("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_LOST = "\ufffd"


_SUSPECT = re.compile(r"[^\x20-\x7e]+")


def shown(text: str, longest: int = _LONGEST) -> str:
    """One line of `text` that can't reorder, hide or break the text around it.

    Control, format (bidirectional overrides among them), blank and undecodable characters become U+FFFD, and so do
    marks beyond the fourth on one character.
    """
    clean = _clean(text[: 4 * longest], "").strip()
    return clean if len(clean) <= longest else clean[: longest - 1] + "…"


def shown_block(text: str, longest: int) -> str:
    """Several lines made fit to show: as `shown`, with line feeds and tabs kept, cut at `longest` characters."""
    clean = _clean(text[: 2 * longest + 2].replace("\r\n", "\n")[: longest + 1], "\n\t")
    return clean if len(clean) <= longest else clean[:longest] + "\n… (cut here)"


def _clean(text: str, kept: str) -> str:
    return _SUSPECT.sub(lambda run: _clean_run(run[0], kept), text)


def _clean_run(run: str, kept: str) -> str:
    clean, marks = [], 0
    for char in run:
        category = unicodedata.category(char)
        marks = marks + 1 if category in _MARKS else 0
        is_seen = char in kept or (category not in _UNSEEN and char not in _BLANK and marks <= _MOST_MARKS)
        clean.append(char if is_seen else _LOST)
    return "".join(clean)


def distinct(name: str, original: str) -> str:
    """`name`, the displayed form of `original`, with a hash of the original appended if they differ.

    Two names may read alike once they are cleaned or cut.
    """
    return name if name == original else f"{name} {fingerprint(original)}".strip()


def safe_json(document: object) -> str:
    """JSON in which every character that `shown` would replace is written as an escape."""
    text = json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False)
    return re.sub(r"[^\n\x20-\x7e]+", lambda run: "".join(map(_escaped, run[0])), text)


def _escaped(char: str) -> str:
    if not (unicodedata.category(char) in _UNSEEN or char in _BLANK):
        return char
    return "\\u007f" if char == "\x7f" else json.dumps(char)[1:-1]


def fingerprint(text: str, digits: int = 8) -> str:
    """The first hexadecimal digits of the text's SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:digits]


def slug(text: str) -> str:
    """A file name's stem for `text`: lower-case ASCII, and a short hash that keeps different names apart."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    words = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:40].strip("-")
    return f"{words}-{fingerprint(text)}" if words else fingerprint(text)


@lru_cache(maxsize=1 << 16)
def tokens(text: str) -> frozenset[str]:
    """The words of a person's name, without accents, case or order, to compare spellings."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)).casefold()
    return frozenset(re.findall(r"\w+", plain.replace("_", " ")))
