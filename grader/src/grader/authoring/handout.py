"""The folder that students get: stubs, public suites, everything that `make test` builds, and nothing hidden.

This module lists what goes in, not what stays out: a new folder of the repository is hidden until it is on the list.
Afterwards `leaks` reads the finished folder and looks for lines of everything under reference/.
"""

import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from grader.authoring.imports import PACKAGE, closure
from grader.authoring.solutions import DECLARED, solutions_in
from grader.base.errors import GraderError
from grader.base.layout import Layout
from grader.base.secret import NAME as SECRET
from grader.model.assignment import Assignment, load_assignment

HARNESS = (
    "CMakeLists.txt", "build.sh", "judge", "libraries/compilers", "libraries/loader", "libraries/real_library.cc",
    "libraries/real_library.h", "libraries/submission", "nvcc-requirements.txt", "protocol", "run.sh",
    "setup.sh", "student.mk", "vgpu", "worker",
)  # fmt: skip
_ROOT = ("CMakeLists.txt", "LICENSE", "assignments/assignment.mk", ".gitignore", "lockstep")
_OF_PYTHON = ("grader/requirements-python.txt", "grader/constraints.txt")  # what harness/setup.sh --python installs
_PACKAGE = "grader/src/grader"
_ENTRY = "grader.student.__main__"  # the module that students run; what it imports goes with it
_LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s#]+)(?P<anchor>#[^)\s]*)?\)")
_HIDDEN_NAMES = ("hidden_test.cc", *(f"{kind}.toml" for kind in DECLARED), SECRET)
_HIDDEN_SUFFIXES = (".cu", ".cuh", ".cc", ".h", ".py")
_WINDOW = 3  # this many consecutive lines of a hidden file are a leak
_LONG = 60  # one line of this length is a leak by itself
_TRIVIAL = 8  # characters that a line must have to count

Index = dict[str, set[str]]  # each hidden line, with the files that hold it
Hidden = Callable[[], Index]


@dataclass(frozen=True)
class Leak:
    """A place in a handout that contains part of a hidden file."""

    file: str
    hidden: str
    line: str


@dataclass(frozen=True)
class Handout:
    """The files written, and pages of docs/ left out because they show hidden text."""

    files: list[Path]
    left_out: list[Leak]


