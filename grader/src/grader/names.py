"""Names that strangers chose, made fit to show and to use in file names."""

import hashlib
import re
import unicodedata

_LONGEST = 120
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def shown(text: str, longest: int = _LONGEST) -> str:
    """One line of `text` that can't reorder, hide or break what stands beside it.

    Control, format (bidirectional overrides among them) and undecodable characters become U+FFFD.
    """
    clean = "".join("\ufffd" if unicodedata.category(char) in _UNSEEN else char for char in text).strip()
    return clean if len(clean) <= longest else clean[: longest - 1] + "…"


def shown_block(text: str, longest: int) -> str:
    """Several lines made fit to show: as `shown`, with line feeds and tabs kept, cut at `longest` characters."""
    text = text.replace("\r\n", "\n")
    clean = "".join(
        char if char in "\n\t" or unicodedata.category(char) not in _UNSEEN else "\ufffd"
        for char in text[: longest + 1]
    )
    return clean if len(clean) <= longest else clean[:longest] + "\n… (cut here)"


def fingerprint(text: str, digits: int = 8) -> str:
    """The first hexadecimal digits of the text's SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:digits]


def slug(text: str) -> str:
    """A file name's stem for `text`: lower-case ASCII, and a short hash that keeps different names apart."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    words = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:40].strip("-")
    return f"{words}-{fingerprint(text)}" if words else fingerprint(text)


def tokens(text: str) -> frozenset[str]:
    """The words of a person's name, without accents, case or order: what two spellings of it share."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)).casefold()
    return frozenset(re.findall(r"\w+", plain.replace("_", " ")))
