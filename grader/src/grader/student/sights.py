"""Finds the line of a student's source that a hint is about, such as a loop, a shuffle or a comparison."""

import re
from collections.abc import Iterable

from grader.model.result import Sight

# What a hint may point at: whether it is in kernels (else in host code), and a pattern for its line. `line_in_sight`
# also knows "element", of a named array, and `named_line` the parts below.
_SIGHTS = {
    "shuffle": (True, r"__shfl"),
    "return": (True, r"\breturn;"),
    "variable": (True, r"^\s*(?:int|unsigned|float|double)\b[^=()]*;"),
    "int": (True, r"^\s*(?:unsigned|int)\s+\w+ ="),
    "thread index": (True, r"threadIdx\.x"),
    "block index": (True, r"blockIdx\.x \*"),
    "loop": (True, r"^\s*(?:for|while)\b"),
    "comparison": (True, r"\+=.*[<>]|if \(.*[<>].*\)\s*(?:\+\+|\w+\+\+)"),
    "guard": (True, r"\bif \(.*[<>]"),
    "shift": (False, r"shift.*%"),
    "blocks": (False, r"\w\)?\s*//?\s*(?:k?[Bb]lock|kThreads|each|BLOCK|per_block|size)"),
    "streams": (False, r"cudaStream_t\s+\w+\s*="),
    "rules": (False, r"kMost\w+"),
    "copied element": (False, r"h_out\[.*\] ="),
}
# Parts that come with names of members or functions. A function that uses none of them lacks the one at this index.
_NAMED = {"input": 0, "result": 1, "function": 9}


def line_in_sight(sight: Sight, source: str, kernels: Iterable[str], launcher: str) -> tuple[int, str]:
    """The number and text of the line, in the kernels or the launcher or what they call; 0 if none is known."""
    if sight.part == "element":  # only where one line alone has elements of the array
        (array,) = sight.names
        lines = {number: line.strip() for number, line in _reached(source, list(kernels)) if f"{array}[" in line}
        return next(iter(lines.items())) if len(lines) == 1 else (0, "")
    if sight.part in _SIGHTS:
        in_kernel, pattern = _SIGHTS[sight.part]
        reached = _reached(source, list(kernels) if in_kernel else [launcher])
        rest = [] if in_kernel else enumerate(source.split("\n"), 1)  # including members of classes
        for number, line in (*reached, *rest):
            if not line.lstrip().startswith("//") and re.search(pattern, line):
                return number, line.strip()
    return 0, ""


def named_line(sight: Sight, source: str, begin: int) -> tuple[int, str, str]:
    """The first line of the function at `begin` that uses a name, and its text; or 0, and the name that it lacks."""
    body = source.split("\n")[begin - 1 :]
    body = body[: next((k for k, row in enumerate(body) if row.startswith("}")), len(body))]
    for place, name in enumerate(sight.names if sight.part in _NAMED else ()):
        for k, row in enumerate(body):
            if re.search(rf"(?:->|\.){re.escape(name)}(?!\w)", row):
                return begin + k, row.strip(), ""
        if place >= _NAMED[sight.part]:
            return 0, "", name
    return 0, "", ""


def _reached(source: str, names: list[str]) -> Iterable[tuple[int, str]]:
    """The numbered lines of functions with these names, then of the functions they call."""
    seen: set[str] = set()
    while names:
        name = names.pop(0)
        before = r"^(?:[\w:<>*&, ]*[ *&]|.*__launch_bounds__\([^)\n]*\)\s*)"
        head = re.search(rf"{before}{re.escape(name)}\s*\([^;{{]*?\)[^;{{]*?[{{:]", source, re.MULTILINE)
        if name in seen or head is None or head[0][0].isspace():
            continue
        seen.add(name)
        end = re.compile(r"^(?=[^\s#])(?!\))", re.MULTILINE).search(source, source.find("\n", head.end()) + 1)
        begin, body = (
            source.count("\n", 0, head.start()) + 1,
            source[head.start() : end.start() if end else len(source)],
        )
        yield from enumerate(body.split("\n"), begin)
        names += [word for word in re.findall(r"\b[A-Za-z_]\w+\b", body) if word not in seen]
