"""harness/setup.sh finds the nvcc whose headers are beside it, whatever on PATH is called nvcc."""

import os
import subprocess
from pathlib import Path

from conftest import BUILD, ROOT, needs

pytestmark = needs((BUILD / "nvcc.txt").is_file(), "the build tree is not set up; type: make build")


def set_up(folder: Path) -> tuple[str, str]:
    """The nvcc that a build tree is set up with where ``folder`` is first on PATH, and what was printed."""
    tree = folder / "tree"
    run = subprocess.run(
        [str(ROOT / "harness/setup.sh"), "--student", "--build", str(tree)],
        env=os.environ | {"PATH": f"{folder}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    return (tree / "nvcc.txt").read_text().strip(), run.stdout


def real() -> Path:
    return Path((BUILD / "nvcc.txt").read_text().strip())


def test_a_script_that_runs_another_nvcc(tmp_path: Path) -> None:
    script = tmp_path / "nvcc"
    script.write_text(f'#!/bin/sh\nexec {real().resolve()} "$@"\n')
    script.chmod(0o755)
    found, said = set_up(tmp_path)
    assert found == str(real().resolve())
    assert f"nvcc: {found}" in said


def test_a_link_without_headers_beside_it(tmp_path: Path) -> None:
    (tmp_path / "nvcc").symlink_to(real())
    found, _ = set_up(tmp_path)
    assert Path(found).resolve() == real().resolve()
    assert (Path(found).parent / "../include/cuda_runtime.h").is_file()


def test_one_that_does_not_run_is_passed_over(tmp_path: Path) -> None:
    script = tmp_path / "nvcc"
    script.write_text("#!/bin/sh\nexit 1\n")
    script.chmod(0o755)
    found, _ = set_up(tmp_path)
    assert Path(found).resolve() == real().resolve()
