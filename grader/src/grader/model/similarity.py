"""Finds sources that share long pieces: winnowing of tokens, after Schleimer, Wilkerson and Aiken (SIGMOD 2003).

A source becomes tokens without comments and white space, with all user-chosen names made equal, so that renaming hides
nothing. Each run of RUN tokens has a hash; of every WINDOW neighbouring hashes the least is kept, so two sources that
share RUN + WINDOW - 1 tokens or more have a hash in common, and an index of the kept hashes gives the candidate pairs.
Pieces of the stub are left out, and so are those that many sources of the class have, because the task suggests them.
Only candidate pairs are compared in full.
"""

import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from grader.base.tokens import COMMENT, NUMBER, PYTHON_NUMBER, PYTHON_QUOTED, QUOTED

RUN, WINDOW = 15, 10
MANY = 0.1  # of the class: a piece in more sources than this is common
_FEWEST_MANY = 5
_FEWEST_HASHES = 4  # kept hashes in common: fewer may be chance
_FEWEST_TOKENS = 60  # tokens in common: about six lines
_MOST_BESIDE = 600  # pairs compared in full: those with the most hashes in common
_MOST_CHARS = 1 << 20  # the longest submission: a copy may be anywhere in it
_MOST_PLACES = 16  # of one run per source: a table of numbers has thousands
_STEP = 256  # tokens compared at once

_TOKEN = re.compile(
    rf"""
    {COMMENT} | \s+
  | (?P<include> ^\#[ \t]*include[^\n]* )
  | (?P<text>    {QUOTED} )
  | (?P<number>  {NUMBER} )
  | (?P<word>    [^\W\d]\w* )
  | (?P<sign>    <<<|>>>|<<=|>>=|->|\+\+|--|&&|\|\||[<>=!+*/%&|^-]=|<<|>>|::|\S )
    """,
    re.VERBOSE | re.MULTILINE,
)
_PYTHON_TOKEN = re.compile(
    rf"""
    \#[^\n]* | \s+ | \\\n
  | (?P<include> ^(?:from|import)\b[^\n]* )
  | (?P<text>    {PYTHON_QUOTED} )
  | (?P<number>  {PYTHON_NUMBER} )
  | (?P<word>    [^\W\d]\w* )
  | (?P<sign>    \*\*=|//=|<<=|>>=|->|\*\*|//|:=|[<>=!+*/%&|^@-]=|<<|>>|\S )
    """,
    re.VERBOSE | re.MULTILINE,
)
# Names with a fixed meaning; all others may be chosen freely.
_KNOWN = frozenset(
    re.findall(
        r"\w+",
        """alignas auto bool break case char const constexpr continue default do double else enum extern false
        float for goto if inline int long namespace operator return short signed sizeof static struct switch
        template this true typedef typename union unsigned using void volatile while __global__ __device__
        __host__ __shared__ __constant__ __restrict__ threadIdx blockIdx blockDim gridDim warpSize x y z dim3
        int2 int4 float2 float4 uint4 __syncthreads __syncwarp __threadfence __shfl_sync __shfl_down_sync
        __shfl_up_sync __shfl_xor_sync __ballot_sync __activemask atomicAdd atomicMax atomicMin atomicCAS
        atomicExch cudaMalloc cudaFree cudaMemcpy cudaMemset cudaDeviceSynchronize cudaGetLastError
        cudaStreamCreate cudaMallocHost cudaMemcpyAsync min max""",
    )
)
_PYTHON_KNOWN = frozenset(
    re.findall(
        r"\w+",
        """False None True and as assert break class continue def del elif else except finally for from global if import
        in is lambda nonlocal not or pass raise return try while with yield cuda jit device grid gridsize threadIdx
        blockIdx blockDim gridDim warpsize laneid x y z shared local const array syncthreads syncwarp threadfence
        atomic add max min compare_and_swap exch shfl_sync shfl_down_sync shfl_up_sync shfl_xor_sync ballot_sync
        device_array to_device copy_to_host copy_to_device synchronize stream size shape range len abs int float
        int32 int64 uint32 uint64 float32 float64""",
    )
)


