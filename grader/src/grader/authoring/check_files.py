"""Checks an assignment's files for `grader check`: none missing, none unknown, recorded figures up to date."""

import json
import re
import tempfile
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from grader.authoring.entries import write_messages
from grader.authoring.finding import Finding
from grader.authoring.handout import Hidden, make_handout
from grader.authoring.solutions import read_entries
from grader.base.errors import GraderError, InfrastructureError
from grader.base.files import write_atomic
from grader.base.layout import KERNELS, Layout
from grader.model.assignment import Assignment
from grader.model.diff_budget import given_lines
from grader.model.hints import HINTS, load_hints
from grader.model.visibility import VISIBLE, find_visibility
from grader.running.bench import FIGURES, Bench

_ERROR = re.compile(r"^\S+\.(?:cu|py)\(\d+\): error\b", re.MULTILINE)
_CODE = re.compile(r";\s*$|<<<|[{}]|\w\[[^\]]*\]\s*[-+*/]?=[^=]", re.MULTILINE)  # statement, launch, block, assignment
_HEADER_LINE = re.compile(r"(, in [\w.]+\.(?:h|hpp|cuh|inl)):\d+")
_SOMEWHERE = re.compile(r"^(  at      [\w.]+\.(?:cu|py)):\d+$", re.MULTILINE)
_NO_ONE_LINE = ("did not return within", "the stack is full")  # the line varies from run to run
_ADDRESS = re.compile(r"\b0x[0-9a-f]{9,}\b")
_STREAM = re.compile(r"\bin stream (\d+)")
_BUDGET = re.compile(r"\n  (?:budget|compare|hint) .*")
_WORD = re.compile(r"\b[A-Za-z_]\w*")
_LAUNCHER = re.compile(r"[a-z]+\d+_\w+")  # reduce4_first_add
_TEST = re.compile(r"^TEST(?:_P|_F)?\(\s*(\w+),\s*(\w+)\)", re.MULTILINE)
_LABEL = re.compile(r'"([dh]_\w+)"')
WRONG = "wrong.toml"
_GIVEN = "[edits.given]"  # the last table of assignment.toml
FEWEST_WRONG = 10
FEWEST_RIGHT = 5
_STUDENTS = ("README.md", "Makefile", "assignment.toml")  # and hints, if there are any
_PICTURES = ("*.svg", "*.png")


def check_places(layout: Layout, assignment: Assignment) -> Finding:
    """Every file that an assignment needs is there, and no other."""
    own, hidden = assignment.path.parent, layout.reference(assignment.id)
    suites = layout.harness / "suites"
    missing = [own / name for name in (*_STUDENTS, assignment.submission)]
    missing += [hidden / assignment.submission, hidden / "hidden_test.cc"]
    missing += [suites / f"{assignment.id}_test.cc", layout.glue(assignment.id)]
    problems = [f"{path.relative_to(layout.root)} is missing" for path in missing if not path.is_file()]
    if not assignment.is_python and not any(own.glob("*.h")):
        problems.append(f"{own.relative_to(layout.root)} has no header with the launchers' signatures")
    given = (KERNELS,) if assignment.is_python else ()
    known = {
        own: (*_STUDENTS, HINTS, FIGURES, assignment.submission, "*.h", *given, *_PICTURES),
        hidden: (
            *(assignment.submission, "hidden_test.cc", "equivalent_mutants.toml"),
            *("hidden_*.cc", "*.h", WRONG, "hostile.toml", "right.toml", "bases.toml"),
            *(f"{kind}/*{assignment.suffix}" for kind in ("wrong", "right", "hostile", "bases", "from_handout")),
        ),
    }
    problems += [
        f"{path.relative_to(layout.root)} is out of place: there belong {', '.join(patterns)}"
        for folder, patterns in known.items()
        for path in sorted(folder.rglob("*"))
        if not path.is_dir() and not _fits(path.relative_to(folder), patterns)
    ]
    problems += [
        f"{name} is linked to by README.md and is not there"
        for name in _linked_pictures(own / "README.md")
        if not (own / name).is_file()
    ]
    return Finding("files", "all in their places", "; ".join(problems))


