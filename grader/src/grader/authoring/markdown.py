"""Tables and numbers of the documentation's generated pages."""

from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[str]], text: int = 1) -> list[str]:
    """The lines of a table in Markdown; the first `text` columns are words, the others numbers."""
    return [
        "| " + " | ".join(head) + " |",
        "|" + "---|" * text + "---:|" * (len(head) - text),
        *("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows),
    ]


def grouped(number: float) -> str:
    """A whole number with its digits in groups of three."""
    return f"{number:,.0f}".replace(",", " ")
