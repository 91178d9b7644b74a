"""Gradescope's autograder: the zip, and run_autograder in a root made of the zip's contents and the build tree.

test_clean_root.py does all of it in a clean system, setup.sh too, which takes minutes.
"""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from conftest import BUILD, ROOT, empty_place, needs, needs_build
from grader.authoring.solutions import solutions_in
from grader.autograder.handed_in import NotHandedInError, find_source, read_metadata
from grader.autograder.pack import SCRIPTS, make_zip
from grader.base import user_box
from grader.base.layout import Layout, find_layout
from grader.commands.cli import cli
from grader.model.assignment import load_assignment
from grader.model.discovery import Wanted
from test_gradescope import read_results

pytestmark = pytest.mark.in_turn

NAME, FILE = "01_handson_copy", "copy.cu"
PLACE = empty_place()
SCRIPT_FOLDER = ROOT / "templates/autograder"
_SHELLCHECK = shutil.which("shellcheck")
METADATA = {
    "id": 123456,
    "created_at": "2026-03-02T14:22:32.365935-08:00",
    "assignment": {
        "due_date": "2026-03-01T23:00:00.000000-08:00", "group_size": 2, "group_submission": True, "id": 25828,
        "course_id": 1234, "late_due_date": None, "release_date": "2026-02-01T00:00:00.000000-08:00",
        "title": "Programming Assignment 1", "total_points": "100.0",
    },
    "submission_method": "upload",
    "users": [{"email": "a@example.edu", "id": 1234, "name": "Ada \u202e<b>L"}, {"email": "b@x", "name": "B"}],
    "previous_submissions": [
        {"submission_time": "2026-03-01T14:24:48.087023-08:00", "score": 12.5, "autograder_error": False},
        {"submission_time": "2026-03-01T15:24:48.087023-08:00", "score": None, "autograder_error": True},
    ],
}  # fmt: skip


def _can_mount() -> bool:
    command = ["unshare", "--mount", "--propagation", "private", "mount", "-t", "tmpfs", "tmpfs", PLACE]
    return os.geteuid() == 0 and subprocess.run(command, capture_output=True, check=False).returncode == 0


needs_mounts = needs(_can_mount(), "run the tests as root: Gradescope's folders are made in a mount namespace")


def zip_of(layout: Layout, name: str, target: Path, **settings: Any) -> dict[str, zipfile.ZipInfo]:
    assignment = load_assignment(layout.assignment(name))
    defaults = {"points": assignment.points, "minutes": 9.0, "secret": b"s" * 64}
    make_zip(layout, assignment, target, **(defaults | settings))
    with zipfile.ZipFile(target) as archive:
        return {entry.filename: entry for entry in archive.infolist()}


def test_the_zip_has_what_is_needed_and_no_more(tmp_path: Path) -> None:
    entries = zip_of(find_layout(BUILD, ROOT), NAME, tmp_path / "a.zip")
    assert set(SCRIPTS) == {name for name in entries if "/" not in name}
    assert {name.split("/")[0] for name in entries if "/" in name} == {"lockstep"}
    inside = {name.removeprefix("lockstep/") for name in entries if "/" in name}
    assert {name for name in inside if name.startswith(("reference/", "assignments/", "private/"))} == {
        f"reference/{NAME}/{FILE}", f"reference/{NAME}/hidden_test.cc", f"assignments/{NAME}/assignment.toml",
        f"assignments/{NAME}/copy.h", f"assignments/{NAME}/figures.json", "private/seed-secret",
        "private/settings.json",
    }  # fmt: skip
    assert {name for name in inside if name.startswith("harness/suites/")} == {
        "harness/suites/CMakeLists.txt",
        *(f"harness/suites/{path.name}" for path in (ROOT / "harness/suites").glob(f"{NAME}_*")),
    }
    assert {name.split("/")[1] for name in inside if name.startswith("harness/")} == {
        "CMakeLists.txt", "build.sh", "judge", "libraries", "nvcc-requirements.txt", "protocol", "setup.sh", "suites",
        "vgpu", "worker",
    }  # fmt: skip
    modules = {name.removeprefix("grader/src/grader/") for name in inside if name.startswith("grader/")}
    assert {"autograder/run.py", "base/user_box.py", "running/pipeline.py"} <= modules
    assert not [name for name in modules if name.startswith(("pages/", "commands/", "authoring/", "templates/"))]
    executable = {name for name, entry in entries.items() if entry.external_attr >> 16 & 0o111}
    assert executable == {
        *SCRIPTS, "lockstep/harness/build.sh", "lockstep/harness/libraries/compilers/nvcc",
        "lockstep/harness/setup.sh", "lockstep/harness/worker/build.sh",
    }  # fmt: skip
    for name in ("lockstep/private/seed-secret", "lockstep/private/settings.json"):
        assert entries[name].external_attr >> 16 & 0o777 == 0o600
    assert (tmp_path / "a.zip").stat().st_mode & 0o777 == 0o600


