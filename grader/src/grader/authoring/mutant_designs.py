"""Changes that are design mistakes: not one wrong token but a step left out or misunderstood.

Examples: a size in elements instead of bytes, a grid size rounded down, a 16-bit index, a query used as a wait, setup
for every call done only in the first.
"""

import re
from collections.abc import Iterator

_BYTES = re.compile(r" \* sizeof\([^()]*\)|\bsizeof\([^()]*\) \* ")
_ROUNDED_UP = re.compile(r"\((\w+) \+ ([\w.]+) - 1\) / \2\b")
_FIRST_VALUE = re.compile(r"(?<!for \()\b((?:int|unsigned|float|double) \w+) = (?:0|0u|0\.0f?|INT_MIN|-INFINITY);")
_QUESTIONS = (
    (re.compile(r"\bcudaStreamSynchronize(?=\()"), "cudaStreamQuery"),
    (re.compile(r"\bcudaEventSynchronize(?=\()"), "cudaEventQuery"),
    (re.compile(r"\bcudaDeviceSynchronize\(\)"), "cudaStreamQuery(0)"),
)
_BARRIER = re.compile(r"\b__syncthreads\(\);")
_STATEMENT = re.compile(r"^[ \t]*((?:cuda\w+|\w+(?:<[^;{}<>]*>)?<<<[^;{}]*>>>)\([^;{}]*\);)", re.MULTILINE)
_LAUNCH = re.compile(r"^[ \t]*(\w+(?:<[^;{}<>]*>)?<<<[^;{}]*>>>\([^;{}]*\);)", re.MULTILINE)
_QUOTIENT = re.compile(r"(?<![\w.*/] )\b(?!k[A-Z])([a-z]\w*) / ([a-z]\w*)\b(?! /)")  # not the quotient of two constants
_EXTREMUM = re.compile(r"\b(min|max)(?=\()")
_COUNT = re.compile(r"(?<=[(,] )n(?=[,)])|(?<=\()n(?=[,)])")
_END = re.compile(r"(?<= < )n(?=[;) ])")
_GRID_STRIDE = re.compile(r"\bgridDim\.x \* (?=blockDim\.x)|(?<=blockDim\.x) \* gridDim\.x\b")
_LOOP = re.compile(r"\bwhile(?= \()")
_INDEX = re.compile(r"(?<!for \()\b(?:unsigned|int)(?= \w+ = [^;]*(?:\bblockIdx|\bgridDim|\bn\b|_rank\(\))[^;]*;)")


def design_changes(_: str, code: str) -> Iterator[tuple[str, int, str, str]]:
    """Operator, place, old text, new text; in `code` comments and strings of the source are blanked out."""
    for kind, pattern, other in (
        ("unit", _BYTES, ""),
        ("warp's barrier", _BARRIER, "__syncwarp();"),
        ("part's barrier", _BARRIER, "if (threadIdx.x < 32) __syncthreads();"),
        ("launch", _LAUNCH, ";"),
        ("off by one", _COUNT, "n - 1"),
        ("off by one", _COUNT, "n + 1"),
        ("tail", _END, "n / 32 * 32"),
        ("tail", _END, "n - 1"),
        ("stride", _GRID_STRIDE, ""),
        ("loop", _LOOP, "if"),
        ("short", _INDEX, "short"),
        ("short", _INDEX, "unsigned short"),
    ):
        for found in pattern.finditer(code):
            group = 1 if pattern.groups else 0
            yield kind, found.start(group), found[group], other
    for pattern, other in _QUESTIONS:
        for found in pattern.finditer(code):
            yield "question", found.start(), found[0], other
    for found in _ROUNDED_UP.finditer(code):
        yield "rounded down", found.start(), found[0], f"{found[1]} / {found[2]}"
    for found in _FIRST_VALUE.finditer(code):
        yield "no first value", found.start(), found[0], f"{found[1]};"
    for found in _STATEMENT.finditer(code):
        yield "once", found.start(1), found[1], f"{{ static bool done = false; if (!done) {found[1]} done = true; }}"
    for found in _QUOTIENT.finditer(code):
        yield "float", found.start(), found[0], f"int(float({found[1]}) / float({found[2]}))"
    for found in _EXTREMUM.finditer(code):
        yield "extremum", found.start(), found[0], "max" if found[1] == "min" else "min"
