"""Compares a program's runs with different numbers of CPU threads: its output, and each launch's counters and time.

Lines that show times may differ, as many programs print times by the host's clock.
"""

import csv
import re
from pathlib import Path

TIMES = re.compile(
    r"\b(time[sd]?|timing|elapsed|took|performance|throughput|bandwidth|speed ?up|speed|latency|rate|gflops?)\b"
    r"|\b([mun]?s|[mu]?secs?|seconds?|milliseconds?|microseconds?|hz|[GMKT]i?B/s|[GM]?FLOPS?(/s)?)\b|options per sec",
    re.IGNORECASE,
)
MAX_SHOWN = 60  # characters


def difference(first: str, other: str) -> str:
    """The first difference between two outputs, except in lines that show times; an empty string if there is none."""
    mine, others = first.splitlines(), other.splitlines()
    for a, b in zip(mine, others, strict=False):
        if a != b and not (TIMES.search(a) and TIMES.search(b)):
            return f"output differs: {b.strip()[:MAX_SHOWN]}"
    return "" if len(mine) == len(others) else "the number of lines differs"


def counter_difference(first: Path, other: Path) -> str:
    """The first difference between two files of `vgpu-run --counters`; an empty string if there is none."""
    a, b = (_rows(path) for path in (first, other))
    if len(a) != len(b):
        return f"{len(a)} and {len(b)} lines of counters"
    for x, y in zip(a, b, strict=True):
        named = [f"{name} {was} and {now}" for name, was, now in zip(a[0], x, y, strict=False) if was != now]
        if named:
            return f"launch {x[0]} ({x[1]}): {', '.join(named)}"
    return ""


def _rows(path: Path) -> list[list[str]]:
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.reader(file))
