"""`make profile PAGE=1` and `make test PAGE=1`: the page of `vgpu-run --page`, for rungs and for the call that fails.

What it shows of a call is what the judge's --page recorded (harness/vgpu/device/page_data.h), as data and replays.
Only the standard library is used here: students run it.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from grader.model.assignment import Assignment
from grader.model.line_costs import base_name
from grader.model.result import Said, SuiteResult, TestResult

_TEMPLATE = "vgpu/cudart/report/page.html"  # in the harness
_PICTURES = "page_pictures.js"  # next to it
_MARKS = ('["replays"]', '["before"]', '{"data": "here"}')
_MOST_EARLIER = 3  # runs
_MOST_REPLAYS = 1_000_000  # characters


def read_template(harness: Path) -> str:
    """The page without data."""
    path = harness / _TEMPLATE
    pictures = path.with_name(_PICTURES).read_text(encoding="utf-8")
    return path.read_text(encoding="utf-8").replace(f"/* {_PICTURES} */", pictures)


def profile_page(
    template: str, assignment: Assignment, result: SuiteResult, recorded: Mapping[str, Any], last: str = ""
) -> str:
    """The page for the measured rungs; `recorded`: by rung; `last`: the previous run's page, or ""."""
    sizes = dict.fromkeys(f"{run.n:,}" for run in result.runs("submission").values() if run.launches)
    data: dict[str, Any] = {
        "title": f"{assignment.title}, as it was measured",
        "device": assignment.profile.upper() or result.device.name or "the virtual GPU",
        "findings": [_finding(entry) for entry in result.evidence if entry.message and entry.lines],
    }
    kernels: list[dict[str, Any]] = []
    replays: list[dict[str, Any]] = []
    notes: dict[str, None] = {}
    files: dict[str, dict[str, str]] = {}
    for rung in assignment.rungs:
        page = recorded.get(rung.id, {"data": {"kernels": [], "notes": [], "files": []}, "replays": []})
        for kernel in page["data"]["kernels"]:
            advice = [one | {"kernel": f"{rung.label} {one['kernel']}"} for one in kernel["advice"]]
            kernels.append(kernel | {"name": f"{rung.label} {kernel['name']}", "advice": advice})
        replays += [replay | {"kernel": f"{rung.label} {replay['kernel']}"} for replay in page["replays"]]
        notes |= dict.fromkeys(page["data"]["notes"])
        files |= {file["path"]: file for file in page["data"]["files"]}
    data["kernels"] = sorted(kernels, key=lambda one: -one["us"])
    data["files"] = sorted(files.values(), key=lambda file: base_name(file["path"]) != assignment.submission)
    data["notes"] = [*notes, f"Each rung ran with {' or '.join(sizes)} elements. Times are modelled."]
    return _filled(template, replays, _earlier(last, data["files"]), data)


def failure_page(template: str, test: TestResult, seed: int, recorded: dict[str, Any]) -> str:
    """The page of the one call with which a test fails."""
    data = recorded["data"]
    inputs = [line.text for line in test.lines if line.label == "input"]
    data["title"] = f"{test.verdict}: {test.name}"
    data["notes"] += [f"This is the call that fails{f', with {inputs[0]}' if inputs else ''}. The seed is {seed}."]
    # The checkers' findings, first those of the test's verdict; without any, the test's own message.
    data["findings"].sort(key=lambda one: one["heading"] != test.verdict)
    if not data["findings"]:
        said = _finding(test)
        for text in test.launches:  # the last may say who stored a wrong element, and where
            at = re.search(r" was stored by .*? at (\S+?):(\d+)", text)  # parses a launch's line, which has no fields
            line = {"file": at[1], "line": int(at[2])} if at else {"file": "", "line": 0}
            said["lines"].append({"label": "launch", "text": text, **line})
        said["launch"] = test.name
        data["findings"] = [said | {"heading": test.verdict}]
    elif data["findings"][0]["heading"] == test.verdict:
        data["findings"][0]["hint"] = test.hint  # the assignment's
    return _filled(template, recorded["replays"], [], data)


def _filled(template: str, replays: list[dict[str, Any]], *others: Any) -> str:
    for replay in replays:  # only the first steps of a long one
        while len(replay["steps"]) > 1 and len(json.dumps(replay)) * len(replays) > _MOST_REPLAYS:
            replay |= {"steps": replay["steps"][: len(replay["steps"]) // 2], "whole": False}
    for mark, part in zip(_MARKS, (replays, *others), strict=True):
        text = json.dumps(part, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
        template = template.replace(mark, text, 1)
    return template


def _earlier(page: str, files: list[dict[str, Any]]) -> list[Any]:
    """The last runs of other code, newest first: a rung that has failed since is found in an older one."""
    try:
        found = {
            name: json.loads(text) for name, text in re.findall(r'id="(data|before)">(.*?)</script>', page, re.DOTALL)
        }
        return [run for run in [found["data"], *found["before"]] if run["files"] != files][:_MOST_EARLIER]
    except (ValueError, TypeError, LookupError, RecursionError):  # there is none, or somebody else's file
        return []


def _finding(said: Said) -> dict[str, Any]:
    lines = [asdict(line) for line in said.lines]
    return {"heading": said.message, "launch": "", "lines": lines, "hint": said.hint}
