#!/usr/bin/env python3
"""Checks pages and comments for paths that are not there, hints that no source has, and words to avoid.

Paths are looked for in the code spans of pages, and in comments and docstrings of sources; stage.py
checks links. The end of a path is enough, as in `isa/integer.cc`. Records (docs/records) and the
changelog say how things were: only their whole paths are checked, and no hints.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

ROOT = next(folder for folder in Path(__file__).resolve().parents if (folder / "templates").is_dir())
_CPP = (".cc", ".h", ".cu", ".cuh", ".inc")
_READ = (*_CPP, ".py", ".sh", ".cmake", ".txt", ".toml", ".md", ".j2")
# Solutions and submissions describe themselves, not the repository.
_UNREAD = ("reference/", "grader/tests/python_shift/")
_OLD = ("docs/records/", "CHANGELOG.md")
_PATH = re.compile(r"(?<![\w./~$\"<-])[A-Za-z*{](?:[\w*-]|\{[^{} ]*\})*(?:[/.](?:[\w*-]|\{[^{} ]*\})+)+|\b\w+_test\b")
# A name with a suffix that no hand-in has counts as a path of the repository; others only after a folder.
_OURS = re.compile(r".*\.(?:cc|h|cuh|md|j2|cmake)|.*/.*\.(?:inc|sh)|test_\w+\.py|\w+_test")
_OURS_IN_CPP = re.compile(_OURS.pattern + r"|.*/.*\.(?:cu|py|toml)")
# Not in the repository: the toolkit's headers, PTX's add.cc and the like, files that grading writes.
_ELSEWHERE = re.compile(r"cuda\w*\.h|(?:add|sub|mad)\.cc|exports/.*")
# Placeholders: NN_name, ASSIGNMENT, 20_histogram as an assignment that a page makes. The folder before one is checked.
_PLACEHOLDER = re.compile(r"NN|[A-Z]{3,}|(?:1[5-9]|20)_\w+")
# Calqued or archaic wording that was edited out of what students read; write the field's terms instead.
_RELAPSES = re.compile(
    r"\b(?:mend(?:s|ed|ing)?|befall|befell|thither|whither|so many \w+ as|is no multiple of|to be had|has to lie|"
    r"(?:thread|sectors?|instructions?|barriers?|requests?) an? (?:element|block|warp)|"
    r"1 (?:faults|tests|elements|threads|blocks|bytes|lines))\b",
    re.IGNORECASE,
)
_FEW_WORDS = 4
_FOR_STUDENTS = (
    "assignments/*", "docs/[!r]*/*.md", "harness/judge/*.cc", "harness/suites/*.h", "harness/suites/*.cc",
    "harness/vgpu/core/finding*", "grader/src/*.py", "templates/*.j2",
)  # fmt: skip


class Tree:
    """What the repository has: files, folders, and the end of each of their paths."""

    def __init__(self, names: Iterable[str], headers: set[str]) -> None:
        """`headers`: file names that sources include."""
        paths = {path for name in names for path in (Path(name), *Path(name).parents)}
        self.ends = {"/".join(path.parts[k:]) for path in paths for k in range(len(path.parts))} | headers
        self.ends |= {path.stem for path in paths if path.stem.endswith("_test")}
        self.top = {path.parts[0] for path in paths if len(path.parts) > 1}
        inside = ("harness", "harness/dev", "harness/vgpu", "grader/src/grader")
        self.folders = self.top | {path.name for path in paths if str(path.parent) in inside}

    def lacks(self, path: str, ours: re.Pattern[str] | None) -> bool:
        """Whether this looks like a path of the repository but does not exist.

        A path begins with a folder at the top; with `ours`, also with a folder below it, or as that pattern says.
        """
        first, slash, _ = path.partition("/")
        begins = slash and first in (self.folders if ours else self.top)
        if not (begins or (ours and ours.fullmatch(path))) or _ELSEWHERE.fullmatch(path):
            return False
        cut = _PLACEHOLDER.search(path)
        path = path[: cut.start()].rpartition("/")[0] if cut else path
        return bool(path) and not all(self._has(one) for one in spelled_out(path))

    def _has(self, path: str) -> bool:
        return path in self.ends or ("*" in path and any(fnmatchcase(end, path) for end in self.ends))


def spelled_out(path: str) -> Iterator[str]:
    """All paths that one with braces means, as `a.{h,cc}` means a.h and a.cc."""
    braces = re.search(r"\{([^{}]*)\}", path)
    if not braces:
        yield path
        return
    for one in braces[1].split(","):
        yield from spelled_out(path.replace(braces[0], one, 1))


def said(name: str, text: str) -> Iterator[tuple[int, str]]:
    """Where a file may name paths: a page's code spans, a source's comments and docstrings, each with its line."""
    suffix = Path(name).suffix
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if suffix in (".md", ".j2"):
            fenced ^= line.lstrip().startswith("```")
            yield from ((number, span) for span in re.findall(r"`([^`\s]+)`", line) if not fenced)
        elif found := re.search(r"(?:^|\s)//(.*)" if suffix in _CPP else r"(?:^|\s)#\s(.*)", line):
            yield number, found[1]
    if suffix == ".py":
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (words := ast.get_docstring(node)):
                yield from ((getattr(node, "lineno", 1), line) for line in words.splitlines())


def joined(text: str) -> str:
    """A text in one line, and adjacent literals as one."""
    return re.sub(r"\s+", " ", re.sub(r'"\s*f?"', "", text))


def hints(text: str) -> Iterator[str]:
    """The hints quoted in a page's example messages: their fixed words, between numbers and names."""
    for found in re.finditer(r"^ *hint {4}(.*(?:\n {10,}\S.*)*)", text, re.MULTILINE):
        for part in re.split(r"[^ ]*[\d<_`()][^ ]*|[;:]", joined(found[1])):
            if part.count(" ") > _FEW_WORDS:
                yield part.strip(" ,;:.")


def main() -> int:
    """Prints all that is wrong; returns the exit status, 1 if there is anything."""
    git = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(git, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    texts = {name: (ROOT / name).read_text() for name in names if name.endswith(_READ) and (ROOT / name).is_file()}
    includes = re.findall(r'#include [<"](?:[^>"]*/)?([^>"/]+)', "\n".join(texts.values()))
    tree = Tree(names, set(includes))
    sources = joined("\n".join(text for name, text in texts.items() if not name.endswith((".md", ".txt"))))
    wrong = []
    for name, text in texts.items():
        if name.startswith(_UNREAD) or ROOT / name == Path(__file__).resolve():
            continue
        ours = None if name.startswith(_OLD) else _OURS_IN_CPP if name.endswith(_CPP) else _OURS
        for line, words in said(name, text):
            for found in _PATH.finditer(words):
                if tree.lacks(found[0], ours):
                    wrong.append(f"{name}:{line}: {found[0]} is not there")
        if name.endswith(".md") and not name.startswith(_OLD):
            wrong += [f"{name}: no source has the hint {part!r}" for part in hints(text) if part not in sources]
        if any(fnmatchcase(name, pattern) for pattern in _FOR_STUDENTS):
            wrong += [f"{name}: the wording {match[0]!r}" for match in _RELAPSES.finditer(joined(text))]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
