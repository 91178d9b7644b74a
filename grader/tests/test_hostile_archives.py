"""Hostile archives, as a student's hand-in and as the class's: refused with a reason, and nobody else is affected."""

import json
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from grader.base.errors import GraderError
from grader.base.layout import Layout
from grader.base.names import shown
from grader.commands.cli import cli
from grader.intake.download import open_class
from grader.model.discovery import Submission, Wanted
from hostile_archives import ARCHIVES, SOURCE

pytestmark = pytest.mark.in_turn

WANTED = Wanted("90_fake", "ladder.cu", frozenset({"91_other", "other.cu"}))
HONEST = {f"{name}/ladder.cu": f"// who {name}\n".encode() for name in ("ada", "grace", "zuse")}
NAMES = list(ARCHIVES)


@pytest.fixture(autouse=True)
def _memory() -> Iterator[None]:
    """No archive may take half a gigabyte."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + (512 << 20), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def take(path: Path) -> dict[str, Submission]:
    with open_class(path) as download:
        return {one.folder: one for one in download.submissions(WANTED)}


def check(submissions: dict[str, Submission], reason: str) -> None:
    for name in ("ada", "grace", "zuse"):
        assert submissions[name].source == HONEST[f"{name}/ladder.cu"]
    own = submissions["mallory"]
    if reason:
        assert own.source is None
        assert own.refused
        assert reason in own.problem
        assert shown(own.problem, 400) == own.problem
    else:
        assert own.source == SOURCE


@pytest.mark.parametrize("name", NAMES)
def test_one_student_hands_it_in(tmp_path: Path, name: str) -> None:
    build, reason, _ = ARCHIVES[name]
    folder = tmp_path / "class"
    for path, data in HONEST.items():
        (folder / path).parent.mkdir(parents=True)
        (folder / path).write_bytes(data)
    (folder / "mallory").mkdir()
    (folder / "mallory" / "work.zip").write_bytes(build({}, "ladder.cu"))
    check(take(folder), reason)
    assert names_in(tmp_path) == ["class"]


@pytest.mark.parametrize("name", NAMES)
def test_it_is_the_classs_archive(tmp_path: Path, name: str) -> None:
    build, _, reason = ARCHIVES[name]
    path = tmp_path / "week4.zip"
    path.write_bytes(build(HONEST, "mallory/ladder.cu"))
    if reason.startswith("!"):
        with pytest.raises(GraderError) as error:
            take(path)
        assert reason[1:] in str(error.value)
        assert "week4.zip" in str(error.value)
        assert "Download it again" in str(error.value)
    else:
        check(take(path), reason)
    assert names_in(tmp_path) == ["week4.zip"]


def test_all_of_them_in_one_class(in_checkout: Layout, tmp_path: Path) -> None:
    folder = tmp_path / "class"
    reasons = {}
    for index, (build, reason, _) in enumerate(ARCHIVES.values()):
        (folder / f"mallory{index}").mkdir(parents=True)
        (folder / f"mallory{index}" / "work.tar.gz").write_bytes(build({}, "ladder.cu"))
        reasons[f"mallory{index}"] = reason
    for path, data in HONEST.items():
        (folder / path).parent.mkdir(parents=True)
        (folder / path).write_bytes(data)
    result = CliRunner().invoke(cli, ["grade", str(folder), "--no-sandbox"])
    assert result.exit_code == 0, result.output
    rows = Path("out/gradebook.csv").read_text("utf-8-sig").splitlines()[1:]
    assert len(rows) == len(ARCHIVES) + len(HONEST)
    for path in Path("out/staff/results/90_fake").iterdir():
        document = json.loads(path.read_text())
        reason = reasons.get(document["folder"], "")
        assert document["verdict"] == ("REJECTED" if reason else "PASS"), document["message"]
        assert reason in document["message"]
    assert not (tmp_path / "etc").exists()
    assert names_in(tmp_path) == ["checkout", "class", "toolkit"]
    assert sum(map(bool, reasons.values())) >= 40
