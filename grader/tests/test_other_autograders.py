"""PrairieLearn and Autolab: each starts its script in a root laid out as it lays it, and reads what comes of it.

The image is made of the zip's contents and the build tree, as for Gradescope: `test_autograder.py`.
"""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from conftest import BUILD, ROOT, needs_build
from grader.authoring.solutions import solutions_in
from grader.autograder.pack import AUTOLAB, PRAIRIELEARN
from grader.autograder.shapes import autolab, prairielearn
from grader.base.layout import Layout, find_layout
from grader.commands.cli import cli
from test_autograder import FILE, NAME, image, needs_mounts, zip_of

__all__ = ["image"]  # a fixture
DOCUMENT: dict[str, Any] = {
    "score": 70, "output": "70 of 100 points\n{\"scores\": {\"autograded\": 100}}", "extra_data": {"verdict": "RACE"},
    "tests": [
        {"name": "A", "score": 50, "max_score": 50, "output": "", "status": "passed", "visibility": "visible"},
        {"name": "B", "score": 5, "max_score": 20, "output": "why", "status": "failed", "visibility": "visible"},
        {"name": "C", "score": 15, "max_score": 30, "output": "secret", "status": "failed", "visibility": "hidden"},
        {"name": "D", "score": 0, "max_score": 9, "output": "later", "status": "failed",
         "visibility": "after_due_date"},
    ],
}  # fmt: skip


def test_prairielearns_shape() -> None:
    made = prairielearn(DOCUMENT, 100)
    assert (made["gradable"], made["score"]) == (True, 0.7)
    assert [(test["name"], test["points"], test["max_points"]) for test in made["tests"]] == [
        ("A", 50, 50), ("B", 5, 20), ("Tests that are not shown: 15 of 39 points", 15, 39),
    ]  # fmt: skip
    assert "secret" not in json.dumps(made)
    assert "later" not in json.dumps(made)
    assert prairielearn(DOCUMENT | {"score": 112}, 100)["score"] == 1
    for verdict in ("COMPILE", "MISSING"):
        made = prairielearn(DOCUMENT | {"extra_data": {"verdict": verdict}}, 100)
        assert made == {"gradable": False, "format_errors": [DOCUMENT["output"]]}


def test_autolabs_shape() -> None:
    text = autolab(DOCUMENT, "autograded")
    assert json.loads(text.splitlines()[-1]) == {"scores": {"autograded": 70}}
    assert "[5 of 20] B\nwhy" in text
    assert "secret" not in text


def packed(tmp_path: Path, platform: str) -> Path:
    zip_of(find_layout(BUILD, ROOT), NAME, tmp_path / "a.zip", platform=platform)
    folder = tmp_path / "unpacked"
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        for entry in archive.infolist():
            Path(archive.extract(entry, folder)).chmod(entry.external_attr >> 16 & 0o777)
    return folder


def test_the_zips(tmp_path: Path) -> None:
    folder = packed(tmp_path / "p", PRAIRIELEARN)
    info = json.loads((folder / "question/info.json").read_text())
    assert info["externalGradingOptions"] == {
        "enabled": True, "image": f"REGISTRY/lockstep-{NAME}", "timeout": 600,
    }  # fmt: skip
    assert info["gradingMethod"] == "External"
    assert f'file-names="{FILE}"' in (folder / "question/question.html").read_text()
    assert "COPY . /source" in (folder / "Dockerfile").read_text()
    folder = packed(tmp_path / "a", AUTOLAB)
    assert tarfile.is_tarfile(folder / "autograde.tar")
    assert json.loads((folder / "lockstep/private/settings.json").read_text())["problem"] == "autograded"
    for name in ("run", "setup.sh"):
        assert os.access(folder / name, os.X_OK)
        subprocess.run(["/bin/bash", "-n", str(folder / name)], check=True)


_IN_ROOT = """
set -e
mount -t tmpfs tmpfs /opt
cp -r "$FROM/lockstep" /opt/lockstep
cp -r "$FROM/there" /opt/there
cp "$SCRIPT" /opt/lockstep/run
chmod 755 /opt/lockstep /opt/lockstep/run
cd /opt/there
status=0
"$PYTHON" "$FILTER" $COMMAND > "$FROM/stdout" 2> "$FROM/stderr" || status=$?
cp /opt/there/results/results.json "$FROM/results.json" 2> /dev/null || true
exit $status
"""


