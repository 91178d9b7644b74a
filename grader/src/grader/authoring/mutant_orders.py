"""Changes that remove ordering: between threads, between blocks, between the device and its host.

A program without a necessary fence is right on most runs. Only a checker that knows the memory model finds it, so each
way to lose order is a separate change: a fence removed, a smaller scope, a weaker order, plain accesses instead of
atomic ones.
"""

import re
from collections.abc import Iterator

_FENCE = re.compile(r"\b__threadfence(_system|_block)?\(\);")
_ORDER = re.compile(r"\bmemory_order(?:_|::)(release|acquire|acq_rel|seq_cst)\b")
_SCOPE = re.compile(r"\bthread_scope_(device|system)\b")
_VOLATILE = re.compile(r"(?<!asm )\bvolatile ")
_ATOMIC = re.compile(r"\batomic(Add|Exch|Max|Min|Or)(?:_system)?(?=\()")
_ASM = re.compile(r"\basm(?: volatile)?\s*\((?:\s*\"(?:\\.|[^\"\\\n])*\")+")
_PTX_ORDER = re.compile(r"(?<=\.)(acquire|release|acq_rel)(?=\.(?:gpu|sys|cluster))")
_PTX_SCOPE = re.compile(r"(?<=\.)(gpu|sys)(?=\.|;)")
_PTX_FENCE = re.compile(r"\b(?:fence\.(?:acq_rel|sc)|membar)\.\w+;")
_STREAM = re.compile(r"<<<[^;{}<>]*, (\w*[sS]tream\w*(?:\[\w+\])?)>>>")
_ASYNC = re.compile(r"\bcuda\w+Async\([^;{}]*, (\w*[sS]tream\w*(?:\[\w+\])?)\)")
_COPY = re.compile(r"\bcudaMemcpy(?=(\([^;{}]*\)))")
_LOCKED = re.compile(r"\bcuda(?:MallocHost|HostAlloc|HostRegister)\((?:\(\w+\s*\*+\))?&?(\w+)")
_WAIT = re.compile(r"\bcuda(?:Stream|Device|Event)Synchronize\([^()]*\)|\bcudaStreamWaitEvent\([^()]*\)")
_NEW_VALUE = {
    "Add": "old + v",
    "Exch": "v",
    "Max": "old < v ? v : old",
    "Min": "v < old ? v : old",
    "Or": "old | v",
}


def ordering_changes(source: str, code: str) -> Iterator[tuple[str, int, str, str]]:
    """Operator, place, old text, new text; in `code` comments and strings of the source are blanked out."""
    for found in _FENCE.finditer(code):
        yield "fence", found.start(), found[0], ";"
        if found[1] != "_block":
            yield "fence", found.start(), found[0], "__threadfence_block();"
    for found in _ORDER.finditer(code):
        yield "order", found.start(1), found[1], "relaxed"
    for found in _SCOPE.finditer(code):
        yield "scope", found.start(1), found[1], "block"
    for found in _VOLATILE.finditer(code):
        yield "volatile", found.start(), found[0], ""
    for found in _ATOMIC.finditer(code):
        for qualifier in ("", "volatile "):
            yield "atomic", found.start(), found[0], _plain(qualifier, _NEW_VALUE[found[1]])
    yield from _ptx_changes(source, code)
    for streams in (_STREAM, _ASYNC):
        for found in streams.finditer(code):
            yield "stream", found.start(1), found[1], "0"
    # To or from pageable memory, and within the device, an async copy behaves like a synchronous one.
    locked = set(_LOCKED.findall(code))
    for found in _COPY.finditer(code):
        if locked.isdisjoint(re.findall(r"\w+", found[1])):
            continue
        yield "wait", found.start(), found[0], "cudaMemcpyAsync"
    for found in _WAIT.finditer(code):
        yield "wait", found.start(), found[0], "cudaSuccess"


def _plain(qualifier: str, new: str) -> str:
    """The effect of an atomic operation, as a plain load and store."""
    return f"[]({qualifier}auto* p, auto v) {{ auto old = *p; *p = {new}; return old; }}"


def _ptx_changes(source: str, code: str) -> Iterator[tuple[str, int, str, str]]:
    """Mutants of the strings of inline assembly, which are blanked out in `code`."""
    for block in _ASM.finditer(source):
        if not code.startswith("asm", block.start()):
            continue  # in a comment
        for pattern, kind, other in (
            (_PTX_ORDER, "order", "relaxed"),
            (_PTX_SCOPE, "scope", "cta"),
            (_PTX_FENCE, "fence", ""),
        ):
            for found in pattern.finditer(source, block.start(), block.end()):
                yield kind, found.start(), found[0], other
