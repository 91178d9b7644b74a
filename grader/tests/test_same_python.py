"""Python files that are equal except for comments and layout, the mapping of their lines, and their display."""

import time

import pytest

from grader.model.same_python import python_form
from grader.model.same_source import line_map
from grader.model.similarity import similar_pairs, tokenise
from grader.pages.highlight import highlight

BASE = '''"""Doc."""
from numba import cuda, int32
import numpy as np


@cuda.jit("void(int32[::1])")
def k(d_out):
    i = cuda.grid(1)  # adds
    if i < d_out.size:
        d_out[i] = (1 +
                    2)


if __name__ == "__main__":
    pass
'''


def same(one: str, other: str) -> bool:
    forms = python_form(one.encode()), python_form(other.encode())
    return forms[0] is not None and forms[1] is not None and forms[0].text == forms[1].text


@pytest.mark.parametrize(
    "other",
    [
        "# a head\n\n" + BASE,
        BASE.replace("  # adds", ""),
        BASE.replace("\n\n\n", "\n\n\n\n# between\n"),
        BASE.replace("        ", "\t\t").replace("    i", "\ti").replace("    if", "\tif").replace("    pass", " pass"),
        BASE.replace("1 +\n                    2", "1 + 2"),
        BASE.replace("\n", "\r\n"),
        BASE.replace("i < d_out", "i<d_out"),
        BASE + "\n# the end",
    ],
)
def test_what_makes_no_difference(other: str) -> None:
    assert same(BASE, other)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("d_out[i] = (1", "d_out[i] = (2"),
        ('"""Doc."""', '"""doc."""'),
        ("    if i < d_out.size:\n        d_out[i]", "    if i < d_out.size: pass\n    d_out[i]"),
        ("int32[::1]", "int32[:]"),
    ],
)
def test_what_makes_one(old: str, new: str) -> None:
    assert old in BASE
    assert not same(BASE, BASE.replace(old, new))


@pytest.mark.parametrize(
    "text",
    [
        BASE + "import sys\n",
        BASE + "from traceback import print_stack\n",
        BASE + "import numba, inspect\n",
        BASE + "print(k.__code__)\n",
        BASE + "print(eval('1'))\n",
        BASE + "print(f'{1}')\n",
        BASE + "x = 'not closed\n",
        "def f(:\n  (",
        "# -*- coding: latin-1 -*-\n" + BASE,
        "# only a comment\n",
        "a\x1fb",
    ],
)
def test_what_may_see_its_lines_or_cannot_be_read_has_no_form(text: str) -> None:
    assert python_form(text.encode()) is None


def test_lines_are_found_again() -> None:
    one, other = python_form(BASE.encode()), python_form(("# head\n" + BASE.replace("1 +\n   ", "1 + ")).encode())
    assert one is not None
    assert other is not None
    lines = line_map(one, other)
    assert lines is not None
    assert (lines[6], lines[8], lines[10], lines[11]) == (7, 9, 11, 11)
    assert line_map(other, one) is None  # one line of `other` is two lines of `one`


def test_renamed_python_is_similar_and_comments_do_not_count() -> None:
    body = "".join(f"    total{k} = data[i + {k}] * weights[{k}] + offset - other[{k}] // 2\n" for k in range(8))
    one = f"def work(data, weights, other, offset):\n    i = cuda.grid(1)\n{body}"
    other = one.replace("total", "sum").replace("weights", "w").replace("\n", "  # mine\n") + "def more():\n    pass\n"
    pairs = similar_pairs([tokenise(text, is_python=True) for text in (one, other)], None, 0.5)
    assert [(pair.first, pair.second) for pair in pairs] == [(0, 1)]


def test_python_is_coloured_as_python() -> None:
    lines = [str(line) for line in highlight(BASE, 2, is_python=True).lines]
    assert lines[0] == '<span class="s">&#34;&#34;&#34;Doc.&#34;&#34;&#34;</span>'
    assert '<span class="k">from</span>' in lines[1]
    assert lines[5].startswith('<span class="cp">@cuda.jit</span>')
    assert '<span class="nf">k</span>' in lines[6]
    assert lines[7].endswith('<span class="c"># adds</span>')


@pytest.mark.parametrize(
    "text", ['"""' + '"' * 50_000, "'" * 100_001, "a" * 100_000, "#" * 100_000, "\\" * 100_001, "@." * 50_000]
)
def test_any_text_takes_time_that_is_linear_in_it(text: str) -> None:
    begin = time.process_time()
    highlight(text, 2, is_python=True)
    tokenise(text, is_python=True)
    python_form(text.encode())
    assert time.process_time() - begin < 2
