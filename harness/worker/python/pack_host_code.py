"""Packs a Python submission of an assignment that gives the kernels, for worker/build.sh; needs no package.

    pack_host_code.py --source host.py --assignment DIR --kernels kernels.ptx --out FILE

The submission is host code for PyCUDA. It is read here and not run: its syntax has to be right, and each rung's
launcher has to be there and take as many arguments as the stub's. FILE gets JSON: the path, the source, and the PTX
that nvcc made of the assignment's kernels.cu. The worker's stand_in.py reads it.

Errors in the file are reported in nvcc's form, "host.py(12): error: …", and the status is 1.
"""

import argparse
import ast
import json
import sys
import tomllib
import warnings
from pathlib import Path
from typing import NoReturn


def _refuse(source: Path, line: int, said: str, text: str = "") -> NoReturn:
    lines = text.splitlines()
    shown = f"\n{lines[line - 1].rstrip()}" if 1 <= line <= len(lines) else ""
    print(f"{source.name}({line}): error: {said}{shown}" if line else f"{source.name}: error: {said}", file=sys.stderr)
    sys.exit(1)


def _parsed(source: Path, text: str) -> ast.Module:
    try:
        compile(text, str(source), "exec")
        return ast.parse(text)
    except SyntaxError as error:
        # Python's words differ from version to version; the line and its text don't.
        kind = "the indentation" if isinstance(error, IndentationError) else "the syntax"
        _refuse(source, error.lineno or 1, f"{kind} is wrong here, Python says: {error.msg}", text)
    except (ValueError, RecursionError, MemoryError) as error:  # a zero byte; nested too deeply
        _refuse(source, 0, str(error) or type(error).__name__)


def _functions(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def _names_of_others(tree: ast.Module) -> set[str]:
    """Names that the file binds without `def`: `launcher = another`, an import."""
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    imported = [
        alias for node in ast.walk(tree) if isinstance(node, ast.ImportFrom | ast.Import) for alias in node.names
    ]
    return names | {alias.asname or alias.name for alias in imported}


def _check_launchers(source: Path, tree: ast.Module, text: str, assignment: Path) -> None:
    document = tomllib.loads((assignment / "assignment.toml").read_text(encoding="utf-8"))
    stub = assignment / document["submission"]
    wanted = _functions(ast.parse(stub.read_text(encoding="utf-8"))) if stub.is_file() else {}
    found, others = _functions(tree), _names_of_others(tree)
    for rung in document.get("rung", []):
        name = rung["id"]
        if name not in found and name not in others:
            _refuse(source, 0, f"the function {name} is missing, which the tests call")
        if name in found and name in wanted:
            given, right = found[name].args, wanted[name].args
            takes = [argument.arg for argument in (*given.posonlyargs, *given.args)]
            parameters = [argument.arg for argument in right.args]
            needed = len(takes) - len(given.defaults)
            if not given.vararg and not needed <= len(parameters) <= len(takes):
                _refuse(
                    source,
                    found[name].lineno,
                    f"{name} is called with {len(parameters)} arguments: {', '.join(parameters)}",
                    text,
                )


def main() -> int:
    """Packs one file."""
    parser = argparse.ArgumentParser()
    for flag in ("--source", "--assignment", "--kernels", "--out"):
        parser.add_argument(flag, type=Path, required=True)
    arguments = parser.parse_args()
    source: Path = arguments.source
    warnings.simplefilter("ignore")
    try:
        text = source.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        _refuse(source, 0, f"it is no text in UTF-8: byte {error.start + 1}")
    _check_launchers(source, _parsed(source, text), text, arguments.assignment)
    written = {
        "path": str(source),
        "module": source.stem,
        "source": text,
        "kernels": [],
        "files": {"kernels.ptx": arguments.kernels.read_text(encoding="utf-8")},
    }
    arguments.out.write_text(json.dumps(written), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
