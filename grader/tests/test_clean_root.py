"""Set-up in a clean system of another distribution, where nothing is installed: a clone, the Dockerfile's steps,
and Gradescope's with the zip of `grader autograder gradescope`.

Each takes minutes, root, debootstrap and a network, so only `make check-all` runs them.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT, needs_build

pytestmark = [
    pytest.mark.skipif("LOCKSTEP_ALL" not in os.environ, reason="takes minutes; type: make check-all"),
    pytest.mark.skipif(os.getuid() != 0, reason="mounts file systems: run it as root"),
    pytest.mark.skipif(shutil.which("debootstrap") is None, reason="type: apt-get install debootstrap"),
]
SCRIPTS = ROOT / "harness/dev/clean_root"
FILTER = "harness/dev/clean_root/filter.py"
GRADE = "grader grade reference/sample_class --assignment 01_handson_copy --out /tmp/out"
STUDENT = """
lockstep --version
grader --version
cd /lockstep/assignments/01_handson_copy
status=0; lockstep test || status=$?
[ $status = 1 ] || { echo "lockstep test on a stub ended with $status" >&2; exit 1; }
cp /lockstep/reference/01_handson_copy/copy.cu copy.cu
lockstep test
cd /lockstep
"""
WITHOUT_NAMESPACES = f"""
touch /.dockerenv
status=0; python3 {FILTER} {GRADE} > /tmp/said 2>&1 || status=$?
cat /tmp/said
[ $status != 0 ] && grep -q -- '--security-opt' /tmp/said
python3 {FILTER} {GRADE} --no-sandbox
"""


def in_clean_system(*words: str | Path) -> str:
    """The output of a command in the clean system; it must succeed."""
    ended = subprocess.run([SCRIPTS / "run.sh", *words], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout[-5000:] + ended.stderr[-5000:]
    return ended.stdout


@pytest.mark.parametrize("user", [(), ("--user",)])
@pytest.mark.parametrize("system", ["bookworm", "trixie", "noble"])
def test_a_class_is_graded_from_a_clone(system: str, user: tuple[str, ...]) -> None:
    in_clean_system(*user, system, f"make build && .venv/bin/{GRADE}")


@pytest.mark.parametrize(("system", "after"), [("noble", GRADE), ("bookworm", WITHOUT_NAMESPACES)])
def test_the_dockerfiles_steps(system: str, after: str) -> None:
    words = [sys.executable, SCRIPTS / "dockerfile.py", "/root/lockstep"]
    steps = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    # The Dockerfile starts from an image that has no make either.
    in_clean_system("--bare", system, steps + STUDENT + after)


@needs_build
def test_gradescopes_steps(tmp_path: Path) -> None:
    """With the capabilities that Docker grants, and without the system calls that its default profile refuses."""
    zipped = tmp_path / "autograder.zip"
    command = [ROOT / ".venv/bin/grader", "autograder", "gradescope", zipped, "--assignment", "04_reduction"]
    subprocess.run(command, cwd=ROOT, check=True)
    for name in ("gradescope_steps.sh", "filter.py"):
        shutil.copy(SCRIPTS / name, tmp_path)
    reference = (ROOT / "reference/04_reduction/reduction.cu").read_text()
    probe = (ROOT / "grader/tests/autograder/probe.cu").read_text()
    stub = (ROOT / "assignments/04_reduction/reduction.cu").read_text()
    for path, text in (
        ("reference/reduction.cu", reference),
        ("wrong/solution/src/reduction.cu", reference.replace("__syncthreads();", "")),  # in folders, as in a zip
        ("probe/reduction.cu", probe + re.sub(r"(?m)^void reduce1_interleaved\(.*\) \{$", r"\g<0> probe();", stub)),
        ("empty/notes.txt", "no kernel"),
    ):
        file = tmp_path / "submissions" / path
        file.parent.mkdir(parents=True)
        file.write_text(text)
    said = in_clean_system("--bare", "--with", tmp_path, "jammy", "bash /with/gradescope_steps.sh")
    results = dict(part.split("\n", 1) for part in said.split("\n== ")[1:])
    earned = {}
    for name, text in results.items():
        score = re.search(r"(?m)^score (\S+) of (\S+)$", text)
        assert score is not None, f"{name}:\n{text}"
        earned[name] = float(score[1]) / float(score[2])
    assert earned["reference"] == 1
    assert earned["empty"] == 0
    assert earned["wrong"] < 1
    assert "RACE" in results["wrong"]
    assert "PROBE no" in results["probe"]
    assert set(re.findall("PROBE GOT (.*)", results["probe"])) <= {"/tmp/left-by-the-probe-in-tmp"}
    assert "left behind" not in said
    assert "left running" not in said
