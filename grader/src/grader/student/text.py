"""The text for a student's terminal: one screen with the progress so far and the next step.

Pure functions from results to text. Only the standard library is used here: students run it without setting up Python
packages.
"""

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from grader.base.counted import counted
from grader.model.assignment import Assignment, Rung
from grader.model.line_costs import LineCost, base_name, counters_by_line, line_cost
from grader.model.picture import Picture, of_line, of_sm, of_test
from grader.model.result import (
    Evidence,
    Finding,
    Place,
    Profile,
    Said,
    SaidLine,
    SuiteResult,
    TestResult,
    is_not_begun,
)
from grader.model.score import CriterionScore, Score, points_text, score_result, with_bonus
from grader.model.units import metric_words, value_text
from grader.student.machine_code import ARCH, MachineChanges
from grader.student.sights import line_in_sight, named_line

_OUTPUT_LINES, _OUTPUT_COLUMNS = 10, 200
_COLUMNS = 80  # default if a terminal doesn't say
_NAMED_TESTS = 3
_GAP_LINES = 3  # source lines between two costly lines that are shown too
_COLOURS = {"red": "31", "green": "32", "yellow": "33", "bold": "1", "dim": "2"}
_UNMET = "yellow"
_TEXT_COLUMN = 10  # column of the texts of labelled lines
_STUB_RETURNS = "cudaErrorNotReady"