def check_names(layout: Layout, assignment: Assignment) -> Finding:
    """README.md and the messages use the names that the student's code has.

    The README names every rung's launcher, and no launcher that is in neither the header nor the stub. Messages call a
    buffer by the name in the suite's source, which must be that of a launcher's parameter.
    """
    own = assignment.path.parent
    readme = _text(own / "README.md")
    code = "\n".join(_text(path) for path in (*sorted(own.glob("*.h")), own / assignment.submission))
    words, known = set(_WORD.findall(readme)), set(_WORD.findall(code))
    problems = [f"README.md does not name the launcher {rung.id}" for rung in assignment.rungs if rung.id not in words]
    problems += [
        f"README.md names {name}, which is neither in the header nor in {assignment.submission}"
        for name in sorted({name for name in words if _LAUNCHER.fullmatch(name)} - known)
    ]
    labels = {
        name
        for path in (layout.harness / "suites").glob(f"{assignment.id}_*")
        for name in _LABEL.findall(_text(path))
        if name not in known
    }
    problems += [f"the suite calls a buffer {name}, a name that no launcher's parameter has" for name in sorted(labels)]
    return Finding("names", "README.md and messages use the code's", "; ".join(problems))


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def check_hints(assignment: Assignment) -> Finding:
    """If the assignment has hints, every rung has at least two, and none of them is code."""
    try:
        hints = load_hints(assignment.path.parent)
    except GraderError as error:
        return Finding("hints", "", str(error))
    if not hints:
        return Finding("hints", "none")
    ids = [rung.id for rung in assignment.rungs]
    problems = [f"{rung} has {len(hints.get(rung, []))}; at least 2" for rung in ids if len(hints.get(rung, [])) < 2]  # noqa: PLR2004
    problems += [f"there is no rung {rung}" for rung in hints if rung not in ids]
    problems += [
        f"a hint for {rung} is code: {step[:40]}…"
        for rung, steps in hints.items()
        for step in steps
        if _CODE.search(step)
    ]
    return Finding("hints", f"{sum(map(len, hints.values()))} for {len(hints)} rungs", "; ".join(problems))


def check_hidden(layout: Layout, assignment: Assignment) -> Finding:
    """Student report cards name hidden tests only where `[[visibility]]` allows it."""
    names = [
        f"{suite}.{name}"
        for path in sorted(layout.reference(assignment.id).glob("hidden_*.cc"))
        for suite, name in _TEST.findall(_text(path))
    ]
    named = [
        name
        for name in names
        if assignment.visibility_of(name) == VISIBLE and not find_visibility(assignment.visibility, f"{name}/").tests
    ]
    problem = f"students' cards would show {', '.join(named)}; begin the suite's name with Hidden" if named else ""
    return Finding("hidden tests", f"{len(names)}", problem)


def _fits(path: Path, patterns: Sequence[str]) -> bool:
    return any(len(path.parts) == len(Path(pattern).parts) and fnmatchcase(str(path), pattern) for pattern in patterns)


def _linked_pictures(readme: Path) -> list[str]:
    return re.findall(r"!\[[^\]]*\]\(([^):]+)\)", _text(readme))


def check_suite_files(layout: Layout) -> Finding:
    """Everything in harness/suites and reference/ whose name begins with a digit belongs to an assignment."""
    ids = layout.assignments()
    strays = [
        path.name
        for path in sorted((layout.harness / "suites").iterdir())
        if re.match(r"\d", path.name) and not any(path.name.startswith(f"{name}_") for name in ids)
    ]
    strays += [
        f"reference/{path.name}"
        for path in sorted((layout.root / "reference").iterdir())
        if re.match(r"\d", path.name) and path.name not in ids
    ]
    problem = f"these belong to no assignment: {', '.join(strays)}" if strays else ""
    return Finding("suites and references", f"of {len(ids)} assignments", problem)


