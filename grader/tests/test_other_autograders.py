"""PrairieLearn and Autolab: each starts its script in a root with its own layout, and reads the result.

The image is made from the zip's contents and the build tree, as for Gradescope: `test_autograder.py`.
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
import yaml
from click.testing import CliRunner

from conftest import BUILD, ROOT, needs_build
from grader.authoring.solutions import solutions_in
from grader.autograder.pack import AUTOLAB, PRAIRIELEARN
from grader.autograder.shapes import autolab, prairielearn
from grader.base.layout import Layout, find_layout
from grader.commands.cli import cli
from test_autograder import FILE, NAME, PLACE, image, needs_mounts, zip_of

pytestmark = pytest.mark.in_turn

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
mount -t tmpfs tmpfs "$PLACE"
cp -r "$FROM/lockstep" "$PLACE/lockstep"
cp -r "$FROM/there" "$PLACE/there"
cp "$SCRIPT" "$PLACE/lockstep/run"
chmod 755 "$PLACE/lockstep" "$PLACE/lockstep/run"
cd "$PLACE/there"
status=0
"$PYTHON" "$FILTER" $COMMAND > "$FROM/stdout" 2> "$FROM/stderr" || status=$?
cp "$PLACE/there/results/results.json" "$FROM/results.json" 2> /dev/null || true
exit $status
"""


