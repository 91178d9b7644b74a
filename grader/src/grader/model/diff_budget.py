"""Counts how many lines of a file differ from the stub, for tasks that allow only few changes.

A line here is a statement, a head (`if (…)`, a function's) or a directive, whatever its layout: comments, blank lines,
braces and line breaks don't count, and a statement of many tokens or a long string counts as several lines. The
assignment stores a hash of each stub line, by program: a program extends to the end of its rung's launcher. Lines of a
new function count for every program, as any of them may call it.

Directives have to stay as they are. A macro, a header or `#line` could change any number of lines, or hide them.
"""

import base64
import difflib
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby

from grader.model.same_source import normal_form

_TOKENS_A_LINE = 30
_LETTERS_A_TOKEN = 4  # this many characters of a string count as one token: it may be assembly
_HASH_BYTES, _HASH_LETTERS = 6, 8
_BLOCK = {")", ";", "{", "}", "]", "else", "do"}  # a brace after one of these begins a block
_HASH, _FEED = "\n#", "\n"  # how `same_source` marks the start and end of a directive
_OPEN, _CLOSE = {"(", "["}, {")", "]"}
_HEADS = {"if", "for", "while", "switch"}


@dataclass(frozen=True)
class _Line:
    """A line of code: its hash, its weight, its text, and its position in the file."""

    key: str
    weight: int
    is_directive: bool
    is_outside: bool  # outside all functions
    first: int
    last: int


@dataclass(frozen=True)
class DiffBudget:
    """How many lines of each program may differ, and the hashes of the stub's lines, by program."""

    most: int
    given: Mapping[str, str]

    def refusal(self, source: bytes, name: str) -> str:
        """A message if the source changes more than it may; "" if it does not."""
        mine = _lines_of(source)
        if mine is None:
            return (
                f"{name} can't be compared with the file that was handed out: leave out raw strings, ##, digraphs, "
                "trigraphs, a backslash within a word, and comments that run into a directive"
            )
        keys = [
            (part, text[at : at + _HASH_LETTERS])
            for part, text in self.given.items()
            for at in range(0, len(text), _HASH_LETTERS)
        ]
        if len(mine) > 2 * len(keys):  # comparing takes time proportional to their product
            return f"{name} has {len(mine)} lines of code, and was handed out with {len(keys)}: {_WHAT_TO_DO}"
        matcher = difflib.SequenceMatcher(None, [key for _, key in keys], [one.key for one in mine], autojunk=False)
        new = _lines_of_new_functions(mine, matcher.get_matching_blocks())
        shared = sum(mine[index].weight for index in new)
        if shared > self.most:
            return (
                f"{name}:{mine[min(new)].first}: functions that were not handed out have {shared} lines, and at most "
                f"{self.most} may differ: {_WHAT_TO_DO}"
            )
        changed, places = dict.fromkeys(self.given, shared), {part: [0, 0] for part in self.given}
        for tag, begin, end, first, last in matcher.get_opcodes():
            if tag == "equal":
                continue
            if directive := next((one for one in mine[first:last] if one.is_directive), None):
                return (
                    f"{name}:{directive.first}: this directive was not handed out. Take it out: lines that begin with "
                    "# stay as they are, and each program's mistake can be fixed without one"
                )
            added = sum(mine[index].weight for index in range(first, last) if index not in new)
            # Lines added between two programs belong to the next one if they are outside functions.
            is_next = begin < end or begin == 0 or mine[first].is_outside
            part = keys[min(begin, len(keys) - 1) if is_next else begin - 1][0]
            for where, gone in groupby(keys[begin:end], key=lambda one: one[0]):
                changed[where] += max(len(list(gone)), added if where == part else 0)
            changed[part] += added if begin == end else 0
            shown = mine[first:last] or mine[first : first + 1] or mine[-1:]
            at = places[part]
            places[part] = [min(at[0] or shown[0].first, shown[0].first), max(at[1], shown[-1].last)]
        over = [part for part, count in changed.items() if count > self.most]
        return "\n".join(
            f"{name}: {changed[part]} lines of {part} are not as they were handed out, between lines {places[part][0]} "
            f"and {places[part][1]}, and at most {self.most} may differ: {_WHAT_TO_DO}"
            for part in over
        )


