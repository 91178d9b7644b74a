"""Pictures of what was recorded: a race, an out-of-bounds access, costly accesses and branches, an SM's blocks.

Each has paths for a drawing of `WIDTH` units, a text alternative, and a few lines of characters for a terminal. Only
the standard library is used here: students run it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import PurePath

from grader.model.line_costs import line_cost
from grader.model.result import Access, FilledSm, Finding, Line, Memory, TestResult

WIDTH = 340
_LEFT, _ROOM = 10, 320
_LANES, _BANKS, _SECTOR, _WORD = 32, 32, 32, 4
_MOST_ROWS = 32
_MOST_BYTES = 128  # of a lane
_MOST_SECTORS = 64
_MOST_WARPS = 128  # of an SM
_NEAR = 0.25  # of a buffer's length: what is further away is not drawn to scale
_BARS = "▁▂▃▄▅▆▇█"
_KINDS = {"RACE": "race", "BOUNDS": "out of bounds"}  # of a verdict's findings
_DEEDS = {"load": "reads", "store": "writes", "atomic operation": "updates"}
_MISSING = {
    "barrier": "no barrier between these two",
    "warp barrier": "no warp barrier between these two",
    "fence": "no fence orders these two",
    "atomic": "one update in two parts, and no atomic",
    "blocks": "no barrier orders two blocks",
    "cache": "this load need not see the write",
}


@dataclass(frozen=True)
class Text:
    """A text at a position; `anchor` is start, middle or end."""

    x: float
    y: float
    words: str
    style: str = ""
    anchor: str = "start"


@dataclass
class Picture:
    """A drawing: SVG paths with their styles, and texts. `told` is its text alternative, `rows` are characters."""

    title: str
    told: str
    height: float
    rows: tuple[str, ...]
    paths: list[tuple[str, str]] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)

    def box(self, style: str, *boxes: tuple[float, float, float, float]) -> None:
        """Rectangles (x, y, width, height) of one style, as one path."""
        if boxes:
            self.paths.append((style, "".join(f"M{x:g} {y:g}h{w:.4g}v{h:g}h-{w:.4g}z" for x, y, w, h in boxes)))

    def line(self, style: str, *lines: tuple[float, float, float, float]) -> None:
        """Lines from one point to another, as one path."""
        self.paths.append((style, "".join(f"M{x:g} {y:g}L{to:g} {end:g}" for x, y, to, end in lines)))


def findings_said(test: TestResult) -> list[Finding]:
    """The findings that the test's message may be about: of its kind, and all their places are in the message."""
    said, kind = {(line.file, line.line) for line in test.lines if line.line}, _KINDS.get(test.verdict)
    own = [one for one in test.findings if {(PurePath(at.file).name, at.line) for at in one.places} <= said]
    return [one for one in own if kind in (None, one.kind)]


def of_test(test: TestResult) -> Picture | None:
    """The picture of the finding in the test's message."""
    return next(filter(None, map(of_finding, findings_said(test))), None)


def of_finding(finding: Finding) -> Picture | None:
    """The picture of a race or an out-of-bounds access; None if there is nothing to draw."""
    if finding.missing in _MISSING and len(finding.places) == 2 and all(place.thread for place in finding.places):  # noqa: PLR2004
        return _race(finding)
    memory = finding.memory
    if finding.kind == "out of bounds" and memory and memory.buffer_bytes and memory.bytes and finding.places:
        return _bounds(finding, memory)
    return None


def of_line(line: Line) -> tuple[Picture, ...]:
    """The worst accesses of a source line, of global and of shared memory, and a branch where it diverges much."""
    draw = {"shared": _shared, "global": _global}
    if line_cost(line.counters).divergence.is_costly:
        draw["branch"] = _branch
    return tuple(draw[one.space](one) for one in line.accesses if one.space in draw and any_lane(one))


