"""The solutions next to a reference: files in wrong/, hostile/ and right/, and entries of wrong.toml, hostile.toml and
right.toml.

An entry is a solution as edits (see `edits`) of the reference, or of the file that `base` names:

    [missing_barrier]
    base = "right/grid_stride.cu"
    says = "No barrier separates the steps of the tree."
    change = '''
     if (tid < s) s_data[tid] += s_data[tid + s];
    -__syncthreads();
    '''
    message = '''RACE  ReductionTest.SumsOneBlock/reduce3_sequential …'''

It counts as a file wrong/missing_barrier.cu with the entry's declaration and description as comments instead of the
base's, then the edited base. A hostile entry declares `gpu` or `virtual` (see `opponents`), a right one `points`.
`message` is the message on record; a file's entry has only that. If the message begins with the verdict and names the
rung, the entry needs no `verdict`. A base may be an entry too. Code that entries share but that is no solution itself
is a file in bases/ or an entry of bases.toml, without a declaration.
"""

import difflib
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from grader.authoring.edits import apply_edits
from grader.authoring.finding import Finding
from grader.base.errors import GraderError
from grader.base.schema import Fields, SchemaError

# The keys that declare a solution's result, by kind of entry.
DECLARED = {"wrong": ("verdict",), "hostile": ("gpu", "virtual"), "right": ("points",)}
_SAID = re.compile(r"([A-Z]+) +\S+/(\w+)(?=\s|\Z)")  # RACE  ReductionTest.SumsOneBlock/reduce3_sequential   …
_HEADS = {  # a solution's declaration and description
    ".cu": re.compile(r"(?://[^\n]*\n)*"),
    ".py": re.compile(r'(?:#[^\n]*\n)*(?:"""(?:.|\n)*?"""\n)?'),
}


@dataclass(frozen=True)
class Solution:
    """A solution: its name (wrong/no_guard.cu), its text, and the base it edits, if any."""

    name: str
    source: bytes
    base: str = ""


def solutions_in(hidden: Path, kind: str, submission: str) -> tuple[list[Solution], list[Finding]]:
    """The solutions of a kind in a folder below reference/, and the entries that are invalid.

    `submission`: the name of the file that students hand in, and of the reference.
    """
    suffix = Path(submission).suffix
    found = {
        path.name: Solution(f"{kind}/{path.name}", path.read_bytes()) for path in (hidden / kind).glob(f"*{suffix}")
    }
    problems = []
    try:
        entries = read_entries(hidden, kind)
    except GraderError as error:
        return list(found.values()), [Finding(f"{kind}.toml", "", str(error))]
    for stem, entry in entries.items():
        name = stem + suffix
        if set(entry) <= {"message"}:
            continue
        try:
            base = entry.get("base", submission)
            found[name] = Solution(f"{kind}/{name}", _expanded(hidden, submission, kind, name, entry).encode(), base)
        except (GraderError, SchemaError) as error:
            text = f"{error}\nChange [{stem}] in reference/{hidden.name}/{kind}.toml."
            problems.append(Finding(f"{kind}/{name}", "", text))
    return [found[name] for name in sorted(found)], problems


def read_entries(hidden: Path, kind: str) -> dict[str, dict[str, str]]:
    """The tables of wrong.toml, hostile.toml, right.toml or bases.toml by name; none where there is no such file."""
    path = hidden / f"{kind}.toml"
    if not path.is_file():
        return {}
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
        entries = {}
        for name, table in tables.items():
            fields = Fields(table, name)
            entries[name] = {
                key: fields.text(key)
                for key in (*DECLARED.get(kind, ()), "base", "says", "change", "message")
                if fields.has(key)
            }
            fields.finish()
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, SchemaError) as error:
        raise GraderError(f"reference/{hidden.name}/{path.name}: {error}") from error
    return entries


def verdict_of(message: str) -> str:
    """The verdict and the rung that a message begins with; empty for others, such as a compiler's."""
    match = _SAID.match(message)  # parses a text to record
    return f"{match[1]} {match[2]}" if match else ""


