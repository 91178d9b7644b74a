#!/usr/bin/env python3
"""arm64 Linux on an x86-64 machine: builds Lockstep for it, runs it with qemu, and compares results with those here.

    harness/dev/arm64.py FOLDER build [TARGET …]               # in FOLDER/build; Debian 12's libraries: FOLDER/sysroot
    harness/dev/arm64.py FOLDER run COMMAND …                  # with an nvcc and a g++ that compile for arm64
    harness/dev/arm64.py FOLDER compare BUILD [ASSIGNMENT …]   # the references' full suites: on arm64, here from BUILD

`arm64.py FOLDER run ctest --test-dir FOLDER/build` runs the C++ tests. `arm64.py FOLDER run .venv/bin/grader check
04_reduction --build FOLDER/build --only nothing` measures the reference, whose figures must be those on record. Needs
root and Debian's packages g++-aarch64-linux-gnu, qemu-user-static and debootstrap, on Linux 6.7 or newer.

Theory of operation. Each command runs in its own user and mount namespaces: binfmt_misc starts arm64 programs with
qemu, the sysroot's loader and libraries are mounted next to this machine's, the cross compiler's tools replace those
that nvcc and the scripts call, and the toolkit is presented as one for arm64, which differs only in its libraries. The
rest of the machine is unaffected.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = (
    "g++ libc6-dev libgfortran-12-dev libopenblas-dev libeigen3-dev libzstd-dev nlohmann-json3-dev libgtest-dev"
    " libtomlplusplus-dev libpython3-dev python3-dev libseccomp2"
)
_MAGIC = r"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00"
_MASK = r"\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff"
FORMAT = f":arm64:M::{_MAGIC}:{_MASK}:/usr/bin/qemu-aarch64-static:FP"
# Begins by waiting for a line on stdin, which comes once the namespace's user mapping is written.
ENTER = f"""set -e; read -r _
mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
printf %s '{FORMAT}' > /proc/sys/fs/binfmt_misc/register
exec 0< /dev/null"""
CROSS = """mount -t overlay none -o "lowerdir=/usr/lib:$SYSROOT/usr/lib" /usr/lib
for tool in g++ gcc nm objcopy objdump strip; do mount --bind /usr/bin/aarch64-linux-gnu-$tool /usr/bin/$tool; done
mount -t tmpfs none "$TOOLKIT/targets" && mkdir "$TOOLKIT/targets/aarch64-linux"
ln -s "$TOOLKIT/include" "$TOOLKIT/targets/aarch64-linux/include\""""


def emulate(words: Sequence[str | Path], mounts: str = "", **environment: str) -> int:
    """Runs a command with arm64 programs started by qemu; returns its status."""
    script = f'{ENTER}\n{mounts}\nexec "$@"'
    enter = ["unshare", "--user", "--mount", "--propagation", "private", "bash", "-c"]
    started = subprocess.Popen(
        [*enter, script, "arm64.py", *map(str, words)],
        stdin=subprocess.PIPE,
        env=os.environ | {"container": "lxc"} | environment,  # so that debootstrap does not try to make devices
    )
    ours = Path("/proc/self/ns/user").readlink()
    while started.poll() is None and Path(f"/proc/{started.pid}/ns/user").readlink() == ours:
        time.sleep(0.01)
    for kind in ("uid_map", "gid_map"):
        Path(f"/proc/{started.pid}/{kind}").write_text("0 0 65536\n")
    started.communicate(b"\n")
    return started.returncode