def run(image: Path, script: Path, started: str, files: dict[str, str]) -> str:
    """Runs a platform's command with its files in place; returns the output."""
    there = image / "there"
    shutil.rmtree(there, ignore_errors=True)
    (image / "results.json").unlink(missing_ok=True)
    for name, text in files.items():
        (there / name).parent.mkdir(parents=True, exist_ok=True)
        (there / name).write_text(text)
    environment = {
        "PATH": os.environ["PATH"], "FROM": str(image), "PYTHON": sys.executable, "SCRIPT": str(script),
        "FILTER": str(ROOT / "harness/dev/clean_root/filter.py"), "COMMAND": started,
        "LOCKSTEP_GRADE": f"{PLACE}/there", "PLACE": PLACE, "LOCKSTEP_HOME": f"{PLACE}/lockstep",
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
        run(image, script, f"{PLACE}/lockstep/run", {f"student/{FILE}": source, "data/data.json": "{}"})
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


def made_ci(tmp_path: Path) -> Path:
    told = CliRunner().invoke(cli, ["autograder", "ci", str(tmp_path / "ci"), "--assignment", NAME])
    assert told.exit_code == 0, told.output
    return tmp_path / "ci"


def student_at(source: str, tmp_path: Path) -> dict[str, str]:
    """An environment that makes this checkout a student's, with `source` instead of the assignment's file."""
    (tmp_path / FILE).write_text(source)
    return {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "BUILD": str(BUILD), "SOURCE": str(tmp_path / FILE)}


@needs_build
def test_the_workflows_steps_tell_a_right_push_from_a_wrong_one(tmp_path: Path) -> None:
    """GitHub runs each `run` with `bash -e` in the checkout, GitLab the lines of `script`."""
    folder = made_ci(tmp_path)
    github = yaml.safe_load((folder / ".github/workflows/lockstep.yml").read_text())
    steps = github["jobs"]["test"]["steps"]
    assert [step.get("uses") for step in steps[:2]] == ["actions/checkout@v4", "actions/cache@v4"]
    assert github["permissions"] == {"contents": "read"}
    assert "harness/setup.sh --student" in steps[2]["run"]
    gitlab = yaml.safe_load((folder / ".gitlab-ci.yml").read_text())["lockstep"]
    assert gitlab["script"] == [steps[3]["run"]]
    stub = (ROOT / "assignments" / NAME / FILE).read_text()
    for source, is_right in (((ROOT / "reference" / NAME / FILE).read_text(), True), (stub, False)):
        command = ["/bin/bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", steps[3]["run"]]
        ended = subprocess.run(
            command,
            cwd=ROOT,
            env=student_at(source, tmp_path),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert (ended.returncode == 0) is is_right, ended.stdout + ended.stderr


@needs_build
def test_classroom_50_reads_the_result(tmp_path: Path) -> None:
    """Its runner starts autograder.py in the checkout with these variables, and takes no result of another shape."""
    script = made_ci(tmp_path) / f"classroom50/{NAME}/autograder.py"
    given = {
        "CLASSROOM": "cs101", "ASSIGNMENT": "week-1", "SUBMISSION_TAG": "submit/2026-11-20T12-00-00Z-abc1234",
        "USERNAME": "ada", "COMMIT_URL": "https://x/commit/1", "RELEASE_URL": "https://x/releases/tag/1",
        "REVIEW_URL": "https://x/compare/0...1",
    }  # fmt: skip
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    for name in ("assignments", "harness", "lockstep", "grader", "CMakeLists.txt", ".git"):
        (checkout / name).symlink_to(ROOT / name)
    source = (ROOT / "reference" / NAME / FILE).read_text()
    environment = student_at(source, tmp_path) | given
    subprocess.run(
        [sys.executable, str(script)], cwd=checkout, env=environment, capture_output=True, timeout=300, check=True
    )
    result = json.loads((checkout / "result.json").read_text())
    assert {key: result[key] for key in ("schema", "classroom", "assignment", "assignment_type", "owner")} == {
        "schema": "classroom50/result/v1", "classroom": "cs101", "assignment": "week-1",
        "assignment_type": "individual", "owner": "ada",
    }  # fmt: skip
    assert result["submission"].startswith("submit/")
    assert all(isinstance(result[key], str) and result[key] for key in ("commit", "release", "review", "datetime"))
    assert result["score"] == result["max-score"] == len(result["tests"]) > 1
    for test in result["tests"]:
        assert test["test-name"]
        assert (test["passed"], test["score"], test["max-score"]) == (True, 1, 1)
    assert "| PASS |" in (checkout / "release-body.md").read_text()


@needs_build
def test_submitty_scores_a_rung_by_what_its_command_prints(tmp_path: Path) -> None:
    """Each command runs in the submission's folder, output in STDOUT.txt; then the validator, one folder above."""
    told = CliRunner().invoke(cli, ["autograder", "submitty", str(tmp_path), "--assignment", NAME])
    assert told.exit_code == 0, told.output
    config = json.loads((tmp_path / "submitty/config/config.json").read_text())
    cases = config["testcases"]
    assert config["grading_parameters"]["AUTO_POINTS"] == sum(case["points"] for case in cases) == len(cases) > 1
    assert f"lockstep-{NAME} " in (tmp_path / "submitty/Dockerfile").read_text()
    reference, stub = (ROOT / folder / NAME / FILE for folder in ("reference", "assignments"))
    for source, case, is_right in ((reference, cases[1], True), (stub, cases[0], False), (None, cases[0], None)):
        there = tmp_path / "test01"
        shutil.rmtree(there, ignore_errors=True)
        there.mkdir()
        if source:
            shutil.copy(source, there / FILE)
        environment = os.environ | {"LOCKSTEP_ROOT": str(ROOT), "LOCKSTEP_BUILD": str(BUILD)}
        words = ["bash", str(tmp_path / "submitty/rung"), *case["command"].split()[1:]]
        with (there / case["validation"][0]["actual_file"]).open("w") as out:
            subprocess.run(words, cwd=there, env=environment, stdout=out, check=True)
        asked = case["validation"][0] | {"testcase_prefix": "test01"}
        (tmp_path / "custom_validator_input.json").write_text(json.dumps(asked))
        validator = tmp_path / "submitty/config/custom_validation_code/rung.py"
        subprocess.run([sys.executable, validator], cwd=tmp_path, check=True)
        result = json.loads((tmp_path / "validation_results.json").read_text())
        assert (result.get("data", {}).get("score"), result["status"]) == (
            (int(is_right), "success") if is_right is not None else (None, "fail")
        )
        assert is_right is None or "tests passed." in result["data"]["message"]
