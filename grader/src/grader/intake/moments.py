"""Parses times that platforms write into names and tables, in several languages: UTC in ISO 8601, or ""."""

import re
import unicodedata
from datetime import UTC, datetime, timedelta, tzinfo

# The shortest distinguishing prefixes of month names, without accents: English, German, French, Spanish, Italian,
# Portuguese, Dutch, Swedish, Danish, Polish (in the genitive, as dates have it), Finnish.
_MONTHS = (
    ("jan", "ene", "gen", "sty", "tammi"), ("feb", "fev", "lut", "helmi"), ("mar", "maa"),
    ("apr", "avr", "abr", "kwi", "huhti"), ("may", "mai", "mei", "maj", "mag", "touko"),
    ("jun", "juin", "giu", "cze", "kesa"), ("jul", "juil", "lug", "lip", "heina"), ("aug", "aou", "ago", "sie", "elo"),
    ("sep", "set", "wrz", "syys"), ("oct", "okt", "ott", "out", "paz", "loka"), ("nov", "lis", "marras"),
    ("dec", "dez", "dic", "des", "gru", "joulu"),
)  # fmt: skip
_DIGITS = re.compile(
    r"(\d{4})[-/.]?(\d\d)[-/.]?(\d\d)(?:[-_t ]*(\d\d)[-:.h]?(\d\d)(?:[-:.]?(\d\d)(?:[.,]?\d+)?)?)?"
    r"\s*(z|utc|[+-]\d\d:?\d\d)?"
)
_CLOCK = re.compile(r"(?<!\d)(\d{1,2})[:.h]?(\d\d)(?::(\d\d))?\s*([ap])?\.?\s*m?\b", re.I)
_LATE = re.compile(r"\blate\b|verspatet|zu spat|en retard|de retraso|atrasad|in ritardo|te laat|forsenad|opozni")
_UNTIL = re.compile(
    r"extension granted until|verlangert bis|prolongation.*jusqu|prorroga.*hasta|proroga.*fino|verlengd tot"
)
# The form of a time in a file name, for rules: what `moment` parses.
PATTERN = (
    r"(?:\d{14}(?:\d{3})?|\d{8}[-_T]\d{6}|\d{4}-\d\d-\d\d[-T_ ]\d\d[-:.]?\d\d(?:[-:.]\d\d)?Z?|"
    r"(?:\w{3,12}\.? \d{1,2}|\d{1,2}\.? (?:de )?\w{3,12}\.?),?(?: de)? \d{4},? "
    r"\d{1,2}[:.h]?\d\d(?::\d\d)?(?: [AP]\.?M\b\.?)?)"
)


def moment(text: str, zone: tzinfo) -> str:
    """A time as text; one without an offset is in `zone`. Anything else, or a date out of range, gives ""."""
    text = _plain(text)
    try:
        found = _DIGITS.fullmatch(text)
        at = _numbers(found) if found else _words(text)
        if at is None:
            return ""
        at = at if at.tzinfo else at.replace(tzinfo=zone)
        return at.astimezone(UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError):
        return ""


def status(text: str, zone: tzinfo) -> tuple[bool, str]:
    """Whether Moodle's Status column says late, and the date of an extension if it names one."""
    plain = _plain(text)
    until = _UNTIL.search(plain)
    state = plain[: until.start()] if until else plain
    return bool(_LATE.search(state)), moment(plain[until.end() :].strip(" :-"), zone) if until else ""


def _plain(text: str) -> str:
    """Lower case, without accents; every run of blanks as one space."""
    bare = "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
    return re.sub(r"\s+", " ", bare.casefold()).strip()


def _numbers(found: re.Match[str]) -> datetime:
    year, month, day, hour, minute, second, offset = found.groups()
    at = datetime(int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0))
    if not offset:
        return at
    sign = re.fullmatch(r"([+-])(\d\d):?(\d\d)", offset)
    shift = timedelta(hours=int(sign[2]), minutes=int(sign[3])) if sign else timedelta()
    return (at + (shift if sign and sign[1] == "-" else -shift)).replace(tzinfo=UTC)


def _words(text: str) -> datetime | None:
    """Parses "Friday, 20 November 2026, 11:00 PM" and its equivalents in other languages; None if there is no date."""
    if found := re.search(r"(\d{4})\s?[年년]\s*(\d{1,2})\s?[月월]\s*(\d{1,2})\s?[日일]\D*(?:(\d{1,2})\D(\d\d))?", text):
        year_, month_, day_, hour_, minute_ = (int(one or 0) for one in found.groups())
        return datetime(year_, month_, day_, hour_, minute_)
    year = re.search(r"(?<!\d)(\d{4})(?!\d)", text)
    if year is None:
        return None
    before, after = text[: year.start()], text[year.end() :]
    day = re.search(r"(?<!\d)(\d{1,2})(?!\d)", before)
    months = [place for word in re.findall(r"[a-z]+", before) if (place := _month(word))]
    clock = _CLOCK.search(after)
    if day is None or len(set(months)) != 1:
        return None
    hour, minute = (int(clock[1]), int(clock[2])) if clock else (0, 0)
    if clock and clock[4]:
        hour = hour % 12 + (12 if clock[4] == "p" else 0)
    return datetime(int(year[1]), months[0], int(day[1]), hour, minute, int((clock and clock[3]) or 0))


def _month(word: str) -> int:
    """1 to 12, or 0 for any other word, including days of the week."""
    if word.endswith(("day", "tag", "di", "dag", "martes", "taina")) or len(word) < 3:  # noqa: PLR2004
        return 0
    fits = [
        (len(start), place) for place, starts in enumerate(_MONTHS, 1) for start in starts if word.startswith(start)
    ]
    return max(fits)[1] if fits else 0
