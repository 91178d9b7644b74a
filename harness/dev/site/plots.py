"""The plots of docs/figures, drawn from the tables of the pages on record; no figure is typed here.

Each is one SVG for light and dark. It is written here and not by a plotting library: the same bytes come out on every
machine, so that a test can compare them, and the reader's own fonts and mode are used.
"""

import math
from collections.abc import Callable, Iterable
from pathlib import Path

from svg import Drawing
from tables import Row, TableError, figure, section, table, tables

ROOT = Path(__file__).resolve().parents[3]
RECORDS = ROOT / "docs" / "records"
FIGURES = ROOT / "docs" / "figures"
WIDTH = 620.0
_RIGHT = 600.0  # where axes end
_ROW = 30.0
_WHOLE = 100


def _log_scale(low: float, high: float, left: float, right: float) -> Callable[[float], float]:
    """A value's position on a logarithmic axis between two powers of ten."""
    width = (right - left) / (math.log10(high) - math.log10(low))
    return lambda value: left + (math.log10(value) - math.log10(low)) * width


def _decades(low: float, high: float) -> list[float]:
    return [10.0**power for power in range(round(math.log10(low)), round(math.log10(high)) + 1)]


def _time(microseconds: float) -> str:
    milliseconds = microseconds / 1000
    return f"{milliseconds:g} ms" if milliseconds >= 1 else f"{microseconds:g} µs"


def _needed(row: Row, column: str, page: str) -> float:
    value = figure(row[column])
    if value is None:
        raise TableError(
            f"{page}: '{column}' of {next(iter(row.values()))} is empty; harness/dev/site/plots.py draws it"
        )
    return value


def ladder() -> str:
    """Each rung of two ladders: times on the course's GPU and on an H200, beside what the virtual GPU says of both."""
    page = RECORDS / "gpu-ladders.md"
    old, old_model = "G80 published, ms", "G80 modelled, ms"
    new, new_model = "µs", "H200 modelled, µs"
    columns = ("rung", old, old_model, new, new_model)
    panels = [(name, table(page, name, columns)) for name in ("The reduction ladder", "The transpose ladder")]
    left, low, high = 176.0, 1.0, 10000.0
    at = _log_scale(low, high, left, _RIGHT)
    height = 70 + sum(68 + _ROW * len(rows) for _, rows in panels)
    drawing = Drawing(
        WIDTH,
        height,
        "The ladders: measured times and the virtual GPU's",
        "For each rung of the reduction and the transpose: the time on a GeForce 8800 that the course published and "
        "the one that the virtual GPU models, and the time measured on an H200 and the one modelled for it.",
    )
    legend = (("orange", "GeForce 8800, published"), ("blue", "H200, measured"))
    for index, (colour, words) in enumerate(legend):
        drawing.dot(24 + 292 * index, 24, 5, f"{colour}-ring")
        drawing.text(36 + 292 * index, 28.5, words)
        drawing.dot(24 + 292 * index, 46, 5, colour)
        drawing.text(36 + 292 * index, 50.5, "the same, modelled by the virtual GPU", "note")
    top = 66.0
    for name, rows in panels:
        drawing.text(16, top + 20, name, "bold")
        first, last = top + 50, top + 50 + _ROW * len(rows)
        for decade in _decades(low, high):
            drawing.line(at(decade), first, at(decade), last, "line-line")
            drawing.text(at(decade), top + 42, _time(decade), "note small", "end" if decade == high else "middle")
        for index, row in enumerate(rows):
            y = first + _ROW * (index + 0.5)
            drawing.text(16, y + 4, row["rung"].strip("`"), "mono")
            series: list[tuple[str, float | None, float | None]] = []
            for colour, measured, modelled, unit in (("orange", old, old_model, 1000), ("blue", new, new_model, 1)):
                pair = [None if (value := figure(row[one])) is None else value * unit for one in (measured, modelled)]
                series.append((colour, pair[0], pair[1]))
            for (colour, measured_at, modelled_at), shift in zip(series, (-5, 5), strict=True):
                if measured_at and modelled_at:
                    drawing.line(at(measured_at), y + shift, at(modelled_at), y + shift, f"{colour}-line")
                if modelled_at:
                    drawing.dot(at(modelled_at), y + shift, 4.5, colour)
                if measured_at:
                    drawing.dot(at(measured_at), y + shift, 4.5, f"{colour}-ring")
        top = last + 18
    return drawing.written()