def _lines_of_new_functions(mine: list[_Line], matching: list[difflib.Match]) -> set[int]:
    """Lines added in functions, or in outside declarations, that have little of the stub's code."""
    kept = {index for block in matching for index in range(block.b, block.b + block.size)}
    heads = [index for index, one in enumerate(mine) if one.is_outside]
    new: set[int] = set()
    for head, end in zip(heads, [*heads[1:], len(mine)], strict=True):
        added = {index for index in range(head, end) if index not in kept}
        if head in added and 2 * len(added) > end - head:
            new |= added
    return new


_WHAT_TO_DO = (
    "put back what was there, and change only the lines of the mistake. Comments, blank lines and braces count nothing"
)


def given_lines(stub: bytes, rungs: tuple[str, ...]) -> dict[str, str]:
    """The hashes of a stub's lines by program, for assignment.toml; raises ValueError if they can't be determined."""
    lines = _lines_of(stub)
    if lines is None:
        raise ValueError("the stub has no normal form")
    text = stub.decode("utf-8")
    ends = {}
    for rung in rungs:
        found = re.search(rf"^void {re.escape(rung)}\(.*?^\}}", text, re.MULTILINE | re.DOTALL)
        if not found:
            raise ValueError(f"the stub does not define {rung}")
        ends[rung] = text.count("\n", 0, found.end()) + 1
    given = {}
    begin = 0
    for rung in rungs:
        given[rung] = "".join(one.key for one in lines if begin < one.first <= ends[rung])
        begin = ends[rung]
    return given


def _lines_of(source: bytes) -> list[_Line] | None:
    """The lines of code of a file; None if they can't be determined."""
    normal = normal_form(source)
    if normal is None:
        return None
    lines: list[_Line] = []
    tokens: list[tuple[str, int]] = []
    braces: list[tuple[bool, int]] = []  # per open brace: whether it begins a block, and how many parentheses were open
    depth = 0
    last = ";"
    is_outside = True

    def end_line() -> None:
        if tokens:
            text = " ".join(token for token, _ in tokens)
            digest = hashlib.sha256(text.encode()).digest()[:_HASH_BYTES]
            letters = sum(len(token) for token, _ in tokens if '"' in token)
            weight = -(-(len(tokens) + letters // _LETTERS_A_TOKEN) // _TOKENS_A_LINE)
            is_directive = tokens[0][0] == "#"
            key = base64.b64encode(digest).decode()
            lines.append(_Line(key, weight, is_directive, is_outside, tokens[0][1], tokens[-1][1]))
            tokens.clear()

    for piece, line in zip(normal.text.split("\x1f"), normal.lines, strict=False):  # parses source code
        word = piece.strip()
        if not tokens:
            is_outside = not any(is_block for is_block, _ in braces)
        if piece == _HASH:
            end_line()
        is_directive = bool(tokens) and tokens[0][0] == "#"
        if is_directive and piece == _FEED:
            end_line()
        elif is_directive or not _is_brace(word, last, braces):
            tokens.append((word, line))
        if word == "{":
            braces.append((last in _BLOCK, depth))
        if word == "{" and braces[-1][0]:
            end_line()
            depth = 0
        elif word == "}" and braces:
            is_block, outside = braces.pop()
            if is_block:
                end_line()
                depth = outside
        elif not is_directive:
            depth += (word in _OPEN) - (word in _CLOSE)
            is_head = word == ")" and depth == 0 and bool(tokens) and tokens[0][0] in _HEADS
            if (word == ";" and depth <= 0) or word == "else" or is_head:
                end_line()
        last = word or last
    end_line()
    return lines


def _is_brace(word: str, last: str, braces: list[tuple[bool, int]]) -> bool:
    """Whether this brace belongs to a block rather than an initializer."""
    return (word == "{" and last in _BLOCK) or (word == "}" and bool(braces) and braces[-1][0])
