"""The sample class: its files stored as edits are expanded, and no other class's."""

import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from conftest import ROOT
from grader.authoring.sample_class import SAMPLE_CLASS, laid_out
from grader.base.errors import GraderError
from grader.commands.cli import cli

OWN = ROOT / SAMPLE_CLASS


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A class of two, one of whose files is an edit of a reference."""
    folder = tmp_path / SAMPLE_CLASS
    (folder / "ada").mkdir(parents=True)
    (folder.parent / "ladder.cu").write_bytes(b"one\r\ntwo\r\nthree")
    (folder / "ada" / "a.cu").write_text("own\n")
    (folder / "roster.csv").write_text("name\nAda\nGrace\n")
    change = '"""\n-two\\r\n+2\\r\n"""'
    (folder / "class.toml").write_text(f'["grace, é/b.cu"]\nbase = "../ladder.cu"\nchange = {change}\n')
    return folder


def test_the_command_writes_every_file(tmp_path: Path) -> None:
    """Those that are stored, and those that are edits; names with commas and accents too."""
    out = tmp_path / "class"
    result = CliRunner().invoke(cli, ["sample-class", str(out)])
    assert result.exit_code == 0, result.output
    stored, made = _files(OWN), _files(out)
    entries = tomllib.loads(stored.pop("class.toml").decode())
    assert made.keys() == stored.keys() | entries.keys()
    assert {name: made[name] for name in stored} == stored
    for name, entry in entries.items():
        base = made.get(entry["base"]) or (OWN / entry["base"]).read_bytes()
        assert made[name] != base, name
    assert {"church, alonzo/launch.cu", "péter_rózsa/reduction.cu", "noether_emmy/notes.txt"} <= made.keys()
    again = CliRunner().invoke(cli, ["sample-class", str(out)], catch_exceptions=True)
    assert again.exit_code != 0
    assert "exists already" in str(again.exception)


def test_edits_keep_bytes(small: Path) -> None:
    with laid_out(small) as folder:
        assert _files(folder) == {
            "ada/a.cu": b"own\n",
            "grace, é/b.cu": b"one\r\n2\r\nthree",
            "roster.csv": b"name\nAda\nGrace\n",
        }
    assert not folder.exists()


def test_the_folder_itself_can_be_matched() -> None:
    result = CliRunner().invoke(cli, ["match", str(OWN)])
    assert result.exit_code == 0, result.output
    assert "16 of 16 match the roster" in result.output
    assert "péter_rózsa" in result.output


def test_a_class_toml_that_students_hand_in_is_not_read(small: Path, tmp_path: Path) -> None:
    """It could read any file, and write one anywhere."""
    elsewhere = small.rename(tmp_path / "submissions")
    with laid_out(elsewhere) as folder:
        assert folder == elsewhere


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("change = '-four'", r"\[ada/c.cu\]: these lines must be in the base exactly once"),
        ("", r"\[ada/c.cu\]: entry: change: missing"),
        ("change = ''\nbas = ''", r"\[ada/c.cu\]: entry: bas: unknown key"),
        ("change = ", "class.toml: Invalid value"),
    ],
)
def test_an_entry_that_does_not_fit_is_named(small: Path, entry: str, said: str) -> None:
    (small / "class.toml").write_text(f'["ada/c.cu"]\nbase = "../ladder.cu"\n{entry}\n')
    with pytest.raises(GraderError, match=said), laid_out(small):
        pass


def test_what_is_a_file_too_is_refused(small: Path) -> None:
    (small / "class.toml").write_text('["ada/a.cu"]\nbase = "../ladder.cu"\nchange = ""\n')
    with pytest.raises(GraderError, match=r"ada/a\.cu is a file, too"), laid_out(small):
        pass