@dataclass(frozen=True)
class Terminal:
    """A terminal's capabilities: colours, and its width in columns; 0: unlimited."""

    colour: bool = False
    columns: int = 0

    def wrapped(self, line: str, indent: int = 4) -> str:
        """Wraps a long line, with continuation lines indented under its text."""
        if not self.columns:
            return line
        below = " " * min(indent, self.columns // 3)
        broken = textwrap.wrap(
            line, self.columns, subsequent_indent=below, break_long_words=False, break_on_hyphens=False,
            replace_whitespace=False,
        )  # fmt: skip
        return "\n".join(broken) or line

    def block(self, text: str) -> str:
        """Wraps each line of a text."""
        return "\n".join(self.wrapped(line, _TEXT_COLUMN) for line in text.split("\n"))

    def paint(self, text: str, *styles: str) -> str:
        """Applies the ANSI style if the terminal has colours."""
        if not self.colour or not text:
            return text
        return f"\033[{';'.join(_COLOURS[style] for style in styles)}m{text}\033[0m"


@dataclass(frozen=True)
class Choice:
    """The selection: everything, one rung (as the student named it), or tests by a part of their names."""

    rung: str = ""
    test: str = ""


@dataclass(frozen=True)
class _Row:
    """One rung in the closing table."""

    rung: Rung
    score: Score
    tests: tuple[TestResult, ...]
    not_begun: bool

    @property
    def failed(self) -> list[TestResult]:
        return [test for test in self.tests if test.verdict != "PASS"]

    @property
    def criteria(self) -> list[CriterionScore]:
        return [criterion for criterion in self.score.criteria if criterion.rung == self.rung.id]

    @property
    def budgets(self) -> list[CriterionScore]:
        return [criterion for criterion in self.criteria if criterion.metric]

    @property
    def unmet(self) -> list[CriterionScore]:
        return [criterion for criterion in self.budgets if not criterion.is_full]

    @property
    def is_done(self) -> bool:
        return bool(self.tests) and not self.failed and not self.unmet

    @property
    def is_bonus(self) -> bool:
        return bool(self.criteria) and all(criterion.bonus for criterion in self.criteria)


def todo_line(source: str, rung: Rung) -> int:
    """The line of the first TODO that names the rung, by its id or the part before the underscore; 0 if none."""
    names = {rung.id, rung.id.split("_", 1)[0]}
    for number, line in enumerate(source.split("\n"), 1):
        if names & set(re.findall(r"TODO\((\w+)\)", line)):
            return number
    return 0


def report(
    assignment: Assignment,
    result: SuiteResult,
    source: str,
    choice: Choice,
    table: str,
    to: Terminal,
    *,
    wide: bool = False,
) -> str:
    """The output of `make test` for one assignment: the first thing to fix, the evidence, the rungs, the next step.

    `table` is the suite's evidence table, shown with `wide`; `source` is the student's file, to locate its TODOs.
    """
    rows = _rows(assignment, result)
    parts = [_heading(assignment, result, to)]
    if not rows:
        return "\n\n".join([*parts, "No test ran.  Next: make test"]) + "\n"
    first = _first_to_fix(rows)
    if choice.test:
        parts += [_said(entry, entry.verdict, to) for entry in result.evidence if entry.message]
    if first is not None:
        parts.append(_message(assignment, first, result, source, to))
    elif choice.rung or choice.test:
        parts += _printed(result, to)
    if table.strip() and (wide or result.timings):
        parts.append(table.strip("\n"))
    elif budgets := _budgets(assignment, rows, table, to):
        parts.append(budgets)
    parts.append(_rungs(assignment, rows, source, choice, to))
    parts.append(_closing(assignment, rows, first, choice, to))
    return "\n\n".join(parts) + "\n"


def open_rungs(assignment: Assignment, result: SuiteResult) -> list[Rung]:
    """The unfinished rungs in the order to work on them: the first to fix, the ladder's order, bonus rungs last."""
    rows = _rows(assignment, result)
    first = _first_to_fix(rows)
    still_open = [row for row in rows if not row.is_done]
    still_open.sort(key=lambda row: (row.is_bonus, row is not first))
    return [row.rung for row in still_open]


def first_failure(assignment: Assignment, result: SuiteResult) -> TestResult | None:
    """The test whose message is on the first screen; None if none failed, or nothing was begun."""
    row = _first_to_fix(_rows(assignment, result))
    failed = [test for test in row.failed if not test.unfinished] if row is not None else []
    return failed[0] if failed else None


def with_found_line(result: SuiteResult, first: TestResult, found: TestResult, source: str) -> SuiteResult:
    """The result whose first failure names the line and cause found by the search for an edit."""
    rows = source.split("\n")
    seen = tuple(
        replace(line, text=f"{line.text}  {rows[line.line - 1].strip()}")
        for line in found.lines
        if line.line <= len(rows)
    )
    named = replace(first, lines=(*first.lines, *seen), hint=found.hint, sight=found.sight)
    return replace(result, tests=tuple(named if test is first else test for test in result.tests))


def overview(states: Sequence[tuple[Assignment, SuiteResult | None, str]], to: Terminal) -> str:
    """All assignments, one line each; if there is no result, the text says why."""
    width = max((len(assignment.id) for assignment, _, _ in states), default=0)
    lines = []
    for assignment, result, problem in states:
        name = to.paint(assignment.id.ljust(width), "bold")
        if result is None:
            lines.append(f"  {name}  {'':19}  {'':14}  {to.paint(problem, 'red')}")
            continue
        rows = _rows(assignment, result)
        required = [row for row in rows if not row.is_bonus]
        done = sum(row.is_done for row in required)
        wrong = _first_to_fix(rows)
        if done == len(required):
            mark, state = "green", "all done"
        elif all(row.not_begun for row in required):
            mark, state = "dim", "not begun"
        elif wrong is not None and not wrong.is_bonus:
            mark, state = "yellow" if _fault(wrong) == "SLOW" else "red", f"{_fault(wrong)} on {wrong.rung.id}"
        else:
            mark, state = "yellow", f"next: {next(row.rung.id for row in required if not row.is_done)}"
        lines.append(
            f"  {name}  {f'{_points_text(rows)} of {points_text(assignment.points)}':>19}  "
            f"{f'{done} of {len(required)} rungs':>14}  {to.paint(state, mark)}"
        )
    return "\n".join(lines) + "\n"


def _rows(assignment: Assignment, result: SuiteResult) -> list[_Row]:
    score = score_result(assignment, result)
    measured = {entry.rung for entry in result.evidence}
    rows = []
    for rung in assignment.rungs:
        tests = tuple(test for test in result.tests if test.rung == rung.id and not test.is_evidence)
        if tests or rung.id in measured:
            rows.append(_Row(rung, score, tests, is_not_begun(rung.id, tests)))
    return rows


def _heading(assignment: Assignment, result: SuiteResult, to: Terminal) -> str:
    # The virtual GPU's figures are for the device that it models.
    device = "the virtual GPU" if result.device.kind == "vgpu" else result.device.name or "a GPU"
    return f"{to.paint(assignment.title, 'bold')} on {device}, seed {result.seed}"


def _first_to_fix(rows: Sequence[_Row]) -> _Row | None:
    """The first begun rung that fails, else the first that exceeds a budget; bonus rungs come last."""
    begun = [row for row in rows if row.tests and not row.not_begun and not row.is_done]
    return min(begun, key=lambda row: (row.is_bonus, not row.failed), default=None) if begun else None


def _fault(row: _Row) -> str:
    return row.failed[0].verdict if row.failed else row.unmet[0].verdict


def _message(assignment: Assignment, row: _Row, result: SuiteResult, source: str, to: Terminal) -> str:
    if not row.failed:
        score = row.unmet[0]
        entry = next((entry for entry in result.evidence if entry.criterion == score.id), None)
        if entry is None:
            return score.detail
        counted_in = _in_words(assignment, score, entry)
        placed = _with_places(counted_in, score.verdict, row.rung, assignment.submission, source)
        return _said(placed, score.verdict, to)
    first, *others = [test for test in row.failed if not test.unfinished] or row.failed
    said: Said = first
    if not first.unfinished:
        is_theirs = any(  # skip kernels that are given; a list of calls names no fault
            line.file == assignment.submission and line.label in {"at", "first", "second", "failed"}
            for line in first.lines
        )
        shown = (
            replace(first, launches=(), kernels=()) if is_theirs and first.verdict not in {"WRONG", "UNINIT"} else first
        )
        said = _with_places(shown, first.verdict, row.rung, assignment.submission, source)
    lines = [_said(said, first.verdict, to)]
    lines += _drawn(of_test(first), to)
    lines += _output(first)
    lines.append(f"  again   {_shorter(first.reproduce)}")
    if others:
        names = [test.short_name for test in others[:_NAMED_TESTS]]
        more = f" and {len(others) - len(names)} more" if len(others) > len(names) else ""
        also = f"  also    {', '.join(names)}{more}; make test RUNG={row.rung.label} VERBOSE=1"
        lines.append(to.paint(to.wrapped(also, _TEXT_COLUMN), "dim"))
    return "\n".join(lines)


def _drawn(picture: Picture | None, to: Terminal) -> list[str]:
    """A picture in characters, if the terminal is wide enough."""
    rows = [f"  {'' if index else 'picture':<7} {row}" for index, row in enumerate(picture.rows if picture else ())]
    return rows if not to.columns or all(len(row) <= to.columns for row in rows) else []


def _shorter(command: str) -> str:
    """The command for one test, without the suite: part of the name is enough."""
    return re.sub(r"\bTEST=\w+\.(?=\w+/)", "TEST=", command)


def _printed(result: SuiteResult, to: Terminal) -> list[str]:
    """The output of the first test that printed anything."""
    for test in result.tests:
        if test.output.strip():
            return ["\n".join([to.paint(test.name, "dim"), *_output(test)])]
    return []


def _output(test: TestResult) -> list[str]:
    lines = test.output.strip("\n").split("\n") if test.output.strip() else []
    shown = ["    " + line[:_OUTPUT_COLUMNS] for line in lines[:_OUTPUT_LINES]]
    if len(lines) > _OUTPUT_LINES:
        shown.append(f"    … and {counted(len(lines) - _OUTPUT_LINES, 'more line')}")
    return ["  your program printed:", *shown] if shown else []


def _with_places(said: Said, verdict: str, rung: Rung, file: str, source: str) -> Said:
    """The message with lines the judge lacks: launches, the stub's remaining return, the start of the rung."""
    launches, kernels = (said.launches, said.kernels) if isinstance(said, TestResult) else ((), ())
    lines = [*said.lines, *(SaidLine(" " if index else "launch", text) for index, text in enumerate(launches))]
    if verdict == "API" and (number := stub_line(source, rung)):
        lines.append(SaidLine("at", f"{file}:{number}  return {_STUB_RETURNS};", file, number))
    elif not launches and not any(line.file == file for line in lines) and (number := launcher_line(source, rung)):
        lines += _in_function(said, source, file, number, rung.id)
    number, code = line_in_sight(said.sight, source, [name.partition("<")[0] for name in kernels], rung.id)
    if number and not any(line.file == file and line.line == number for line in lines):
        lines.append(SaidLine("see", f"{file}:{number}  {code}", file, number))
    return replace(said, lines=tuple(lines))


def launcher_line(source: str, rung: Rung) -> int:
    """The first line of the rung's launcher; 0 if there is none."""
    found = re.search(rf"^(?:def |[\w:<>*& ]+[ *&]){rung.id}\s*\(", source, re.MULTILINE)
    return source.count("\n", 0, found.start()) + 1 if found else 0


def _in_function(said: Said, source: str, file: str, begin: int, function: str) -> list[SaidLine]:
    """The function's line, and the line in it that uses what the hint names, or the name that it lacks."""
    number, text, lacking = named_line(said.sight, source, begin)
    missing = f", which does not use {lacking}" if lacking else ""
    at = [SaidLine("at", f"{file}:{number}  {text}", file, number)] if number else []
    return [SaidLine("in", f"{file}:{begin}  {function}(){missing}", file, begin), *at]


def stub_line(source: str, rung: Rung) -> int:
    """The line of the rung's launcher that still has the stub's return statement; 0 if there is none."""
    is_inside = False
    for number, line in enumerate(source.split("\n"), 1):
        is_inside = is_inside or re.match(rf"cudaError_t {rung.id}\b", line) is not None
        if is_inside and f"return {_STUB_RETURNS}" in line:
            return number
        is_inside = is_inside and not line.startswith("}")
    return 0


def _in_words(assignment: Assignment, score: CriterionScore, entry: Evidence) -> Evidence:
    """The entry with its metric in words."""
    words = value_text(assignment, score)
    lines = tuple(replace(line, text=words) if line.label == "counted" and words else line for line in entry.lines)
    return replace(entry, lines=lines)


def _said(said: Said, verdict: str, to: Terminal) -> str:
    """The verdict in its colour, the location of the fault in bold."""
    painted = to.paint(verdict, "bold", "yellow" if verdict == "SLOW" else "red")
    lines = [to.wrapped(said.message, len(verdict) + 2).replace(verdict, painted, 1)]
    for line in (*said.lines, *((SaidLine("hint", said.hint),) if said.hint else ())):
        place = f"{line.file}:{line.line}"
        text = to.wrapped(f"  {line.rendered}", _TEXT_COLUMN if line.label else 4)
        lines.append(text.replace(place, to.paint(place, "bold"), 1) if line.line else text)
    return "\n".join(lines)


def _rungs(assignment: Assignment, rows: Sequence[_Row], source: str, choice: Choice, to: Terminal) -> str:
    has_labels = any(row.rung.label != row.rung.id for row in rows)
    labels = max(len(row.rung.label) for row in rows) if has_labels else 0
    names = max(len(row.rung.id) for row in rows)
    head = f"  {'rung'.ljust((labels + 2 if labels else 0) + names)}  {'tests':>8}  {'budgets':>8}  {'points':>9}"
    lines = [to.paint(head.rstrip(), "bold")]
    for row in rows:
        label = f"{row.rung.label:>{labels}}  " if labels else ""
        name = f"  {label}{row.rung.id:{names}}"
        if row.not_begun:
            lines.append(to.paint(f"{name}  not begun{_where(assignment, row, source)}", "dim"))
            continue
        passed = len(row.tests) - len(row.failed)
        tests = f"{passed} of {len(row.tests)}" if row.tests else "–"
        met = len(row.budgets) - len(row.unmet)
        budgets = "–" if not row.budgets or row.failed or not row.tests else f"{met} of {len(row.budgets)}"
        earned, possible = sum(c.points for c in row.criteria), sum(c.possible for c in row.criteria)
        points = "–" if choice.test else f"{points_text(earned)} / {points_text(possible)}"
        line = f"{name}  {tests:>8}  {budgets:>8}  {points:>9}"
        if row.failed:
            line += "  " + to.paint(_fault(row), "red")
        elif row.unmet and not choice.test:
            line += "  " + to.paint("budget missed", "yellow")
        elif not choice.test:
            line += "  " + to.paint("done", "green")
        lines.append(line)
    return "\n".join(lines)


def _budgets(assignment: Assignment, rows: Sequence[_Row], table: str, to: Terminal) -> str:
    """A line for each measured budget: the count, the limit, and whether it is met."""
    measured = [(row, budget) for row in rows if not row.failed for budget in row.budgets if budget.value is not None]
    if not measured:
        return ""
    labels = max(len(row.rung.label) for row, _ in measured)
    titles = max(len(budget.title) for _, budget in measured)
    values = max(len(_number(budget.value)) for _, budget in measured)
    limits = max(len(_number(budget.full)) for _, budget in measured)
    lines = [to.wrapped(table.strip().partition("\n")[0].partition(";")[0])]  # the suite's own table
    for row, budget in measured:
        value = budget.value or 0.0
        if budget.full < budget.none:
            sign = "≤" if value <= budget.full else ">"
        else:
            sign = "≥" if value >= budget.full else "<"
        mark = to.paint("✓", "green") if budget.is_full else to.paint("✗", "yellow")
        text = (
            f"  {row.rung.label:>{labels}}  {budget.title:{titles}}  "
            f"{_number(budget.value):>{values}} {sign} {_number(budget.full):<{limits}}"
        )
        unit = metric_words(assignment, budget.metric)
        if not budget.is_full and sign in "≤≥":  # met at this size
            unit += ", but does not count"
        if len(unit) <= (to.columns or _COLUMNS) - len(text) - 5:
            lines.append(f"{text}  {mark}  {to.paint(unit, 'dim')}")
        else:
            lines += [f"{text}  {mark}", *([] if budget.is_full else [to.paint(f"  {'':{labels}}  in {unit}", "dim")])]
    return "\n".join(line for line in lines if line)


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.3g}"  # noqa: PLR2004


