"""Solutions stored as entries of a file: expansion, refusals, display, creation and updates."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from conftest import ROOT
from grader.authoring.entries import write_messages
from grader.authoring.solutions import Solution, solution_text, solutions_in
from grader.base.errors import GraderError
from grader.base.layout import Layout
from grader.commands.cli import cli

NAME = "ladder.cu"
REFERENCE = "// The reference.\n// In two lines.\n#include <x.h>\nint a = 1;\nint b = 2;\nint c = 3;\nint d = 4;\n"
RIGHT = "// points: 20\n// Another way.\nint other;\nint b = 2;\n"
OFF = """\
// verdict: WRONG beta_two; gpu: WRONG
// Is off.
//
// By one.
#include <x.h>
int a = 1;
int b = 3;
int c = 3;
int d = 4;
"""
TOML = """\
# About all of them.

# About the first.
[off]
verdict = "WRONG beta_two; gpu: WRONG"
says = "Is off.\\n\\nBy one."
change = '''
-int b = 2;
+int b = 3;
'''
message = "old"

# About the second.
[by_another]
base = "right/other.cu"
verdict = "COMPILE"
change = '''
 int b = 2;
+}
'''

[file]
message = '''
of a
file'''
"""


@pytest.fixture
def hidden(in_checkout: Layout) -> Path:
    folder = in_checkout.reference("90_fake")
    for name, text in ((NAME, REFERENCE), ("right/other.cu", RIGHT), ("wrong/file.cu", OFF), ("wrong.toml", TOML)):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, ["check", "90_fake", *words])


def test_an_entry_stands_for_a_file(hidden: Path) -> None:
    found, problems = solutions_in(hidden, "wrong", NAME)
    assert not problems
    assert found == [
        Solution("wrong/by_another.cu", b"// verdict: COMPILE\nint other;\nint b = 2;\n}\n", "right/other.cu"),
        Solution("wrong/file.cu", OFF.encode()),
        Solution("wrong/off.cu", OFF.encode(), NAME),
    ]


def test_python_says_it_in_a_docstring(hidden: Path) -> None:
    (hidden / "host.py").write_text('"""The reference,\nin two lines."""\n\nX = 1\n')
    (hidden / "hostile.toml").write_text(
        "[evil]\nvirtual = 'CRASH one'\nsays = 'Is\\evil.'\nchange = '''\n-X = 1\n+X = 2\n'''\n"
    )
    assert solutions_in(hidden, "hostile", "host.py")[0] == [
        Solution("hostile/evil.py", b'# virtual: CRASH one\n"""Is\\evil."""\n\nX = 2\n', "host.py")
    ]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "-int b = 2;\n+",
            "-int b = 1;\n+",
            f"change does not fit {NAME}: these lines must be in the base exactly once; found",
        ),
        ('"WRONG beta_two; gpu: WRONG"\n', '"COMPILE"\ngpu = "WRONG"\n', "toml: off: gpu: unknown key"),
        ('verdict = "WRONG beta_two; gpu: WRONG"\n', "", "off.cu: it must have verdict"),
        ("change = '''\n-int b", "says2 = '''\n-int b", 'says2: unknown key; did you mean "says"?'),
        ("change = '''\n-int b = 2;\n+int b = 3;\n'''\n", "", "off.cu: it has no change"),
        ("right/other.cu", "right/gone.cu", "by_another.cu: its base right/gone.cu is missing"),
        ("[off]", "[file2]\n[off", "wrong.toml: reference/90_fake/wrong.toml: "),
        ("[by_another]", "[file]", "wrong.toml: reference/90_fake/wrong.toml: "),
        ("[off]", "[file]\n[off2]", "wrong.toml: reference/90_fake/wrong.toml: "),
    ],
)
def test_what_stands_for_no_file_is_refused(hidden: Path, old: str, new: str, said: str) -> None:
    assert old in TOML
    (hidden / "wrong.toml").write_text(TOML.replace(old, new))
    problems = [f"{one.what}: {one.problem}" for one in solutions_in(hidden, "wrong", NAME)[1]]
    assert len(problems) == 1
    assert said in problems[0]


def test_a_base_that_changed_is_named_with_what_to_do(hidden: Path) -> None:
    (hidden / NAME).write_text(REFERENCE.replace("int b = 2", "int b = 20"))
    result = run("--show", "off")
    assert result.exit_code == 1
    assert "wrong/off.cu: its change does not fit ladder.cu" in str(result.exception)
    assert "int b = 2;\n\nChange [off] in reference/90_fake/wrong.toml." in str(result.exception)


def test_a_base_may_be_an_entry(hidden: Path) -> None:
    """Also one of bases.toml, or a file that becomes an entry later; but no base is an edit of itself."""
    both, third = (
        f"change = '''\n-int {old};\n+int {name} = 10;\n'''\n" for name, old in (("a", "a = 1"), ("d", "d = 4"))
    )
    (hidden / "bases.toml").write_text(f"[both]\nbase = 'wrong/file.cu'\n{both}")
    (hidden / "right.toml").write_text(f"[third]\nbase = 'bases/both.cu'\npoints = '1'\n{third}")
    for is_entry in (False, True):
        text = solution_text(hidden, NAME, "right/third.cu")
        assert text == "// points: 1\n#include <x.h>\nint a = 10;\nint b = 3;\nint c = 3;\nint d = 10;\n"
        assert (hidden / "wrong" / "file.cu").is_file() is not is_entry
        if not is_entry:
            assert run("--adopt", str(hidden / "wrong" / "file.cu")).exit_code == 0
    (hidden / "bases.toml").write_text(f"[both]\nbase = 'bases/both.cu'\n{both}")
    problem = solutions_in(hidden, "right", NAME)[1][0].problem
    assert "its base bases/both.cu is an edit of itself\nChange [third]" in problem


def test_two_of_one_name_are_refused(hidden: Path) -> None:
    (hidden / "wrong" / "off.cu").write_text(OFF)
    assert "wrong/off.cu is there too" in solutions_in(hidden, "wrong", NAME)[1][0].problem


@pytest.mark.parametrize("name", ["off", "off.cu", "wrong/off.cu"])
def test_show_prints_the_whole_file(hidden: Path, name: str) -> None:
    assert run("--show", name).output == OFF
    assert run("--show", "other").output == RIGHT
    shown = run("--show", name, "--diff").output
    assert shown.startswith("--- ladder.cu\n+++ wrong/off.cu\n@@")
    assert "\n int a = 1;\n-int b = 2;\n+int b = 3;\n int c = 3;\n" in shown


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--show", "of"), "90_fake has no solution of.\nThere are: off"),
        (("--show", "zzz"), "There are: by_another, file, off, other"),
        (("--show", "file", "--diff"), "wrong/file.cu is a file of its own"),
        (("91_more", "--show", "off"), "about one assignment"),
    ],
)
def test_show_of_what_is_not_there_says_what_is(hidden: Path, words: tuple[str, ...], said: str) -> None:
    assert hidden.is_dir()
    assert said in str(run(*words).exception)


def test_messages_are_written_and_the_rest_stays(hidden: Path) -> None:
    write_messages(hidden, {"off": "new\n  message", "by_another": "first"}, is_partial=True)
    text = TOML.replace('message = "old"', "message = '''new\n  message'''")
    text = text.replace("+}\n'''\n", "+}\n'''\nmessage = \"first\"\n")
    assert (hidden / "wrong.toml").read_text() == text
    # All messages at once: a file without one loses its entry, an entry with edits stays, and a new one comes last.
    write_messages(hidden, {"off": "new\n  message", "mo re": "it's \\"}, is_partial=False)
    text = text.partition("[file]")[0] + "[\"mo re\"]\nmessage = '''it's \\'''\n"
    assert (hidden / "wrong.toml").read_text() == text


def test_a_verdict_that_the_message_says_is_not_written_twice(hidden: Path) -> None:
    """Nor is it lost; one that the message does not say stays."""
    (hidden / "wrong.toml").write_text(TOML.replace("; gpu: WRONG", ""))
    before = solutions_in(hidden, "wrong", NAME)
    write_messages(hidden, {"off": "WRONG  ATest.Adds/beta_two   beta_two", "by_another": "error"}, is_partial=True)
    text = (hidden / "wrong.toml").read_text()
    assert 'verdict = "WRONG' not in text
    assert 'verdict = "COMPILE"' in text
    assert solutions_in(hidden, "wrong", NAME) == before


def test_a_file_becomes_an_entry(hidden: Path) -> None:
    """Its name and its message on record stay, and the entry expands to the file as it was."""
    result = run("--adopt", "reference/90_fake/wrong/file.cu")
    assert result.exit_code == 0, result.output
    assert "wrong.toml has [file], ladder.cu with 2 lines of edits" in " ".join(result.output.split())
    assert not (hidden / "wrong" / "file.cu").exists()
    assert solution_text(hidden, NAME, "file") == OFF
    off, file = TOML.partition("# About the second")[0].partition("[off]\n")[2], "message = '''of a\nfile'''\n"
    own = off.replace('message = "old"\n\n', file).replace('"Is off.\\n\\nBy one."', "'''\nIs off.\n\nBy one.'''")
    assert (hidden / "wrong.toml").read_text() == TOML.partition("[file]")[0] + f"[file]\n{own}"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("new.cu", "int nothing;\n", "its first line must declare a verdict or points"),
        ("new.cu", "// verdict: COMPILE\n// It.\n" + "int own;\n" * 9, "differs too much"),
    ],
)
def test_what_can_be_no_entry_stays_a_file(hidden: Path, name: str, text: str, said: str) -> None:
    (hidden / name).write_text(text)
    (hidden / "wrong.toml").write_text(TOML.replace("right/other.cu", "wrong/file.cu"))
    result = run("--adopt", str(hidden / name))
    assert said in str(result.exception)
    assert (hidden / name).read_text() == text


def test_every_entry_of_this_project_stands_for_a_file() -> None:
    for assignment in (ROOT / "assignments").glob("*/assignment.toml"):
        hidden = ROOT / "reference" / assignment.parent.name
        submission = next(path.name for suffix in ("cu", "py") for path in hidden.glob(f"*.{suffix}"))
        for kind in ("wrong", "hostile"):
            assert solutions_in(hidden, kind, submission)[1] == []


def test_unread_entries_are_errors(hidden: Path) -> None:
    (hidden / "wrong.toml").write_text("[off")
    with pytest.raises(GraderError, match=r"wrong\.toml"):
        write_messages(hidden, {}, is_partial=True)