def check_given(assignment: Assignment, *, record: bool) -> Finding:
    """assignment.toml records the given lines of the stub if edits to them are limited; `record` writes them."""
    if assignment.edits is None:
        return Finding("edits", "any")
    stub = (assignment.path.parent / assignment.submission).read_bytes()
    try:
        given = given_lines(stub, tuple(rung.id for rung in assignment.rungs))
    except ValueError as error:
        return Finding("edits", "", str(error))
    if record:
        text = assignment.path.read_text(encoding="utf-8").partition(f"\n{_GIVEN}")[0]
        table = "".join(f'{rung} = "{lines}"\n' for rung, lines in given.items())
        write_atomic(assignment.path, f"{text}\n{_GIVEN}\n{table}")
    is_known = record or given == assignment.edits.given
    again = f"{assignment.submission} is not what it was; type:  grader check {assignment.id} --record"
    return Finding("edits", f"at most {assignment.edits.most} lines a program", "" if is_known else again)


def check_handout(layout: Layout, assignment: Assignment, hidden: Hidden) -> Finding:
    """Nothing hidden is in the folder that students get for this assignment. `hidden` gives the hidden lines."""
    with tempfile.TemporaryDirectory(prefix="grader-handout-") as folder:
        try:
            made = make_handout(layout, [assignment.id], Path(folder) / "handout", hidden())
        except GraderError as error:
            return Finding("handout", "", str(error))
    return Finding("handout", f"{len(made.files)} files, nothing hidden")


def check_count(assignment: Assignment, wrong: int, right: int) -> Finding:
    """There are enough wrong solutions to trust the tests, and enough right ones to trust the budgets."""
    problems = [
        f"{assignment.id} has {count} {kind} solutions; at least {fewest} are wanted"
        for kind, count, fewest in (("wrong", wrong, FEWEST_WRONG), ("right", right, FEWEST_RIGHT))
        if count < fewest
    ]
    return Finding("solutions", f"{right} right, {wrong} wrong", "; ".join(problems))


def check_figures(bench: Bench, *, record: bool) -> Finding:
    """figures.json holds the counters measured for the reference; `record` writes it.

    Another nvcc generates other instructions, so figures are compared only if the same nvcc recorded them.
    """
    assignment = bench.assignment
    path = assignment.path.parent / FIGURES
    if not assignment.n:
        return Finding(FIGURES, "not wanted: the assignment has no evidence runs")
    recorded = recorded_figures(assignment)
    made_with = recorded.get("nvcc", bench.toolchain.nvcc_version) if recorded else ""
    if recorded and made_with != bench.toolchain.nvcc_version and not record:
        return Finding(FIGURES, f"recorded with nvcc {made_with}, and not compared")
    try:
        text = _measure(bench)
    except InfrastructureError as error:
        return Finding(FIGURES, "", str(error))
    if (recorded or {}).get("format", 1) > json.loads(text).get("format", 1):
        return Finding(FIGURES, "", "the build is older than the checkout and writes an old format; type:  make build")
    if record:
        # The suite lays the file out, a rung a line, and does not know the compiler that its figures depend on.
        write_atomic(path, f'{{"nvcc":"{bench.toolchain.nvcc_version}",{text.removeprefix("{")}')
        return Finding(FIGURES, "recorded")
    measured = json.loads(text)
    problem = _difference(recorded, measured)
    again = f"{problem}; type:  grader check {assignment.id} --record"
    return Finding(FIGURES, f"{len(measured['profiles'])} rungs, up to date", again if problem else "")


def recorded_figures(assignment: Assignment) -> dict[str, Any] | None:
    """The contents of figures.json; None if there is no such file."""
    path = assignment.path.parent / FIGURES
    figures: dict[str, Any] | None = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
    return figures


def _first_changed(old: list[dict[str, Any]], profile: dict[str, Any]) -> str:
    """The first counter that differs from the recorded value for the same rung, with both values."""
    same = ("rung", "source", "n")
    before = next((one for one in old if all(one.get(key) == profile.get(key) for key in same)), {})
    was, now = before.get("counters", {}), profile.get("counters", {})
    name = next((name for name in now | was if was and was.get(name, 0) != now.get(name, 0)), "")
    return f"; {name} was {was.get(name, 0):,} and is {now.get(name, 0):,}" if name else ""


