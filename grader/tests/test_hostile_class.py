"""A class whose folders, files and roster were named by an attacker, through the whole command line."""

import csv
import io
import json
import os
import re
import unicodedata
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from grader.base.layout import Layout
from grader.commands.cli import cli
from test_discovery import HOSTILE

pytestmark = pytest.mark.in_turn

UNSEEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


def unseen(text: str) -> set[str]:
    return {char for char in text if char not in "\n\t\ufeff" and unicodedata.category(char) in UNSEEN}


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, list(words))


def test_nothing_that_a_name_holds_gets_out(in_checkout: Layout, tmp_path: Path) -> None:
    folder = tmp_path / "class"
    for index, name in enumerate(HOSTILE.values()):
        path = os.path.join(os.fsencode(folder), name)  # noqa: PTH118
        os.makedirs(path)  # noqa: PTH103
        Path(os.fsdecode(path), "ladder.cu").write_text(f"// who x{index}\n// time beta_two {10 + index}\n")
    aliases = ["\x1b]0;owned\x07", "\u202egpj.exe", "=1+1", "[red]x[/red]", "<b>x</b>", "a\u3164b", "\u009b2J"]
    with (folder / "roster.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["name", "sid", "email", "alias", "folder"])
        rows.writerows([f"n{alias}", alias, f"{alias}@x", alias, f"f{alias}"] for alias in aliases)
    for index, alias in enumerate(aliases):
        own = folder / f"f{alias}".replace("/", "_")
        own.mkdir()
        (own / "ladder.cu").write_text(f"// who y{index}\n")
    graded = run("grade", str(folder), "--no-sandbox")
    assert graded.exit_code == 4, graded.output  # nobody on the roster has such a name
    said = [
        graded.output,
        run("leaderboard").output,
        run("report").output,
        run("grade", str(folder), "--no-sandbox").output,
    ]
    failed = run("grade", str(folder), "--no-sandbox", "--only", "nobody")
    said.append(str(failed.exception))
    assert [unseen(text) for text in said] == [set()] * len(said)
    out = in_checkout.root / "out"
    count = len(HOSTILE) + len(aliases)
    pages = [path for path in out.rglob("*") if path.suffix in (".html", ".csv", ".json")]
    assert len(pages) >= 2 * count + 5
    for path in pages:
        assert not unseen(path.read_text(encoding="utf-8").removeprefix("\ufeff")), path
        assert re.fullmatch(r"[a-z0-9_.-]+", path.name), path
        assert path.resolve().is_relative_to(out.resolve())
    folders = {json.loads(path.read_text())["folder"] for path in out.glob("staff/results/90_fake/*.json")}
    gradebook = (out / "gradebook.csv").read_text(encoding="utf-8-sig")
    rows_read = list(csv.DictReader(io.StringIO(gradebook, newline="")))
    detail = csv.DictReader(io.StringIO((out / "criteria.csv").read_text(encoding="utf-8-sig"), newline=""))
    # Folders with names similar to one student's are that student's attempts; none is lost.
    assert len(folders) == sum(int(row["attempts"]) for row in detail) >= count
    assert len(rows_read) <= len(folders)
    for text in (gradebook, (out / "leaderboard.csv").read_text()):
        cells = [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]
        assert not any(unicodedata.normalize("NFKC", cell).startswith(tuple("=+-@\t\r")) for cell in cells)
