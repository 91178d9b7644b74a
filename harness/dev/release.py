"""`make release`: what a machine without a checkout needs, with checksums and a bill of materials, in out/release.

The wheel holds the grader, `lockstep run`, notebooks' `%%cuda`, `vgpu-run` with the stand-in libraries, and the files
that students begin with; the archive holds what needs no Python. Suites, hidden tests and references are in neither:
`lockstep test` and `grader grade` need a checkout. Both are for the machine that g++ compiles for. For x86-64 they hold
three builds of the virtual GPU: for every processor, for AVX2 and for AVX-512 (harness/vgpu/core/processor_folder.h);
the one for this processor is linked from the checkout's own objects, if they are a release's. For arm64 the build
tree itself is packed. All run with glibc 2.28 or later (glibc_2_28.py).
"""

import argparse
import fcntl
import hashlib
import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
import uuid
from pathlib import Path

import glibc_2_28

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = 'lockstep = "grader.student.command:main"\nvgpu-run = "lockstep:vgpu_run"\n'
LEVELS = {"": ("OFF", "OFF"), "x86-64-v3": ("ON", "OFF"), "x86-64-v4": ("ON", "ON")}  # folder: AVX2, AVX-512
# What is linked into the libraries, by Debian's package: name, address.
LINKED = {
    "libzstd-dev": ("zstd", "https://github.com/facebook/zstd"),
    "libopenblas-dev": ("OpenBLAS", "https://github.com/OpenMathLib/OpenBLAS"),
    "libeigen3-dev": ("Eigen", "https://gitlab.com/libeigen/eigen"),
    "nlohmann-json3-dev": ("nlohmann-json", "https://github.com/nlohmann/json"),
}
ARCHIVE_COMMAND = '#!/bin/sh\nexec "$(dirname "$(readlink -f "$0")")/harness/run.sh" "$@"\n'


def _output(*words: str | Path) -> str:
    return subprocess.run([*map(str, words)], capture_output=True, text=True, check=True).stdout


def _nvcc_packages() -> list[str]:
    """The compiler's Python packages, pinned."""
    lines = (ROOT / "harness/nvcc-requirements.txt").read_text().splitlines()
    return [line for line in lines if line[:1].isalpha()]


def own_level(build: Path) -> str | None:
    """The level, above the lowest, of a build tree with a release's options; None for any other tree."""
    cache = (build / "CMakeCache.txt").read_text()
    as_released = (
        "CMAKE_BUILD_TYPE:STRING=Release LOCKSTEP_SANITIZE:BOOL=OFF LOCKSTEP_DEV:BOOL=OFF CMAKE_CXX_FLAGS:STRING="
    )
    if not all(f"\n{word}\n" in cache for word in as_released.split()):
        return None
    own = tuple("ON" if f"LOCKSTEP_X86_64_V{k}:INTERNAL=1\n" in cache else "OFF" for k in (3, 4))
    return next((level for level, flags in LEVELS.items() if level and flags == own), None)


