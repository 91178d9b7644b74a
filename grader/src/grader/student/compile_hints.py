"""What to do about an error of the compiler's that new students of CUDA meet, and whose words do not say it.

Only the standard library is used here: students run it.
"""

import re

_FIRST_ERROR = re.compile(r"^\S+\.cu\(\d+\): error: (?P<said>.*)\n?(?P<line>.*)", re.MULTILINE)
# What the compiler says, what the line has that it is about, and the hint.
_HINTS = (
    (r'expected a ";"', "", "a ; is missing before this place, perhaps at the end of the line above"),
    (
        "a host function call cannot be configured",
        "",
        "only a kernel is launched by <<<…>>>: does its definition begin with __global__ void?",
    ),
    (
        "a __global__ function call must be configured",
        "",
        "a kernel is launched, not called: kernel<<<blocks, threads>>>(arguments)",
    ),
    (
        "integral or unscoped enum type",
        r"[^<]<<[^<].*[^>]>>\s*\(",
        "a launch has three brackets on each side: kernel<<<blocks, threads>>>(arguments)",
    ),
    (
        "calling a __host__ function",
        "",
        "a kernel calls functions of the device alone: write __device__ before the definition of that one",
    ),
    (
        r'function "std::(min|max|clamp)',
        "",
        "the arguments have to be of one type, and an int and an unsigned are of two: convert one of them",
    ),
    (r'namespace "std" has no member "(min|max|clamp|copy_n)"', "", "#include <algorithm> is missing"),
    (r'namespace "std" has no member "swap"', "", "#include <utility> is missing"),
    (r'namespace "std" has no member "(printf|fprintf)"', "", "#include <cstdio> is missing"),
    (r'namespace "std" has no member "vector"', "", "#include <vector> is missing"),
    (r'namespace "std" has no member "numeric_limits"', "", "#include <limits> is missing"),
)


def compile_hint(message: str) -> str:
    """One sentence about the compiler's first error; "" where its own words will do."""
    error = _FIRST_ERROR.search(message)
    if error is None:
        return ""
    for said, line, hint in _HINTS:
        if re.search(said, error["said"]) and re.search(line, error["line"]):
            return hint
    return ""
