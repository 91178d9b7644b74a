"""The grader's packages import only in the direction that docs/concepts/architecture.md gives."""

import re
from pathlib import Path

import pytest

from conftest import ARCHITECTURE, parts_in_order
from grader.authoring.imports import PACKAGE, imported

SECTION = "The grader's packages"


def module_name(path: Path, package: Path) -> str:
    """The dotted name of a source: grader.base.errors; of an `__init__.py`, its package's."""
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def complaints(package: Path, packages: list[str]) -> list[str]:
    """Violations of the order, a sentence each."""
    folders = sorted({path.parent.name for path in package.glob("*/*.py")})
    found = [f"{ARCHITECTURE.name} has no row for the package {name}" for name in folders if name not in packages]
    found += [
        f"{ARCHITECTURE.name} has a row for the package {name}, and there is none"
        for name in packages
        if name not in folders
    ]
    graph: dict[str, dict[str, str]] = {}
    for path in sorted(package.rglob("*.py")):
        file = path.relative_to(package.parent)
        if len(file.parts) == 2 and path.stem not in ("__init__", "__main__"):
            found.append(f"{file} is in no package")
        inner = module_name(path, package)
        own = file.parts[1] if len(file.parts) > 2 else ""
        graph[inner] = {}
        for line, name in imported(path, package):
            other = name.split(".")[1] if "." in name else ""
            where = f"{file}:{line} imports {name}"
            if other == own:
                graph[inner][name] = where
            elif path.name == "__main__.py" and not own:
                continue
            elif not own:
                found.append(f"{where}, which runs up: what is in no package is below them all")
            elif other and own in packages and other in packages and packages.index(other) > packages.index(own):
                found.append(f"{where}, which runs up: {own} is below {other}")
    return found + cycles(graph)


def cycles(graph: dict[str, dict[str, str]]) -> list[str]:
    """A sentence for each cycle; of overlapping cycles only the first."""
    found: list[str] = []
    told: set[str] = set()
    for start in sorted(graph):
        way = way_back(graph, start)
        if way and not told & set(way):
            told |= set(way)
            steps = [graph[one][other] for one, other in zip(way, [*way[1:], start], strict=True)]
            found.append(f"a cycle in one package: {', '.join(steps)}")
    return found


def way_back(graph: dict[str, dict[str, str]], start: str) -> list[str]:
    """The shortest import path from a module back to itself; empty if there is none."""
    ways, seen = [[start]], set()
    for way in ways:
        for other in graph.get(way[-1], {}):
            if other == start:
                return way
            if other not in seen:
                seen.add(other)
                ways.append([*way, other])
    return []


def test_imports_run_one_way() -> None:
    packages = parts_in_order(SECTION)
    assert packages, f"{ARCHITECTURE} has no table under {SECTION}"
    found = complaints(PACKAGE, packages)
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        (
            {"low/a.py": "import grader.high.b"},
            "grader/low/a.py:1 imports grader.high.b, which runs up: low is below high",
        ),
        ({"low/a.py": "from grader.high.b import X"}, "grader/low/a.py:1 imports grader.high.b, which runs up"),
        ({"low/a.py": "from grader.high import b"}, "grader/low/a.py:1 imports grader.high.b, which runs up"),
        ({"low/a.py": "from grader import high"}, "grader/low/a.py:1 imports grader.high, which runs up"),
        ({"low/a.py": "from ..high import b"}, "grader/low/a.py:1 imports grader.high.b, which runs up"),
        ({"low/a.py": "def f():\n    from grader.high.b import X"}, "grader/low/a.py:2 imports grader.high.b"),
        (
            {"low/a.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from grader.high.b import X"},
            "grader/low/a.py:3 imports grader.high.b, which runs up",
        ),
        ({"low/__init__.py": "from grader.high.b import X"}, "grader/low/__init__.py:1 imports grader.high.b"),
        (
            {"__init__.py": "from grader.low.a import X"},
            "grader/__init__.py:1 imports grader.low.a, which runs up: what is in no",
        ),
        ({"c.py": ""}, "grader/c.py is in no package"),
        ({"new/c.py": ""}, "architecture.md has no row for the package new"),
        (
            {"low/a.py": "from grader.low import c", "low/c.py": "def f():\n    from grader.low.a import X"},
            "a cycle in one package: grader/low/a.py:1 imports grader.low.c, grader/low/c.py:2 imports grader.low.a",
        ),
        (
            {
                "low/a.py": "import grader.low.c",
                "low/c.py": "from . import d",
                "low/d.py": "from grader.low.a import X",
            },
            "a cycle in one package: grader/low/a.py:1 imports grader.low.c, grader/low/c.py:1 imports grader.low.d, "
            "grader/low/d.py:1 imports grader.low.a",
        ),
    ],
)
def test_what_breaks_the_order_is_named(tmp_path: Path, sources: dict[str, str], expected: str) -> None:
    package = tmp_path / "grader"
    right = {"__init__.py": "", "__main__.py": "import grader.high.b", "low/__init__.py": "", "low/a.py": ""}
    right |= {"high/__init__.py": "", "high/b.py": "from grader import low\nfrom grader.low.a import X\nimport ast"}
    for files, count in ((right, 0), (sources, 1)):
        for name, source in files.items():
            (package / name).parent.mkdir(parents=True, exist_ok=True)
            (package / name).write_text(source)
        found = complaints(package, ["low", "high"])
        assert len(found) == count, found
    assert expected in found[0]
    assert complaints(package, ["low"])[0].startswith("architecture.md has no row for the package high")
    assert any("lost, and there is none" in one for one in complaints(package, ["low", "lost", "high"]))


def test_no_module_takes_apart_what_the_judge_says() -> None:
    """Its lines are data: model/result.py. A compiler's message, in a record or a build, is only text."""
    said = r"(?<!record)(?<!built)\.(?:message|said|rendered)\b"
    taken = re.compile(
        rf"{said}\)?\.r?(?:split|partition|splitlines)\(|\b(?:re\.\w+|\w+\.(?:findall|search|sub))\([^)\n]*{said}"
    )
    assert taken.search('test.message.partition("   ")')
    assert taken.search("re.findall(_AT, test.message)")
    sources = {path: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    assert [f"{path}: {found[0]}" for path, text in sources.items() for found in taken.finditer(text)] == []
