"""`make release`: a wheel for machines without a compiler or a checkout, and its checksum, in out/release.

It holds the grader, `lockstep run`, notebooks' `%%cuda`, `vgpu-run` with the stand-in libraries, and the files that
students begin with. Suites, hidden tests and references are not in it: `lockstep test` and `grader grade` need a
checkout.
"""

import hashlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = 'lockstep = "grader.student.command:main"\nvgpu-run = "lockstep:vgpu_run"\n'


def _output(*words: str) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def stage(folder: Path, build: Path) -> None:
    """Lays out the package with what a wheel adds to it. The libraries' own names only: a wheel holds no links."""
    for part in ("grader", "templates"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("tests", "__pycache__", "*.egg-info"))
    carried = folder / "grader/src/grader/wheel"
    for name in ("bin", "lib"):
        (carried / "build" / name).mkdir(parents=True)
    libraries = [path for path in (build / "lib").iterdir() if ".so" in path.name and not path.is_symlink()]
    for path in (build / "bin/vgpu-run", *libraries):
        to = carried / path.relative_to(build.parent)
        _output("strip", "--strip-unneeded", "-o", str(to), str(path))
    (carried / "harness").mkdir()
    shutil.copy(ROOT / "harness/run.sh", carried / "harness")
    for name in _output("git", "-C", str(ROOT), "ls-files", "assignments").splitlines():
        (carried / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, carried / name)
    toml = folder / "grader/pyproject.toml"
    nvcc = [line for line in (ROOT / "harness/nvcc-requirements.txt").read_text().splitlines() if line[:1].isalpha()]
    text = toml.read_text().replace("[project.scripts]\n", f"[project.scripts]\n{SCRIPTS}")
    text = text.replace('"templates/**/*"', '"templates/**/*", "wheel/**/*"')
    toml.write_text(
        text.replace("\n[project.scripts]", f"\n[project.optional-dependencies]\nnvcc = {nvcc}\n\n[project.scripts]")
    )


def platform_of(folder: Path) -> str:
    """The wheel's tag: the newest glibc that anything in it asks for."""
    names = [str(path) for path in folder.rglob("*") if path.parent.name in ("bin", "lib") and path.is_file()]
    newest = max(map(int, re.findall(r"GLIBC_2\.(\d+)", _output("objdump", "-T", *names))))
    return f"manylinux_2_{newest}_{platform.machine()}"


def main() -> None:
    """Makes the wheel of a build tree: release.py BUILD OUT."""
    build, out = (Path(word).resolve() for word in sys.argv[1:])
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="lockstep-") as scratch:
        stage(Path(scratch), build)
        tag = platform_of(Path(scratch) / "grader/src/grader/wheel")
        words = ["wheel", "-q", "--no-deps", "--no-build-isolation", "--no-index", "-w", scratch]
        option = f"--config-settings=--build-option=--plat-name={tag}"
        subprocess.run([sys.executable, "-m", "pip", *words, option, f"{scratch}/grader"], check=True)
        (made,) = Path(scratch).glob("*.whl")
        wheel = Path(shutil.move(made, out / made.name))
    (out / "SHA256SUMS").write_text(f"{hashlib.sha256(wheel.read_bytes()).hexdigest()}  {wheel.name}\n")
    print(f"{wheel}  {wheel.stat().st_size >> 20} MiB")
    print(f"Type:  pip install '{wheel}'      and then:  lockstep run my.cu --check")


main()