def limits() -> str:
    """The last rungs beside NVIDIA's libraries, as shares of what a copy or a read reaches."""
    page = RECORDS / "gpu-limits.md"
    panels = []
    for name in ("Reduction", "Scan", "Transpose"):
        rows = table(page, f"{name}, GB/s", ("size", "reference"))
        _, _, library, ceiling, *_ = rows[0]
        panels.append((name, library, ceiling, rows))
    left = 130.0
    shares = [
        _needed(row, "reference", page.name) / _needed(row, ceiling, page.name)
        for _, _, ceiling, rows in panels
        for row in rows
    ]
    most = max(_WHOLE, *(_WHOLE * share for share in shares))
    percent = (_RIGHT - left) / (most + 3)
    height = 66 + sum(52 + 22 * len(rows) for _, _, _, rows in panels)
    drawing = Drawing(
        WIDTH,
        height,
        "The references beside NVIDIA's libraries and a copy, on an H200",
        "The speed of the last rung of each ladder and of the library function for the same task, divided by the speed "
        "of a plain copy or read of as many bytes, by size.",
    )
    drawing.dot(24, 24, 5, "blue")
    drawing.text(36, 28.5, "the reference")
    drawing.dot(174, 24, 5, "grey-ring")
    drawing.text(186, 28.5, "NVIDIA's library")
    drawing.line(326, 24, 346, 24, "text-line", "4 3")
    drawing.text(354, 28.5, "a plain copy or read: 100 %")
    top = 40.0
    for name, library, ceiling, rows in panels:
        drawing.text(16, top + 20, name, "bold")
        drawing.text(_RIGHT, top + 20, f"{library}; 100 % is a {ceiling}", "note small", "end")
        first, last = top + 30, top + 30 + 22 * len(rows)
        for step in range(0, 101, 20):
            kind, dashes = ("text-line", "4 3") if step == _WHOLE else ("line-line", "")
            drawing.line(left + percent * step, first, left + percent * step, last, kind, dashes)
        for index, row in enumerate(rows):
            y = first + 22 * (index + 0.5)
            whole = _needed(row, ceiling, page.name)
            own, theirs = (
                left + percent * _WHOLE * _needed(row, column, page.name) / whole for column in ("reference", library)
            )
            drawing.text(16, y + 4, row["size"], "mono")
            drawing.line(own, y, theirs, y, "blue-line")
            drawing.dot(theirs, y, 4.5, "grey-ring")
            drawing.dot(own, y, 4.5, "blue")
        top = last + 22
    for step in range(0, 101, 20):
        drawing.text(left + percent * step, top - 2, f"{step} %", "note small", "middle")
    return drawing.written()


def modelled() -> str:
    """Modelled time against measured time, a dot for each kernel."""
    page = RECORDS / "gpu-time.md"
    panels = []
    for profile, column, colour, name in (
        ("g80", "published, µs", "orange", "GeForce 8800, published"),
        ("h100", "measured, µs", "green", "H100, measured"),
        ("h200", "measured, µs", "blue", "H200, measured"),
    ):
        rows = table(page, f"On the profile `{profile}`", (column, "modelled, µs"))
        pairs = [(_needed(row, column, page.name), _needed(row, "modelled, µs", page.name)) for row in rows]
        panels.append((name, colour, pairs))
    low, high, left, top, side = 1.0, 100000.0, 84.0, 54.0, 500.0
    across = _log_scale(low, high, left, left + side)
    up = _log_scale(low, high, top + side, top)
    drawing = Drawing(
        WIDTH,
        top + side + 62,
        "Modelled time against measured time",
        "Each dot is a kernel: across, the time measured or published; up, the time that the virtual GPU models. The "
        "band holds ratios from 0.75 to 1.33.",
    )
    for index, (name, colour, pairs) in enumerate(panels):
        drawing.dot(24 + 270 * index, 24, 5, colour)
        drawing.text(36 + 270 * index, 28.5, f"{name}, {len(pairs)} kernels")
    near, far = 0.75, 4 / 3
    corners = ((low, low * far), (high / far, high), (high, high), (high, high * near), (low / near, low), (low, low))
    drawing.band([(across(x), up(y)) for x, y in corners], "green tint")
    for decade in _decades(low, high):
        drawing.line(across(decade), top, across(decade), top + side, "line-line")
        drawing.line(left, up(decade), left + side, up(decade), "line-line")
        drawing.text(across(decade), top + side + 20, _time(decade), "note small", "middle")
        drawing.text(left - 8, up(decade) + 4, _time(decade), "note small", "end")
    drawing.line(across(low), up(low), across(high), up(high), "grey-line", "4 3")
    for _, colour, pairs in panels:
        for measured, model in pairs:
            if not (low <= measured <= high and low <= model <= high):
                raise TableError(f"{page.name}: {measured} or {model} µs lies outside of the plot's axes")
            drawing.dot(across(measured), up(model), 4, f"{colour}-ring")
    drawing.text(left + side, top + side + 46, "measured or published →", "note", "end")
    drawing.text(left + 10, top + 22, "modelled ↑   band: ratios from 0.75 to 1.33", "note")
    return drawing.written()