def test_the_image_needs_no_python_package(tmp_path: Path) -> None:
    zip_of(find_layout(BUILD, ROOT), NAME, tmp_path / "a.zip")
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        archive.extractall(tmp_path)
    script = "import grader.autograder.run, sys; print(*(n for n in ('click', 'pandas', 'jinja2') if n in sys.modules))"
    command = [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, 'lockstep/grader/src'); {script}"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout.strip()) == (0, ""), run.stderr


def test_the_same_files_make_the_same_zip_and_a_secret_of_its_own(tmp_path: Path) -> None:
    layout = find_layout(BUILD, ROOT)
    for name in ("a", "b"):
        zip_of(layout, NAME, tmp_path / f"{name}.zip")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    secrets = set()
    for name in ("c", "d"):
        zip_of(layout, NAME, tmp_path / f"{name}.zip", secret=None)
        with zipfile.ZipFile(tmp_path / f"{name}.zip") as archive:
            secrets.add(archive.read("lockstep/private/seed-secret"))
    assert len(secrets) == 2


def test_the_command(in_checkout: Layout, tmp_path: Path) -> None:
    (in_checkout.root / "CMakeLists.txt").write_text("# top\n")
    secret = tmp_path / "secret"
    secret.write_text("a secret that is shared\n")
    command = ["autograder", "gradescope", str(tmp_path / "made"), "--assignment", "90_fake", "--secret", str(secret)]
    result = CliRunner().invoke(cli, [*command, "--points", "5", "--minutes", "19"])
    assert result.exit_code == 0, result.output
    path = tmp_path / "made/90_fake-autograder.zip"
    assert str(path) in result.output.replace("\n", "")
    with zipfile.ZipFile(path) as archive:
        settings = json.loads(archive.read("lockstep/private/settings.json"))
        assert archive.read("lockstep/private/seed-secret") == secret.read_bytes()
        assert "lockstep/reference/90_fake/hidden_test.cc" in archive.namelist()
    assert settings == {"assignment": "90_fake", "points": 5, "minutes": 19}
    (in_checkout.reference("90_fake") / "ladder.cu").unlink()
    again = CliRunner().invoke(cli, command)
    assert again.exit_code != 0


def test_the_scripts_are_sound() -> None:
    for name in SCRIPTS:
        text = (SCRIPT_FOLDER / name).read_text()
        assert text.startswith("#!/usr/bin/env bash\n")
        assert "\r" not in text
        subprocess.run(["/bin/bash", "-n"], input=text, text=True, check=True)


@needs(_SHELLCHECK is not None, "shellcheck is missing; type: apt-get install shellcheck")
def test_shellcheck_finds_nothing() -> None:
    scripts = [SCRIPT_FOLDER / name for name in SCRIPTS]
    scripts += (ROOT / "harness/dev/clean_root").glob("gradescope*.sh")
    run = subprocess.run([_SHELLCHECK or "", "-s", "bash", *scripts], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout


def test_metadata(tmp_path: Path) -> None:
    path = tmp_path / "submission_metadata.json"
    path.write_text(json.dumps(METADATA))
    metadata = read_metadata(path)
    assert metadata.student.name == "Ada \ufffd<b>L"
    assert [student.email for student in metadata.handed.group] == ["a@example.edu", "b@x"]
    assert metadata.handed.at == "2026-03-02T22:22:32+00:00"
    assert metadata.handed.late
    assert metadata.handed.number == 3
    assert metadata.total_points == 100
    assert metadata.extra_data()["previous_submissions"] == [
        {"at": "2026-03-01T22:24:48+00:00", "score": 12.5, "autograder_error": False},
        {"at": "2026-03-01T23:24:48+00:00", "score": None, "autograder_error": True},
    ]
    # An extension counts; a team's is the longest.
    users = [{"name": "A"}, {"name": "B", "assignment": {"due_date": "2026-03-03T23:00:00-08:00"}}]
    path.write_text(json.dumps(METADATA | {"users": users}))
    assert not read_metadata(path).handed.late


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "nonsense", "[" * 100_000, '{"users": 3}', '{"users": [7], "assignment": "x", "created_at": 5}',
        '{"assignment": {"total_points": "NaN", "due_date": "soon"}, "previous_submissions": [null, {"score": "x"}]}',
        '{"created_at": "2026-03-02T14:22:32"}',
        '{"users": [{"name": null}], "created_at": "0001-01-01T00:00:00+23:59"}',
    ],
)  # fmt: skip
def test_metadata_may_be_anything(tmp_path: Path, text: str) -> None:
    path = tmp_path / "submission_metadata.json"
    path.write_text(text)
    metadata = read_metadata(path)
    assert metadata.student.name == "unknown"
    assert metadata.total_points is None
    assert not metadata.handed.late
    json.dumps(metadata.extra_data(), allow_nan=False)


