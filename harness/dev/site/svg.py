"""A drawing as SVG text for light and dark: shapes have classes, and one style sheet has their colours."""

import re
from html import escape

# Each colour in light and in dark. Pictures have their own background, so a page in the other mode does not hide them.
COLOURS = {
    "ground": ("#ffffff", "#161b22"),
    "text": ("#24292f", "#e6edf3"),
    "note": ("#57606a", "#9198a1"),
    "line": ("#d0d7de", "#3d444d"),
    "blue": ("#0969da", "#58a6ff"),
    "orange": ("#bc4c00", "#f0883e"),
    "grey": ("#6e7781", "#8b949e"),
    "green": ("#1a7f37", "#3fb950"),
    "red": ("#cf222e", "#f85149"),
    "yellow": ("#9a6700", "#d29922"),
}


def _style(shapes: str) -> str:
    """The rules of the classes that the shapes have."""
    used = {name for names in re.findall('class="([^"]*)"', shapes) for name in names.split()}

    def rules(mode: int) -> str:
        found = [f"text {{ fill: {COLOURS['text'][mode]}; }}"]
        for name, colours in COLOURS.items():
            fill, ground = colours[mode], COLOURS["ground"][mode]
            for kind, rule in (
                (name, f"fill: {fill};"),
                (f"{name}-line", f"stroke: {fill}; fill: none;"),
                (f"{name}-ring", f"stroke: {fill}; fill: {ground};"),
            ):
                if kind in used:
                    found.append(f".{kind} {{ {rule} }}")
        return " ".join(found)

    shared = (
        "text { font: 13px system-ui, -apple-system, 'Segoe UI', sans-serif; } .bold { font-weight: 600; } "
        ".small { font-size: 12px; } "
        ".mono { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 12px; }\n"
        "line.blue-line, line.orange-line, line.grey-line, line.text-line { stroke-width: 2; } "
        ".blue-ring, .orange-ring, .grey-ring { stroke-width: 2; } .tint { fill-opacity: 0.16; }\n"
    )
    return f"{shared}{rules(0)}\n@media (prefers-color-scheme: dark) {{ {rules(1)} }}"


def in_rows(shapes: str) -> list[str]:
    """Several shapes per line: a line for each would make changes no easier to read."""
    pieces = re.split(r"(?<=>)(?=<(?!/))", shapes)
    return ["".join(pieces[at : at + 20]) for at in range(0, len(pieces), 20)]


def number(value: float) -> str:
    """A coordinate as text, the same on every machine."""
    return f"{value:.1f}".removesuffix(".0")


class Drawing:
    """Shapes in order; the last ones lie on top."""

    def __init__(self, width: float, height: float, title: str, description: str) -> None:
        """An empty drawing; title and description are for those who can't see it."""
        self._head = (width, height, title, description)
        self._shapes: list[str] = []

    def text(self, x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> None:
        """Words whose base line starts, ends or is centred at x."""
        classes = f' class="{kind}"' if kind else ""
        place = "" if anchor == "start" else f' text-anchor="{anchor}"'
        self._shapes.append(
            f'<text x="{number(x)}" y="{number(y)}"{classes}{place}>{escape(words, quote=False)}</text>'
        )

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str, dashes: str = "") -> None:
        """A straight line."""
        dash = f' stroke-dasharray="{dashes}"' if dashes else ""
        ends = f'x1="{number(x1)}" y1="{number(y1)}" x2="{number(x2)}" y2="{number(y2)}"'
        self._shapes.append(f'<line {ends} class="{kind}"{dash}/>')

    def dot(self, x: float, y: float, radius: float, kind: str) -> None:
        """A disc, or a ring where the kind is one."""
        self._shapes.append(f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(radius)}" class="{kind}"/>')

    def box(self, x: float, y: float, width: float, height: float, kind: str, corner: float = 0) -> None:
        """A rectangle."""
        rounded = f' rx="{number(corner)}"' if corner else ""
        size = f'width="{number(width)}" height="{number(height)}"'
        self._shapes.append(f'<rect x="{number(x)}" y="{number(y)}" {size}{rounded} class="{kind}"/>')

    def band(self, corners: list[tuple[float, float]], kind: str) -> None:
        """A filled polygon."""
        points = " ".join(f"{number(x)},{number(y)}" for x, y in corners)
        self._shapes.append(f'<polygon points="{points}" class="{kind}"/>')

    def written(self) -> str:
        """The file."""
        width, height, title, description = self._head
        size = f'width="{number(width)}" height="{number(height)}" viewBox="0 0 {number(width)} {number(height)}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="t d">'
        ground = f'<rect width="{number(width)}" height="{number(height)}" rx="8" class="ground"/>'
        shapes = "".join([ground, *self._shapes])
        lines = [
            head,
            f'<title id="t">{escape(title)}</title>',
            f'<desc id="d">{escape(description)}</desc>',
            f"<style>\n{_style(shapes)}\n</style>",
            *in_rows(shapes),
            "</svg>",
        ]
        return "\n".join(lines) + "\n"
