"""``assignment.toml``: points, criteria, budgets and limits, checked so that a typo can't cost a student points."""

import re
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

from grader.base.errors import GraderError
from grader.base.layout import KERNELS
from grader.base.schema import Fields, SchemaError
from grader.model.diff_budget import DiffBudget
from grader.model.visibility import VISIBILITIES, VISIBLE, TestVisibility, find_visibility

_LETTERS = 26
LIBRARIES = ("thrust", "cub", "cublas", "cufft")  # that submissions may use if the assignment allows it


@dataclass(frozen=True)
class Limits:
    """The assignment's limits: wall-clock seconds of one launcher call, MiB of the worker and of the judge."""

    call_seconds: float
    memory_mb: int
    judge_mb: int


@dataclass(frozen=True)
class Rung:
    """One step of the ladder, with the course's published time for it."""

    id: str
    title: str
    published_ms: float | None
    n: int  # elements in its evidence run; 0: the assignment's
    host_only: bool = False  # a host function without launches, so it has no evidence run
    letter: str = ""  # distinguishes rungs with the same number

    @property
    def number(self) -> str:
        """The number in its id ("8" of reduce8_max), or the id itself."""
        found = re.search(r"\d+", self.id)
        return found[0] if found else self.id

    @property
    def label(self) -> str:
        """The rung's number, with a letter if several share it: 8a, 8b, 8c."""
        return self.number + self.letter

    def is_named(self, word: str) -> bool:
        """Whether a student may call the rung this: "3", "reduce3", "8b" or the id; "8" matches 8a and 8b."""
        first = self.id.split("_", 1)[0]
        return word in (self.id, first, self.number) or word.lower() in (self.label, first + self.letter)


@dataclass(frozen=True)
class Criterion:
    """A condition for points: `tests` (globs on full test names), or a `metric` or a time between `full` and `none`.

    `timing` names the base of a measured time, "reference" or "copy"; "" for an untimed criterion. A metric earns
    nothing unless `only_where` holds, nor unless `unaligned` does where no vectors fit. All three are expressions that
    the judge checks and evaluates, "" if there is none. A time counts only if the criterion `needs` has full points.
    """

    id: str
    rung: str
    points: float
    title: str
    bonus: bool
    hint: str
    tests: tuple[str, ...]
    metric: str
    timing: str
    full: float
    none: float
    only_where: str = ""
    unaligned: str = ""
    needs: str = ""
    visibility: str = VISIBLE


@dataclass(frozen=True)
class Ranking:
    """The leaderboard's sort key: a metric of one rung's evidence run, ascending or descending."""

    metric: str
    rung: str
    ascending: bool


@dataclass(frozen=True)
class Assignment:
    """One assignment; `points` is the sum of its non-bonus criteria, `n` the number of elements in evidence runs."""

    id: str
    title: str
    submission: str
    points: float
    n: int
    limits: Limits
    rungs: tuple[Rung, ...]
    criteria: tuple[Criterion, ...]
    ranking: Ranking | None
    path: Path
    visibility: tuple[TestVisibility, ...] = ()
    extra_credit: bool = False  # its points are added on top of the course's
    libraries: tuple[str, ...] = ()  # device libraries that submissions may use
    takes: tuple[
        str, ...
    ] = ()  # globs on names of other files that submissions may include; empty: any headers and sources
    edits: DiffBudget | None = None  # how much of the stub may change
    profile: str = ""  # of the device that evidence is timed as; "": the one that the tests run on

    @property
    def suffix(self) -> str:
        """The file ending of submissions and solutions: ".cu" or ".py"."""
        return Path(self.submission).suffix

    @property
    def is_python(self) -> bool:
        """Whether submissions are in Python: kernels for Numba with their launchers, or launchers alone."""
        return self.suffix == ".py"

    @property
    def gives_kernels(self) -> bool:
        """Whether the kernels are the assignment's (kernels.cu) and submissions are PyCUDA host code."""
        return self.is_python and (self.path.parent / KERNELS).is_file()

    @property
    def needs_numba(self) -> bool:
        """Whether Numba compiles the submissions."""
        return self.is_python and not self.gives_kernels

    def rung(self, rung_id: str) -> Rung | None:
        """A rung by its id."""
        return next((rung for rung in self.rungs if rung.id == rung_id), None)

    @property
    def labels(self) -> dict[str, str]:
        """Each rung's label by its id; rungs that share a number have letters: 8a, 8b, 8c."""
        return {rung.id: rung.label for rung in self.rungs}

    def rungs_named(self, word: str) -> list[Rung]:
        """The rungs that a student may mean by this word."""
        return [rung for rung in self.rungs if rung.is_named(word)]

    def is_bonus_rung(self, rung_id: str) -> bool:
        """Whether the rung has only bonus points: then it does not affect the verdict."""
        own = [criterion for criterion in self.criteria if criterion.rung == rung_id]
        return bool(own) and all(criterion.bonus for criterion in own)

    def visibility_of(self, test_name: str) -> str:
        """What students see of a test, by its full name: VISIBLE, AFTER_DEADLINE or HIDDEN of `model.visibility`."""
        return find_visibility(self.visibility, test_name).shown

    def visibility_of_criterion(self, criterion_id: str) -> str:
        """The same for a criterion; raises KeyError for an unknown one."""
        return {criterion.id: criterion.visibility for criterion in self.criteria}[criterion_id]