def run(image: Path, script: Path, started: str, files: dict[str, str]) -> str:
    """Runs a platform's command where its files lie; gives what was printed."""
    there = image / "there"
    shutil.rmtree(there, ignore_errors=True)
    (image / "results.json").unlink(missing_ok=True)
    for name, text in files.items():
        (there / name).parent.mkdir(parents=True, exist_ok=True)
        (there / name).write_text(text)
    environment = {
        "PATH": os.environ["PATH"], "FROM": str(image), "PYTHON": sys.executable, "SCRIPT": str(script),
        "FILTER": str(ROOT / "harness/dev/clean_root/filter.py"), "COMMAND": started, "LOCKSTEP_GRADE": "/opt/there",
    }  # fmt: skip
    command = ["unshare", "--mount", "--propagation", "private", "bash", "-c", _IN_ROOT]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    said = (image / "stdout").read_text()
    assert ended.returncode == 0, ended.stderr + said + (image / "stderr").read_text()
    return said


@needs_build
@needs_mounts
def test_prairielearn_starts_the_entry_point(image: Path, alone_with_boxes: None, tmp_path: Path) -> None:
    """Files in /grade/student, a JSON of the question's data beside them, and results/results.json afterwards."""
    script = packed(tmp_path, PRAIRIELEARN) / "run"
    right = (ROOT / "reference" / NAME / FILE).read_text()
    wrong = solutions_in(ROOT / "reference" / NAME, "wrong", FILE)[0][0].source.decode()
    scores = []
    for source in (right, wrong, "int main( {"):
        run(image, script, "/opt/lockstep/run", {f"student/{FILE}": source, "data/data.json": "{}"})
        scores.append(json.loads((image / "results.json").read_text()))
    assert (scores[0]["gradable"], scores[0]["score"]) == (True, 1.0)
    assert sum(test["points"] for test in scores[0]["tests"]) >= 100
    assert scores[1]["gradable"]
    assert 0 <= scores[1]["score"] < 1
    assert scores[2]["gradable"] is False
    assert "First to fix: COMPILE" in scores[2]["format_errors"][0]


@needs_build
@needs_mounts
def test_autolab_runs_make_and_reads_the_last_line(image: Path, alone_with_boxes: None, tmp_path: Path) -> None:
    """Makefile, autograde.tar and the hand-in in one folder; the score is JSON in the last line that is printed."""
    folder = packed(tmp_path, AUTOLAB)
    files = {"Makefile": (folder / "autograde-Makefile").read_text(), "autograde.tar": ""}
    files["handin.cu"] = (ROOT / "reference" / NAME / FILE).read_text()
    files["autograde.tar"] = (folder / "autograde.tar").read_bytes().decode("latin-1")
    said = run(image, folder / "run", "make -s", files)
    assert json.loads(said.splitlines()[-1])["scores"]["autograded"] >= 100
    assert "hidden" not in said.casefold()


def test_the_commands(in_checkout: Layout, tmp_path: Path) -> None:
    (in_checkout.root / "CMakeLists.txt").write_text("# top\n")
    for platform in (PRAIRIELEARN, AUTOLAB):
        told = CliRunner().invoke(cli, ["autograder", platform, str(tmp_path), "--assignment", "90_fake"])
        assert told.exit_code == 0, told.output
        with zipfile.ZipFile(tmp_path / f"90_fake-{platform}.zip") as archive:
            assert {"Dockerfile", "setup.sh", "run"} <= set(archive.namelist())


def test_a_score_is_never_made_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any) -> None:
    """Where the harness fails there is no results.json, and no line that Autolab would read."""
    from grader.autograder import run as module  # noqa: PLC0415

    monkeypatch.setattr(module, "read_settings", lambda _home: module.Settings(NAME, 100, 9))
    monkeypatch.setattr(module, "choose_box", lambda: "none")
    monkeypatch.setattr(module, "graded_in", lambda *_: None)
    (tmp_path / "results").mkdir()
    (tmp_path / "results/results.json").write_text('{"score": 1}')
    assert module.run_prairielearn(tmp_path, tmp_path) == 3
    assert not (tmp_path / "results/results.json").exists()
    capsys.readouterr()
    assert module.run_autolab(tmp_path, tmp_path) == 3
    assert "{" not in capsys.readouterr().out
