"""The reference page and the command line agree."""

import re

import click
from click.testing import CliRunner

from conftest import ROOT
from grader.commands.cli import cli
from grader.commands.sections import MEANT


def test_every_command_and_option_is_documented() -> None:
    page = (ROOT / "docs/reference/grader-cli.md").read_text()
    shared = page.partition("## ")[0]
    for name, command in cli.commands.items():
        assert f"## grader {name}" in page
        for below in command.commands if isinstance(command, click.Group) else ():
            assert f"`grader {name} {below}" in page, below
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                own = page.partition(f"## grader {name}")[2].partition("\n## ")[0]
                assert f"`{parameter.opts[0]}" in shared + own, parameter.opts


def test_every_dependency_has_a_reason_and_a_version() -> None:
    page = (ROOT / "docs/reference/dependencies.md").read_text()
    lock = (ROOT / "grader/constraints.txt").read_text()
    files = list((ROOT / "grader").glob("requirements*.txt"))
    assert len(files) > 1
    for file in files:
        names = {line for line in file.read_text().splitlines() if not line.startswith("#")}
        assert not [name for name in names if name not in page]
        locked = set(re.findall(rf"^([\w-]+)==\S.* -r grader/{file.name}(?:,|$)", lock, re.MULTILINE))
        assert names == locked, "docs/reference/dependencies.md says how to update grader/constraints.txt"


def test_words_of_other_graders_are_answered_with_what_to_type() -> None:
    for word, meant in MEANT.items():
        said = CliRunner().invoke(cli, [word, "week4.zip"]).output
        assert f"There is no command {word}.\nType:  {meant}" in said
        commands = re.findall(r"grader ([a-z]+)", meant)
        assert commands
        assert set(commands) <= set(cli.commands)
        own = {option for name in commands for parameter in cli.commands[name].params for option in parameter.opts}
        group = [one for name in commands if isinstance(one := cli.commands[name], click.Group)]
        own |= {
            option
            for one in group
            for each in one.commands.values()
            for parameter in each.params
            for option in parameter.opts
        }
        assert set(re.findall(r"--[a-z]+", meant)) <= own, meant
