"""The grader as a wheel: built without a network, installed without the checkout, and run."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from conftest import BUILD, ROOT, needs, needs_build
from grader import __version__
from grader.base.layout import Layout

_FIRST_WITH_WHEELS = 71  # the setuptools that pyproject.toml asks for


def _setuptools() -> int:
    try:
        return int(version("setuptools").partition(".")[0])
    except PackageNotFoundError:
        return 0


pytestmark = [
    needs(
        _setuptools() >= _FIRST_WITH_WHEELS,
        f"setuptools {_FIRST_WITH_WHEELS} is missing; type: harness/setup.sh --dev",
    ),
    pytest.mark.in_turn,
]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy: setuptools leaves a folder `build` behind, and would take old files from it.

    Links stay links, as in a checkout: the package's templates are those at the top.
    """
    folder = tmp_path_factory.mktemp("wheel")
    unwanted = shutil.ignore_patterns("build", "*.egg-info", "__pycache__", "tests")
    for part in ("grader", "templates"):
        shutil.copytree(ROOT / part, folder / part, ignore=unwanted, symlinks=True)
    _run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "--no-index",
         "-w", str(folder), str(folder / "grader"))  # fmt: skip
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def grader(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """The installed command."""
    folder = installed(wheel, tmp_path_factory.mktemp("venv"))
    return lambda *words: _run(str(folder / "bin" / "grader"), *words, check=False)


def installed(wheel: Path, folder: Path) -> Path:
    """An environment with a wheel. What that depends on comes from the environment that runs the tests."""
    _run(sys.executable, "-m", "venv", "--without-pip", str(folder))
    python = folder / "bin" / "python"
    _run(sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--no-deps", "--no-index", str(wheel))
    site = next(folder.glob("lib/python*/site-packages"))
    paths = {sysconfig.get_path("purelib"), *(path for path in sys.path if path.endswith("site-packages"))}
    (site / "dependencies.pth").write_text("\n".join(sorted(paths)))
    return folder


def _run(*words: str, check: bool = True) -> "subprocess.CompletedProcess[str]":
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ended = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert not check or ended.returncode == 0, ended.stdout + ended.stderr
    return ended


def test_it_holds_the_package_and_its_templates(wheel: Path) -> None:
    assert wheel.name == f"lockstep_grader-{__version__}-py3-none-any.whl"
    package = ROOT / "grader" / "src"
    sources = {str(path.relative_to(package)) for path in package.rglob("*.py")}
    templates = {f"grader/{path.relative_to(ROOT)}" for path in (ROOT / "templates").rglob("*") if path.is_file()}
    assert len(templates) > 20
    with zipfile.ZipFile(wheel) as archive:
        assert {name for name in archive.namelist() if ".dist-info/" not in name} == sources | templates


def test_it_runs_in_a_fresh_environment(grader: Callable[..., "subprocess.CompletedProcess[str]"]) -> None:
    assert grader("--version").stdout == f"grader, version {__version__}\n"
    assert "grader grade week4.zip" in grader("--help").stdout


def test_it_says_that_it_needs_a_checkout(
    grader: Callable[..., "subprocess.CompletedProcess[str]"], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "submissions").mkdir()
    ended = grader("grade", "submissions", "--no-sandbox")
    assert ended.returncode != 0
    assert "no Lockstep checkout around this folder.\nType:  cd path/to/lockstep" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.daily
def test_it_grades_in_a_checkout_once_that_is_built(
    grader: Callable[..., "subprocess.CompletedProcess[str]"], in_checkout: Layout, submissions: Callable[..., Path]
) -> None:
    folder = submissions(ada="", bob="// fail alpha_one WRONG")
    suite = in_checkout.public_suite("90_fake")
    suite.rename(suite.with_suffix(".later"))
    unbuilt = grader("grade", str(folder), "--no-sandbox")
    assert unbuilt.returncode != 0
    assert "Type:  make build " in unbuilt.stderr
    suite.with_suffix(".later").rename(suite)
    graded = grader("grade", str(folder), "--no-sandbox")
    assert graded.returncode == 0, graded.stdout + graded.stderr
    assert (in_checkout.root / "out" / "index.html").is_file()
    assert grader("handout", "given").returncode == 0
    assert Path("given/README.md").is_file()


SAXPY = """#include <cstdio>
__global__ void saxpy(int n, float a, const float* x, float* y) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <{more} n) y[i] = a * x[i] + expf(y[i]);
}}
int main() {{
  float *x, last;
  cudaMalloc(&x, 4000);
  cudaMemset(x, 0, 4000);
  saxpy<<<4, 256>>>(1000, 2, x, x);
  if (cudaMemcpy(&last, x + 999, 4, cudaMemcpyDefault) == cudaSuccess) std::printf("%g\\n", last);
  cudaFree(x);
}}
"""


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that `make release` writes."""
    out = tmp_path_factory.mktemp("release")
    said = _run(sys.executable, str(ROOT / "harness/dev/release.py"), str(BUILD), str(out)).stdout
    (wheel,) = out.glob("*.whl")
    assert f"pip install --no-compile '{wheel}'" in said
    assert {line.split()[1] for line in (out / "SHA256SUMS").read_text().splitlines()} == {
        path.name for path in out.iterdir() if path.name != "SHA256SUMS"
    }
    return out


@pytest.fixture
def without_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on a machine with nvcc and a compiler."""
    nvcc = Path((BUILD / "nvcc.txt").read_text().strip()).parent
    monkeypatch.setenv("PATH", f"{nvcc}:/usr/bin:/bin")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def nvcc_alone(folder: Path) -> Path:
    """A PATH without a host compiler."""
    folder.mkdir()
    for name in ("bash", "dirname", "mktemp", "rm", "basename", "cat", "ls", "env", "getconf", "sort", "head", "nvcc"):
        (folder / name).symlink_to(shutil.which(name) or "")
    return folder


@pytest.mark.daily
@needs_build
def test_a_release_runs_a_program_without_a_checkout(
    release: Path, without_checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (wheel,) = release.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert not [name for name in archive.namelist() if name.endswith("_test.cc")]
        assert "grader/wheel/assignments/04_reduction/reduction.cu" in archive.namelist()
    programs = installed(wheel, without_checkout / "venv") / "bin"
    for more, found in (("", "Findings\n  none"), ("=", "saxpy.cu:4")):
        Path("saxpy.cu").write_text(SAXPY.format(more=more))
        ended = _run(str(programs / "lockstep"), "run", "saxpy.cu", "--check")
        assert found in ended.stdout + ended.stderr
        assert (ended.stdout == "1\n") == (not more)
    assert _run(str(programs / "vgpu-run"), "--version").stdout == f"vgpu-run, version {__version__}\n"
    assert "checkout" in _run(str(programs / "lockstep"), "test", check=False).stderr
    assert "-py311-" in wheel.name  # so that an older Python's pip refuses it at once
    own_nvcc = shutil.which("nvcc") or ""
    without_compiler = nvcc_alone(without_checkout / "bin")
    Path("older").mkdir()
    Path("older/nvcc").write_text("#!/bin/sh\necho release 12.2, V12.2.140\n")
    Path("older/nvcc").chmod(0o755)
    monkeypatch.setenv("PATH", f"{without_checkout}/older:{os.environ['PATH']}")
    assert f"ok  {own_nvcc}, " in _run(str(programs / "lockstep"), "doctor").stdout
    refused = _run(str(programs / "lockstep"), "run", str(programs / "vgpu-run"), check=False)
    assert (refused.returncode, "bin/vgpu-run" in refused.stderr.partition("Type:")[2]) == (2, True)
    monkeypatch.setenv("PATH", str(without_compiler))
    assert "apt-get install g++" in _run(str(programs / "lockstep"), "run", "saxpy.cu", check=False).stderr
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    if not shutil.which("nvcc"):
        refused = _run(str(programs / "lockstep"), "run", "saxpy.cu", check=False)
        assert "There is no nvcc of CUDA 13. Type:  make build" in refused.stderr


@pytest.mark.daily
@needs_build
def test_an_archive_computes_the_same_with_each_processors_vectors(release: Path, without_checkout: Path) -> None:
    (packed,) = release.glob("*.tar.zst")
    _run("tar", "-xf", str(packed))
    (root,) = without_checkout.glob("lockstep-*")
    Path("saxpy.cu").write_text(SAXPY.format(more=""))
    assert "Findings\n  none" in _run(str(root / "lockstep-run"), "--check", "saxpy.cu").stderr
    _run("nvcc", "-std=c++17", "-cudart", "shared", "-o", "saxpy", "saxpy.cu")
    run, libraries = str(root / "build/bin/vgpu-run"), root / "build/lib"
    searched = _run(run, "/bin/sh", "-c", "echo ${LD_LIBRARY_PATH%%:*}").stdout.strip()
    chosen = Path(searched).relative_to(libraries)
    levels = {level.name: level for level in libraries.iterdir() if level.is_dir()}
    ours = {name: path for name, path in levels.items() if path.name <= str(chosen)}
    assert sorted(levels) == ["x86-64-v3", "x86-64-v4"]
    assert chosen == Path() or str(chosen) in levels
    texts = set()
    for level in (None, *ours.values()):
        kept = without_checkout / "kept"
        shutil.copytree(root, kept)
        shutil.rmtree(kept / "build/lib" / chosen) if ours else None
        if level:
            shutil.copytree(level, kept / "build/lib" / chosen)
        said = _run(str(kept / "build/bin/vgpu-run"), "--counters=counters", "./saxpy").stdout
        texts.add(said + Path("counters").read_text())
        shutil.rmtree(kept)
    assert len(texts) == 1


@pytest.mark.daily
@needs_build
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="type: apt-get install bubblewrap")
def test_an_archive_on_machines_that_lack_something(release: Path, without_checkout: Path) -> None:
    """Where only /run can be written, there is no home, libc is old, or two versions are unpacked."""
    (packed,) = release.glob("*.tar.zst")
    runs = []
    for name in ("one version", "another"):
        Path(name).mkdir()
        _run("tar", "-C", name, "-xf", str(packed))
        runs += (without_checkout / name).glob("lockstep-*/lockstep-run")
    Path("saxpy.cu").write_text(SAXPY.format(more=""))
    own = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    own += ["--tmpfs", "/run", "--setenv", "TMPDIR", "/run"]
    ended = _run(*own, "--setenv", "HOME", "/nowhere", str(runs[0]), "--check", "saxpy.cu")
    assert (ended.stdout, "Findings\n  none" in ended.stderr) == ("1\n", True)
    vgpu_runs = [str(run.parent / "build/bin/vgpu-run") for run in runs]
    _run("nvcc", "-std=c++17", "-cudart", "static", "-o", "static", "saxpy.cu")
    _run("strip", "-o", "stripped", "static")
    for run in vgpu_runs:
        shown = _run(vgpu_runs[0], run, "/bin/sh", "-c", "echo $LD_LIBRARY_PATH").stdout
        assert shown.startswith(str(Path(run).parents[1] / "lib"))
        assert _run(run, "--check", "./static").stdout == "1\n"
    refused = _run(vgpu_runs[0], "./stripped", check=False)
    assert refused.returncode != 0
    assert "-cudart shared" in refused.stderr
    Path("old").mkdir()
    Path("old/getconf").write_text("#!/bin/sh\necho glibc 2.27\n")
    Path("old/getconf").chmod(0o755)
    refused = _run("env", f"PATH={without_checkout}/old:{os.environ['PATH']}", str(runs[0]), "saxpy.cu", check=False)
    assert (refused.returncode, "This system has glibc 2.27; Lockstep needs" in refused.stderr) == (3, True)


CLEAN = """
apt-get update -qq && apt-get install -y -qq --no-install-recommends g++ python3-venv > /dev/null
mkdir "/tmp/my course" && cd "/tmp/my course" && cp /with/saxpy.cu . && SECONDS=0
python3 -m venv here && here/bin/pip download -q -d got "$(ls /with/*.whl)[nvcc]" && echo "fetched after $SECONDS s"
du -cm got/nvidia* | sed -n '$s/total/MiB of nvcc/p'
du -cm --exclude='nvidia*' got/* | sed -n '$s/total/MiB beside it/p'
unshare -n here/bin/pip install -q --no-compile --no-index -f got 'lockstep-grader[nvcc]' &&
  echo "installed after $SECONDS s"
here/bin/lockstep run saxpy.cu --check 2>&1 && echo "run after $SECONDS s, of a processor (with apt-get):" && times
"""


@pytest.mark.daily
@needs_build
@pytest.mark.skipif(os.getuid() != 0, reason="mounts file systems: run it as root")
@pytest.mark.skipif(shutil.which("debootstrap") is None, reason="type: apt-get install debootstrap")
@pytest.mark.parametrize("system", ["bookworm", "noble"])
def test_a_clean_system_runs_a_program_with_a_wheel(release: Path, tmp_path: Path, system: str) -> None:
    (wheel,) = release.glob("*.whl")
    shutil.copy(wheel, tmp_path)
    (tmp_path / "saxpy.cu").write_text(SAXPY.format(more=""))
    said = _run(str(ROOT / "harness/dev/clean_root/run.sh"), "--bare", "--with", str(tmp_path), system, CLEAN).stdout
    print(said)
    assert "\n1\n" in said
    assert "Findings\n  none" in said


@pytest.mark.daily
@needs_build
def test_a_bill_names_what_a_release_is_made_of(release: Path) -> None:
    (bill,) = release.glob("*.cdx.json")
    components = json.loads(bill.read_text())["components"]
    assert {"zstd", "OpenBLAS", "jinja2", "pandas", "nvidia-cuda-nvcc"} <= {one["name"] for one in components}
    assert all(one["version"] for one in components if one["purl"].startswith("pkg:deb/"))
    assert all(one["scope"] == "optional" for one in components if one["name"].startswith("nvidia-"))
