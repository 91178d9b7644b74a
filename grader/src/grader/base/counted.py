"""Numbers that agree with their nouns. Only the standard library is used here: students run it."""

from collections.abc import Sequence


def counted(number: int, one: str, many: str = "") -> str:
    """Formatted as "1 test", "1,024 tests", "2 copies"; `many` is needed if the plural is not `one` with an s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def joined(words: Sequence[str]) -> str:
    """Joins words: "a, b and c"."""
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)


def listed(names: Sequence[str], most: int = 25) -> str:
    """The first `most` names and how many more there are; "Lovelace, Ada" makes the separator a semicolon."""
    separator = "; " if any("," in name for name in names) else ", "
    shown = separator.join(names[:most])
    return f"{shown} and {len(names) - most:,} more" if len(names) > most else shown