def of_sm(sm: FilledSm) -> Picture | None:
    """An SM with its blocks, and what they take of each resource; None: no block fits, or what was read is nonsense."""
    each = sm.warps // sm.blocks if sm.blocks else 0
    if not each or not sm.warps <= sm.most_warps <= _MOST_WARPS or not sm.most_registers or not sm.most_shared:
        return None
    per_block = [each, 1, sm.registers * sm.threads, sm.shared]
    names = ["warps", "blocks", "registers", "shared memory"]
    most = [sm.most_warps, sm.most_blocks, sm.most_registers, sm.most_shared]
    taken = [min(sm.blocks * one, all_) for one, all_ in zip(per_block, most, strict=True)]
    fits = f"{sm.blocks} blocks of {each} warps fit on an SM: {sm.warps} of {sm.most_warps} warps"
    told = f"{fits}, limited by {sm.limited_by}: " + ", ".join(
        f"{use:,} of {all_:,} {name}{' bytes' if name == 'shared memory' else ''}"
        for name, use, all_ in zip(names, taken, most, strict=True)
    )
    scale = sm.most_warps / _LANES
    bar = "".join("█" if k * scale < sm.warps else "·" for k in range(_LANES))
    picture = Picture("An SM and its blocks", told + ".", 78, (f"SM {bar}  {fits}, limited by {sm.limited_by}",))
    rows = -(-sm.most_warps // _LANES)
    slots = [(_LEFT + 10 * (k % _LANES), 22 + 11 * (k // _LANES), 8.5, 9) for k in range(sm.most_warps)]
    picture.box("sector", *slots[sm.warps :])
    for style, of in (("held", 0), ("other", 1)):
        picture.box(style, *(slot for k, slot in enumerate(slots[: sm.warps]) if k // each % 2 == of))
    picture.texts.append(Text(_LEFT, 14, fits[:58], "soft"))
    for k, (name, use, all_) in enumerate(zip(names, taken, most, strict=True)):
        y, is_full = 22 + 11 * rows + 10 + 16 * k, name == sm.limited_by
        picture.box("sector", (_LEFT + 100, y, 110, 8))
        picture.box("over" if is_full else "held", (_LEFT + 100, y, 110 * use / all_, 8))
        words = "full: no more fits" if is_full else f"{100 * use / all_:.0f} %"
        picture.texts += [Text(_LEFT, y + 8, name), Text(_LEFT + 216, y + 8, words[:20], "warn" if is_full else "soft")]
    picture.height = 22 + 11 * rows + 10 + 16 * len(names) + 4
    return picture


def _branch(access: Access) -> Picture:
    ways = [[lane for lane, way in enumerate(access.lanes) if way == of] for of in (1, 0)]
    one, other = (len(way) == 1 for way in ways)
    counts = [f"{len(ways[0])} {'lane takes' if one else 'lanes take'} the branch"]
    counts.append(f"{len(ways[1])} {'lane goes' if other else 'lanes go'} on")
    told = f"warp {access.warp} of block {access.block:,} goes both ways here, one after the other: {', '.join(counts)}"
    marks = ["".join("█" if lane in way else "·" for lane in range(_LANES)) for way in ways]
    rows = (f"lanes {marks[0]}  {counts[0]},", f"      {marks[1]}  then {counts[1]}")
    picture = Picture("Lanes by branch", told + ".", 88, rows)
    picture.texts.append(Text(_LEFT, 14, "32 lanes at this branch: the warp runs both ways", "soft"))
    for style, way, y, words in (("held", ways[0], 22, counts[0]), ("over", ways[1], 54, counts[1])):
        picture.box("sector", *((_LEFT + 10 * lane, y, 8.5, 9) for lane in range(_LANES) if lane not in way))
        picture.box(style, *((_LEFT + 10 * lane, y, 8.5, 9) for lane in way))
        picture.texts.append(Text(_LEFT, y + 22, words, "warn" if style == "over" else ""))
    return picture


def any_lane(access: Access) -> bool:
    """Whether there is something to draw."""
    return len(access.lanes) == _LANES and 0 < access.bytes <= _MOST_BYTES and any(at >= 0 for at in access.lanes)


def _point(numbers: Sequence[int]) -> str:
    return f"({','.join(map(str, numbers))})"


def _element(finding: Finding) -> str:
    memory = finding.memory
    if memory is None or not memory.buffer or not memory.bytes:
        return "the same bytes"
    if " " in memory.buffer or memory.offset % memory.bytes:
        return f"byte {memory.offset} of {memory.buffer}"
    return f"{memory.buffer}[{memory.offset // memory.bytes}]"


def _race(finding: Finding) -> Picture:
    missing, element = _MISSING[finding.missing], _element(finding)
    deeds = [f"{_DEEDS.get(place.access, 'uses')} :{place.line}" for place in finding.places]
    names = [f"block {_point(place.block)} thread {_point(place.thread)}" for place in finding.places]
    one_block = len({place.block for place in finding.places}) == 1
    short = [name.partition(") ")[2] if one_block else name for name in names]
    width, wide = max(map(len, short)), max(map(len, deeds))
    told = [
        f"{name} {deed.partition(' ')[0]} {element} at line {place.line}"
        for name, deed, place in zip(names, deeds, finding.places, strict=True)
    ]
    rows = (
        f"{short[0]:<{width}}  ──● {deeds[0]:<{wide}} ──┊──{'─' * wide}─────▶",
        f"{short[1]:<{width}}  ──{'─' * wide}─────┊──● {deeds[1]:<{wide}} ──▶",
        f"{'':<{width + wide + 9}}└ {missing}",
    )
    picture = Picture("Two threads in time", f"{told[0]}; {told[1]}; {missing}.", 178, rows)
    columns = (60, WIDTH - 60)
    picture.line("rail", *((x, 38, x, 174) for x in columns))
    picture.line("gap", (_LEFT, 106, WIDTH - _LEFT, 106))
    for x, place, deed, y, anchor in zip(columns, finding.places, deeds, (66, 148), ("start", "end"), strict=True):
        beside, does = x + (12 if anchor == "start" else -12), deed.partition(" ")[0]
        picture.texts += [
            Text(x, 14, f"block {_point(place.block)}", "soft", "middle"),
            Text(x, 30, f"thread {_point(place.thread)}", "", "middle"),
            Text(beside, y + 4, f"{does} {element.partition(' of ')[0]}"[:32], "", anchor),
            Text(beside, y + 20, f"line {place.line}", "soft", anchor),
        ]
        picture.box("event", (x - 5, y - 5, 10, 10))
    picture.texts.append(Text(WIDTH / 2, 101, missing, "bad", "middle"))
    return picture


def _bounds(finding: Finding, memory: Memory) -> Picture:
    place = finding.places[0]
    unit = memory.bytes if memory.offset % memory.bytes == 0 and memory.buffer_bytes % memory.bytes == 0 else 1
    size, index = memory.buffer_bytes // unit, memory.offset // unit
    of = f"{size:,} elements of {unit} bytes" if unit > 1 else f"{size:,} bytes"
    name = memory.buffer or "the buffer"
    before = index < 0
    away = -index if before else index - size + 1
    told = (
        f"block {_point(place.block)} thread {_point(place.thread)} {_DEEDS.get(place.access, 'uses')} index {index:,} "
        f"of {name}, which has {of}: indices 0 to {size - 1:,}."
    )
    bar = f"[0 {'█' * 24} {size - 1:,}]" if size > 1 else "[0]"
    rows = (f"{name}  " + (f"✗ {index:,} ·· {bar}" if before else f"{bar} ·· ✗ {index:,}"),)
    picture = Picture("The buffer and the index", told, 90, rows)
    left, width = (90, 230) if before else (20, 230)
    share = away / size
    reach = 60 if share > _NEAR else 10 + 50 * share / _NEAR
    at = left - reach if before else left + width + reach
    picture.box("held", (left, 36, width, 16))
    picture.line("gap", (left if before else left + width, 44, at, 44))
    picture.line("cross", (at - 5, 39, at + 5, 49), (at - 5, 49, at + 5, 39))
    picture.texts += [
        Text(_LEFT if before else WIDTH - _LEFT, 26, f"index {index:,}", "bad", "start" if before else "end"),
        Text(left, 68, "0", "soft"),
        Text(left + width, 68, f"{size - 1:,}", "soft", "end"),
        Text(left, 84, f"{name}: {of}"[:44], "soft"),
    ]
    if share > _NEAR:
        middle = (at + (left if before else left + width)) / 2
        picture.line("cross", (middle - 5, 50, middle - 1, 38), (middle + 1, 50, middle + 5, 38))
    return picture


def _who(access: Access) -> str:
    deed = _DEEDS.get(access.access, "uses")
    return f"warp {access.warp} of block {access.block:,} {deed} {access.bytes} bytes a lane"


def _distance(access: Access) -> str:
    active = [(lane, at) for lane, at in enumerate(access.lanes) if at >= 0]
    steps = {(b - a) / (to - lane) for (lane, a), (to, b) in pairwise(active)}
    if len(steps) != 1:
        return ""
    step = abs(steps.pop())
    return "all at one address" if step == 0 else f"{step:,.0f} bytes apart" if step.is_integer() else ""


def _bars(shares: Sequence[float]) -> str:
    """A row of bars, each of one of eight heights."""
    return "".join(_BARS[min(round(share * len(_BARS)), len(_BARS)) - 1] if share else "·" for share in shares)


def _global(access: Access) -> Picture:
    used: dict[int, set[int]] = {}
    for at in access.lanes:
        for byte in range(at, at + access.bytes) if at >= 0 else ():
            used.setdefault(byte // _SECTOR, set()).add(byte % _SECTOR)
    sectors = sorted(used)[:_MOST_SECTORS]
    apart = _distance(access)
    counts = f"{access.cost} sectors of {_SECTOR} bytes; side by side {access.ideal} would do"
    told = f"{_who(access)}{f', {apart}' if apart else ''}: {counts}."
    rows = (
        f"sectors {_bars([len(used[one]) / _SECTOR for one in sectors])}  {access.cost}, side by side {access.ideal}",
    )
    picture = Picture("Lanes and the sectors they touch", told, 150, rows)
    lane_x = {lane: _LEFT + 10 * lane for lane in range(_LANES)}
    picture.box("lane", *((lane_x[lane], 22, 8.5, 9) for lane, at in enumerate(access.lanes) if at >= 0))
    cell = min(36.0, _ROOM / max(len(sectors), min(access.ideal, _MOST_SECTORS), 1))
    wide = cell - (2 if cell > 8 else 1)  # noqa: PLR2004
    x_of = {sector: _LEFT + cell * index for index, sector in enumerate(sectors)}
    shift = wide * access.bytes / 2 / _SECTOR
    drawn = [(lane_x[lane], *divmod(at, _SECTOR)) for lane, at in enumerate(access.lanes) if at >= 0]
    ends = [
        (x + 4.25, 31, x_of[sector] + wide * byte / _SECTOR + shift, 78) for x, sector, byte in drawn if sector in x_of
    ]
    picture.line("thread", *ends)
    picture.box("sector", *((x, 78, wide, 12) for x in x_of.values()))
    picture.box(
        "held", *(box for sector in sectors for box in _runs(used[sector], x_of[sector], wide / _SECTOR, 78, 12))
    )
    picture.box("ideal", *((_LEFT + cell * index, 128, wide, 12) for index in range(min(access.ideal, _MOST_SECTORS))))
    picture.texts += [
        Text(_LEFT, 14, f"32 lanes, {access.bytes} bytes each{f', {apart}' if apart else ''}"[:52], "soft"),
        Text(_LEFT, 106, f"{access.cost} sectors of {_SECTOR} bytes", "warn"),
        Text(_LEFT, 123, f"side by side: {access.ideal}", "soft"),
    ]
    return picture


def _runs(used: set[int], x: float, unit: float, y: float, height: float) -> list[tuple[float, float, float, float]]:
    """Boxes over the used bytes of a sector, one for each run of consecutive bytes."""
    begins = sorted(byte for byte in used if byte - 1 not in used)
    ends = sorted(byte + 1 for byte in used if byte + 1 not in used)
    return [(round(x + a * unit, 2), y, (b - a) * unit, height) for a, b in zip(begins, ends, strict=True)]


def _shared(access: Access) -> Picture:
    words: list[list[int]] = [[] for _ in range(_BANKS)]
    for at in access.lanes:
        for word in range(at // _WORD, (at + access.bytes - 1) // _WORD + 1) if at >= 0 else ():
            bank = words[word % _BANKS]
            if word not in bank or access.access not in ("load", "store"):
                bank.append(word)
    tallest = max(map(len, words))
    apart = _distance(access)
    counts = f"{access.cost} passes; without conflicts {access.ideal} would do"
    hit = sum(bool(bank) for bank in words)
    in_one = "words in one" if access.access in ("load", "store") else "updates in one, repeated words included"
    told = (
        f"{_who(access)}{f', {apart}' if apart else ''}: {hit} of {_BANKS} banks, up to {tallest} {in_one}: {counts}."
    )
    rows = (f"banks {_bars([len(bank) / tallest for bank in words])}  {access.cost} passes, {access.ideal} would do",)
    shown = min(tallest, _MOST_ROWS)
    step = 14 if shown <= 8 else 6  # noqa: PLR2004
    picture = Picture("Words in each bank", told, 62 + step * shown, rows)
    picture.box("sector", *((_LEFT + 10 * bank, 22, 8.5, step * shown) for bank in range(_BANKS)))
    for style, rows_of in (("held", range(access.ideal)), ("over", range(access.ideal, shown))):
        drawn = [(bank, row) for bank in range(_BANKS) for row in rows_of if row < min(len(words[bank]), shown)]
        picture.box(style, *((_LEFT + 10 * bank, 22 + step * row, 8.5, step - 1) for bank, row in drawn))
    bottom = 22 + step * shown
    picture.texts += [
        Text(_LEFT, 14, f"32 banks, and the words that lanes use{f', {apart}' if apart else ''}"[:58], "soft"),
        Text(_LEFT, bottom + 16, f"{access.cost} passes", "warn"),
        Text(_LEFT, bottom + 33, f"without conflicts: {access.ideal}", "soft"),
    ]
    return picture