class Build:
    """The trees that a release is made of."""

    def __init__(self, build: Path, machine: str) -> None:
        """Builds what is stale."""
        nvcc = (build / "nvcc.txt").read_text().strip()
        old = glibc_2_28.cmake_words(build / "release/glibc")
        self.trees = {level: build / "release" / (level or "x86-64") for level in LEVELS}
        if machine == "aarch64":
            self.trees = {"": build}
        own = own_level(build) if machine == "x86_64" else None
        for level, tree in self.trees.items():
            if level == own:
                self.link_again(build, tree, old)
                continue
            words = ["-S", str(ROOT), "-B", str(tree), *old]
            if machine == "x86_64":
                words += ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", f"-DLOCKSTEP_NVCC={nvcc}"]
                words += ["-DLOCKSTEP_TESTS=OFF", "-DLOCKSTEP_BENCH=OFF"]
                words += [f"-DLOCKSTEP_X86_64_V{k}={on}" for k, on in zip((3, 4), LEVELS[level], strict=True)]
            _output("cmake", *words)
            _output("ninja", "-C", tree, "cudart" if level else "vgpu-run")

    @staticmethod
    def link_again(build: Path, tree: Path, old: list[str]) -> None:
        """Links a build tree's runtime into another tree, with the options `old`: the objects are the same."""
        _output("ninja", "-C", build, "cudart")
        command = _output("ninja", "-C", build, "-t", "commands", "-s", "lib/libcudart.so.13")
        flags, _, zstd = (word.partition("=")[2] for word in old)
        (tree / "lib").mkdir(parents=True, exist_ok=True)
        command = command.replace(" -o lib/", f" {flags} -o {shlex.quote(str(tree))}/lib/")
        command = re.sub(r"\S*/libzstd\.so", zstd, command)
        _output("bash", "-c", f"cd {shlex.quote(str(build))} && {command}")

    @staticmethod
    def strip(file: Path, to: Path) -> None:
        """Copies a program or a library without what only a debugger reads."""
        to.parent.mkdir(parents=True, exist_ok=True)
        _output("strip", "--strip-unneeded", "-o", to, file)

    def programs(self, to: Path) -> None:
        """Lays out bin, lib and libexec. A wheel holds no links, so each library has one name only."""
        base = self.trees[""]
        self.strip(base / "bin/vgpu-run", to / "bin/vgpu-run")
        for library in (base / "lib").iterdir():
            if ".so" in library.name and not library.is_symlink():
                self.strip(library, to / "lib" / library.name)
        for level in filter(None, self.trees):
            self.strip(self.trees[level] / "lib/libcudart.so.13", to / "lib" / level / "libcudart.so.13")
        shutil.copytree(base / "libexec", to / "libexec")
        # A library with the driver's name loads the runtime, which has the driver's functions.
        linked = ["-shared", "-nostdlib", "-Wl,-soname,libcuda.so.1", "-Wl,--no-as-needed", "-Wl,-rpath,$ORIGIN"]
        _output("gcc", *linked, "-o", to / "lib/libcuda.so.1", to / "lib/libcudart.so.13")


def glibc_of(folder: Path) -> int:
    """The minor version of the newest glibc that anything in a folder asks for."""
    names = [path for path in folder.rglob("*") if ".so" in path.name or path.parent.name == "bin"]
    return max(map(int, re.findall(r"GLIBC_2\.(\d+)", _output("objdump", "-T", *names))))


def stage(folder: Path, build: Build) -> Path:
    """Lays out the package with what a wheel adds to it, and returns the folder of these additions."""
    for part in ("grader", "templates"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("tests", "__pycache__", "*.egg-info"))
    carried = folder / "grader/src/grader/wheel"
    build.programs(carried / "build")
    (carried / "harness").mkdir()
    shutil.copy(ROOT / "harness/run.sh", carried / "harness")
    for name in _output("git", "-C", ROOT, "ls-files", "assignments").splitlines():
        (carried / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, carried / name)
    toml = folder / "grader/pyproject.toml"
    text = toml.read_text().replace("[project.scripts]\n", f"[project.scripts]\n{SCRIPTS}")
    text = text.replace('"templates/**/*"', '"templates/**/*", "wheel/**/*"')
    toml.write_text(
        text.replace(
            "\n[project.scripts]", f"\n[project.optional-dependencies]\nnvcc = {_nvcc_packages()}\n\n[project.scripts]"
        )
    )
    return carried


def make_wheel(folder: Path, tag: str, out: Path) -> Path:
    """Makes the wheel of a staged package."""
    words = ["wheel", "-q", "--no-deps", "--no-build-isolation", "--no-index", "-w", str(folder)]
    # With this tag an old Python's pip refuses it at once; with requires-python alone it tries versions for minutes.
    option = f"--config-settings=--build-option=--plat-name={tag} --python-tag=py311"
    subprocess.run([sys.executable, "-m", "pip", *words, option, f"{folder}/grader"], check=True)
    (made,) = folder.glob("*.whl")
    return Path(shutil.move(made, out / made.name))


