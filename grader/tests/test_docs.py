"""The reference page and the command line agree."""

import re

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


# Calqued or archaic wording that was edited out of what students read; write the field's terms instead.
_RELAPSES = re.compile(
    r"\b(?:mend(?:s|ed|ing)?|befall|befell|thither|whither|so many \w+ as|is no multiple of|to be had|has to lie|"
    r"(?:thread|sectors?|instructions?|barriers?|requests?) an? (?:element|block|warp)|"
    r"1 (?:faults|tests|elements|threads|blocks|bytes|lines))\b",
    re.IGNORECASE,
)


def test_students_read_the_fields_own_words() -> None:
    read = [
        *(ROOT / "assignments").rglob("*"),
        *(ROOT / "docs").glob("[!r]*/*.md"),
        *(ROOT / "harness/judge").rglob("*.cc"),
        *(ROOT / "harness/suites").glob("*.h"),
        *(ROOT / "harness/suites").glob("*.cc"),
        *(ROOT / "harness/vgpu/core").glob("finding*"),
        *(ROOT / "grader/src").rglob("*.py"),
        *(ROOT / "templates").rglob("*.j2"),
    ]
    texts = {
        path: re.sub(r'"\s*"|\s+', " ", path.read_text()) for path in read if path.is_file() and path.suffix != ".svg"
    }
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}" for path, text in texts.items() for match in _RELAPSES.finditer(text)
    ]
    assert found == []
