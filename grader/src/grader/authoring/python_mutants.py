"""Single small mistakes in a Python solution, for `grader mutate`: host code that copies, launches and waits.

Changes are located in the syntax tree, so comments and strings are safe, and applied to the source text, so everything
else stays unchanged. Numba kernels get the same changes: a barrier there is a call like any other.
"""

import ast
import itertools
from collections.abc import Iterator

from grader.authoring.mutants import Mutant, made

_OPERATORS: dict[type[ast.AST], tuple[str, tuple[str, ...]]] = {
    ast.Lt: ("<", ("<=", ">")),
    ast.LtE: ("<=", ("<", ">")),
    ast.Gt: (">", (">=", "<")),
    ast.GtE: (">=", (">", "<")),
    ast.Eq: ("==", ("!=",)),
    ast.NotEq: ("!=", ("==",)),
    ast.Add: ("+", ("-",)),
    ast.Sub: ("-", ("+",)),
    ast.Mult: ("*", ("+",)),
    ast.Div: ("/", ("//",)),
    ast.FloorDiv: ("//", ("/", "*")),
    ast.Mod: ("%", ("//",)),
}
# Calls with a counterpart: the synchronous call, or the copy in the other direction.
_TWINS = {
    "memcpy_htod": ("memcpy_dtoh",),
    "memcpy_dtoh": ("memcpy_htod",),
    "memcpy_htod_async": ("memcpy_htod", "memcpy_dtoh_async"),
    "memcpy_dtoh_async": ("memcpy_dtoh", "memcpy_htod_async"),
    "pagelocked_empty": ("empty",),
}
_LETTERS = {"P": "i", "I": "q", "i": "f", "q": "i", "f": "d"}
_MOST_ARGUMENTS = 8  # in longer calls no neighbouring arguments are swapped

_Change = tuple[str, int, str, str]  # the operator, its place, the old and the new text


class _Source:
    """The source text, with positions of the syntax tree as offsets."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tree = ast.parse(text)
        self._lines = text.splitlines(keepends=True)
        self._begins = [0]
        for line in self._lines:
            self._begins.append(self._begins[-1] + len(line))

    def offset(self, line: int, column: int) -> int:
        """The offset in characters; the syntax tree counts columns in bytes."""
        return self._begins[line - 1] + len(self._lines[line - 1].encode()[:column].decode())

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, str]:
        """Where a node begins, and its text."""
        begin = self.offset(node.lineno, node.col_offset)
        end = self.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)
        return begin, self.text[begin:end]

    def between(self, left: ast.expr, right: ast.expr, word: str) -> int | None:
        """The position of the operator between two operands; None if it isn't found, or a comment may hide it."""
        begin, text = self.span(left)
        begin += len(text)
        gap = self.text[begin : self.span(right)[0]]
        at = gap.find(word)
        return begin + at if at >= 0 and "#" not in gap else None


def python_mutants(source: str) -> list[Mutant]:
    """Every mutant of the source, in source order."""
    of = _Source(source)
    changes: dict[tuple[int, str, str], str] = {}
    for node in _executed(of.tree):
        for kind, at, before, after in (
            *_operators(of, node), *_numbers(of, node), *_conditions(of, node), *_calls(of, node), *_texts(of, node),
        ):  # fmt: skip
            changes[at, before, after] = kind
    return [made(source, kind, *change) for change, kind in sorted(changes.items())]


def _is_choice(node: ast.AST) -> bool:
    """`BLOCK = 256`: a constant in capitals is the author's choice, so changing it is no mistake."""
    return (
        isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Constant)
        and all(isinstance(target, ast.Name) and target.id.isupper() for target in node.targets)
    )


def _executed(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes but annotations, decorators, assert, raise, constants assigned to capitals, and `if __name__ ...`."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.Assert | ast.Raise) or (isinstance(child, ast.If) and _is_main(child)):
                continue
            if isinstance(child, ast.AST) and not _is_choice(child):
                yield child
                yield from _executed(child)


def _is_main(node: ast.If) -> bool:
    return any(isinstance(one, ast.Name) and one.id == "__name__" for one in ast.walk(node.test))


def _operators(of: _Source, node: ast.AST) -> Iterator[_Change]:
    pairs: list[tuple[ast.expr, ast.AST, ast.expr]] = []
    if isinstance(node, ast.BinOp):
        pairs = [(node.left, node.op, node.right)]
    elif isinstance(node, ast.Compare):
        pairs = list(zip([node.left, *node.comparators], node.ops, node.comparators, strict=False))
    for left, operation, right in pairs:
        word, others = _OPERATORS.get(type(operation), ("", ()))
        at = of.between(left, right, word) if word else None
        for other in others if at is not None else ():
            yield "operator", at or 0, word, other
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add | ast.Sub):
        word, other = ("+=", "-=") if isinstance(node.op, ast.Add) else ("-=", "+=")
        if (at := of.between(node.target, node.value, word)) is not None:
            yield "operator", at, word, other
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        begin, text = of.span(node)
        yield "operator", begin, text, of.span(node.operand)[1]


def _numbers(of: _Source, node: ast.AST) -> Iterator[_Change]:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        begin, text = of.span(node)
        if text.isdecimal():
            for other in (str(node.value + 1), str(node.value - 1), str(2 * node.value)):
                if other.isdecimal() and other != text:
                    yield "number", begin, text, other


def _conditions(of: _Source, node: ast.AST) -> Iterator[_Change]:
    if isinstance(node, ast.If | ast.IfExp):
        begin, text = of.span(node.test)
        for other in ("True", "False"):
            yield "guard", begin, text, other
    if isinstance(node, ast.Return) and node.value is None:
        yield "call", *of.span(node), "pass"


def _calls(of: _Source, node: ast.AST) -> Iterator[_Change]:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield "call", *of.span(node), "pass"
    if not isinstance(node, ast.Call):
        return
    begin, text = of.span(node.func)
    name = text.rpartition(".")[2]
    for other in _TWINS.get(name, ()):
        if other != "empty":
            yield "direction", begin + len(text) - len(name), name, other
    plain = [one for one in node.args if not isinstance(one, ast.Starred)]
    if len(plain) <= _MOST_ARGUMENTS:
        for left, right in itertools.pairwise(plain):
            at, first = of.span(left)
            second = of.span(right)[1]
            if first != second:
                end = of.span(right)[0] + len(second)
                gap = of.text[at + len(first) : of.span(right)[0]]
                yield "swap", at, of.text[at:end], second + gap + first
    for keyword in node.keywords:
        if keyword.arg in ("shared_size", "shared"):
            yield "keyword", *of.span(keyword.value), "0"
        if keyword.arg == "stream":
            yield "keyword", *of.span(keyword.value), "None"


def _texts(of: _Source, node: ast.AST) -> Iterator[_Change]:
    """Changes of the argument letters that prepare() is given."""
    is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "prepare"
    if not is_call or not isinstance(node, ast.Call):
        return
    for argument in node.args[:1]:
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            begin, text = of.span(argument)
            for place, letter in enumerate(argument.value):
                other = argument.value[:place] + _LETTERS.get(letter, "i") + argument.value[place + 1 :]
                yield "letter", begin, text, f'"{other}"'
            yield "letter", begin, text, f'"{argument.value[:-1]}"'
