"""The author's safety net: an assignment that passes can be handed out.

Stubs compile, have their TODOs and fail. References get full marks. Right solutions of other designs get the points
that their first lines declare. Wrong solutions get the verdicts that their first lines declare, and the recorded
messages. The points add up, every criterion counts tests that exist, files are in their places (see `check_files`),
and no code in the handout solves the assignment (see `check_handout`). `check_run` runs all of it.
"""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from grader.authoring.declared import REFERENCE, STUB
from grader.authoring.finding import Finding
from grader.model.assignment import Assignment
from grader.model.record import Record
from grader.model.result import Said, SaidLine
from grader.model.score import Score, points_text

SEED = 20_071_001  # fixed: a check that fails must fail again


@dataclass
class Checked:
    """The findings and final counts of one assignment; `batched` counts the solutions that were compiled in a batch."""

    assignment: Assignment
    findings: list[Finding]
    verdicts: Counter[str]
    right: int = 0
    batched: int = 0


def check_points(assignment: Assignment) -> Finding:
    """The criteria without bonus add up to the assignment's points."""
    total = sum(criterion.points for criterion in assignment.criteria if not criterion.bonus)
    bonus = sum(criterion.points for criterion in assignment.criteria if criterion.bonus)
    detail = f"{points_text(total)}{f' and {points_text(bonus)} bonus' if bonus else ''}"
    wrong = abs(total - assignment.points) > 1e-9  # noqa: PLR2004
    problem = f"the criteria give {detail}, and points says {points_text(assignment.points)}" if wrong else ""
    return Finding("points", f"{detail} in {len(assignment.criteria)} criteria", problem)


def check_todos(assignment: Assignment) -> Finding:
    """The stub has a TODO naming each rung, unless the stub is already complete."""
    if assignment.edits:
        return Finding("stub's TODOs", "none wanted: its programs are whole")
    stub = assignment.path.parent / assignment.submission
    text = stub.read_text(encoding="utf-8", errors="replace") if stub.is_file() else ""
    names = set(re.findall(r"TODO\((\w+)\)", text))
    missing = [rung.id for rung in assignment.rungs if rung.id not in names and rung.id.split("_")[0] not in names]
    problem = f"no TODO names {', '.join(missing)}" if missing else ""
    return Finding("stub's TODOs", f"all {len(assignment.rungs)} rungs named", problem)


def check_tests(assignment: Assignment, tests: Sequence[str]) -> Finding:
    """Every glob of the criteria and of `[[visibility]]` matches a test of the suite."""
    globs = [(criterion.id, glob) for criterion in assignment.criteria for glob in criterion.tests]
    globs += [("visibility", glob) for entry in assignment.visibility for glob in entry.tests]
    empty = [f"{of} ({glob})" for of, glob in globs if not any(fnmatchcase(name, glob) for name in tests)]
    problem = f"these find no test in the suite: {', '.join(empty)}" if empty else ""
    return Finding("criteria's tests", f"{len(tests)} tests in the suite", problem)


def check_stub(assignment: Assignment, record: Record) -> Finding:
    """The stub compiles, gets full marks for no criterion (if edits are limited: no points), and misses each rung.

    Starter code that is right but slow misses a rung by its budgets, other stubs fail a test of it.
    """
    if record.verdict in ("COMPILE", "HARNESS") or record.score is None or record.result is None:
        return Finding(STUB, "", f"{record.verdict}: {record.message}")
    passed = [criterion.id for criterion in record.score.criteria if criterion.is_full and criterion.possible]
    failing = {test.rung for test in record.result.tests if test.verdict != "PASS"}
    failing |= {criterion.rung for criterion in assignment.criteria if criterion.metric}
    unbeaten = [rung.id for rung in assignment.rungs if rung.id not in failing]
    problem = ""
    if passed:
        problem = f"the stub earns full marks for {', '.join(passed)}; if it is right but slow, only budgets get any"
    elif assignment.edits and record.score.total:
        problem = f"the stub earns {points_text(record.score.total)} points, and its programs are all wrong"
    elif unbeaten:
        problem = f"the stub fails no test on {', '.join(unbeaten)}"
    return Finding(STUB, f"compiles and fails ({record.verdict}, {points_text(record.score.total)} points)", problem)


def check_reference(record: Record, *, is_whole: bool = True) -> Finding:
    """The reference earns full marks; unless `is_whole`, by its small tests alone."""
    if record.score is None:
        return Finding(REFERENCE, "", record.message)
    short = _short(record.score)
    problem = f"{record.verdict}; below full marks: {short}" if short or record.verdict != "PASS" else ""
    if record.message:
        problem += f"\n{record.message}"
    by = "" if is_whole else "; budgets and large arrays are in another share"
    return Finding(REFERENCE, f"full marks ({_marks(record.score)}){by}", problem)


