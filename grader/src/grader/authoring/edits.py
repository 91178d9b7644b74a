"""Sources that are kept as edits of another source, in the form of a diff without line numbers.

     if (tid < s) s_data[tid] += s_data[tid + s];
    -__syncthreads();
    @@
    -  for (unsigned s = 1; s < kBlock; s *= 2) {
    +  for (unsigned s = 1; s <= kBlock; s *= 2) {

Lines with a blank or a minus are in the base, lines with a blank or a plus in the result; `@@` separates hunks, which
are applied in order. The base must have a hunk's lines exactly once: where the base has changed, the edit fails
instead of landing elsewhere. As in a diff, a line with only a backslash says that the line above has no newline.
"""

import difflib
import re
from collections.abc import Iterator, Sequence

from grader.base.errors import GraderError

_NEXT = "@@"
_NO_NEWLINE = "\\"
_NEAR = 2  # hunks with no more lines than this between them become one
_NOT_LITERAL = re.compile(r"'''|'\Z|(?![\n\t])[\x00-\x1f\x7f]")
_ESCAPED = re.compile(r'["\\]|(?![\n\t])[\x00-\x1f\x7f]')


def apply_edits(base: str, edits: str) -> str:
    """The text that the edits make of `base`. Raises GraderError where a hunk does not fit."""
    text = _lines(base)
    for old, new in _hunks(edits):
        places = _places(text, old)
        if len(places) != 1:
            found = f"{len(places)} times" if places else "nowhere"
            raise GraderError(f"these lines must be in the base exactly once; found {found}:\n{''.join(old)}")
        text[places[0] : places[0] + len(old)] = new
    return "".join(text)


def find_edits(base: str, wanted: str) -> str:
    """Edits that make `wanted` of `base`; each hunk has only the context that makes it unique."""
    old, new = _lines(base), _lines(wanted)
    hunks = []
    for first, last, begin, end in _blocks(old, new):
        text = new[:begin] + old[first:]  # the hunks so far are applied
        until = begin + last - first
        above, below = _context(text, begin, until)
        hunks.append(_hunk(text[above:below], text[above:begin] + new[begin:end] + text[until:below]))
    return f"{_NEXT}\n".join(hunks)


def toml_text(text: str) -> str:
    """A TOML string of the text, without escapes where that is possible."""
    if "\n" not in text and not _ESCAPED.search(text):
        return f'"{text}"'
    if "\n" not in text and "'" not in text and not _NOT_LITERAL.search(text):
        return f"'{text}'"
    if not _NOT_LITERAL.search(text):
        return f"'''\n{text}'''"
    escaped = _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    return f'"""\n{escaped}"""'


def _lines(text: str) -> list[str]:
    """Lines with their newlines. Other separators than a newline are characters like any other."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _hunks(edits: str) -> Iterator[tuple[list[str], list[str]]]:
    """Each hunk's lines before and after."""
    edits += "" if edits.endswith("\n") or not edits else "\n"  # a literal may end after its last line
    for part in re.split(rf"^{_NEXT}\n", edits, flags=re.MULTILINE):
        sides: tuple[list[str], list[str]] = ([], [])
        of: list[list[str]] = []
        for line in _lines(part):
            if line == f"{_NO_NEWLINE}\n" and of:
                for side in of:
                    side[-1] = side[-1].removesuffix("\n")
                continue
            if line != "\n" and line[0] not in " -+":
                raise GraderError(f"a line of an edit begins with a blank, - or +, and this one does not:\n{line}")
            of = [side for side, other in zip(sides, "+-", strict=True) if line[0] != other]
            for side in of:
                side.append(line[1:] or line)  # an empty context line may omit its leading blank
        if any(sides):
            yield sides


def _places(text: Sequence[str], wanted: Sequence[str]) -> list[int]:
    return [at for at in range(len(text) - len(wanted) + 1) if text[at : at + len(wanted)] == wanted]


def _blocks(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int, int, int]]:
    """The ranges of `old` and `new` that differ."""
    blocks: list[tuple[int, int, int, int]] = []
    for kind, first, last, begin, end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        if blocks and first - blocks[-1][1] <= _NEAR:
            blocks[-1] = (blocks[-1][0], last, blocks[-1][2], end)
        else:
            blocks.append((first, last, begin, end))
    return blocks


def _context(text: Sequence[str], begin: int, end: int) -> tuple[int, int]:
    """The shortest range around [begin, end) whose lines are in the text once."""
    count = 0
    while True:
        for above in sorted(range(count + 1), key=lambda above: abs(2 * above - count - 1)):
            first, last = begin - above, end + count - above
            if first >= 0 and last <= len(text) and len(_places(text, text[first:last])) == 1:
                return first, last
        count += 1


def _hunk(old: Sequence[str], new: Sequence[str]) -> str:
    lines = []
    for kind, first, last, begin, end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            lines += [line if line == "\n" else f" {line}" for line in old[first:last]]
        else:
            lines += [f"-{line}" for line in old[first:last]]
            lines += [f"+{line}" for line in new[begin:end]]
    return "".join(line if line.endswith("\n") else f"{line}\n{_NO_NEWLINE}\n" for line in lines)
