"""The folder that students get: its contents, and that it contains nothing hidden."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from conftest import BUILD, ROOT, hidden_entries, needs_build
from grader.authoring.handout import leaks, make_handout
from grader.base.errors import GraderError
from grader.base.layout import Layout, find_layout
from grader.commands.cli import cli
from grader.model.assignment import load_assignment

pytestmark = pytest.mark.in_turn

_LONG = 40  # characters of a line that no two people write alike
_IDIOM = re.compile(rb"[\w ]+ = blockIdx\.[xy] \* blockDim\.[xy] \+ threadIdx\.[xy];")  # but all write this one


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_holds_what_students_need_and_no_more(in_checkout: Layout) -> None:
    result = CliRunner().invoke(cli, ["handout", "given"])
    assert result.exit_code == 0, result.output
    names = files(Path("given"))
    assert {
        "README.md", "Makefile", "assignments/90_fake/ladder.cu", "assignments/90_fake/assignment.toml",
        "harness/suites/90_fake_test.cc", "harness/suites/90_fake_launchers.cc", "harness/worker/build.sh",
        "grader/src/grader/student/make.py", "grader/src/grader/__init__.py", "docs/task.md",
    } <= names  # fmt: skip
    assert not [name for name in names if "reference" in name or "tests/" in name or "hidden" in name]
    assert "grader/src/grader/commands/cli.py" not in names
    assert Path("given/README.md").read_text().split("```sh\n")[1].startswith("make test\n")
    # A link to a page that is not handed out is plain text.
    assert "Task](../../docs/task.md), secret" in Path("given/assignments/90_fake/README.md").read_text()
    assert "[Elsewhere]" not in Path("given/docs/task.md").read_text()


def test_a_folder_that_holds_something_is_left_alone(in_checkout: Layout) -> None:
    Path("given").mkdir()
    Path("given/mine").write_text("x")
    with pytest.raises(GraderError, match="not empty"):
        make_handout(in_checkout, ["90_fake"], Path("given"))
    assert files(Path("given")) == {"mine"}


def test_an_entry_is_hidden_as_a_file_is(in_checkout: Layout) -> None:
    """Even a line that exists only in an entry's edits; and no handout has the file of entries."""
    hidden = in_checkout.reference("90_fake")
    line = "const int hidden = the_mistake_of_this_entry_and_no_other(d_in, d_out);"
    (hidden / "ladder.cu").write_text("int a;\n")
    entry = f"[off]\nverdict = 'WRONG alpha_one'\nchange = '''\n int a;\n+{line}\n'''\n"
    (hidden / "wrong.toml").write_text(entry)
    make_handout(in_checkout, ["90_fake"], Path("given"))
    (Path("given") / "notes.md").write_text(line)
    (Path("given") / "wrong.toml").write_text("")
    found = {(leak.file, leak.hidden) for leak in leaks(in_checkout, Path("given"))}
    assert found == {("notes.md", "reference/90_fake/wrong/off.cu"), ("wrong.toml", "what no handout has")}
    (hidden / "wrong.toml").write_text(entry.replace("int a", "int b"))
    with pytest.raises(GraderError, match=r"wrong/off\.cu: its change does not fit"):
        make_handout(in_checkout, ["90_fake"], Path("again"))
    assert not Path("again").exists()


@pytest.mark.parametrize("hidden", ["ladder.cu", "hidden_test.cc", "wrong/off.cu"])
def test_several_hidden_lines_in_a_row_are_a_leak(in_checkout: Layout, hidden: str) -> None:
    lines = "const int a = first();\n  const int b = second(a);\n\n\tconst int c = third(b);\n"
    (in_checkout.reference("90_fake") / hidden).write_text(f"// verdict: WRONG alpha_one\n{lines}")
    suite = in_checkout.harness / "suites" / "90_fake_fixture.h"
    readme = in_checkout.assignment("90_fake") / "README.md"
    readme.write_text(f"# Task\n\n```\n{lines.replace('  ', '')}```\n")
    with pytest.raises(GraderError, match=r"assignments/90_fake/README\.md has a line of reference/90_fake"):
        make_handout(in_checkout, ["90_fake"], Path("given"))
    assert not Path("given").exists()
    # What the public suite shows is public.
    suite.write_text(lines)
    make_handout(in_checkout, ["90_fake"], Path("given"))


def test_a_page_that_shows_an_answer_is_left_out(in_checkout: Layout) -> None:
    lines = "const int a = first();\nconst int b = second(a);\nconst int c = third(b);\n"
    (in_checkout.reference("90_fake") / "ladder.cu").write_text(lines)
    (in_checkout.root / "docs" / "task.md").write_text(f"# Task\n{lines}")
    made = make_handout(in_checkout, ["90_fake"], Path("given"))
    assert [leak.file for leak in made.left_out] == ["docs/task.md"]
    assert "docs/task.md" not in files(Path("given"))
    assert "[Task]" not in Path("given/assignments/90_fake/README.md").read_text()