def check_right(assignment: Assignment, record: Record, points: float, bonus: float) -> Finding:
    """A right solution of another design gets the points that it declares."""
    if record.score is None:
        return Finding(record.folder, "", record.message)
    got = (record.score.total - record.score.bonus, record.score.bonus)
    if all(abs(one - other) < 1e-9 for one, other in zip(got, (points, bonus), strict=True)):  # noqa: PLR2004
        return Finding(record.folder, f"right ({_sum(*got)})")
    problem = f"declares {_sum(points, bonus)} and gets {_sum(*got)}"
    if short := _short(record.score):
        problem += f"; below full marks: {short}"
    if said := first_message(assignment, record):
        problem += f"\n{said}"
    return Finding(record.folder, "", problem)


def check_wrong(assignment: Assignment, record: Record, verdict: str, rung: str) -> Finding:
    """A wrong solution gets the verdict it declares, on the rung it declares."""
    wanted = f"{verdict} {rung}".strip()
    got_verdict, got_rung = record.verdict, record.score.rung if record.score else ""
    if rung and assignment.is_bonus_rung(rung) and got_verdict == "PASS" and record.result:
        failed = [verdict for where, verdict in record.result.failures() if where == rung]
        if failed:
            got_verdict, got_rung = failed[0], rung
    ids = [known.id for known in assignment.rungs]
    if rung in ids and got_rung in ids[ids.index(rung) + 1 :] and not _has_failed(record, got_rung):
        got_verdict, got_rung = "PASS", rung  # the rungs above do not run, so their evidence is missing
    got = f"{got_verdict} {got_rung}".strip()
    if (got_verdict, got_rung if rung else "") == (verdict, rung):
        return Finding(record.folder, got)
    said = first_message(assignment, record)
    return Finding(record.folder, got, f"declares {wanted} and gets {got}" + (f"\n{said}" if said else ""))


def _has_failed(record: Record, rung: str) -> bool:
    result = record.result
    return result is not None and any(where == rung for where, _ in result.failures())


def first_message(assignment: Assignment, record: Record, *, without: Collection[str] = ()) -> str:
    """What a student reads first: the compiler's message, else what is wrong on the first rung that fails.

    That is the first failing test's message, or an exceeded budget's. Bonus rungs and rungs not begun come last. Lines
    with a label in `without` are left out, with their continuation lines.
    """
    if record.message or record.result is None or record.score is None:
        return record.message.strip()
    place = {rung.id: index for index, rung in enumerate(assignment.rungs)}
    said: list[tuple[bool, bool, int, Said]] = []
    for test in record.result.tests:
        if test.verdict != "PASS" and not test.is_evidence:
            rank = place.get(test.rung, len(place))
            said.append((test.unfinished, assignment.is_bonus_rung(test.rung), rank, test))
    failed = {rank for *_, rank, _ in said}
    short = {criterion.id for criterion in record.score.criteria if not criterion.is_full}
    for entry in record.result.evidence:
        rank = place.get(entry.rung, len(place))
        if entry.criterion in short and rank not in failed and entry.message:
            said.append((False, assignment.is_bonus_rung(entry.rung), rank, entry))
    if not said:
        return ""
    first = min(said, key=lambda one: one[:3])[3]
    lines: list[SaidLine] = []
    label = ""
    for line in first.lines:
        label = line.label if line.label != " " else label
        lines += [line] if label not in without else []
    return replace(first, lines=tuple(lines)).said.strip()


def _short(score: Score) -> str:
    return "; ".join(f"{c.id} ({c.verdict}: {c.detail})" for c in score.criteria if not c.is_full)


def _sum(points: float, bonus: float) -> str:
    return f"{points:g} + {bonus:g} points" if bonus else f"{points:g} points"


def _marks(score: Score) -> str:
    return f"{points_text(score.total)} points, {points_text(score.bonus)} of them bonus"


def counts_text(checked: Sequence[Checked]) -> str:
    """The closing lines: how many checks ran and how many passed."""
    findings = [finding for one in checked for finding in one.findings]
    failed = sum(bool(finding.problem) for finding in findings)
    verdicts = sum((one.verdicts for one in checked), Counter())
    by_verdict = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common())
    criteria = sum(len(one.assignment.criteria) for one in checked)
    rungs = sum(len(one.assignment.rungs) for one in checked)
    lines = [
        f"{len(findings) - failed} of {len(findings)} checks hold",
        f"{sum(finding.what == STUB for finding in findings)} stubs and {len(checked)} references of {rungs} rungs, "
        f"{criteria} criteria, "
        f"{sum(one.right for one in checked)} right solutions of other designs, "
        f"{verdicts.total()} wrong ones{f' ({by_verdict})' if by_verdict else ''}; "
        f"{sum(one.batched for one in checked)} of them were compiled in batches",
    ]
    return "\n".join(lines)
