"""harness/setup.sh finds the nvcc with matching headers, and its doctor reports missing requirements."""

import os
import subprocess
from pathlib import Path

from conftest import BUILD, ROOT, needs

pytestmark = needs((BUILD / "nvcc.txt").is_file(), "the build tree is not set up; type: make build")


def set_up(folder: Path) -> tuple[str, str]:
    """The nvcc used for a build tree if ``folder`` is first on PATH, and the output."""
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


def doctor(folder: Path, **programs: str) -> tuple[int, str]:
    """The status and output of setup.sh --doctor, with shell scripts as the first programs on PATH."""
    for name, script in programs.items():
        path = folder / name.replace("_", "-")
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
    run = subprocess.run(
        [str(ROOT / "harness/setup.sh"), "--doctor", "--build", str(folder / "tree")],
        env=os.environ | {"PATH": f"{folder}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    return run.returncode, run.stdout


def test_the_doctor_installs_nothing_and_says_what_to_type(tmp_path: Path) -> None:
    status, said = doctor(tmp_path, nvidia_smi="exit 9")
    assert status == 0
    assert "no NVIDIA GPU: everything runs on the virtual GPU" in said
    assert "Type:  make build" in said
    assert not (tmp_path / "tree").exists()


def test_the_doctor_tells_which_toolkit_and_driver_do(tmp_path: Path) -> None:
    nvcc = 'echo "Cuda compilation tools, release 12.4, V12.4.99"'
    _, said = doctor(tmp_path, nvcc=nvcc, nvidia_smi="echo 'Tesla P100, 535.104, 6.0'")
    assert "old      nvcc 12.4" in said
    assert "Tesla P100, driver 535.104: CUDA 13 needs driver 580" in said
    _, said = doctor(tmp_path, nvidia_smi="echo 'NVIDIA H100 80GB HBM3, 580.159.04, 9.0'")
    assert "DEVICE=cuda runs the tests on it" in said
    status, said = doctor(tmp_path, ninja="exit 1", python3="exit 1")
    assert (status, "Type:  make setup, or: sudo apt-get install python3-venv" in said) == (1, True)
