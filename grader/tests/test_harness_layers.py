"""The harness is built in layers: a part includes itself and what stands above it in the table, which is lowest first.

The table is in docs/concepts/architecture.md, "The harness's parts". Tests and benchmarks may include anything.
"""

import re
from pathlib import Path

from conftest import ARCHITECTURE, ROOT, parts_in_order

HARNESS = ROOT / "harness"
FREE = ("tests", "bench", "samples")


def faults(sources: dict[str, str], order: list[str]) -> list[str]:
    """A sentence for each include that runs up, and for each folder that has no place in the table."""
    place = {part: index for index, part in enumerate(order)}
    folders = {str(Path(name).parent) for name in sources}
    found = [
        f"harness/{folder} is not in the table of {ARCHITECTURE.name}: give it a line"
        for folder in sorted(folders - set(order))
    ]
    found += [
        f"the table of {ARCHITECTURE.name} has {part}, which holds nothing" for part in order if part not in folders
    ]
    for name, text in sorted(sources.items()):
        own = str(Path(name).parent)
        for included in re.findall(r'^#include "([^"]+)"', text, re.MULTILINE):
            other = str(Path(included).parent)
            if own in place and other in place and place[other] > place[own]:
                found.append(f"harness/{name} includes {included}, but {own} lies below {other}")
    return found


def harness_sources() -> dict[str, str]:
    """The text of each source by its path in harness/, tests and benchmarks aside."""
    paths = [path for pattern in ("*.h", "*.cc", "*.cu", "*.cuh", "*.inc") for path in HARNESS.rglob(pattern)]
    names = {str(path.relative_to(HARNESS)): path for path in paths}
    return {name: path.read_text() for name, path in names.items() if name.split("/", 1)[0] not in FREE}


def test_includes_run_one_way() -> None:
    order = parts_in_order("The harness's parts")
    assert len(order) == len(set(order)) > 20
    assert faults(harness_sources(), order) == []


def test_a_wrong_arrow_is_named() -> None:
    low, high = "a/low.h", "b/high.h"
    sources = {low: f'#include "{high}"\n', high: f'#include "{low}"\n', "c/new.cc": ""}
    assert faults(sources, ["a", "b", "d"]) == [
        "harness/c is not in the table of architecture.md: give it a line",
        "the table of architecture.md has d, which holds nothing",
        f"harness/{low} includes {high}, but a lies below b",
    ]