def split_head(text: str, suffix: str) -> tuple[str, str]:
    """Splits a text into its declaration and description, and its code."""
    match = _HEADS[suffix].match(text)
    end = match.end() if match else 0
    return text[:end], text[end:]


def make_head(declared: str, says: str, suffix: str) -> str:
    """The first lines of a solution."""
    if suffix == ".py":
        return f'# {declared}\n"""{says}"""\n' if says else f"# {declared}\n"
    return "".join(f"// {line}".rstrip() + "\n" for line in [declared, *says.splitlines()])


def _expanded(hidden: Path, submission: str, kind: str, name: str, entry: dict[str, str]) -> str:
    if kind == "wrong" and (verdict := verdict_of(entry.get("message", ""))):
        entry = {"verdict": verdict, **entry}
    declared = [f"{key}: {entry[key]}" for key in DECLARED[kind] if key in entry]
    if len(declared) != 1:
        raise GraderError(f"it must have {' or '.join(DECLARED[kind])}")
    if (hidden / kind / name).is_file():
        raise GraderError(f"{kind}/{name} is there too")
    return make_head(declared[0], entry.get("says", ""), Path(name).suffix) + _edited(hidden, submission, entry, ())


def _edited(hidden: Path, submission: str, entry: dict[str, str], above: tuple[str, ...]) -> str:
    """The code of an entry. `above`: the chain of entries that led to this base, to detect cycles."""
    if "change" not in entry:
        raise GraderError("it has no change")
    base = entry.get("base", submission)
    code = code_of(hidden, submission, base, above)
    try:
        return apply_edits(code, entry["change"])
    except GraderError as error:
        raise GraderError(f"its change does not fit {base}: {error}") from error


def code_of(hidden: Path, submission: str, name: str, above: tuple[str, ...] = ()) -> str:
    """The code of a base: a file such as right/grid_stride.cu, or the entry of that name, whose base may be an entry.

    `submission`: the name of the reference. Raises GraderError where the base is missing, or leads back to itself.
    """
    path, suffix = Path(name), Path(submission).suffix
    if (hidden / path).is_file():
        return split_head((hidden / path).read_bytes().decode(), suffix)[1]
    entry = read_entries(hidden, str(path.parent)).get(path.stem, {}) if path.suffix == suffix else {}
    if "change" not in entry:
        raise GraderError(f"its base {name} is missing")
    if name in above:
        raise GraderError(f"its base {name} is an edit of itself")
    return _edited(hidden, submission, entry, (*above, name))


def solution_text(hidden: Path, submission: str, name: str, *, diff: bool = False) -> str:
    """A solution's whole text, or how it differs from its base.

    `name` may omit folder and suffix. Raises GraderError if no solution has this name, or the base is missing.
    """
    read = [solutions_in(hidden, kind, submission) for kind in DECLARED]
    known = {key: one for ones, _ in reversed(read) for one in ones for key in (_short(one.name), one.name)}
    for problem in (problem for _, problems in read for problem in problems):
        if _short(problem.what) == _short(name):
            raise GraderError(f"{problem.what}: {problem.problem}")
    solution = known.get(name) or known.get(_short(name))
    if solution is None:
        short = sorted({_short(key) for key in known})
        near = ", ".join(difflib.get_close_matches(_short(name), short, n=5) or short)
        raise GraderError(f"{hidden.name} has no solution {name}.\nThere are: {near}")
    text = solution.source.decode("utf-8", "replace")
    if not diff:
        return text
    if not solution.base:
        raise GraderError(
            f"{solution.name} is a file of its own, not an edit of another.\nType:  --show without --diff"
        )
    base = code_of(hidden, submission, solution.base)
    old, new = (text.splitlines(keepends=True) for text in (base, text))
    return "".join(difflib.unified_diff(old, new, solution.base, solution.name))


def _short(name: str) -> str:
    return Path(name).stem
