"""`grader new`, and the walk-throughs of docs/how-to for new assignments: the test builds their code blocks."""

import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from conftest import BUILD, ROOT, needs_build
from grader.authoring.check import check_points, check_todos
from grader.authoring.check_files import check_handout, check_hints, check_names, check_places
from grader.authoring.handout import hidden_lines
from grader.authoring.new import new_assignment
from grader.base.errors import GraderError
from grader.base.layout import Layout
from grader.commands.cli import cli
from grader.model.assignment import load_assignment

HOW_TO = ROOT / "docs" / "how-to"


@pytest.mark.parametrize(
    ("options", "files"),
    [
        ((), "prefix.cu prefix.h"),
        (("--python", "numba"), "prefix.py"),
        (("--python", "pycuda"), "prefix.py kernels.cu"),
    ],
)
def test_a_scaffold_has_the_right_shape(in_checkout: Layout, options: tuple[str, ...], files: str) -> None:
    result = CliRunner().invoke(cli, ["new", "98_prefix_sum", *options])
    assert result.exit_code == 0, result.output
    own = {path.name for path in in_checkout.assignment("98_prefix_sum").iterdir()}
    assert own == {"README.md", "Makefile", "assignment.toml", "hints.toml", *files.split()}
    assert "reference/98_prefix_sum has 10 wrong solutions and 5 right ones" in result.output
    assignment = load_assignment(in_checkout.assignment("98_prefix_sum"))
    assert assignment.title == "Prefix sum"
    for finding in (
        check_places(in_checkout, assignment),
        check_points(assignment),
        check_todos(assignment),
        check_names(in_checkout, assignment),
        check_hints(assignment),
        check_handout(in_checkout, assignment, partial(hidden_lines, in_checkout)),
    ):
        assert not finding.problem
    for path in in_checkout.root.rglob("*98_prefix_sum*"):
        if path.is_file():
            assert "{{" not in path.read_text()


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        (
            "assignments/98_sum/README.md",
            "`sum1_first`",
            "`double1_all`",
            "README.md does not name the launcher sum1_first",
        ),
        (
            "assignments/98_sum/README.md",
            "`sum1_first`",
            "`sum1_first`, `sum2_gone`",
            "README.md names sum2_gone, which is",
        ),
        ("harness/suites/98_sum_test.cc", '"d_out"', '"d_result"', "calls a buffer d_result, a name that no launcher"),
    ],
)
def test_names_that_are_not_the_codes_are_found(in_checkout: Layout, file: str, old: str, new: str, says: str) -> None:
    assert CliRunner().invoke(cli, ["new", "98_sum"]).exit_code == 0
    assignment = load_assignment(in_checkout.assignment("98_sum"))
    assert not check_names(in_checkout, assignment).problem
    path = in_checkout.root / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    assert says in check_names(in_checkout, assignment).problem


@pytest.mark.parametrize(
    ("name", "says"),
    [("histogram", "no name"), ("8_histogram", "no name"), ("08_../x", "no name"), ("90_other", "taken by 90_fake")],
)
def test_a_name_that_will_not_do_is_refused(in_checkout: Layout, name: str, says: str) -> None:
    before = sorted(in_checkout.root.rglob("*"))
    with pytest.raises(GraderError, match=says):
        new_assignment(in_checkout, name)
    assert sorted(in_checkout.root.rglob("*")) == before


def test_nothing_is_replaced(in_checkout: Layout) -> None:
    suite = in_checkout.harness / "suites" / "97_mine_test.cc"
    suite.write_text("mine")
    with pytest.raises(GraderError, match="is there already"):
        new_assignment(in_checkout, "97_mine")
    assert suite.read_text() == "mine"
    assert not in_checkout.assignment("97_mine").exists()


def _walk_through(root: Path, text: str, assignment: str) -> None:
    """Follows the page, using its blocks: files to replace, edits of files, new files."""
    blocks = re.findall(r"^```\w+ (file|edit|new)=(\S+)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    assert len(blocks) > 5
    for kind, name, body in blocks:
        path = root / name
        assert path.is_file() == (kind != "new"), f"the scaffold has {name}, or has it not"
        if kind != "edit":
            path.write_text(body)
            continue
        lines = body.splitlines(keepends=True)
        old = "".join(line[1:] for line in lines if line.startswith("-"))
        assert path.read_text().count(old) == 1, old
        path.write_text(path.read_text().replace(old, "".join(line[1:] for line in lines if line.startswith("+"))))
    folder = root / "reference" / assignment
    solution = (folder / f"{assignment[3:]}.cu").read_text()
    row = re.compile(r"^\| `(\w+\.cu)` \| `([^`]+)` \| `([^`]+)` \|(?: `([^`]+)`)? \|$", re.MULTILINE)
    rows = row.findall(text)
    assert len(rows) > 10
    for name, declared, old, new in rows:
        old, new = old.replace("⏎", "\n"), new.replace("⏎", "\n")  # noqa: PLW2901
        assert old in solution, old
        kind, word = ("right", "points") if declared.isdecimal() else ("wrong", "verdict")
        path = folder / kind / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"// {word}: {declared}\n" + solution.replace(old, new))