def test_links_binaries_and_hidden_files_are_leaks(in_checkout: Layout) -> None:
    made = Path("given")
    make_handout(in_checkout, ["90_fake"], made)
    assert not leaks(in_checkout, made)
    (made / "link").symlink_to("/etc/passwd")
    (made / "object.o").write_bytes(b"\x7fELF\0")
    (made / "hidden_test.cc").write_text("")
    (made / ".git").mkdir()
    (made / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    assert {leak.file for leak in leaks(in_checkout, made)} == {"link", "object.o", "hidden_test.cc", ".git/HEAD"}


def test_an_assignment_without_the_others(in_checkout: Layout) -> None:
    other = in_checkout.assignment("91_other")
    other.mkdir()
    for path in in_checkout.assignment("90_fake").iterdir():
        (other / path.name).write_text(path.read_text().replace("90_fake", "91_other"))
    (in_checkout.harness / "suites" / "91_other_test.cc").write_text("// other\n")
    (in_checkout.harness / "suites" / "shared.h").write_text("// of all\n")
    make_handout(in_checkout, ["91_other"], Path("given"))
    suites = {name for name in files(Path("given")) if name.startswith("harness/suites/")}
    assert suites == {"harness/suites/91_other_test.cc", "harness/suites/shared.h"}
    assert not [name for name in files(Path("given")) if "90_fake" in name]


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The handout of this checkout, all assignments."""
    folder = tmp_path_factory.mktemp("handout") / "given"
    layout = find_layout(None, ROOT)
    make_handout(layout, layout.assignments(), folder)
    return folder


def test_no_distinctive_line_of_anything_hidden_is_in_this_projects_handout(real: Path) -> None:
    """Written independently of the code under test: compares whole lines with everything under reference/."""
    given = {path: path.read_bytes() for path in real.rglob("*") if path.is_file()}
    public = b"\n".join(
        path.read_bytes() for path in given if path.is_relative_to(real / "assignments") or path.parent.name == "suites"
    )
    looked_for = 0
    lines: dict[bytes, str] = {}
    told: set[bytes] = set()  # the copies of a line are not looked for again
    sources = {
        str(path): path.read_bytes()
        for path in (ROOT / "reference").rglob("*")
        if path.suffix in (".cu", ".cc", ".h") and path.is_file()
    }
    for name, source in sorted((sources | hidden_entries()).items()):
        for line in {line.strip() for line in source.split(b"\n")}:
            is_own = not line.startswith((b"//", b"#include")) and not _IDIOM.fullmatch(line)
            if len(line) < _LONG or not is_own or line in told:
                continue
            if line in lines or line not in public:
                lines[line] = name
                looked_for += 1
            else:
                told.add(line)
    assert looked_for > 100 * len(list((ROOT / "assignments").glob("*/assignment.toml")))
    every = b"\n".join(data for path, data in given.items() if not path.is_relative_to(real / "harness" / "vgpu"))
    found = {line.decode(): path for line, path in lines.items() if line in every}
    assert not found
    assert not [path for path in real.rglob("*") if path.is_symlink()]


@needs_build
def test_its_build_can_be_configured(real: Path, tmp_path: Path) -> None:
    """Without what students don't have: tests, benchmarks, references."""
    nvcc = (BUILD / "nvcc.txt").read_text().strip()
    command = ["cmake", "-G", "Ninja", "-S", str(real), "-B", str(tmp_path), f"-DLOCKSTEP_NVCC={nvcc}"]
    configured = subprocess.run(command, capture_output=True, text=True, check=False)
    assert configured.returncode == 0, configured.stderr


@pytest.mark.daily
@needs_build
def test_the_journey_of_a_new_student(real: Path, tmp_path: Path) -> None:
    """`make test` as students have it: a friendly failure on the stub, and a pass with the solution."""
    layout = find_layout(BUILD, ROOT)
    built = [name for name in layout.assignments() if layout.public_suite(name).is_file()]
    solutions = {
        name: ROOT / "reference" / name / load_assignment(layout.assignment(name)).submission for name in built
    }
    # One with kernels: there is nothing to profile in the others.
    name = next(name for name, solution in solutions.items() if "__global__" in solution.read_text())
    folder = real / "assignments" / name

    def make(*words: str) -> "subprocess.CompletedProcess[str]":
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
        command = ["make", "-C", str(folder), *words, f"BUILD={layout.build}"]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    stub = make("test")
    assert stub.returncode != 0
    assert "not begun: TODO(" in stub.stdout
    assert "Next: make test RUNG=" in stub.stdout
    assert len(stub.stdout.splitlines()) < 40
    (folder / solutions[name].name).write_bytes(solutions[name].read_bytes())
    solved = make("test")
    assert solved.returncode == 0, solved.stdout + solved.stderr
    assert "Next: hand in" in solved.stdout
    checked = make("check")
    assert "found no fault" in checked.stdout
    profiled = make("profile")
    assert "modelled" in profiled.stdout
    assert "│" in profiled.stdout
    direct = subprocess.run(
        ["../../lockstep", "test", "1", "--build", str(layout.build)], cwd=folder, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert direct.returncode == 0, direct.stdout + direct.stderr
    assert "tests passed.\nNext: ../../lockstep test\n" in direct.stdout
