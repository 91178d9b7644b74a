"""Tells whether two Python files are the same except for comments, blank lines and indentation, as `same_source` does
for C++.

A file becomes the tokens of Python's own tokeniser, each with its line; block starts and ends are tokens too. A file
that can inspect its own lines or text has no normal form, and equals another only byte for byte: it imports modules
beyond those that kernels need, or uses a name with two underscores or a built-in function that runs or shows code. A
file with an f-string has none either: some versions of Python split it into several tokens.
"""

import io
import re
import tokenize

from grader.model.same_source import Normal

_MODULES = {"array", "math", "numba", "numpy"}
_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+(?P<of>\w*)|import[ \t]+(?P<all>[^#\n;]*))", re.MULTILINE)
_SHOWS_ITSELF = re.compile(
    r"\b__(?!name__|main__)\w|\b(?:breakpoint|compile|dir|eval|exec|getattr|globals|help|id|locals|open|vars)\b"
    r"|\b(?:co|f|gi|tb)_\w|\bcoding[:=]|[\x00\x1f\x0c]|^\ufeff"
)
_LEFT_OUT = {tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER}
_BLOCKS = {tokenize.INDENT: "\x01", tokenize.DEDENT: "\x02", tokenize.NEWLINE: "\n"}
_F_STRING = re.compile(r"[bBuUrR]?[fFtT][rR]?[\"']")
_BETWEEN = "\x1f"


def python_form(source: bytes) -> Normal | None:
    """The file in normal form; None if it is not valid Python, has f-strings, or may read its own text."""
    try:
        text = source.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if _SHOWS_ITSELF.search(text) or not all(_is_plain(match) for match in _IMPORT.finditer(text)):
        return None
    words: list[str] = []
    lines: list[int] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in _LEFT_OUT:
                continue
            if _F_STRING.match(token.string) or token.type == tokenize.ERRORTOKEN:
                return None
            words.append(_BLOCKS.get(token.type, token.string))
            lines.append(token.start[0])
    except (tokenize.TokenError, SyntaxError):
        return None
    return Normal(_BETWEEN.join(words), tuple(lines)) if words else None


def _is_plain(match: re.Match[str]) -> bool:
    """Whether an import names only those modules, each as a plain name."""
    if match["of"] is not None:
        return match["of"] in _MODULES
    names = [name.split() for name in match["all"].split(",")]
    return all(name and name[0].partition(".")[0] in _MODULES for name in names)