@dataclass(frozen=True)
class Tokens:
    """A source's tokens as numbers, `exact` by text, `codes` with user-chosen names made equal; and their lines."""

    exact: NDArray[np.uint32]
    codes: NDArray[np.uint32]
    lines: NDArray[np.int32]


@dataclass(frozen=True)
class Region:
    """A piece that two sources share: lines of the first, lines of the second, both inclusive, and its tokens."""

    first: tuple[int, int]
    second: tuple[int, int]
    tokens: int


@dataclass(frozen=True)
class Pair:
    """Two sources by their index, and the share of each one's own tokens that the other has too."""

    first: int
    second: int
    first_share: float
    second_share: float
    tokens: int
    regions: tuple[Region, ...]

    @property
    def share(self) -> float:
        """The greater share: copying and then adding a lot is copying too."""
        return max(self.first_share, self.second_share)


def tokenise(source: str, *, is_python: bool = False) -> Tokens:
    """All tokens of a source, in linear time."""
    pattern, known = (_PYTHON_TOKEN, _PYTHON_KNOWN) if is_python else (_TOKEN, _KNOWN)
    exact: list[int] = []
    codes: list[int] = []
    lines: list[int] = []
    line = 1
    at = 0
    text = source[:_MOST_CHARS]
    for match in pattern.finditer(text):
        kind = match.lastgroup
        if kind is not None and kind != "include":
            line += text.count("\n", at, match.start())
            at = match.start()
            token = match[0]
            exact.append(_code(token))
            codes.append(_code(_plain(kind, token, known)))
            lines.append(line)
    return Tokens(np.array(exact, np.uint32), np.array(codes, np.uint32), np.array(lines, np.int32))


def _plain(kind: str, token: str, known: frozenset[str]) -> str:
    if kind == "word":
        return token if token in known else "a name"
    return {"number": "a number", "text": "a text"}.get(kind, token)


@lru_cache(1 << 16)
def _code(token: str) -> int:
    return zlib.crc32(token.encode("utf-8", "surrogatepass"))


def identical(sources: Sequence[Tokens], stub: Tokens | None = None) -> list[list[int]]:
    """Groups of sources with the same tokens; sources equal to the stub are in none."""
    groups: defaultdict[bytes, list[int]] = defaultdict(list)
    for index, source in enumerate(sources):
        groups[source.exact.tobytes()].append(index)
    unchanged = stub.exact.tobytes() if stub else b""
    return [group for tokens, group in groups.items() if len(group) > 1 and tokens not in (b"", unchanged)]


