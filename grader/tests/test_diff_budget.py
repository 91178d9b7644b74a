"""Changed lines are counted by code, whatever the layout, and no layout hides them."""

import random
import re
import textwrap

import pytest

from grader.model.diff_budget import DiffBudget, given_lines

STUB = textwrap.dedent("""\
    #include "toy.h"

    // Adds one.
    __global__ void toy1_kernel(int* d, unsigned n) {
      const unsigned i = blockIdx.x * 64 + threadIdx.x;
      for (unsigned k = 0; k < 4; ++k) {
        if (i + k < n) d[i + k] += 1;
        else d[i] = int{0};
      }
    }

    void toy1_add(int* d, unsigned n) {
      const int table[2] = {1, 2};
      toy1_kernel<<<n, 64>>>(d, n);
    }

    void toy2_nothing(int* d, unsigned n) {
      if (n == 0) return;
      toy1_kernel<<<1, 64>>>(d, 1);
    }
    """)
BUDGET = DiffBudget(2, given_lines(STUB.encode(), ("toy1_add", "toy2_nothing")))


def _refused(text: str) -> str:
    return BUDGET.refusal(text.encode(), "toy.cu")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        ("// Adds one.", "/* Adds\n one, twice */"),
        ("if (n == 0) return;", "if (n == 0) {\n\n  return;\n  }"),
        ("k < 4; ++k) {", "k < 4;\n ++k)\n{"),
        ("        else d", "        else {\n d"),  # a brace alone counts nothing, even if it does not compile
        ("+= 1;", "+= 2;"),
        ("  toy1_kernel<<<1", "  n = 1; n = 2;\n  toy1_kernel<<<1"),
        ("  if (n == 0) return;\n", ""),
        ('#include "toy.h"', '#  include   "toy.h" // ours'),
    ],
)
def test_few_changes_are_accepted_in_any_layout(old: str, new: str) -> None:
    assert _refused(STUB.replace(old, new, 1)) == ""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "  toy1_kernel<<<1",
            "  n = 1; n = 2; n = 3;\n  toy1_kernel<<<1",
            "3 lines of toy2_nothing .* 19 and 19,",
        ),
        ("  const int table", "  " + "n, " * 45 + "n;\n  const int table", "4 lines of toy1_add"),
        ("  if (n == 0)", "  [&] { n = 1; n = 2; n = 3; }();\n  if (n == 0)", "lines of toy2_nothing"),
        ("void toy2", "void more() { int a; int b; }\n\nvoid toy2", "not handed out have 3 lines"),
        ("  if (n == 0)", f'  asm("{"nop; " * 50}");\n  if (n == 0)', "3 lines of toy2_nothing"),
        ("+= 1;", "= 2;\n#define n 7\n", r"toy.cu:8: this directive was not handed out"),
        ("void toy2", '#line 3 "toy.h"\nvoid toy2', r"toy.cu:17: this directive"),
        ("void toy2", '/* */ #include "more.cuh"\nvoid toy2', r"toy.cu:17: this directive"),
        ("void toy2", "/*\n*/ #define n 7\nvoid toy2", "can't be compared"),
        ("void toy2", "%:define n 7\nvoid toy2", "can't be compared"),
        ("void toy2", "??=define n 7\nvoid toy2", "can't be compared"),
        ("void toy2", "#def\\\nine n 7\nvoid toy2", "can't be compared"),
        ("void toy2", 'auto hidden = R"(/*)";\nvoid toy2', "can't be compared"),
        ("void toy2", "int a;\n" * 1000 + "void toy2", "has 1015 lines of code, and was handed out with 15"),
    ],
)
def test_more_changes_and_what_would_hide_them_are_refused(old: str, new: str, said: str) -> None:
    assert re.search(said, _refused(STUB.replace(old, new, 1)))


def test_every_statement_that_is_added_counts_in_its_program() -> None:
    """Random numbers of statements at random places: refused if a program has more than its two."""
    draw = random.Random(13)
    for _ in range(200):
        lines = STUB.splitlines()
        counts = [0, 0]
        for number in range(draw.randrange(7)):
            program = draw.randrange(2)
            at = next(i for i, line in enumerate(lines) if ("toy1_kernel<<<n" if program == 0 else "<<<1, 64") in line)
            form = draw.choice(["  {x%d = 1; }", "x%d\n=\n1;", "x%d = 1; // x", "/* ; */ x%d = 1;"])
            lines.insert(at, form % number)
            counts[program] += 1
        said = _refused("\n".join(lines))
        for count, name in zip(counts, ("toy1_add", "toy2_nothing"), strict=True):
            assert (f"{count} lines of {name} " in said) == (count > BUDGET.most), (said, counts)