def _where(assignment: Assignment, row: _Row, source: str) -> str:
    """The line of a rung's TODO; without that comment, what its test reports as missing. For a bonus rung just that."""
    if row.is_bonus:
        return " (bonus)"
    number = todo_line(source, row.rung)
    if number:
        return f": TODO({row.rung.id.split('_', 1)[0]}) in {assignment.submission}:{number}"
    said = row.failed[0].lines[:1]
    return f": {said[0].text}" if said else ""


def _points_text(rows: Sequence[_Row]) -> str:
    """Formatted as "92 + 12 bonus"."""
    earned = dict.fromkeys((False, True), 0.0)
    for criterion in (one for row in rows for one in row.criteria):
        earned[criterion.bonus] += criterion.points
    return with_bonus(earned[False], earned[True])


def _closing(assignment: Assignment, rows: Sequence[_Row], first: _Row | None, choice: Choice, to: Terminal) -> str:
    open_rows = [row for row in rows if not row.is_done and not row.is_bonus]
    next_row = first if first is not None and not first.is_bonus else next(iter(open_rows), None)
    if choice.rung or choice.test:
        failed = sum(len(row.failed) for row in rows)
        ran = sum(len(row.tests) for row in rows)
        state = f"{ran - failed} of {counted(ran, 'test')} passed."
        return f"{state}\nNext: make test" if not failed and first is None else state
    state = f"{_points_text(rows)} of {points_text(assignment.points)} points from the public tests."
    if next_row is None:
        # A bonus that is begun and fails costs no points, but stands above this line.
        bonus = f", or go on: make test RUNG={first.rung.label}" if first is not None else ""
        return to.paint(state, "green") + f"\nNext: hand in {assignment.submission}{bonus}"
    is_above = next_row is first and not next_row.failed
    step = to.paint(f"make {'profile' if is_above else 'test'} RUNG={next_row.rung.label}", "bold")
    return f"{state}\nNext: {step}  {next_row.rung.title}"


