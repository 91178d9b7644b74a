"""Hints for students in addition to the compiler's own message."""

import pytest

from grader.student.compile_hints import compile_hint, warning_hints


@pytest.mark.parametrize(
    ("said", "line", "hint"),
    [
        ('expected a ";"', "  }", "end of the line above"),
        ("a host function call cannot be configured", "  k<<<1, 2>>>(d_a);", "__global__"),
        ("a __global__ function call must be configured", "  k(d_a);", "launched, not called"),
        ("expression must have integral or unscoped enum type", "  k<<1, 2>>(d_a);", "three brackets"),
        ("expression must have integral or unscoped enum type", "  a = b << c;", "take integers"),
        ('calling a __host__ function("f()") from a __global__ function("k") is not allowed', "", "__device__"),
        ('no instance of overloaded function "std::min" matches the argument list', "", "of one type"),
        ('namespace "std" has no member "clamp"', "", "#include <algorithm>"),
        ('identifier "x" is undefined', "", ""),
        ('identifier "blockidx" is undefined', "", "did you mean blockIdx?"),
        ('identifier "syncthreads" is undefined', "", "did you mean __syncthreads?"),
        ('identifier "my_tota" is undefined', "", "did you mean my_total?"),
        ('identifier "__shfl_down" is undefined', "", "__shfl_down_sync takes the mask"),
        ('class "uint3" has no member "X"', "  i = blockIdx.X;", "did you mean x?"),
        ('expected a ";"', "void reduce(int *d_in) {", "a } is missing above"),
        ('no instance of overloaded function "cudaMalloc" matches the argument list', "", "cudaMalloc(&d_a, bytes)"),
        ("too few arguments in function call", "  cudaMemcpy(a, b, n);", "which way"),
        ("too few arguments in function call", "  f(a);", ""),
        ('no operator "*" matches these operands', "  operand types are: const uint3 * const dim3", "three parts"),
        ('calling a constexpr __host__ function("min") from a __global__', "a = std::min(b, c);", "without std::"),
        ('expression must have class type but it has type "const Limits *"', "", "-> leads"),
        ("a variable length array cannot have static storage duration", "", "extern __shared__"),
        ('calling a constexpr __host__ function("sqrt") from a __global__ function', "", "sqrt(float(n))"),
        ('calling a __host__ function("rand") from a __global__ function("k")', "", "runs on the host alone"),
        ('calling a __host__ function("std::vector<int> ::vector()") from a __global__', "", "runs on the host alone"),
        ('calling a __host__ function("cudaMemcpy") from a __global__ function("k")', "", "the host makes this call"),
        ('no operator "[]" matches these operands', "  operand types are: int * [ const uint3 ]", "three parts"),
        ("return value type does not match the function type", "  if (i > n) return 0;", "return; alone"),
        ('expression must have pointer-to-object type but it has type "int"', "  n[i] = 0;", "no pointer"),
        ("expression must be a modifiable lvalue", "  d_in[i] = 0;", "only be read"),
        ("expression must have integral or unscoped enum type", "  d_out[i] = x % 2;", "fmodf"),
        ('"j" has already been declared', "  for (int j = 0, j < n, j++)", "semicolons"),
        ('a value of type "const int *" cannot be assigned to an entity of type "int *"', "", "elements behind it"),
        ('a value of type "const int *" cannot be used to initialize an entity of type "float"', "", "is the pointer"),
        ('argument of type "int **" is incompatible with parameter of type "int *"', "  k<<<1, n>>>(&d);", "without &"),
        (
            'argument of type "cudaStream_t" (aka "x") is incompatible with parameter of type "cudaStream_t *"',
            "",
            "address: &",
        ),
        ('expected a "("', "  k<<<1, n>>>;", "the kernel's arguments"),
        ('identifier "printf" is undefined', "", "#include <cstdio>"),
        ('identifier "below" is undefined', "", "further down"),
    ],
)
def test_explains_what_the_compiler_does_not(said: str, line: str, hint: str) -> None:
    found = compile_hint(
        f"launch.cu(12): error: {said}\n{line}\n  ^\n\n1 error detected",
        "int my_total = 0;\n__global__ void f() {}\nstatic float below(int n) {\n",
    )
    assert hint in found if hint else found == ""


def test_goes_by_the_first_error() -> None:
    assert "a } is missing" in compile_hint('At end of source: error: expected a "}"\na.cu(1): note #1: this "{"\n')
    errors = 'a.cu(1): error: identifier "x" is undefined\n  x\n\na.cu(2): error: expected a ";"\n'
    assert compile_hint(errors) == ""
    assert compile_hint("warning alone") == ""


@pytest.mark.parametrize(
    ("said", "line", "hint"),
    [
        ("#174-D: expression has no effect", "  dim3 block = (16, 16);", "write dim3 b(16, 16)"),
        ("#174-D: expression has no effect", "  for (int s = 8; s > 0; s >> 1)", "as s >>= 1 does"),
        ("#186-D: pointless comparison of unsigned integer with zero", "", "the loop never ends"),
        ("#174-D: expression has no effect", "  __syncthreads;", "without ()"),
        ("#177-D: variable was declared but never referenced", "", ""),
    ],
)
def test_explains_warnings_by_their_place(said: str, line: str, hint: str) -> None:
    found = warning_hints(f"copy.cu(7): warning {said}\n{line}\n  ^\n\n" * 2)
    assert len(found) == bool(hint)
    assert all(one.startswith("  hint    copy.cu(7): ") and hint in one for one in found)
