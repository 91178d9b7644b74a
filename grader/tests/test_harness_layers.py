"""The harness is built in layers: a part includes only itself and parts above it in the table, lowest first.

The table is in docs/concepts/architecture.md, "The harness's parts". Tests and benchmarks may include anything. The
trust boundary is two folders that do not include each other: worker/, which runs with student code, and judge/.
"""

import re
from pathlib import Path

from conftest import ARCHITECTURE, ROOT, parts_in_order

HARNESS = ROOT / "harness"
FREE = ("tests/", "dev/bench/", "dev/public_suites/")


def faults(sources: dict[str, str], order: list[str]) -> list[str]:
    """A sentence for each include of a higher folder, each folder without a row, and each row without a folder."""
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


def crossings(sources: dict[str, str]) -> list[str]:
    """A sentence for each include that crosses the trust boundary."""
    found = []
    for name, text in sorted(sources.items()):
        is_worker = name.startswith("worker/") or name.endswith("_launchers.cc")
        is_judge = name.startswith("judge/") or (name.startswith("suites/") and not is_worker)
        for included in re.findall(r'^#include "([^"]+)"', text, re.MULTILINE):
            if (is_worker and included.startswith(("judge/", "suites/"))) or (
                is_judge and included.startswith("worker/")
            ):
                found.append(f"harness/{name} includes {included}, across the trust boundary")
    return found


def harness_sources() -> dict[str, str]:
    """The text of each source by its path in harness/, except tests, benchmarks and programs for public suites."""
    paths = [path for pattern in ("*.h", "*.cc", "*.cu", "*.cuh", "*.inc") for path in HARNESS.rglob(pattern)]
    names = {str(path.relative_to(HARNESS)): path for path in paths}
    return {name: path.read_text() for name, path in names.items() if not name.startswith(FREE)}


def test_includes_run_one_way() -> None:
    order = parts_in_order("The harness's parts")
    assert len(order) == len(set(order)) > 20
    assert faults(harness_sources(), order) == []


def test_worker_and_judge_share_only_the_protocol() -> None:
    assert crossings(harness_sources()) == []


def test_a_crossing_is_named() -> None:
    sources = {
        "judge/run/call.cc": '#include "worker/launchers.h"\n#include "protocol/wire.h"\n',
        "suites/01_a_launchers.cc": '#include "worker/launchers.h"\n#include "judge/run/call.h"\n',
        "suites/01_a_test.cc": '#include "worker/launchers.h"\n#include "judge/run/call.h"\n',
        "worker/main.cc": '#include "judge/session/session.h"\n#include "worker/launchers.h"\n',
    }
    assert [sentence.split(",")[0] for sentence in crossings(sources)] == [
        "harness/judge/run/call.cc includes worker/launchers.h",
        "harness/suites/01_a_launchers.cc includes judge/run/call.h",
        "harness/suites/01_a_test.cc includes worker/launchers.h",
        "harness/worker/main.cc includes judge/session/session.h",
    ]


def test_a_wrong_arrow_is_named() -> None:
    low, high = "a/low.h", "b/high.h"
    sources = {low: f'#include "{high}"\n', high: f'#include "{low}"\n', "c/new.cc": ""}
    assert faults(sources, ["a", "b", "d"]) == [
        "harness/c is not in the table of architecture.md: give it a line",
        "the table of architecture.md has d, which holds nothing",
        f"harness/{low} includes {high}, but a lies below b",
    ]
