"""Makes solutions with one small mistake each from a right one: good tests must catch them all.

Pure functions on text. Comments, strings and preprocessor lines are not changed, except inline PTX; a mutant differs
from its source in one place. A sign with several meanings (`<` of a template, `*` of a pointer) counts as an operator
if it has a space on either side, as the project's formatter writes operators.

A mutation operator is a kind of change. Arithmetic and control-flow operators fit every program; those for ordering
(fences, memory orders and scopes, volatile, atomics, streams), warps and addresses fit only lines that use these.
"""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

from grader.authoring.mutant_designs import design_changes
from grader.authoring.mutant_orders import ordering_changes

_RELATIONS = {"<": ("<=", ">"), "<=": ("<",), ">": (">=", "<"), ">=": (">",), "==": ("!=",), "!=": ("==",)}
_OPERATORS = _RELATIONS | {
    "+": ("-",),
    "-": ("+",),
    "+=": ("-=",),
    "-=": ("+=",),
    "*": ("+",),
    "&&": ("||",),
    "||": ("&&",),
}
_OPERATOR = re.compile(r"(?<= )(<=|>=|==|!=|\+=|-=|&&|\|\||<|>|\+|-|\*)(?= )")
_NUMBER = re.compile(r"(?<![\w.])(\d+)(?=[uU]?[lL]{0,2}(?![\w.]))")
_BARRIER = re.compile(r"\b__sync(?:threads|warp)\([^()]*\);|\b\w+\.sync\(\);")
_INDEX = re.compile(r"\b(?:threadIdx|blockIdx|blockDim|gridDim)\.([xy])\b")
_CALL = re.compile(r"^[ \t]*((?:cuda\w+|[A-Z_]{3,})\([^;{}]*\);)", re.MULTILINE)
_KINDS = ("HostToDevice", "DeviceToHost", "DeviceToDevice")
_KIND = re.compile(rf"\bcudaMemcpy({'|'.join(_KINDS)})\b")
_GUARD = re.compile(r"\bif (?:constexpr )?\(")
_MASK = re.compile(r"\b__(?:shfl\w*|ballot|any|all|match\w*|reduce\w*)_sync\(([^,()]+)(?=,)|\b__syncwarp\(([^,()]+)\)")
_MASKS = ("0xffffu", "(1u << threadIdx.x % 32)")  # half of the warp; only the calling lane
_SHUFFLE = re.compile(r"\b__shfl_(up|down)_sync\b")
_IDENTITIES = {
    "INFINITY": ("FLT_MAX", "0.0f"),
    "FLT_MAX": ("0.0f",),
    "INT_MIN": ("0", "-2147483647"),
    "INT_MAX": ("0",),
}
_IDENTITY = re.compile(r"(?<!\w)(INFINITY|FLT_MAX|INT_MIN|INT_MAX)\b")
_POINTER = re.compile(r"(?<=[(,] )(d_\w+)(?=[,)])|(?<=\()(d_\w+)(?=[,)])")
_ALIGNMENT = re.compile(r"\breinterpret_cast<(?:std::)?(?:size_t|u?intptr_t|unsigned long(?: long)?)>\(\w+\)")
# Variables to narrow; not loop counters and thread indices in a block, which are small.
_COUNT = re.compile(r"(?<!for \()\b(unsigned|int)(?= \w+ = (?!threadIdx\.[xyz];)([^;]*);)")
_LARGE = re.compile(r"\bblockIdx\b|\bgridDim\b|\bn\b|_rank\(\)")
_MAIN = re.compile(r"^int main\([^)]*\) \{.*?^\}", re.MULTILINE | re.DOTALL)
_HIDDEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^[ \t]*#(?:\\\n|[^\n])*|\bstatic_assert\([^;]*;',
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Mutant:
    """One change: `before` became `after` at a line (from 1) and column (from 0) of the source."""

    line: int
    column: int
    before: str
    after: str
    code: str  # the line as it was, without the white space around it
    source: str
    kind: str = ""  # the operator that made it

    @property
    def change(self) -> str:
        """The change as short text: the code before → the code after."""
        return f"{' '.join(self.before.split())} → {self.after}"

    @property
    def name(self) -> str:
        """Distinguishes it from the other mutants of its source."""
        return f"{self.line}:{self.column} {self.change}"


