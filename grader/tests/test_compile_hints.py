"""What a student is told beside the compiler's own words."""

import pytest

from grader.student.compile_hints import compile_hint


@pytest.mark.parametrize(
    ("said", "line", "hint"),
    [
        ('expected a ";"', "  }", "end of the line above"),
        ("a host function call cannot be configured", "  k<<<1, 2>>>(d_a);", "__global__"),
        ("a __global__ function call must be configured", "  k(d_a);", "launched, not called"),
        ("expression must have integral or unscoped enum type", "  k<<1, 2>>(d_a);", "three brackets"),
        ("expression must have integral or unscoped enum type", "  a = b << c;", ""),
        ('calling a __host__ function("f()") from a __global__ function("k") is not allowed', "", "__device__"),
        ('no instance of overloaded function "std::min" matches the argument list', "", "of one type"),
        ('namespace "std" has no member "clamp"', "", "#include <algorithm>"),
        ('identifier "x" is undefined', "", ""),
    ],
)
def test_explains_what_the_compiler_does_not(said: str, line: str, hint: str) -> None:
    found = compile_hint(f"launch.cu(12): error: {said}\n{line}\n  ^\n\n1 error detected")
    assert hint in found if hint else found == ""


def test_goes_by_the_first_error() -> None:
    errors = 'a.cu(1): error: identifier "x" is undefined\n  x\n\na.cu(2): error: expected a ";"\n'
    assert compile_hint(errors) == ""
    assert compile_hint("warning alone") == ""