def make_handout(layout: Layout, names: Sequence[str], out: Path, hidden: Index | None = None) -> Handout:
    """Writes the handout of these assignments into `out`, an empty or new folder. `hidden` is what hidden_lines gives.

    Raises GraderError where `out` holds something, or where code in the handout would hold something hidden.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise GraderError(f"{out} is not empty.\nType:  grader handout DIR      with a new folder")
    assignments = [load_assignment(layout.assignment(name)) for name in names]
    environment = Environment(
        loader=FileSystemLoader(layout.templates / "handout"),
        autoescape=False,  # noqa: S701 - Markdown of our own, no page
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    template = environment.get_template("README.md.j2")
    readme = template.render(assignments=assignments, left_out=())
    chosen = [*_code(layout, assignments), *_pages(layout, readme, assignments)]
    for path in chosen:
        target = out / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(layout.root / path, target)
    for module in closure(_ENTRY):
        target = out / _PACKAGE / module.relative_to(PACKAGE)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(module, target)
    shutil.copy(layout.templates / "handout" / "Makefile", out / "Makefile")
    (out / "README.md").write_text(readme, encoding="utf-8")
    try:
        found = leaks(layout, out, hidden)
    except GraderError:
        shutil.rmtree(out)  # nobody has checked it for leaks
        raise
    pages = [leak for leak in found if leak.file.startswith("docs/")]
    for leak in pages:
        (out / leak.file).unlink()
        if not any((out / leak.file).parent.iterdir()):
            (out / leak.file).parent.rmdir()
    if len(found) > len(pages):
        shutil.rmtree(out)
        raise GraderError(f"the handout would hold something hidden:\n{leaks_text(found)}")
    readme = template.render(assignments=assignments, left_out=[leak.file for leak in pages])
    (out / "README.md").write_text(readme, encoding="utf-8")
    for page in out.rglob("*.md"):
        _drop_dead_links(page, out)
    files = sorted(path.relative_to(out) for path in out.rglob("*") if path.is_file())
    return Handout(files, pages)


def leaks_text(found: Sequence[Leak]) -> str:
    """One line per leak."""
    return "\n".join(f"  {leak.file} has a line of {leak.hidden}: {leak.line}" for leak in found)


def leaks(layout: Layout, folder: Path, hidden: Index | None = None) -> list[Leak]:
    """The parts of reference/ found in the folder; also links, names no handout may have, binaries but PNGs.

    A line is hidden if it is in a file under reference/ but not in the stub, the header or the public suite of that
    file's assignment. One long line, or several in a row, make a leak.
    """
    found = []
    index = hidden_lines(layout) if hidden is None else hidden
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found.append(Leak(name, "a link", str(path.readlink())))
        if path.is_symlink() or not path.is_file():
            continue
        if path.relative_to(folder).parts[0] in ("reference", ".git") or path.name in _HIDDEN_NAMES:
            found.append(Leak(name, "what no handout has", path.name))
            continue
        data = path.read_bytes()
        if b"\0" in data and not data.startswith(b"\x89PNG"):
            found.append(Leak(name, "a binary", "no text"))
            continue
        found += _leaks_of(name, data.decode("utf-8", "replace"), index)
    return found


def _leaks_of(name: str, text: str, index: Index) -> list[Leak]:
    """The first leaked line; one leak per file is enough to refuse the handout."""
    row: dict[str, int] = {}
    for line in _lines(text):
        row = {hidden: row.get(hidden, 0) + 1 for hidden in index.get(line, ())}
        for hidden in sorted(row):
            if row[hidden] >= _WINDOW or len(line) >= _LONG:
                return [Leak(name, hidden, line)]
    return []


def hidden_lines(layout: Layout) -> Index:
    """Each hidden line of all assignments, with the files that hold it: seconds of work."""
    index: Index = defaultdict(set)
    public: dict[str, set[str]] = {}
    for file, text in _hidden_files(layout):
        name = Path(file).parts[1]
        for assignment in [name] if name in layout.assignments() else layout.assignments():
            if assignment not in public:
                public[assignment] = _public_lines(layout, assignment)
        shown = public[name] if name in public else set().union(*public.values())
        for line in _lines(text):
            if line not in shown:
                index[line].add(file)
    return index


def _hidden_files(layout: Layout) -> Iterator[tuple[str, str]]:
    """Every source below reference/, including those made from entries."""
    for path in sorted((layout.root / "reference").rglob("*")):
        if path.suffix in _HIDDEN_SUFFIXES and path.is_file():
            yield str(path.relative_to(layout.root)), path.read_text(encoding="utf-8", errors="replace")
    for name in layout.assignments():
        submission = load_assignment(layout.assignment(name)).submission
        for kind in DECLARED:
            solutions, problems = solutions_in(layout.reference(name), kind, submission)
            if problems:
                raise GraderError(f"{problems[0].what}: {problems[0].problem}")
            for solution in solutions:
                if solution.base:
                    yield f"reference/{name}/{solution.name}", solution.source.decode("utf-8", "replace")


def _public_lines(layout: Layout, name: str) -> set[str]:
    files = [path for suffix in ("cu", "h", "py") for path in layout.assignment(name).glob(f"*.{suffix}")]
    files += (layout.harness / "suites").glob(f"{name}_*")
    return {line for path in files for line in _lines(path.read_text(encoding="utf-8", errors="replace"))}


def _lines(text: str) -> list[str]:
    """The lines worth comparing, without regard to white space."""
    plain = ("".join(line.split()) for line in text.split("\n"))
    return [line for line in plain if len(line) >= _TRIVIAL and not line.startswith(("#include", "//", "using"))]


def _code(layout: Layout, assignments: Sequence[Assignment]) -> list[str]:
    every = tracked(layout.root)
    ids = layout.assignments()
    chosen = {assignment.id for assignment in assignments}
    root = (*_ROOT, *(_OF_PYTHON if any(assignment.is_python for assignment in assignments) else ()))
    wanted = [f"assignments/{name}/" for name in sorted(chosen)] + [f"harness/{name}" for name in HARNESS]
    files = [path for path in every if path in root or path.startswith(tuple(wanted))]
    for path in every:
        owner = next((name for name in ids if path.startswith(f"harness/suites/{name}_")), None)
        if path.startswith("harness/suites/") and (owner is None or owner in chosen):
            files.append(path)
    return files


def _pages(layout: Layout, readme: str, assignments: Sequence[Assignment]) -> list[str]:
    """The pages of docs/ that the handout's README or an assignment's links to, and their pictures."""
    texts = [(layout.root, readme)]
    for assignment in assignments:
        path = assignment.path.parent / "README.md"
        if path.is_file():
            texts.append((path.parent, path.read_text(encoding="utf-8")))
    targets = {(folder / match["target"]).resolve() for folder, text in texts for match in _LINK.finditer(text)}
    docs = [path for path in tracked(layout.root) if path.startswith("docs/")]
    pages = [layout.root / path for path in docs if layout.root / path in targets]
    targets |= {
        (page.parent / match["target"]).resolve()
        for page in pages
        if page.suffix == ".md"
        for match in _LINK.finditer(page.read_text(encoding="utf-8"))
        if match["image"]
    }
    return [path for path in docs if layout.root / path in targets]


def _drop_dead_links(page: Path, out: Path) -> None:
    """Turns links to files that are not in the handout into plain text."""

    def kept(match: re.Match[str]) -> str:
        target = match["target"]
        inside = (page.parent / target).resolve()
        if "://" in target or (inside.exists() and inside.is_relative_to(out.resolve())):
            return match[0]
        return match["text"]

    text = page.read_text(encoding="utf-8")
    page.write_text(_LINK.sub(kept, text), encoding="utf-8")


def tracked(root: Path) -> list[str]:
    """The project's files: tracked or not ignored by git; every file if there is no git."""
    git = shutil.which("git")
    if git and (root / ".git").exists():
        words = [git, "-C", str(root), "ls-files", "-co", "--exclude-standard", "-z"]
        run = subprocess.run(words, capture_output=True, text=True, check=False)
        if run.returncode == 0:
            return sorted({name for name in run.stdout.split("\0") if name and (root / name).is_file()})
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())