_GROUPS = (
    ("PASS", "green"),
    ("SLOW", "yellow"),
    ("NOT BEGUN", "grey"),
)

_WIDE_CELL = 50.0  # wide enough for points with decimals


def sample_class() -> str:
    """The sample class: a row for each student, a column for each assignment, points and the verdict's colour."""
    page = RECORDS / "gpu-results.md"
    found = tables(section(page, "The sample class"))
    wanted = ("submission", "verdict", "points")
    if not found or any(column not in row for one in found for row in one for column in wanted):
        raise TableError(f"{page.name}, 'The sample class': tables with {', '.join(wanted)} are expected")
    students = sorted({row["submission"] for rows in found for row in rows})
    left, high, top = 158.0, 24.0, 78.0
    cell = min(63.0, (WIDTH - 12 - left) / len(found))
    drawing = Drawing(
        WIDTH,
        top + high * len(students) + 16,
        "The sample class on both devices",
        "Points of each student in each assignment; green passes, yellow is above a budget, red fails, grey is not "
        "begun.",
    )
    names = (("green", "PASS"), ("yellow", "SLOW"), ("red", "fails"), ("grey", "NOT BEGUN"))
    x = 16.0
    for colour, words in names:
        drawing.box(x, 15, 14, 14, f"{colour} tint", 3)
        drawing.box(x, 15, 14, 14, f"{colour}-line", 3)
        drawing.text(x + 22, 27, words)
        x += 52 + 7.2 * len(words)
    drawing.text(x + 4, 27, "–  nothing handed in", "note")
    for column in range(len(found)):
        drawing.text(left + cell * (column + 0.5), top - 12, f"{column + 1:02}", "bold", "middle")
    for column, rows in enumerate(found):
        by_student = {row["submission"]: row for row in rows}
        for index, student in enumerate(students):
            _cell(drawing, left + cell * column, top + high * index, cell - 4, high - 4, by_student.get(student))
    for index, student in enumerate(students):
        drawing.text(16, top + high * index + 14.5, student)
    return drawing.written()


def _cell(drawing: Drawing, x: float, y: float, width: float, height: float, row: Row | None) -> None:
    if row is None:
        drawing.text(x + width / 2, y + 14.5, "–", "note", "middle")
        return
    colour = dict(_GROUPS).get(row["verdict"], "red")
    drawing.box(x, y, width, height, f"{colour} tint", 3)
    drawing.box(x, y, width, height, f"{colour}-line", 3)
    points = row["points"] if width >= _WIDE_CELL else f"{float(row['points']):.0f}"
    drawing.text(x + width / 2, y + 14.5, points, "small", "middle")


PLOTS: dict[str, Callable[[], str]] = {
    "ladders.svg": ladder,
    "limits.svg": limits,
    "modelled.svg": modelled,
    "sample-class.svg": sample_class,
}


def outdated(names: Iterable[str] = PLOTS) -> list[str]:
    """The plots that differ from what their pages give now."""
    stale = []
    for name in names:
        path = FIGURES / name
        if not path.is_file() or path.read_text(encoding="utf-8") != PLOTS[name]():
            stale.append(name)
    return stale


def write() -> None:
    """Draws all plots."""
    FIGURES.mkdir(exist_ok=True)
    for name, draw in PLOTS.items():
        (FIGURES / name).write_text(draw(), encoding="utf-8")
