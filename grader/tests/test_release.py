"""One version: in the package, in the changelog, in what the programs print."""

import re
import subprocess

from click.testing import CliRunner

from conftest import BUILD, ROOT, needs_build
from grader import __version__
from grader.commands.cli import cli


def test_the_changelog_begins_with_this_version() -> None:
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert re.fullmatch(rf"\[{re.escape(__version__)}\] - (unreleased|\d{{4}}-\d\d-\d\d)", headings[0])
    assert all("unreleased" not in heading for heading in headings[1:])


@needs_build
def test_programs_print_it() -> None:
    assert CliRunner().invoke(cli, ["--version"]).output == f"grader, version {__version__}\n"
    said = subprocess.run([BUILD / "bin" / "vgpu-run", "--version"], capture_output=True, text=True, check=True).stdout
    assert said == f"vgpu-run, version {__version__}\n"


def test_the_students_command_prints_it() -> None:
    said = subprocess.run([ROOT / "lockstep", "--version"], capture_output=True, text=True, check=True).stdout
    assert said == f"lockstep, version {__version__}\n"


def test_no_other_file_has_a_version_of_its_own() -> None:
    files = ["CMakeLists.txt", "Dockerfile", "lockstep", "grader/pyproject.toml", ".devcontainer/devcontainer.json"]
    assert not [name for name in files if __version__ in (ROOT / name).read_text(encoding="utf-8")]
