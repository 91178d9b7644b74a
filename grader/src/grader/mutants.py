"""Solutions with one small mistake each, made from a reference: what good tests have to catch.

Pure functions on text. Comments, strings and preprocessor lines are left alone; a mutant differs from its source in one
place. A sign that also stands for something else (`<` of a template, `*` of a pointer) counts where it is written as an
operator, with a space on either side, as the project's formatter writes it.
"""

import random
import re
from dataclasses import dataclass

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
_BARRIER = re.compile(r"\b__sync(?:threads|warp)\([^()]*\);")
_INDEX = re.compile(r"\b(?:threadIdx|blockIdx|blockDim|gridDim)\.([xy])\b")
_CALL = re.compile(r"^[ \t]*((?:cuda\w+|[A-Z_]{3,})\([^;{}]*\);)", re.MULTILINE)
_KINDS = ("HostToDevice", "DeviceToHost", "DeviceToDevice")
_KIND = re.compile(rf"\bcudaMemcpy({'|'.join(_KINDS)})\b")
_GUARD = re.compile(r"\bif (?:constexpr )?\(")
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

    @property
    def change(self) -> str:
        """The change in a few characters."""
        return f"{' '.join(self.before.split())} → {self.after}"

    @property
    def name(self) -> str:
        """What tells it from the other mutants of its source."""
        return f"{self.line}:{self.column} {self.change}"


def mutants(source: str) -> list[Mutant]:
    """Every mutant of the source, in its order."""
    code = _HIDDEN.sub(lambda found: re.sub(r"[^\n]", "\0", found[0]), source)
    changes: list[tuple[int, str, str]] = []
    for found in _OPERATOR.finditer(code):
        changes += [(found.start(1), found[1], other) for other in _OPERATORS[found[1]]]
    for found in _NUMBER.finditer(code):
        value = int(found[1])
        others = dict.fromkeys(str(other) for other in (value + 1, value - 1, value * 2) if other >= 0)
        changes += [(found.start(1), found[1], other) for other in others if other != found[1]]
    changes += [(found.start(), found[0], ";") for found in _BARRIER.finditer(code)]
    changes += [(found.start(1), found[1], ";") for found in _CALL.finditer(code)]
    changes += [
        (found.start(1), found[1], kind) for found in _KIND.finditer(code) for kind in _KINDS if kind != found[1]
    ]
    changes += [(found.start(1), found[1], "y" if found[1] == "x" else "x") for found in _INDEX.finditer(code)]
    for found in _GUARD.finditer(code):
        condition = _in_parentheses(code, found.end())
        if _OPERATOR.search(condition):
            changes.append((found.end(), source[found.end() : found.end() + len(condition)], "true"))
    return [_mutant(source, *change) for change in sorted(changes)]


def sample(every: list[Mutant], seed: int) -> list[Mutant]:
    """All mutants in a random order that the seed decides: its beginning is a sample."""
    return random.Random(seed).sample(every, len(every))  # noqa: S311 - a sample, no secret


def _in_parentheses(code: str, start: int) -> str:
    depth = 1
    for index in range(start, len(code)):
        depth += {"(": 1, ")": -1}.get(code[index], 0)
        if depth == 0:
            return code[start:index]
    return ""


def _mutant(source: str, at: int, before: str, after: str) -> Mutant:
    begin = source.rfind("\n", 0, at) + 1
    end = source.find("\n", at)
    return Mutant(
        line=source.count("\n", 0, at) + 1,
        column=at - begin,
        before=before,
        after=after,
        code=source[begin : end if end >= 0 else None].strip(),
        source=source[:at] + after + source[at + len(before) :],
    )