def mutants(source: str, *, designs: bool = False) -> list[Mutant]:
    """Every mutant of the source, in source order: one changed token each or, with `designs`, one design mistake."""
    makers = (design_changes,) if designs else (_control_changes, _warp_changes, _address_changes, ordering_changes)
    code = _HIDDEN.sub(_blank, source)
    code = _MAIN.sub(_blank, code)  # no test calls it
    changes = {(at, before, after): kind for maker in makers for kind, at, before, after in maker(source, code)}
    return [made(source, kind, *change) for change, kind in sorted(changes.items())]


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", "\0", found[0])


def sample(every: list[Mutant], seed: int) -> list[Mutant]:
    """All mutants in a random order that the seed decides: its beginning is a sample.

    Operators take turns, so that the few fences of a source are not lost among its many numbers.
    """
    mixed = random.Random(seed).sample(every, len(every))  # noqa: S311 - a sample, no secret
    earlier: dict[str, int] = {}
    turns = []
    for mutant in mixed:
        turns.append(earlier.get(mutant.kind, 0))
        earlier[mutant.kind] = turns[-1] + 1
    return [mutant for _, mutant in sorted(zip(turns, mixed, strict=True), key=lambda pair: pair[0])]


_Changes = Iterator[tuple[str, int, str, str]]  # the operator, its place, the old and the new text


def _control_changes(source: str, code: str) -> _Changes:
    for found in _OPERATOR.finditer(code):
        for other in _OPERATORS[found[1]]:
            yield "operator", found.start(1), found[1], other
    for found in _NUMBER.finditer(code):
        value = int(found[1])
        others = dict.fromkeys(str(other) for other in (value + 1, value - 1, value * 2) if other >= 0)
        for text in others:
            if text != found[1]:
                yield "number", found.start(1), found[1], text
    for found in _BARRIER.finditer(code):
        yield "barrier", found.start(), found[0], ";"
    for found in _CALL.finditer(code):
        yield "call", found.start(1), found[1], ";"
    for found in _KIND.finditer(code):
        for kind in _KINDS:
            if kind != found[1]:
                yield "direction", found.start(1), found[1], kind
    for found in _GUARD.finditer(code):
        condition = _in_parentheses(code, found.end())
        if _OPERATOR.search(condition):
            yield "guard", found.end(), source[found.end() : found.end() + len(condition)], "true"


def _warp_changes(_: str, code: str) -> _Changes:
    for found in _MASK.finditer(code):
        group = 1 if found[1] else 2
        for mask in _MASKS:
            yield "mask", found.start(group), found[group], mask
    for found in _SHUFFLE.finditer(code):
        yield "shuffle", found.start(1), found[1], "down" if found[1] == "up" else "up"


def _address_changes(_: str, code: str) -> _Changes:
    for found in _INDEX.finditer(code):
        yield "index", found.start(1), found[1], "y" if found[1] == "x" else "x"
    for found in _POINTER.finditer(code):
        yield "pointer", found.start(), found[0], f"{found[0]} + 1"
    for found in _ALIGNMENT.finditer(code):
        yield "alignment", found.start(), found[0], "size_t(0)"
    for found in _IDENTITY.finditer(code):
        for identity in _IDENTITIES[found[1]]:
            yield "identity", found.start(1), found[1], identity
    for found in _COUNT.finditer(code):
        yield "narrow", found.start(1), found[1], "unsigned char"
        # A float represents every small whole number exactly.
        if _LARGE.search(found[2]):
            yield "narrow", found.start(1), found[1], "float"


def _in_parentheses(code: str, start: int) -> str:
    depth = 1
    for index in range(start, len(code)):
        depth += {"(": 1, ")": -1}.get(code[index], 0)
        if depth == 0:
            return code[start:index]
    return ""


def made(source: str, kind: str, at: int, before: str, after: str) -> Mutant:
    """A mutant: the source with one change, at this offset."""
    begin = source.rfind("\n", 0, at) + 1
    end = source.find("\n", at)
    return Mutant(
        line=source.count("\n", 0, at) + 1,
        column=at - begin,
        before=before,
        after=after,
        code=source[begin : end if end >= 0 else None].strip(),
        source=source[:at] + after + source[at + len(before) :],
        kind=kind,
    )
