"""Finds the grader's modules that a module imports, from the sources: the handout has only those that students run.

An import inside a function or for type checking counts like any other.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[1]


def imported(path: Path, package: Path = PACKAGE) -> Iterator[tuple[int, str]]:
    """Line and dotted name of each module of the package that a source imports.

    `from grader.base import errors` imports grader.base.errors; `from grader import __version__` imports grader.
    """
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = _absolute(node, path, package)
            names = [
                f"{module}.{alias.name}" if source_of(f"{module}.{alias.name}", package) else module
                for alias in node.names
            ]
        else:
            continue
        yield from ((node.lineno, name) for name in dict.fromkeys(names) if name.partition(".")[0] == package.name)


def source_of(name: str, package: Path = PACKAGE) -> Path | None:
    """The file of a module or package by its dotted name; None where there is none."""
    path = package.parent.joinpath(*name.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)


def closure(entry: str, package: Path = PACKAGE) -> list[Path]:
    """The sources that Python reads when it imports this module: all it imports, and the packages they are in."""
    found: set[Path] = set()
    todo = [entry]
    while todo:
        name = todo.pop()
        path = source_of(name, package)
        if path is None or path in found:
            continue
        found.add(path)
        todo += [name.rpartition(".")[0], *(other for _, other in imported(path, package))]
    return sorted(found)


def _absolute(node: ast.ImportFrom, path: Path, package: Path) -> str:
    """The module names in `from … import`, with relative imports resolved."""
    if not node.level:
        return node.module or ""
    folder = path.parents[node.level - 1].relative_to(package.parent)
    return ".".join([*folder.parts, *([node.module] if node.module else [])])
