"""Seeds: one for each submission, from a secret that is kept; a grader can repeat a run, students see nothing of it."""

import json
import re
import shlex
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from grader.authoring.handout import leaks
from grader.base.errors import GraderError
from grader.base.layout import Layout
from grader.base.secret import NAME, VARIABLE, Secret, open_secret
from grader.commands.cli import cli
from grader.pages.publish import open_journal

pytestmark = pytest.mark.in_turn

Submissions = Callable[..., Path]


def run(*words: str, **environment: str) -> Result:
    result = CliRunner().invoke(cli, words, env=environment)
    assert result.exit_code in (0, 3), result.output
    return result


def grade(folder: Path, *words: str, **environment: str) -> Result:
    return run("grade", str(folder), "--no-sandbox", "--jobs", "2", *words, **environment)


def seeds(out: str = "out") -> dict[str, int]:
    journal = open_journal(Path(out))
    try:
        found = {record.folder: record for record in journal.current("90_fake")}
    finally:
        journal.close()
    for record in found.values():
        assert record.result is None or record.result.seed == record.provenance.seed  # what the suite was told
    return {name: record.provenance.seed or 0 for name, record in found.items()}


def times_run(layout: Layout, name: str) -> int:
    return (layout.build / "bin" / "runs.log").read_text().splitlines().count(f"run {name}")


def test_each_submission_has_a_seed_of_its_own_and_keeps_it(in_checkout: Layout, submissions: Submissions) -> None:
    folder = submissions(ada="", grace="")
    assert NAME in grade(folder).output  # a new secret: it says where
    first = seeds()
    assert first["ada"] != first["grace"]
    assert all(seed >> 64 for seed in first.values())
    (folder / "ada" / "ladder.cu").write_text("// who ada\n// changed\n")
    again = grade(folder, "--only", "ada")
    assert NAME not in again.output
    assert seeds()["ada"] != first["ada"]
    assert seeds()["grace"] == first["grace"]
    (folder / "ada" / "ladder.cu").write_text("// who ada\n\n")
    grade(folder)
    assert seeds() == first
    assert times_run(in_checkout, "ada") == 2


def test_seeds_depend_on_all_that_they_follow_from() -> None:
    one, other = Secret(b"a" * 32), Secret(b"b" * 32)
    of = [one.seed("a", b"x"), one.seed("a", b"y"), one.seed("b", b"x"), other.seed("a", b"x")]
    assert len(set(of)) == 4
    assert max(of) >> 124  # all of 128 bits are used
    assert one.seed("a", b"x") == of[0]
    assert one.fingerprint != other.fingerprint
    assert "aaaa" not in repr(one)


def test_another_secret_grades_again_and_the_same_one_agrees(in_checkout: Layout, submissions: Submissions) -> None:
    folder = submissions(ada="")
    grade(folder)
    own = seeds()
    grade(folder, "--out", "elsewhere")
    assert seeds("elsewhere") != own
    grade(folder, "--out", "elsewhere", "--secret", f"out/{NAME}")
    assert seeds("elsewhere") == own
    assert times_run(in_checkout, "ada") == 3
    grade(folder, "--out", "third", **{VARIABLE: f"out/{NAME}"})
    assert seeds("third") == own
    assert not Path("third", NAME).exists()


def test_a_run_can_be_repeated(in_checkout: Layout, submissions: Submissions) -> None:
    folder = submissions(ada="", grace="")
    grade(folder)
    before = seeds()
    Path("out", NAME).unlink()
    shown = run("seed", "ada").output
    assert str(before["ada"]) in shown
    assert str(before["grace"]) not in shown
    command = shlex.split(next(line for line in shown.splitlines() if line.startswith("  ")))
    assert command[0] == "grader"
    run(*command[1:])
    assert seeds("out/again") == {"ada": before["ada"]}
    assert times_run(in_checkout, "ada") == 2
    refused = CliRunner().invoke(cli, ["seed", "nobody"])
    assert isinstance(refused.exception, GraderError)


def test_students_see_neither_seed_nor_secret(in_checkout: Layout, submissions: Submissions) -> None:
    folder = submissions(
        ada="", wrong="// fail beta_two WRONG", lost="// harness 99", cut="// unfinished", broken="#error no",
        racing="// fail alpha_one RACE",
    )  # fmt: skip
    for words in ((), ("--seed", "340282366920938463463374607431768211297"), ("--seed", "7")):
        grade(folder, *words)
        hidden = [*map(str, seeds().values()), Path("out", NAME).read_text().strip()]
        hidden = [text for text in hidden if len(text) > 1]
        assert hidden
        read = 0
        for path in Path("out").rglob("*"):
            if path.is_file() and path.name != NAME and not path.name.startswith("journal.sqlite"):
                text = path.read_text()
                read += 1
                assert not [one for one in hidden if one in text], path
                assert not re.search(r"seed\b\W*\d|SEED=", text, re.IGNORECASE), path
        assert read > 2 * len(seeds())
    card = next(Path("out/cards/90_fake").glob("wrong-*.html")).read_text()
    assert "make test TEST=LadderTest.SumsAll/beta_two</span>" in card
    document = json.loads(next(Path("out/staff/results/90_fake").glob("wrong-*.json")).read_text())
    assert "seed" not in document["provenance"]
    assert "seed" not in document["result"]


def test_only_the_owner_can_read_what_has_seeds(in_checkout: Layout, submissions: Submissions) -> None:
    grade(submissions(ada=""))
    for path in (Path("out", NAME), *Path("out").glob("journal.sqlite*")):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


def test_secrets_that_are_none_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    with pytest.raises(GraderError, match="can't be read"):
        open_secret(tmp_path, path)
    assert not path.exists()  # a name that was mistyped makes no secret
    path.write_text("short")
    path.chmod(0o600)
    with pytest.raises(GraderError, match="too short"):
        open_secret(tmp_path, path)
    path.write_text("0123456789abcdef")
    assert open_secret(tmp_path, path)[0] == Secret(b"0123456789abcdef")
    path.chmod(0o604)
    with pytest.raises(GraderError, match="every user"):
        open_secret(tmp_path, path)


def test_no_handout_has_a_secret(in_checkout: Layout, tmp_path: Path) -> None:
    open_secret(tmp_path / "folder", None)
    assert [leak.file for leak in leaks(in_checkout, tmp_path / "folder")] == [NAME]