def _difference(recorded: dict[str, Any] | None, measured: dict[str, Any]) -> str:
    if recorded is None:
        return "it is missing"
    old, new = recorded.get("profiles", []), measured["profiles"]
    changed = [profile for profile in new if profile not in old]
    if changed:
        rungs = ", ".join(str(profile.get("rung")) for profile in changed)
        return f"it no longer has the reference's counters ({rungs}{_first_changed(old, changed[0])})"
    return "it has rungs that the assignment has not" if len(old) != len(new) else ""


def _measure(bench: Bench) -> str:
    """The reference's figures, as the suite records them."""
    record = bench.reference.figures(bench)
    if record is None:
        raise InfrastructureError("there is no reference to measure")
    return record.read_text(encoding="utf-8")


def check_messages(
    layout: Layout, assignment: Assignment, messages: dict[str, str], *, update: bool, is_partial: bool = False
) -> Finding:
    """The first message that each wrong solution gets is the one on record; `update` records.

    `is_partial`: `messages` covers only some of the wrong solutions; recorded messages of the others are kept.
    """
    hidden = layout.reference(assignment.id)
    wanted = {Path(name).stem: recorded_form(message) for name, message in messages.items()}
    try:
        if update:
            write_messages(hidden, wanted, is_partial=is_partial)
            return Finding(WRONG, f"{len(messages)} messages recorded")
        entries = read_entries(hidden, "wrong")
    except GraderError as error:
        return Finding(WRONG, "", str(error))
    same = " with the same --only or --shard" if is_partial else ""
    again = f"look at it, and type:  grader check {assignment.id} --update-messages{same}"
    if not (hidden / WRONG).is_file():
        return Finding(WRONG, "", f"it is missing; {again}")
    problems = []
    for name in sorted(wanted.keys() if is_partial else entries.keys() | wanted.keys()):
        entry = entries.get(name, {})
        if name not in wanted:
            problems += [f"it has {name}, which does not exist"] if entry.keys() <= {"message"} else []
        elif "message" not in entry:
            problems.append(f"{name} has no message in it")
        elif entry["message"].strip() != wanted[name]:
            problems.append(f"{name} was\n{entry['message'].strip()}\nand is\n{wanted[name]}")
    return Finding(WRONG, f"{len(messages)} messages as recorded", "\n".join([*problems, again]) if problems else "")


def recorded_messages(layout: Layout, assignment: Assignment) -> dict[str, str]:
    """The first messages on record, by the solution's name without its ending; empty where they can't be read."""
    try:
        entries = read_entries(layout.reference(assignment.id), "wrong")
    except GraderError:
        return {}
    return {name: entry["message"].strip() for name, entry in entries.items() if "message" in entry}


def recorded_form(message: str) -> str:
    """The part of a message that is recorded.

    Addresses are left out and streams are numbered from 1: both depend on which tests ran before. Of a compiler's
    message only the error locations are kept: wording, quoted headers and line numbers in headers vary by toolchain.
    The line where an endless loop or recursion was stopped is left out, as it varies from run to run; so is what
    assignment.toml and figures.json say of a budget.
    """
    errors = _ERROR.findall(message)  # parses a text to record
    if errors:
        return "\n".join(errors)
    if message.startswith("SLOW"):  # parses a text to record
        message = _BUDGET.sub("", message)  # parses a text to record
    if any(words in message for words in _NO_ONE_LINE):  # parses a text to record
        message = _SOMEWHERE.sub(r"\1:…", message)  # parses a text to record
    streams: dict[str, int] = {}
    message = _STREAM.sub(
        lambda one: f"in stream {streams.setdefault(one[1], len(streams) + 1)}", message
    )  # parses a text to record
    return _HEADER_LINE.sub(r"\1", _ADDRESS.sub("0x…", message.strip()))  # parses a text to record
