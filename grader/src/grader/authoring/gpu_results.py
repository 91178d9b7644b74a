"""docs/records/gpu-results.md: the results of the last full run on a GPU, from its journals.

The text below the page's marker is written by hand, and is kept.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.authoring.markdown import grouped, table
from grader.authoring.opponents import Met
from grader.base.layout import Layout
from grader.model.assignment import Assignment
from grader.model.record import Record
from grader.model.result import Timing
from grader.model.score import points_text
from grader.pages.publish import JOURNAL, load_classes
from grader.pages.timing_view import gpu_facts
from grader.running.store import Journal

MARKER = "<!-- What follows is written by hand. -->"
OPPONENTS = "opponents.json"

_Classes = dict[str, tuple[Assignment, list[Record]]]


@dataclass(frozen=True)
class GpuRun:
    """The journals of a full GPU run: references, sample class, attack corpus."""

    references: _Classes
    sample: _Classes
    opponents: list[dict[str, Any]]


def corpus_document(met: Sequence[Met], device: str) -> str:
    """The results of `grader opponents` as JSON, from which the page is made."""
    rows = [
        {
            "device": device,
            "name": one.finding.what,
            "assignment": one.assignment,
            "says": one.opponent.says,
            "rung": one.opponent.rung,
            "wanted": one.opponent.wanted(on_gpu=device == "cuda"),
            "verdict": one.verdict,
            "speed": one.speed,
            "holds": not one.finding.problem,
        }
        for one in met
    ]
    return json.dumps(rows, indent=1, ensure_ascii=False) + "\n"


def load_run(layout: Layout, references: Path, sample: Path, opponents: Path) -> GpuRun:
    """Reads the journals; missing ones are empty."""
    path = opponents / OPPONENTS
    rows = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    return GpuRun(_classes(layout, references), _classes(layout, sample), rows)


def _classes(layout: Layout, out: Path) -> _Classes:
    if not (out / JOURNAL).is_file():
        return {}
    journal = Journal(out / JOURNAL)
    try:
        return load_classes(layout, journal)
    finally:
        journal.close()


def results_page(run: GpuRun, where: str, command: str, old: str) -> str:
    """The page in Markdown; the part of `old` below the marker is kept."""
    lines = [
        "# Results on a GPU",
        "",
        "What was run on an NVIDIA GPU, with the command, the GPU and the date. Other machines get everything else.",
        "",
        f"{where}.",
        "",
        "```sh",
        command,
        "```",
        "",
        "Every submission runs on the virtual GPU and on the GPU;",
        "[the worse verdict of each test holds](../concepts/judging.md#two-devices).",
        "",
        *_references(run.references),
        *_sample(run.sample),
        *_opponents(run.opponents),
        MARKER,
    ]
    return "\n".join(lines) + (old.partition(MARKER)[2] if MARKER in old else "\n")


def _references(classes: _Classes) -> list[str]:
    records = [(assignment, record) for assignment, found in classes.values() for record in found]
    rows = []
    for assignment, record in records:
        tests = record.result.tests if record.result else ()
        passed = sum(test.verdict == "PASS" for test in tests)
        points = f"{points_text(record.score.total)} of {points_text(record.score.possible)}" if record.score else "–"
        rows.append([f"`{assignment.id}`", record.verdict, f"{passed} of {len(tests)}", points])
    timings = [
        (assignment, timing)
        for assignment, record in records
        for timing in (record.result.timings if record.result else ())
    ]
    bases = {criterion.id: criterion.timing for assignment, _ in records for criterion in assignment.criteria}
    facts = "; ".join(f"{name} {value}" for name, value in gpu_facts(timing for _, timing in timings))
    return [
        "## The references",
        "",
        *table(["assignment", "verdict", "tests passed on both devices", "points, bonus included"], rows, text=2),
        "",
        "Their times, beside a second copy of themselves in the same run, and beside a plain copy of as many bytes:",
        "",
        *table(
            ["rung", "elements", "µs", "GB/s", "a copy, µs", "compared with", "ratio", "95 % sure", "repeats", ""],
            [_timing_row(timing, bases.get(timing.criterion, "")) for _, timing in timings],
        ),
        "",
        *([f"Read from the GPU before and after each: {facts}.", ""] if facts else []),
    ]


def _timing_row(timing: Timing, base: str) -> list[str]:
    bandwidth = timing.gigabytes_per_second
    has_ratio = timing.value is not None
    return [
        f"`{timing.rung}`",
        grouped(timing.n),
        f"{timing.microseconds:.2f}",
        f"{bandwidth:.0f}" if bandwidth else "",
        f"{timing.copy_microseconds:.2f}",
        "the reference" if base == "reference" else "a copy",
        f"{timing.value:.3f}" if has_ratio else "",
        f"{timing.low:.3f} to {timing.high:.3f}" if has_ratio else "",
        str(timing.repeats),
        "inconclusive" if timing.is_inconclusive else timing.verdict,
    ]


def _sample(classes: _Classes) -> list[str]:
    picture = "A row for each student, a column for each assignment: points, in the colour of the verdict"
    lines = ["## The sample class", "", f"![{picture}](../figures/sample-class.svg)", ""]
    for assignment, records in classes.values():
        rows = []
        for record in sorted(records, key=lambda one: one.folder):
            if record.shown_verdict == "MISSING":
                continue
            failed = [test for test in record.result.tests if test.verdict != "PASS"] if record.result else []
            first = next((test for test in failed if record.score and test.rung == record.score.rung), None)
            points = points_text(record.score.total) if record.score else "–"
            rung = f"`{record.score.rung}`" if record.score and record.score.rung else ""
            rows.append([record.folder, record.shown_verdict, rung, first.device if first else "", points])
        lines += [f"{assignment.title}:", ""]
        lines += [*table(["submission", "verdict", "on", "found by", "points"], rows, text=4), ""]
    return lines


def _opponents(rows: Sequence[dict[str, Any]]) -> list[str]:
    on_gpu = [row for row in rows if row["device"] == "cuda"]
    if not on_gpu:
        return []
    held = sum(bool(row["holds"]) for row in on_gpu)
    cells = [
        [
            f"`{row['name'].partition('/')[2].removesuffix('.cu').removesuffix('.py')}`",
            row["says"],
            row["wanted"],
            row["verdict"] if row["holds"] else f"**{row['verdict']}**",
            f"{row['speed']:.3f}" if row["speed"] is not None else "",
        ]
        for row in on_gpu
        if not row["holds"] or row["speed"] is not None
    ]
    return [
        "## Opponents",
        "",
        f"{held} of {len(on_gpu)} hostile solutions got the verdict that they declare: those that are after a GPU from",
        "its judge alone, the others from both devices, as a class does. Below are those that did not, and those that",
        "are timed: they gain nothing, as the last column says, which is how many times as fast as the reference they",
        "were.",
        "",
        *table(["solution", "what it does", "declared", "verdict", "× reference"], cells, text=4),
        "",
    ]