def faults(result: SuiteResult, to: Terminal) -> str:
    """The output of `make check`: every distinct finding of the fault checkers, with the tests that had it."""
    found: dict[tuple[str, str, tuple[Place, ...]], list[tuple[TestResult, Finding]]] = {}
    for test in result.tests:
        for finding in test.findings:
            found.setdefault((finding.kind, finding.kernel, finding.places[:1]), []).append((test, finding))
    parts = []
    for same in found.values():
        test, finding = same[0]
        lines = [to.block(finding.text), f"  in      {test.name}"]
        if len(same) > 1:
            lines.append(f"  and in  {counted(len(same) - 1, 'other test')}")
        parts.append("\n".join(lines))
    begun = [test for test in result.tests if not test.unfinished and not test.is_evidence]
    if not begun:
        parts.append("You have not written a kernel yet, so there is nothing to check.  Next: make test")
    elif not found:
        parts.append(to.paint(f"The checkers found no fault in {counted(len(begun), 'test')}.", "green"))
    else:
        first = "" if len(found) == 1 else " Fix the first; it may cause the others."
        parts.append(
            f"{counted(len(found), 'different fault') if first else '1 fault'} in {counted(len(begun), 'test')}.{first}"
        )
    wrong = [test for test in begun if test.verdict != "PASS" and not test.findings]
    if wrong:
        parts.append(f"{counted(len(wrong), 'test fails', 'tests fail')} for other reasons: make test")
    return "\n\n".join(parts) + "\n"