def make_archive(folder: Path, carried: Path, name: str, out: Path) -> Path:
    """Packs what needs no Python: unpacked anywhere, `NAME/lockstep-run my.cu` runs a program."""
    root = folder / name
    for part in ("build", "harness"):
        shutil.copytree(carried / part, root / part)
    (root / "lockstep-run").write_text(ARCHIVE_COMMAND)
    for program in (root / "lockstep-run", root / "harness/run.sh"):
        program.chmod(0o755)
    owner = ["--owner=0", "--group=0", "--sort=name", "--use-compress-program=zstd -19 -T0"]
    _output("tar", "-C", folder, *owner, "-cf", out / f"{name}.tar.zst", name)
    return out / f"{name}.tar.zst"


def bill_of_materials(version: str) -> dict[str, object]:
    """A release's parts, and the packages that it depends on, as CycloneDX 1.5."""
    parts: list[dict[str, object]] = []
    for package, (name, address) in LINKED.items():
        listed = _output("dpkg-query", "-W", "-f", "${Version}", package)
        found = {"type": "library", "name": name, "version": listed, "purl": f"pkg:deb/debian/{package}@{listed}"}
        parts.append(found | {"scope": "required", "externalReferences": [{"type": "website", "url": address}]})
    needed = tomllib.loads((ROOT / "grader/pyproject.toml").read_text())["project"]["dependencies"]
    for scope, words in (("required", needed), ("optional", _nvcc_packages())):
        for word in words:
            name, constraint = re.fullmatch(r"([\w-]+)(.*)", word).groups()  # type: ignore[union-attr]
            exact = constraint.removeprefix("==")
            at = f"@{exact}" if constraint.startswith("==") else ""
            part: dict[str, object] = {"type": "library", "name": name, "purl": f"pkg:pypi/{name}{at}", "scope": scope}
            parts.append(part | ({"version": exact} if at else {"description": f"{name}{constraint}, fetched by pip"}))
    ours = {"type": "application", "name": "lockstep", "version": version, "bom-ref": "lockstep"}
    serial = f"urn:uuid:{uuid.uuid4()}"
    return {"bomFormat": "CycloneDX", "specVersion": "1.5", "serialNumber": serial, "version": 1} | {
        "metadata": {"component": ours},
        "components": parts,
    }


def main() -> None:
    """Makes a release."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path, help="a checkout's build tree; other builds go to its folder release")
    parser.add_argument("out", type=Path, help="where to put it")
    given = parser.parse_args()
    machine = _output("g++", "-dumpmachine").partition("-")[0]
    if machine not in ("x86_64", "aarch64"):
        sys.exit(f"release.py makes releases for x86-64 and arm64; g++ compiles for {machine}")
    build, out = given.build.resolve(), given.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    (build / "release").mkdir(exist_ok=True)
    lock = (build / "release/lock").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)  # one at a time in the trees
    trees = Build(build, machine)
    version = re.findall(r'__version__ = "(.*)"', (ROOT / "grader/src/grader/__init__.py").read_text())[0]
    with tempfile.TemporaryDirectory(prefix="lockstep-") as scratch:
        carried = stage(Path(scratch), trees)
        if machine == "aarch64":  # its own tree was linked for an old libc: undo that
            _output("cmake", "-U", "CMAKE_*_LINKER_FLAGS", "-U", "ZSTD_LIBRARY", build)
        tag = f"manylinux_2_{max(glibc_2_28.NEWEST[1], glibc_of(carried / 'build'))}_{machine}"
        made = [make_wheel(Path(scratch), tag, out)]
        made.append(make_archive(Path(scratch), carried, f"lockstep-{version}-linux-{machine}", out))
    bill = out / f"lockstep-{version}.cdx.json"
    bill.write_text(json.dumps(bill_of_materials(version), indent=1) + "\n")
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in (*made, bill)]
    (out / "SHA256SUMS").write_text("".join(sums))
    for path in made:
        print(f"{path}  {path.stat().st_size >> 20} MiB")
    print(f"Type:  pip install --no-compile '{made[0]}'      and then:  lockstep run my.cu --check")


if __name__ == "__main__":
    main()