def run_hashes(codes: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """A hash of each run of RUN tokens."""
    count = len(codes) - RUN + 1
    if count <= 0:
        return np.zeros(0, np.uint64)
    hashes = np.zeros(count, np.uint64)
    factor = np.uint64(0x9E3779B97F4A7C15)
    for offset in range(RUN):
        hashes = hashes * factor + codes[offset : offset + count]
    return hashes ^ (hashes >> np.uint64(29))


def winnow(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The least hash of every WINDOW neighbours, without repeats."""
    if len(hashes) <= WINDOW:
        return np.unique(hashes.min(keepdims=True)) if len(hashes) else hashes
    return np.unique(np.lib.stride_tricks.sliding_window_view(hashes, WINDOW).min(axis=1))


def similar_pairs(
    sources: Sequence[Tokens],
    stub: Tokens | None,
    least: float,
    may_pair: Callable[[int, int], bool] = lambda _first, _second: True,
) -> list[Pair]:
    """Pairs where one shares at least `least` of its own tokens with the other, most alike first.

    Sources should be different: of identical ones pass only one. `may_pair` tells which two may be compared.
    """
    of_stub = run_hashes(stub.codes) if stub else np.zeros(0, np.uint64)
    hashes = [run_hashes(source.codes) for source in sources]
    kept = [np.setdiff1d(winnow(one), of_stub) for one in hashes]
    common = _common(kept)
    kept = [np.setdiff1d(one, common) for one in kept]
    left_out = np.union1d(of_stub, common)
    own = [~np.isin(one, left_out) for one in hashes]
    candidates = []
    for (first, second), count in _candidates(kept).items():
        # Kept hashes are a sample: the exact share is computed from the regions.
        part = count / min(len(kept[first]), len(kept[second]))
        if count >= _FEWEST_HASHES and part >= 0.5 * least and may_pair(first, second):
            candidates.append((-part, -count, first, second))
    pairs = []
    for _, _, first, second in sorted(candidates)[:_MOST_BESIDE]:
        pair = _beside(first, second, sources, hashes, own)
        if pair.share >= least and pair.tokens >= _FEWEST_TOKENS:
            pairs.append(pair)
    return sorted(pairs, key=lambda pair: (-pair.share, -pair.tokens, pair.first, pair.second))


def _common(kept: Sequence[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    if not kept:
        return np.zeros(0, np.uint64)
    values, counts = np.unique(np.concatenate(kept), return_counts=True)
    return values[counts > max(_FEWEST_MANY, MANY * len(kept))]


def _candidates(kept: Sequence[NDArray[np.uint64]]) -> Mapping[tuple[int, int], int]:
    """The number of kept hashes that each pair has in common, from an index of all."""
    index: defaultdict[int, list[int]] = defaultdict(list)
    for number, hashes in enumerate(kept):
        for value in hashes.tolist():
            index[value].append(number)
    counts: Counter[tuple[int, int]] = Counter()
    for numbers in index.values():
        counts.update((one, other) for place, one in enumerate(numbers) for other in numbers[place + 1 :])
    return counts


def _beside(
    first: int,
    second: int,
    sources: Sequence[Tokens],
    hashes: Sequence[NDArray[np.uint64]],
    own: Sequence[NDArray[np.bool_]],
) -> Pair:
    """The shared pieces of two sources: the longest run at each position of the first, without overlaps in either."""
    mine, theirs = sources[first].codes, sources[second].codes
    places: defaultdict[int, list[int]] = defaultdict(list)
    for place, value in enumerate(hashes[second].tolist()):
        if own[second][place]:
            places[value].append(place)
    used = np.zeros(len(theirs), bool)
    regions: list[Region] = []
    inside = [_inside(own[first], len(mine)), _inside(own[second], len(theirs))]
    covered = [0, 0]
    start = 0
    values = hashes[first].tolist()
    while start < len(values):
        best, at = 0, 0
        if own[first][start]:
            for place in places.get(values[start], ())[:_MOST_PLACES]:
                length = 0 if used[place] else _length(mine, start, theirs, place, used)
                if length > best:
                    best, at = length, place
        if best < RUN:
            start += 1
            continue
        used[at : at + best] = True
        covered[0] += int(inside[0][start : start + best].sum())
        covered[1] += int(inside[1][at : at + best].sum())
        lines, other = sources[first].lines, sources[second].lines
        regions.append(
            Region((int(lines[start]), int(lines[start + best - 1])), (int(other[at]), int(other[at + best - 1])), best)
        )
        start += best
    return Pair(
        first,
        second,
        covered[0] / max(int(inside[0].sum()), 1),
        covered[1] / max(int(inside[1].sum()), 1),
        min(covered),
        tuple(regions),
    )


def _inside(own: NDArray[np.bool_], count: int) -> NDArray[np.bool_]:
    """Which tokens are in a run that is neither the stub's nor common."""
    inside = np.zeros(count, bool)
    for offset in range(RUN):
        inside[offset : offset + len(own)] |= own
    return inside


def _length(
    mine: NDArray[np.uint32], start: int, theirs: NDArray[np.uint32], place: int, used: NDArray[np.bool_]
) -> int:
    """The number of tokens that agree from a position in each source; takes time proportional to it."""
    count = min(len(mine) - start, len(theirs) - place)
    length = 0
    while length < count:
        step = min(_STEP, count - length)
        one, other = start + length, place + length
        different = (mine[one : one + step] != theirs[other : other + step]) | used[other : other + step]
        if different.any():
            return length + int(different.argmax())
        length += step
    return count


def line_marks(ranges: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Maps each line that is in a region to that region's number, from 1."""
    marks: dict[int, int] = {}
    for number, (start, end) in enumerate(ranges, 1):
        for line in range(start, end + 1):
            marks.setdefault(line, number)
    return marks