def profile_text(
    file_name: str, runs: Sequence[Profile], source: str, to: Terminal, machine: MachineChanges | None = None
) -> str:
    """The output of `make profile`: each measured rung's source lines with their costs.

    `machine`: where a GPU's execution differs from the counted PTX; None if that was not determined.
    """
    text = "\n".join(_profile(file_name, run, source.split("\n"), to, machine or {}) for run in runs)
    if machine is None:
        return text
    return text + to.paint(f"\n  Counts are of the PTX; · shows what ptxas makes of it for sm_{ARCH}.\n", "dim")


def _profile(file_name: str, run: Profile, source: Sequence[str], to: Terminal, machine: MachineChanges) -> str:
    by_line = {
        number: counts for number, counts in counters_by_line(file_name, [run]).items() if 0 < number <= len(source)
    }
    costs = {number: line_cost(counts) for number, counts in by_line.items()}
    drawn = {line.line: of_line(line) for line in run.lines if base_name(line.file) == file_name}
    total = run.counters.get("warp_instructions", 0.0)
    lines = [
        f"{to.paint(run.rung, 'bold')}, n = {run.n:,}: {run.microseconds:,.1f} µs modelled, "
        f"{counted(len(run.launches), 'launch', 'launches')}, {counted(int(total), 'warp instruction')}",
        *[
            f"  {launch.kernel}<<<{_dims(launch.grid)},{_dims(launch.block)}>>>  "
            f"{launch.microseconds:,.1f} µs, bound by {launch.bound_by}"
            for launch in run.launches[:_NAMED_TESTS]
        ],
        *_advice(run, to),
        "",
        to.paint(f"{'line':>5} {'instr.':>7} {'sectors':>8} {'shared':>7} {'diverge':>8}", "bold"),
    ]
    before = 0
    for number in sorted(costs):
        if before and number - before > _GAP_LINES + 1:
            lines.append(to.paint(f"{'⋮':>5}", "dim"))
        elif before:
            lines += [f"{line:5}{'':34} │ {source[line - 1]}" for line in range(before + 1, number)]
        lines += _costly(number, costs[number], drawn.get(number, ()), total, source[number - 1], to)
        for change in machine.get(number, ()):
            if as_written := by_line[number].get(change.counter, 0.0):
                name = change.counter.replace("_", " ")
                both = f"{as_written:,.0f} {name} as written, {as_written * change.factor:,.0f} as compiled"
                lines.append(to.paint(f"{'':39} │   · {change.text}: {both}", "dim"))
        before = number
    if not costs:
        lines.append("  nothing was counted in this file")
    return "\n".join(lines) + "\n"