def _compile_suite(layout: Layout, name: str, build: Path) -> None:
    """Compiles the full suite against the libraries of a build tree: what CMake does, for one assignment."""
    folder = layout.build / "objects"
    folder.mkdir(parents=True)
    flags = ["-std=c++20", "-march=x86-64-v3", "-ffp-contract=off", '-DLOCKSTEP_SUITE="full"']
    paths = [f"-I{layout.harness}", f"-I{layout.root}", f"-I{layout.assignment(name)}"]
    sources = [
        layout.harness / "suites" / f"{name}_test.cc",
        layout.reference(name) / "hidden_test.cc",
    ]

    def compiled(source: Path) -> Path:
        target = folder / f"{source.stem}.o"
        subprocess.run(["/usr/bin/g++", *flags, *paths, "-c", str(source), "-o", str(target)], check=True)
        return target

    with ThreadPoolExecutor(2) as pool:
        objects = [str(path) for path in pool.map(compiled, sources)]
    # The current objects only: the build tree also keeps those of moved sources.
    commands = (build / "compile_commands.json").read_text()
    objects += [
        str(build / name)
        for name in sorted(set(re.findall(r" -o (\S+/(?:lockstep_vgpu_|lockstep_full_main)\S+\.o) ", commands)))
    ]
    libraries = [build / "harness/judge/liblockstep_judge.a", build / "lib/liblockstep_wire.a"]
    libraries.append(build / "harness/vgpu/liblockstep_fatbin.a")
    (layout.build / "bin").mkdir()
    command = ["/usr/bin/g++", *objects, *map(str, libraries), "-lgtest", "-lzstd", "-ldl", "-lpthread"]
    subprocess.run([*command, "-o", str(layout.build / "bin" / f"{name}_full_suite")], check=True)


def _walked(root: Path, page: str, name: str, monkeypatch: pytest.MonkeyPatch) -> Result:
    """A checkout with the assignment that the page makes, and what `grader check` says of it."""
    layout = Layout(root, root / "build")
    for part in ("protocol", "worker", "judge", "vgpu", "build.sh", "CMakeLists.txt"):
        source = ROOT / "harness" / part
        target = root / "harness" / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copy(source, target)
    for folder in ("assignments", "reference", "harness/suites"):
        (root / folder).mkdir()
    monkeypatch.chdir(root)
    assert CliRunner().invoke(cli, ["new", name]).exit_code == 0
    _walk_through(root, (HOW_TO / page).read_text(), name)
    layout.build.mkdir()
    (layout.build / "lib").symlink_to(BUILD / "lib")
    shutil.copy(BUILD / "nvcc.txt", layout.build)
    _compile_suite(layout, name, BUILD)
    words = ["check", name, "--no-sandbox"]
    result = CliRunner().invoke(cli, [*words, "--record", "--update-messages"])
    assert result.exit_code == 0, result.output
    return result


@pytest.mark.daily
@needs_build
def test_the_walk_through_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "checkout"
    recorded = _walked(root, "add-an-assignment.md", "20_histogram", monkeypatch)
    messages = (root / "reference/20_histogram/wrong.toml").read_text()
    assert re.search(r"\[no_guard\]\nmessage = '''BOUNDS .*histogram1_global_kernel<<<", messages)
    assert "histogram.cu:17" in messages  # the line of the missing guard
    figures = (root / "assignments/20_histogram/figures.json").read_text()
    assert "histogram2_shared" in figures
    assert re.search(r"\[never_cleared\]\nmessage = '''UNINIT .*\n.* d_bins\[1\]", messages)  # by its parameter's name
    assert "5 right solutions of other designs, 12 wrong ones" in " ".join(recorded.output.split())


@pytest.mark.daily
@needs_build
def test_a_lab_is_brought_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "checkout"
    recorded = _walked(root, "bring-a-lab-over.md", "20_repeats", monkeypatch)
    messages = (root / "reference/20_repeats/wrong.toml").read_text()
    assert "*d_count is " in messages
    assert "5 right solutions of other designs, 14 wrong ones" in " ".join(recorded.output.split())