class Machine:
    """A folder with the sysroot and the build tree."""

    def __init__(self, folder: Path) -> None:
        """Makes the sysroot where it is missing."""
        self.sysroot, self.build = folder / "sysroot", folder / "build"
        self.nvcc = Path((ROOT / "build/nvcc.txt").read_text().strip())
        if not (self.sysroot / "complete").exists():
            # Packages are unpacked, not installed: their installation scripts would take half an hour with qemu.
            words = ["debootstrap", "--foreign", "--arch=arm64", f"--include={','.join(PACKAGES.split())}"]
            subprocess.run([*words, "--variant=minbase", "bookworm", self.sysroot], check=True)
            script = 'dpkg-deb --fsys-tarfile "$0" | tar -C "$1" --keep-directory-symlink -x'
            words = ["bash", "-o", "pipefail", "-c", script]
            for package in (self.sysroot / "var/cache/apt/archives").glob("*.deb"):
                subprocess.run([*words, package, self.sysroot], check=True)
            for link in (self.sysroot / "usr/lib/aarch64-linux-gnu").iterdir():
                if link.is_symlink() and (to := link.readlink()).is_absolute():
                    link.unlink()  # it would lead into this machine's libraries
                    link.symlink_to(os.path.relpath(f"{self.sysroot}{to}", link.parent))
            (self.sysroot / "complete").touch()

    def make(self, targets: Sequence[str]) -> int:
        """Configures if necessary, and builds."""
        if not (self.build / "build.ninja").exists():
            flags = f"-DCMAKE_TOOLCHAIN_FILE={ROOT}/harness/dev/arm64.cmake -DLOCKSTEP_SYSROOT={self.sysroot}"
            flags += f" -DCMAKE_BUILD_TYPE=Release -DLOCKSTEP_BENCH=OFF -DLOCKSTEP_NVCC={self.nvcc}"
            subprocess.run(f"cmake -G Ninja -S {ROOT} -B {self.build} {flags}".split(), check=True)
            (self.build / "nvcc.txt").write_text(f"{self.nvcc}\n")
        return self.run(["ninja", "-C", self.build, *targets])

    def run(self, words: Sequence[str | Path]) -> int:
        """Runs a command with the arm64 tools; returns its status."""
        toolkit = str(self.nvcc.resolve().parents[1])
        return emulate(words, CROSS, SYSROOT=str(self.sysroot), TOOLKIT=toolkit)

    def compare(self, build: Path, name: str) -> list[str]:
        """The differences between a reference's full suite here, in the tree `build`, and on arm64."""
        settings = tomllib.loads((ROOT / f"assignments/{name}/assignment.toml").read_text("utf-8"))
        results = []
        with tempfile.TemporaryDirectory(prefix="arm64-") as scratch:
            for tree in (build, self.build):
                worker, result = f"{scratch}/worker", Path(scratch) / ("here" if tree == build else "there")
                course = f"--assignment {ROOT}/assignments/{name}"
                source = f"--source {ROOT}/reference/{name}/{settings['submission']}"
                script = f"{ROOT}/harness/worker/build.sh {course} {source} --build {tree} --out {worker}"
                script += f" && {tree}/bin/{name}_full_suite --quiet --seed=7 {course.replace(' ', '=')}"
                script += f" --worker={worker} --result={result} > /dev/null"
                run = self.run if tree == self.build else subprocess.call
                status = run(["bash", "-c", script])
                results.append(json.loads(result.read_text()) if result.exists() else {})
                results[-1]["status"] = status
        here, there = results
        return differences(here, there)


def differences(here: Any, there: Any, place: str = "") -> list[str]:
    """The places where two results differ, except times."""
    if isinstance(here, dict) and isinstance(there, dict):
        keys = [key for key in here | there if key != "seconds"]
        return [line for key in keys for line in differences(here.get(key), there.get(key), f"{place}.{key}")]
    if isinstance(here, list) and isinstance(there, list) and len(here) == len(there):
        return [
            line for k, pair in enumerate(zip(here, there, strict=True)) for line in differences(*pair, f"{place}[{k}]")
        ]
    return [] if here == there else [f"{place}: {here} here, {there} on arm64"]


def main() -> None:
    """Runs the requested action."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the sysroot and the build are or go; 8 GB")
    parser.add_argument("what", choices=("build", "run", "compare"))
    parser.add_argument("words", nargs=argparse.REMAINDER, help="targets, a command, or a tree and assignments")
    given = parser.parse_args()
    machine = Machine(given.folder.resolve())
    if given.what == "build":
        sys.exit(machine.make(given.words or ["core"]))
    if given.what == "run":
        sys.exit(machine.run(given.words))
    build, *names = given.words
    differing = 0
    for name in names or sorted(path.name for path in (ROOT / "reference").glob("[0-9]*_*")):
        lines = machine.compare(Path(build).resolve(), name)
        print(f"{name}: {len(lines) or 'no'} differences", *lines[:10], sep="\n  ", flush=True)
        differing += len(lines)
    sys.exit(bool(differing))


if __name__ == "__main__":
    main()