def _advice(run: Profile, to: Terminal) -> Iterator[str]:
    """What limits each kernel, and the most effective changes."""
    for one in run.advice:
        yield from ("", to.wrapped(f"  {one.kernel} is {one.limit}"))
        if one.sm and one.sm.warps < one.sm.most_warps and (picture := of_sm(one.sm)):
            yield from (to.wrapped(f"    {row}", 7) for row in picture.rows)
        for change in one.changes:
            at = ", ".join(f"{spot.file}:{spot.line}" for spot in change.lines)
            yield to.wrapped(f"    {one.told(change)}  ({at})", 6)


def _costly(
    number: int, cost: LineCost, pictures: Sequence[Picture], total: float, source: str, to: Terminal
) -> list[str]:
    share = f"{100 * cost.instructions / total:.1f} %" if total else ""
    cells = [f"{share:>7}"]
    for measure, width in ((cost.sectors, 8), (cost.conflicts, 7), (cost.divergence, 8)):
        text = measure.text.rjust(width)
        cells.append(to.paint(text, _UNMET, "bold") if measure.is_costly else text)
    lines = [f"{number:5} {' '.join(cells)} │ {source}"]
    indent = " " * (len(source) - len(source.lstrip()))
    lines += [f"{'':39} │ {indent}{to.paint('^ ' + note, _UNMET)}" for note in cost.notes]
    return lines + [f"{'':39} │ {indent}  {row}" for picture in pictures if cost.notes for row in picture.rows]


def _dims(dims: Sequence[int]) -> str:
    x, y, z = dims
    return str(x) if (y, z) == (1, 1) else f"({x},{y})" if z == 1 else f"({x},{y},{z})"
