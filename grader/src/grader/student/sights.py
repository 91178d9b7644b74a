"""Finds the line of a student's source that a hint is about, such as a loop, a shuffle or a comparison."""

import re
from collections.abc import Iterable

# The hint's text; whether to search kernels or host code; a pattern for the line.
_SIGHTS = (
    (r"__shfl|[Ss]huffle", True, r"__shfl"),
    (r"return early", True, r"\breturn;"),
    (r"garbage", True, r"^\s*(?:int|unsigned|float|double)\b[^=()]*;"),
    (r"begin with blockIdx|to depend on blockIdx", True, r"threadIdx\.x"),
    (
        r"whole grid|all its steps|steps must go on|(?:over the rows|pass of the loop|thread's loop)",
        True,
        r"^\s*(?:for|while)\b",
    ),
    (r"those that are less|compare the other way", True, r"\+=.*[<>]|if \(.*[<>].*\)\s*(?:\+\+|\w+\+\+)"),
    (r"kept in an int", True, r"^\s*(?:unsigned|int)\s+\w+ ="),
    (r"blocks overlap", True, r"blockIdx\.x \*"),
    (r"shift \+ n is unsigned", False, r"shift.*%"),
    (r"guard or index", True, r"\bif \(.*[<>]"),
    (
        r"number of blocks up|number of tiles up",
        False,
        r"\w\)?\s*//?\s*(?:k?[Bb]lock|kThreads|each|BLOCK|per_block|size)",
    ),
    (r"memory of cudaMallocHost", False, r"\bmalloc\(|\bnew \w+\[|vector<float>"),
    (r"let chunk c go through", False, r"cudaStream_t\s+\w+\s*="),
    (r"all three rules", False, r"kMost\w+"),
    (r"synchronize each stream first", False, r"h_out\[.*\] ="),
)


def line_in_sight(hint: str, source: str, kernels: Iterable[str], launcher: str) -> tuple[int, str]:
    """The number and text of the line, in the kernels or the launcher or what they call; 0 if none is known."""
    for said, in_kernel, pattern in _SIGHTS:
        if not re.search(said, hint):
            continue
        reached = _reached(source, list(kernels) if in_kernel else [launcher])
        rest = [] if in_kernel else enumerate(source.split("\n"), 1)  # including members of classes
        for number, line in (*reached, *rest):
            if not line.lstrip().startswith("//") and re.search(pattern, line):
                return number, line.strip()
        return 0, ""
    # An element as the hint writes it, d_b[k * columns + c]: the only line with elements of that array.
    for array in re.findall(r"\b([ds]_\w+)\[\w+ ", hint):
        lines = {number: line.strip() for number, line in _reached(source, list(kernels)) if f"{array}[" in line}
        if len(lines) == 1:
            return next(iter(lines.items()))
    return 0, ""


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
