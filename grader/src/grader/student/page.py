"""`make profile PAGE=1`: the page of `vgpu-run --page` for an assignment's rungs.

Only the standard library is used here: students run it.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from grader.model.assignment import Assignment
from grader.model.line_costs import base_name
from grader.model.result import Evidence, Line, Profile, SuiteResult

_TEMPLATE = "vgpu/cudart/report/page.html"  # in the harness
_PICTURES = "page_pictures.js"  # beside it
_MARKS = ('["replays"]', '["before"]', '{"data": "here"}')
_MOST_SOURCE = 500_000  # characters
_MOST_EARLIER = 3  # runs


def read_template(harness: Path) -> str:
    """The page without data."""
    path = harness / _TEMPLATE
    pictures = path.with_name(_PICTURES).read_text(encoding="utf-8")
    return path.read_text(encoding="utf-8").replace(f"/* {_PICTURES} */", pictures)


def profile_page(template: str, assignment: Assignment, result: SuiteResult, source: str, last: str = "") -> str:
    """The page for a result's measured rungs, with the student's lines; `last`: the previous run's page, or ""."""
    runs = [run for run in result.runs("submission").values() if run.launches]
    titles = {rung.id: f"{rung.label} {rung.title}" for rung in assignment.rungs}
    name = assignment.submission
    said = [entry for entry in result.evidence if entry.message and entry.lines]
    data = {
        "title": f"{assignment.title}, as it was measured",
        "device": assignment.profile.upper() or result.device.name or "the virtual GPU",
        "kernels": sorted((_run(titles, name, run) for run in runs), key=lambda one: -one["us"]),
        "findings": [_finding(entry) for entry in said],
        "files": [{"path": name, "text": source[:_MOST_SOURCE]}],
        "notes": [f"Each rung ran with {_sizes(runs)} elements. Times are modelled."],
    }
    for mark, part in zip(_MARKS, ([], _earlier(last, source[:_MOST_SOURCE]), data), strict=True):
        text = json.dumps(part, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
        template = template.replace(mark, text, 1)
    return template


def _earlier(page: str, source: str) -> list[Any]:
    """The last runs of other code, newest first: a rung that has failed since is found in an older one."""
    try:
        found = {
            name: json.loads(text) for name, text in re.findall(r'id="(data|before)">(.*?)</script>', page, re.DOTALL)
        }
        return [run for run in [found["data"], *found["before"]] if run["files"][0]["text"] != source][:_MOST_EARLIER]
    except (ValueError, TypeError, LookupError, RecursionError):  # there is none, or somebody else's file
        return []


def _sizes(runs: Sequence[Profile]) -> str:
    return " or ".join(dict.fromkeys(f"{run.n:,}" for run in runs))


def _run(titles: dict[str, str], name: str, run: Profile) -> dict[str, Any]:
    first = run.launches[0]
    shapes = {(launch.grid, launch.block) for launch in run.launches}
    return {
        "name": titles.get(run.rung, run.rung),
        "launches": len(run.launches),
        "grid": "×".join(map(str, first.grid)) if len(shapes) == 1 else "various",
        "block": "×".join(map(str, first.block)) if len(shapes) == 1 else "various",
        "us": run.microseconds,
        "bound_by": max(run.launches, key=lambda launch: launch.microseconds).bound_by,
        "advice": [asdict(one) for one in run.advice],
        "occupancy": 0,
        "counters": run.counters,
        "lines": [_line(line) for line in run.lines if base_name(line.file) == name],
    }


def _line(line: Line) -> dict[str, Any]:
    accesses = [asdict(access) for access in line.accesses]
    return {"file": base_name(line.file), "line": line.line, "counters": line.counters, "accesses": accesses}


def _finding(entry: Evidence) -> dict[str, Any]:
    lines = [asdict(line) for line in entry.lines]
    return {"heading": entry.message, "launch": "", "lines": lines, "hint": entry.hint}
