"""Mutants of Python: the expected ones, and that each is one change that parses."""

import ast
from collections import Counter

import pytest

from conftest import ROOT
from grader.authoring.python_mutants import python_mutants

SOLUTIONS = ROOT / "reference/12_python"


def changes(source: str) -> set[str]:
    return {mutant.change for mutant in python_mutants(source)}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = a < b", {"< → <=", "< → >"}),
        ("x = a >= b == c", {">= → >", ">= → <", "== → !="}),
        ("x = a + (b - c)", {"+ → -", "- → +"}),
        ("x = n // block", {"// → /", "// → *"}),
        ("x = shift % n", {"% → //"}),
        ("x += y", {"+= → -="}),
        ("x = -y", {"-y → y"}),
        ("x = s[10]", {"10 → 11", "10 → 9", "10 → 20"}),
        ("x = s[0]", {"0 → 1"}),
        ("BLOCK = 256", set()),
        ("if n:\n    f()", {"n → True", "n → False", "f() → pass"}),
        ("def f():\n    return", {"return → pass"}),
        ("stream.synchronize()", {"stream.synchronize() → pass"}),
        (
            "drv.memcpy_htod_async(d, h, s)",
            {
                "drv.memcpy_htod_async(d, h, s) → pass",
                "memcpy_htod_async → memcpy_htod",
                "memcpy_htod_async → memcpy_dtoh_async",
                "d, h → h, d",
                "h, s → s, h",
            },
        ),
        ('f = g.prepare("PI")', {'"PI" → "iI"', '"PI" → "Pq"', '"PI" → "P"'}),
        ("x = f(shared_size=size)", {"size → 0"}),
        ("x = f(stream=s)", {"s → None"}),
        ("# a + b\nx = 'c - d'", set()),
        ("x: Array[1] = y", set()),
        ("assert n > 0", set()),
        ("if __name__ == '__main__':\n    f(1 + 2)", set()),
        ("x = '\u00fc' < y  # bytes before it", {"< → <=", "< → >"}),
        ("x = (a  # +\n     + b)", set()),
    ],
)
def test_each_construct_has_its_mistakes(source: str, expected: set[str]) -> None:
    assert changes(source) == expected


def test_mutants_of_the_solutions_parse_and_name_their_line() -> None:
    kinds: Counter[str] = Counter()
    for path in (SOLUTIONS / "host.py", *sorted(SOLUTIONS.glob("right/*.py"))):
        source = path.read_text(encoding="utf-8")
        for mutant in python_mutants(source):
            ast.parse(mutant.source)
            assert source.split("\n")[mutant.line - 1].strip() == mutant.code
            kinds[mutant.kind] += 1
    assert set(kinds) == {"operator", "number", "guard", "call", "direction", "swap", "keyword", "letter"}
    assert min(kinds.values()) >= 10
