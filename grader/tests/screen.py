"""A terminal in small: what stands on the screen after a program has drawn on it, with what scrolled out above."""

import re

from rich.cells import cell_len

_ESCAPE = re.compile(r"\x1b\[(\?)?([\d;]*)([A-Za-z])")


class Screen:
    """Knows what rich uses: colours, moving up, clearing a line. Anything else that is no text is an error."""

    def __init__(self, columns: int = 80, rows: int = 24) -> None:
        self.columns, self.rows = columns, rows
        self.lines: list[list[str]] = [[]]
        self.row = self.column = 0
        self.broken: list[str] = []  # lines that ran over the right edge
        self.has_colours = False

    def feed(self, text: str) -> None:
        at = 0
        while at < len(text):
            escape = _ESCAPE.match(text, at)
            if escape:
                self._obey(*escape.groups())
                at = escape.end()
                continue
            self._put(text[at])
            at += 1

    def text(self) -> str:
        return "\n".join("".join(line).rstrip() for line in self.lines).rstrip()

    def _obey(self, private: str | None, numbers: str, what: str) -> None:
        if private or what == "m":
            self.has_colours |= what == "m" and bool(re.search(r"(^|;)(3|9)[0-7](;|$)", numbers))
            return
        number = int(numbers or 1) if what in "ABCD" else int(numbers or 0)
        if what == "A":
            assert number < self.rows, "moves up over the edge of the screen, where nothing can be redrawn"
            self.row = max(0, self.row - number)
        elif what == "B":
            self.row += number
        elif what == "K":
            line = self.lines[self.row]
            del line[0 if number == 2 else self.column :]
        else:
            raise AssertionError(f"an escape that this terminal does not know: {private}{numbers}{what}")

    def _put(self, char: str) -> None:
        if char == "\n":
            self.row += 1
            while len(self.lines) <= self.row:
                self.lines.append([])
            return
        if char == "\r":
            self.column = 0
            return
        assert char.isprintable(), f"a control character: {char!r}"
        width = cell_len(char)
        line = self.lines[self.row]
        if self.column + width > self.columns:
            self.broken.append("".join(line))
            self.column = 0
            self._put("\n")
            line = self.lines[self.row]
        line += [" "] * (self.column - len(line))
        line[self.column : self.column + width] = [char, *[""] * (width - 1)]
        self.column += width
