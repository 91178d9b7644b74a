"""No page for students contains a path of the grading machine."""

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from conftest import needs_sandbox
from grader.base.layout import Layout
from grader.base.toolchain import Toolchain
from grader.commands.cli import cli
from grader.model.record import Provenance
from grader.running.build import first_errors
from grader.running.machine_paths import MachinePaths

LAYOUT = Layout(Path("/home/prof/cs[1]/lockstep"), Path("/home/prof/cs[1]/lockstep/build"))
TOOLCHAIN = Toolchain(Path("/home/prof/venv/cu13/bin/nvcc"), Path("/home/prof/venv/cu13"), "", "")
PATHS = MachinePaths(LAYOUT, TOOLCHAIN, Path("/home/prof/out/work/abc-1/7/src"), Path("/home/prof/out/work"))


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("/submission/a.cu(3): error: x", "a.cu(3): error: x"),
        ("/home/prof/out/work/abc-1/7/src/a.cu:3:1: error", "a.cu:3:1: error"),
        ("w: /submission/a.cu:12: f: Assertion `false' failed.", "w: a.cu:12: f: Assertion `false' failed."),
        ("(at line 3 of /home/prof/cs[1]/lockstep/assignments/04_x/x.h)", "(at line 3 of assignments/04_x/x.h)"),
        ("-L/home/prof/cs[1]/lockstep/build/lib", "-Lbuild/lib"),
        ("/home/prof/venv/cu13/bin/../include/cuda_runtime.h(3): note", "cuda/bin/../include/cuda_runtime.h(3): note"),
        ("in /home/prof/cs[1]/lockstep:", "in .:"),
        ("/home/prof/cs[1]/lockstep2/x", "/home/prof/cs[1]/lockstep2/x"),
        ("/tmp/worker.9AcKl1/ccN3apXy.s: Assembler messages:", "ccN3apXy.s: Assembler messages:"),
        ("/tmp/tmpxft_0000001a_00000000-6_a.o: in function", "tmpxft_0000001a_00000000-6_a.o: in function"),
        ("/home/prof/out/work/abc-1/7/out/worker", "abc-1/7/out/worker"),
        ("/home/prof/cs[1]/lockstep//harness///worker/x.h", "harness///worker/x.h"),
        ("/usr/include/c++/12/vector:3: note", "/usr/include/c++/12/vector:3: note"),
        ("a / b /submissions/ c", "a / b /submissions/ c"),
    ],
)  # fmt: skip
def test_paths_become_names(text: str, hidden: str) -> None:
    assert PATHS.hide(text) == hidden


@pytest.mark.parametrize(
    ("folder", "shown"),
    [("submissions", "submissions"), ("/home/prof/submissions", "submissions"), ("../../prof/hand ins", "'hand ins'")],
)
def test_a_cards_command_names_no_folder(folder: str, shown: str) -> None:
    command = shlex.join(["grader", "grade", folder, "--assignment", "04_x", "--only", "a b"])
    made = Provenance("", "", "", "", "", "", "", "", "vgpu", 1, True, command)
    assert made.public_command == f"grader grade {shown} --assignment 04_x --only 'a b'"


MOUNTINFO = r"""
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
31 27 8:3 /@home /home rw,relatime shared:5 - btrfs /dev/sda3 rw,subvol=/@home
138 132 8:3 /@home/prof/out/my\040work /home/prof/out/my\040work ro,nosuid - btrfs /dev/sda3 rw
"""


def test_tables_of_mounts_are_not_shown() -> None:
    mounts = "/dev/sda3 /home/prof/out/work/x/build/lib ext4 ro,nosuid,relatime 0 0\noverlay / overlay rw 0 0"
    text = f"total 3\n{MOUNTINFO.strip()}\n{mounts}\na /b c d 0 0\n1 2 3:4 5 - 6"
    assert PATHS.hide(text) == "total 3\n" + "(a mount)\n" * 5 + "a /b c d 0 0\n1 2 3:4 5 - 6"


def test_paths_as_their_file_system_has_them_become_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tmp_path / "mountinfo"
    table.write_text(MOUNTINFO.strip())
    monkeypatch.setattr("grader.running.machine_paths._MOUNTS", table)
    paths = MachinePaths(LAYOUT, TOOLCHAIN, Path("/home/prof/out/my work"))
    shown = "/@home/prof/cs[1]/lockstep/build/lib\n/@home/prof/out/my work/1/out\n/@home/prof/other"
    assert paths.hide(shown) == "build/lib\n1/out\n/@home/prof/other"
    table.unlink()
    assert MachinePaths(LAYOUT, TOOLCHAIN).hide(shown) == shown


def test_long_output_takes_no_time() -> None:
    mounts = ("1 1 1:1 / / rw" + " - a" * 75_000, "1 1 1:1 / / rw" + " - a b" * 50_000 + "\n", "a / " * 75_000)
    assert all(PATHS.hide(text) for text in mounts)
    for text in ("/" * 300_000, "/home/prof/" * 30_000, "/tmp/worker." * 30_000):
        assert PATHS.hide(text) == text


def test_the_compilers_message_is_short_and_names_no_folder() -> None:
    lines = [f"/submission/a.cu({n}): error: in /home/prof/cs[1]/lockstep/harness/x.h" for n in range(500)]
    message = first_errors("\n".join(lines), PATHS)
    assert "prof" not in message
    assert message.startswith("a.cu(0): error: in harness/x.h\n")
    assert message.endswith("… (500 lines in total)")


@pytest.mark.parametrize("sandboxed", [False, pytest.param(True, marks=needs_sandbox)])
def test_no_page_names_a_folder_of_this_machine(
    in_checkout: Layout, submissions: Callable[..., Path], tmp_path: Path, sandboxed: bool
) -> None:
    folder = submissions(
        broken="#error PATHS",
        wrong="// fail beta_two CRASH\n// print assert @ROOT@/harness/x.cu:3 in @WORKER@",
        lost="// harness 99",
        fine="",
    )
    CliRunner().invoke(cli, ["grade", str(folder), *([] if sandboxed else ["--no-sandbox"])])
    out = in_checkout.root / "out"
    texts = {path: path.read_text() for path in out.rglob("*") if path.suffix in (".html", ".json", ".csv")}
    assert len(texts) >= 12
    for path, text in texts.items():
        assert str(tmp_path) not in text, path
        assert "/tmp/" not in text, path
    pages: dict[str, dict[str, str]] = {"cards": {}, "staff": {}}
    for path, text in texts.items():
        if path.suffix == ".html" and path.parent.parent.name == "cards":
            pages[path.relative_to(out).parts[0]][path.name.partition("-")[0]] = text
    everywhere = "line 3 of assignments/90_fake/ladder.h, cuda/bin/../include/x.h, -Lbuild/lib"
    assert everywhere in pages["staff"]["broken"]
    # Outside the sandbox a compiler may quote hidden files: the student's card then has only lines of the student's
    # file.
    assert (everywhere in pages["cards"]["broken"]) == sandboxed
    assert "#error says so" in pages["cards"]["broken"]
    assert "assert harness/x.cu:3 in" in pages["staff"]["wrong"]
    assert "assert harness/x.cu:3 in" in pages["cards"]["wrong"]