def test_the_file_is_found_as_in_any_hand_in(tmp_path: Path) -> None:
    wanted = Wanted(NAME, FILE)
    (tmp_path / "deep/er").mkdir(parents=True)
    (tmp_path / "notes.txt").write_text("")
    with pytest.raises(NotHandedInError, match=re.escape("there is no copy.cu")):
        find_source(tmp_path, wanted)
    (tmp_path / "copy.cu").symlink_to("/etc/passwd")
    with pytest.raises(NotHandedInError, match="link"):
        find_source(tmp_path, wanted)
    (tmp_path / "copy.cu").unlink()
    (tmp_path / "deep/er/copy.cu").write_text("far")
    assert find_source(tmp_path, wanted) == b"far"
    (tmp_path / "copy.cu").write_text("near")
    assert find_source(tmp_path, wanted) == b"near"


def processes_of_boxes() -> list[str]:
    """Processes of sandbox users that still run; a killed one exists until its status is read."""
    users = range(user_box.FIRST_USER, user_box.FIRST_USER + user_box.USERS)
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if folder.stat().st_uid in users and ") Z " not in (folder / "stat").read_text():
                found.append((folder / "cmdline").read_text())
    return found


Run = Callable[..., tuple[dict[str, Any] | None, str]]

_IN_ROOT = """
set -e
mount -t tmpfs tmpfs "$PLACE"
cp -r "$FROM/lockstep" "$PLACE/lockstep"
cp -r "$FROM/autograder" "$PLACE/autograder"
chmod 755 "$PLACE/lockstep"
status=0
"$PYTHON" "$FILTER" "$PLACE/autograder/run_autograder" > "$FROM/stdout" 2>&1 || status=$?
cp "$PLACE/autograder/results/results.json" "$FROM/results.json" 2> /dev/null || true
ls -A "$PLACE/lockstep/work" > "$FROM/left" 2> /dev/null || true
exit $status
"""


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The result of setup.sh, from the zip and the build tree."""
    folder = tmp_path_factory.mktemp("image")
    layout = find_layout(BUILD, ROOT)
    zip_of(layout, NAME, folder / "a.zip")
    with zipfile.ZipFile(folder / "a.zip") as archive:
        for entry in archive.infolist():
            Path(archive.extract(entry, folder)).chmod(entry.external_attr >> 16 & 0o777)
    home = folder / "lockstep"
    (home / "bin").mkdir()
    (home / "bin/python3").symlink_to(sys.executable)
    (home / "build/bin").mkdir(parents=True, mode=0o700)
    (home / "build/bin").chmod(0o700)
    shutil.copy(layout.build / "nvcc.txt", home / "build")
    shutil.copy(layout.suite(NAME), home / "build/bin")
    shutil.copytree(layout.libraries, home / "build/lib", symlinks=True)
    shutil.rmtree(home / "reference")
    for name in ("private", "grader"):
        (home / name).chmod(0o700)
    (home / "private/seed-secret").chmod(0o600)
    return folder


@pytest.fixture
def run(image: Path, alone_with_boxes: None) -> Iterator[Run]:
    """Runs run_autograder on files; returns results.json, if any, and the output."""

    def run(status: int = 0, suite: str = "", **files: str) -> tuple[dict[str, Any] | None, str]:
        folder = image / "autograder"
        shutil.rmtree(folder, ignore_errors=True)
        for name in ("submission", "results", "source"):
            (folder / name).mkdir(parents=True)
        shutil.copy(SCRIPT_FOLDER / "run_autograder", folder)
        (folder / "run_autograder").chmod(0o755)
        for name, content in files.items():
            (folder / "submission" / name).write_text(content)
        (folder / "source/setup.sh").write_text("# the zip's\n")
        (folder / "submission_metadata.json").write_text(json.dumps(METADATA))
        (folder / "results/results.json").write_text('{"score": 100}')  # of an earlier run
        (image / "results.json").unlink(missing_ok=True)
        script = _IN_ROOT
        if suite:
            text = f"printf '%s' \"$SUITE\" > '{PLACE}/lockstep'/build/bin/{NAME}_full_suite\nstatus=0"
            script = script.replace("status=0", text, 1)
        environment = {
            "PATH": os.environ["PATH"], "FROM": str(image), "PYTHON": sys.executable, "SUITE": suite,
            "FILTER": str(ROOT / "harness/dev/clean_root/filter.py"), "PLACE": PLACE,
            "LOCKSTEP_HOME": f"{PLACE}/lockstep", "LOCKSTEP_AUTOGRADER": f"{PLACE}/autograder",
        }  # fmt: skip
        command = ["unshare", "--mount", "--propagation", "private", "bash", "-c", script]
        ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
        said = (image / "stdout").read_text()
        assert ended.returncode == status, ended.stderr + said
        path = image / "results.json"
        return (read_results(path.read_text()) if path.exists() else None), said

    yield run
    shutil.rmtree(image / "autograder", ignore_errors=True)


def _text(*parts: str) -> str:
    return (ROOT.joinpath(*parts)).read_text()


@needs_build
@needs_mounts
def test_a_right_and_a_wrong_submission(run: Run) -> None:
    results, said = run(**{FILE: _text("reference", NAME, FILE)})
    assert "Sandbox: a user of its own, because bubblewrap" in said
    assert results is not None
    assert results["score"] == sum(entry["max_score"] for entry in results["tests"]), results["output"] + said
    assert {entry["status"] for entry in results["tests"]} == {"passed"}
    data = results["extra_data"]
    assert (data["verdict"], data["sandbox"], data["total_points"]) == ("PASS", "user", 100)
    assert data["handed"] == {"at": "2026-03-02T22:22:32+00:00", "late": True, "number": 3}
    assert len(data["previous_submissions"]) == 2
    wrong = solutions_in(ROOT / "reference" / NAME, "wrong", FILE)[0][0].source.decode()
    results, said = run(**{FILE: wrong})
    assert results is not None
    verdict = wrong.split()[2]
    assert results["extra_data"]["verdict"] == verdict
    assert results["score"] < 100
    assert f"First to fix: {verdict}" in results["output"]
    assert f"Verdict: {verdict}" in said


@needs_build
@needs_mounts
def test_a_hostile_submission_gets_nothing(run: Run) -> None:
    """Tries to read the reference, hidden tests, seed, secret, results.json, root's processes, a network."""
    probe = _text("grader/tests/autograder/probe.cu").replace("/opt/lockstep", f"{PLACE}/lockstep")
    probe = probe.replace('"/autograder', f'"{PLACE}/autograder')
    stub = re.sub(
        r"^(cudaError_t copy1_round_trip\(.*\) \{)$",
        r"\1 probe();",
        _text("assignments", NAME, FILE),
        flags=re.MULTILINE,
    )
    results, said = run(**{FILE: probe.replace("04_reduction", NAME) + stub})
    assert results is not None
    output = "\n".join(entry["output"] for entry in results["tests"])
    tried = set(re.findall(r"PROBE (?:GOT|no) (.*)", output + said))
    got = set(re.findall(r"PROBE GOT (.*)", output + said))
    assert len(tried) > 25, output + said
    assert got == {"/tmp/left-by-the-probe-in-tmp"}
    assert "PROBE note the judge's arguments are seen" in output  # there was something to find in them
    assert not Path("/tmp/left-by-the-probe-in-tmp").exists()
    assert not processes_of_boxes()
    assert results["score"] < 100


@needs_build
@needs_mounts
def test_what_does_not_compile_and_what_is_not_there(run: Run) -> None:
    results, _ = run(**{FILE: f'#include "{PLACE}/lockstep/private/seed-secret"\n'})
    assert results is not None
    assert results["score"] == 0
    assert "First to fix: COMPILE" in results["output"]
    assert "ssss" not in json.dumps(results)
    results, _ = run(**{"essay.txt": "no kernel"})
    assert results is not None
    assert results["score"] == 0
    assert results["output"].startswith("0 of 100 points: there is no copy.cu in this folder")


@needs_build
@needs_mounts
def test_a_failed_harness_gives_no_score(run: Run) -> None:
    """Then nothing is written, and an earlier run's file is gone."""
    listing = "Suite.\\n  Test/one"
    suite = f"#!/bin/sh\ncase \"$*\" in *list_tests*) printf '{listing}\\n';; *) exit 3;; esac\n"
    results, said = run(status=3, suite=suite, **{FILE: _text("reference", NAME, FILE)})
    assert results is None
    assert "No results.json is written, so that Gradescope gives no score" in said
