"""Numbers that agree with their nouns. Only the standard library is used here: students run it."""


def counted(number: int, one: str, many: str = "") -> str:
    """As in "1 test", "1,024 tests", "2 copies"; `many` where the plural is not `one` with an s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
