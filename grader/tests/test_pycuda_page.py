"""docs/reference/pycuda.md lists the features of the worker's PyCUDA replacement, generated from its sources.

LOCKSTEP_UPDATE_GOLDEN=1 writes the tables again.
"""

import ast
import os
import re
from pathlib import Path

from conftest import ROOT

PAGE = ROOT / "docs/reference/pycuda.md"
FOLDER = ROOT / "harness/worker/python"
_TABLE = re.compile(r"(<!-- table of (\S+) -->\n\n).*?(\n\n<!-- end -->)", re.DOTALL)
_ORDER = ("pycuda_driver.py", "pycuda_kernels.py")


def definitions(path: Path) -> dict[str, ast.ClassDef | ast.FunctionDef]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}


def signature(node: ast.FunctionDef, *, skips: int) -> str:
    """The parameters with their defaults, without types."""
    given = node.args
    names = [argument.arg for argument in given.args]
    texts = names[: len(names) - len(given.defaults)]
    texts += [f"{name}={ast.unparse(one)}" for name, one in zip(names[len(texts) :], given.defaults, strict=True)]
    texts = texts[skips:]
    if given.vararg:
        texts.append(f"*{given.vararg.arg}")
    texts += [
        f"{argument.arg}={ast.unparse(one)}"
        for argument, one in zip(given.kwonlyargs, given.kw_defaults, strict=True)
        if one is not None
    ]
    return f"({', '.join(texts)})"


def summary(node: ast.ClassDef | ast.FunctionDef) -> str:
    text = (ast.get_docstring(node) or "").split("\n\n", 1)[0]
    assert text, f"{node.name} has no docstring, which the page shows"
    return " ".join(text.split()).rstrip(".")


def rows_of(name: str, node: ast.ClassDef | ast.FunctionDef) -> list[str]:
    if isinstance(node, ast.FunctionDef):
        return [f"| `{name}{signature(node, skips=0)}` | {summary(node)} |"]
    methods = [one for one in node.body if isinstance(one, ast.FunctionDef)]
    made = next((signature(one, skips=1) for one in methods if one.name == "__init__"), "")
    rows = [f"| `{name}{made if name in ('Stream', 'Event') else ''}` | {summary(node)} |"]
    for method in methods:
        decorators = [one.id for one in method.decorator_list if isinstance(one, ast.Name)]
        if method.name == "__call__":
            rows.append(f"| `{name}.__call__{signature(method, skips=1)}` | {summary(method)} |")
        elif not method.name.startswith("_"):
            shown = "" if "property" in decorators else signature(method, skips="staticmethod" not in decorators)
            rows.append(f"| `{name}.{method.name}{shown}` | {summary(method)} |")
    return rows


def exported(name: str) -> list[tuple[str, ast.ClassDef | ast.FunctionDef]]:
    """What pycuda_modules.py exports under that module name."""
    own = definitions(FOLDER / "pycuda_modules.py")
    tree = ast.parse((FOLDER / "pycuda_modules.py").read_text(encoding="utf-8"))
    assigned = {
        node.targets[0].id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    table = assigned["_DRIVER" if name == "pycuda.driver" else "_ARRAYS"]
    assert isinstance(table, ast.Dict)
    found: list[tuple[str, ast.ClassDef | ast.FunctionDef]] = []
    for key, value in zip(table.keys, table.values, strict=True):
        if isinstance(key, ast.Name):
            of = definitions(FOLDER / f"{key.id}.py")
            assert isinstance(value, ast.Tuple)
            names = [ast.literal_eval(one) for one in value.elts]
            found += [(one, of[one]) for one in names if one in of]
        else:
            assert isinstance(value, ast.Name)
            found.append((ast.literal_eval(key or value), own[value.id]))
    return found


def numpy() -> list[tuple[str, ast.ClassDef | ast.FunctionDef]]:
    path = FOLDER / "pycuda_arrays.py"
    of, exported = (
        definitions(path),
        next(re.finditer(r"^NAMES = (\(.*?^\))", path.read_text(), re.DOTALL | re.MULTILINE)),
    )
    return [(name, of[name]) for name in ast.literal_eval(exported[1]) if name in of]


def table(name: str) -> str:
    listed = numpy() if name == "numpy" else exported(name)
    rows = [row for one, node in listed for row in rows_of(one, node)]
    return "\n".join(["| name | |", "|---|---|", *rows])


def test_the_page_lists_what_the_stand_in_has() -> None:
    text = PAGE.read_text(encoding="utf-8")
    names = [found[2] for found in _TABLE.finditer(text)]
    assert names == ["pycuda.driver", "pycuda.gpuarray", "numpy"]
    made = _TABLE.sub(lambda found: found[1] + table(found[2]) + found[3], text)
    if os.environ.get("LOCKSTEP_UPDATE_GOLDEN"):
        PAGE.write_text(made, encoding="utf-8")
    assert made == text, "type: LOCKSTEP_UPDATE_GOLDEN=1 .venv/bin/pytest grader/tests/test_pycuda_page.py"
