"""The reference page and the command line agree."""

import click

from conftest import ROOT
from grader.commands.cli import cli


def test_every_command_and_option_is_documented() -> None:
    page = (ROOT / "docs/reference/grader-cli.md").read_text()
    for name, command in cli.commands.items():
        assert f"## grader {name}" in page
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert f"`{parameter.opts[0]}" in page.partition(f"## grader {name}")[2].partition("\n## ")[0], (
                    parameter.opts
                )


def test_every_dependency_has_a_reason() -> None:
    page = (ROOT / "docs/reference/dependencies.md").read_text()
    files = list((ROOT / "grader").glob("requirements*.txt"))
    assert len(files) > 1
    lines = [line for file in files for line in file.read_text().splitlines()]
    for line in lines:
        if line and not line.startswith(("#", "-c ")):
            name, _, version = line.partition("==")
            assert version, f"{line} is not pinned"
            assert name in page, name