def load_assignment(folder: Path) -> Assignment:
    """Reads `folder`/assignment.toml; raises GraderError naming the file and the key."""
    path = folder / "assignment.toml"
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise GraderError(
            f"{path} is missing.\nType:  ls {folder.parent}      to see which assignments there are"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise GraderError(f"{path}: {error}") from error
    try:
        return _assignment(Fields(document, str(path)), path)
    except SchemaError as error:
        raise GraderError(str(error)) from error


def _assignment(fields: Fields, path: Path) -> Assignment:
    limits = fields.table("limits")
    evidence = fields.table("evidence")
    rungs = _lettered(tuple(_rung(entry) for entry in fields.tables("rung")))
    known = [rung.id for rung in rungs]
    criteria = tuple(_criterion(entry, known) for entry in fields.tables("criterion"))
    assignment = Assignment(
        id=fields.text("id"),
        title=fields.text("title"),
        submission=fields.text("submission"),
        points=fields.number("points", least=0),
        n=evidence.whole("n", 0),
        limits=Limits(
            call_seconds=limits.number("call_seconds", 20, least=0.1),
            memory_mb=limits.whole("memory_mb", 2048, least=64),
            judge_mb=limits.whole("judge_mb", 8192, least=512),
        ),
        rungs=rungs,
        criteria=criteria,
        ranking=_ranking(fields.table("leaderboard"), known) if fields.has("leaderboard") else None,
        path=path,
        visibility=tuple(_visibility(entry) for entry in fields.tables("visibility")),
        extra_credit=fields.flag("extra_credit", False),
        libraries=fields.texts("libraries"),
        takes=fields.texts("takes"),
        edits=_edits(fields.table("edits"), known) if fields.has("edits") else None,
        profile=evidence.text("profile", ""),
    )
    # Used by the judge; only checked here.
    limits.whole("instruction_budget", 1, least=1)
    limits.whole("output_bytes", 1)
    limits.whole("devices", 1, least=1)
    for key in ("test_seconds", "submission_seconds"):
        limits.number(key, 1, least=0.1)
    evidence.flag("timeline", False)
    evidence.flag("drawn", False)
    evidence.number("slowest", 1, least=1)
    timing = fields.table("timing")
    timing.whole("n", 0)
    calls = fields.table("device_calls")
    for key in ("fill_result", "copy_result"):
        calls.flag(key, False)
    for table in (limits, evidence, timing, calls, fields):
        table.finish()
    if assignment.id != path.parent.name:
        raise SchemaError(f'{fields.at("id")}: expected the folder\'s name "{path.parent.name}", got "{assignment.id}"')
    if Path(assignment.submission).name != assignment.submission or assignment.submission.startswith("."):
        raise SchemaError(f"{fields.at('submission')}: expected a plain file name")
    for criterion in criteria:
        if criterion.needs and not any(criterion.needs == other.id and not other.timing for other in criteria):
            raise SchemaError(
                f'{fields.at("criterion")}: {criterion.id} needs "{criterion.needs}", which is no criterion that runs '
                "without a GPU"
            )
    if assignment.edits and assignment.is_python:
        raise SchemaError(f"{fields.at('edits')}: lines are counted in C++ alone, not in {assignment.submission}")
    if unknown := set(assignment.libraries) - set(LIBRARIES):
        raise SchemaError(f"{fields.at('libraries')}: expected some of {', '.join(LIBRARIES)}, got {min(unknown)}")
    _refuse_twins(fields.at("rung id"), known)
    _refuse_twins(fields.at("criterion id"), [criterion.id for criterion in criteria])
    return assignment


def _edits(fields: Fields, rungs: list[str]) -> DiffBudget:
    given = fields.table("given")
    budget = DiffBudget(fields.whole("most_changed_lines", least=1), {rung: given.text(rung, "") for rung in rungs})
    given.finish()
    fields.finish()
    return budget


def _rung(fields: Fields) -> Rung:
    rung = Rung(
        id=fields.text("id"),
        title=fields.text("title"),
        published_ms=fields.number("published_ms", least=0) if fields.has("published_ms") else None,
        n=fields.whole("n", 0),
        host_only=fields.flag("host_only", False),
    )
    fields.number("published_gb_s", 0, least=0)  # read by the judge
    fields.finish()
    return rung


def _lettered(rungs: tuple[Rung, ...]) -> tuple[Rung, ...]:
    """Labels rungs; those that share a number get a, b, c."""
    lettered = []
    for rung in rungs:
        twins = [other.id for other in rungs if other.number == rung.number]
        letter = chr(ord("a") + twins.index(rung.id)) if 1 < len(twins) <= _LETTERS else ""
        lettered.append(replace(rung, letter=letter))
    return tuple(lettered)


def _criterion(fields: Fields, rungs: list[str]) -> Criterion:
    tests = fields.texts("tests")
    metric = fields.text("metric", "")
    timing = fields.choice("timing", ("reference", "copy"), "") if fields.has("timing") else ""
    if bool(tests) + bool(metric) + bool(timing) != 1:
        raise SchemaError(f"{fields.at('tests')}: a criterion needs tests, a metric or a timing, and only one of them")
    criterion = Criterion(
        id=fields.text("id"),
        rung=_known_rung(fields, rungs),
        points=fields.number("points", least=0),
        title=fields.text("title"),
        bonus=fields.flag("bonus", False),
        hint=fields.text("hint", ""),
        tests=tests,
        metric=metric,
        timing=timing,
        full=fields.number("full") if metric or timing else 0.0,
        none=fields.number("none") if metric or timing else 0.0,
        only_where=fields.text("only_where", "") if metric else "",
        unaligned=fields.text("unaligned", "") if metric else "",
        needs=fields.text("needs", "") if timing else "",
        visibility=fields.choice("visibility", VISIBILITIES, VISIBLE),
    )
    if timing and not criterion.bonus:
        raise SchemaError(f"{fields.at('timing')}: times count only on a GPU, so a timed criterion needs bonus = true")
    if (metric or timing) and criterion.full == criterion.none:
        raise SchemaError(f"{fields.at('none')}: must differ from full, for points are linear between the two")
    fields.finish()
    return criterion


def _visibility(fields: Fields) -> TestVisibility:
    entry = TestVisibility(
        tests=fields.texts("tests"),
        shown=fields.choice("shown", VISIBILITIES),
        title=fields.text("title", ""),
        hint=fields.text("hint", ""),
    )
    if not entry.tests:
        raise SchemaError(f'{fields.at("tests")}: missing; it takes globs on full test names, such as ["Hidden*"]')
    fields.finish()
    return entry


def _ranking(fields: Fields, rungs: list[str]) -> Ranking:
    ranking = Ranking(
        metric=fields.text("metric"),
        rung=_known_rung(fields, rungs),
        ascending=fields.choice("order", ("asc", "desc"), "asc") == "asc",
    )
    fields.finish()
    return ranking


def _known_rung(fields: Fields, rungs: list[str]) -> str:
    rung = fields.text("rung")
    if rung not in rungs:
        raise SchemaError(f'{fields.at("rung")}: "{rung}" is none of the rungs ({", ".join(rungs)})')
    return rung


def _refuse_twins(where: str, names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise SchemaError(f'{where}: "{name}" is there twice')
