#!/usr/bin/env python3
"""Rules for the Python code that ruff lacks: no module takes a rendered message apart, and no function is too long.

A message's parts are fields, from the judge's result to the page: what needs a line, a name or a number has a field.
Other programs' text may be parsed; a comment on the line says whose it is: `# parses nvcc's output`. A function has at
most 80 lines of code. clang-tidy has that rule for C++ (.clang-tidy), and ruff counts parameters.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = next(folder for folder in Path(__file__).resolve().parents if (folder / "templates").is_dir())
_MOST_LINES = 80
# Fields that hold what a person reads, and variables named after them.
_RENDERED = {"message", "hint", "said", "detail", "unmet", "headline", "rendered", "told", "points_text", "total_text"}
_OF_OBJECTS = {"text"}  # as an attribute alone: a local `text` may be a file's
_APART = {
    "split", "rsplit", "splitlines", "partition", "rpartition", "startswith", "endswith", "removeprefix",
    "removesuffix", "find", "rfind", "index", "search", "match", "fullmatch", "findall", "finditer", "sub",
}  # fmt: skip
_REASONS = {
    "nvcc's output",
    "a program's output",
    "a platform's file",
    "source code",
    "a text to record",
    "names to hide",
    "a launch's line, which has no fields",
}
_REASON = re.compile(r"# parses (.+)$")


def _is_rendered(node: ast.expr) -> bool:
    """Whether this is a message's text, or a part of one."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("strip", "lower"):
        return _is_rendered(node.func.value)
    if isinstance(node, ast.Subscript):
        return _is_rendered(node.value)
    if isinstance(node, ast.Attribute):
        return node.attr in _RENDERED | _OF_OBJECTS
    return isinstance(node, ast.Name) and node.id in _RENDERED


def _taken_apart(node: ast.Compare | ast.Call) -> bool:
    if isinstance(node, ast.Compare):
        return any(
            isinstance(how, ast.In | ast.NotIn) and _is_rendered(whole)
            for how, whole in zip(node.ops, node.comparators, strict=True)
        )
    if not (isinstance(node.func, ast.Attribute) and node.func.attr in _APART):
        return False
    return _is_rendered(node.func.value) or any(_is_rendered(argument) for argument in node.args)


def problems(name: str, text: str) -> Iterator[str]:
    """What one module does against the rules."""
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            code = node.body[1:] if ast.get_docstring(node) else node.body
            length = (node.end_lineno or 0) - code[0].lineno + 1 if code else 0
            if length > _MOST_LINES:
                yield f"{name}:{node.lineno}: {node.name} has {length} lines of code, more than {_MOST_LINES}"
        if name.startswith("grader/src/") and isinstance(node, ast.Compare | ast.Call) and _taken_apart(node):
            marks = [_REASON.search(line) for line in lines[node.lineno - 1 : (node.end_lineno or 0) + 1]]
            if not any(mark and mark[1] in _REASONS for mark in marks):
                yield f"{name}:{node.lineno}: parses a message: add a field for what it needs"


def main() -> int:
    """Prints all that breaks a rule; returns the exit status, 1 if there is anything."""
    git = ["git", "ls-files", "*.py", "dev"]
    names = subprocess.run(git, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    names = [name for name in names if (ROOT / name).is_file() and not name.startswith("grader/tests/python_shift/")]
    wrong = [one for name in names for one in problems(name, (ROOT / name).read_text())]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
