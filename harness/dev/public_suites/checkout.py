"""What a checkout of CUDA samples says about its samples: their sources, what they link, how they are run.

A sample is a folder with a `CMakeLists.txt` that names an executable and its sources. What that file asks for
beyond the CUDA runtime and driver (cuBLAS, OpenGL, NVRTC) counts only where the sample's sources include a header
of it: some samples name a library that they do not use. Kernels that the program loads itself are built where the
file says. The checkout's `test_args.json`, where there is one, gives arguments.
"""

import argparse
import json
import re
import shutil
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from trial import Finished, execute

CUDA_SOURCE, HOST_SOURCES = ".cu", (".c", ".cc", ".cpp", ".cxx")
HEADERS = (".h", ".hpp", ".cuh", ".inl")
DRIVER_HEADER, DRIVER_CALL = "cuda.h", re.compile(r"\bcu(?!da)[A-Z]\w+\s*\(")
# Headers of CUDA parts other than the runtime, by the first letters of their names; device headers are none of these.
PARTS = {
    "cudla": "cuDLA",
    "nvrtc": "NVRTC",
    "cublas": "cuBLAS",
    "cusparse": "cuSPARSE",
    "cusolver": "cuSOLVER",
    "cufft": "cuFFT",
    "curand.h": "cuRAND",
    "npp": "NPP",
    "nvjpeg": "nvJPEG",
    "nvJitLink": "nvJitLink",
    "nvsci": "NvSci",
    "cuda_gl_interop": "OpenGL",
    "cuda_egl_interop": "EGL",
    "cudaEGL": "EGL",
    "d3d": "Direct3D",
    "vulkan": "Vulkan",
    "mpi.h": "MPI",
    "FreeImage": "FreeImage",
}
# Parts for which our build may have a library, and its name.
STAND_INS = {
    "cuBLAS": "cublas",
    "cuFFT": "cufft",
    "cuRAND": "curand",
    "cuSPARSE": "cusparse",
    "cuSOLVER": "cusolver",
    "NVRTC": "nvrtc",
    "nvJitLink": "nvJitLink",
}
PACKAGES = {"OpenGL": "OpenGL", "GLUT": "OpenGL", "Vulkan": "Vulkan", "EGL": "EGL", "NVSCI": "NvSci"}


@dataclass(frozen=True)
class Sample:
    """One sample: its folder, the executable that its CMakeLists.txt names, and that executable's sources."""

    name: str
    folder: Path
    sources: tuple[Path, ...]
    packages: frozenset[str]
    separable: bool  # its objects' device code is linked, with the device runtime: CUDA_SEPARABLE_COMPILATION
    loaded: tuple[tuple[str, str], ...]  # files of kernels, .fatbin or .ptx, each with its source's name

    @property
    def calls_driver(self) -> bool:
        """Whether it calls the driver API, beyond using its types and macros."""
        return any(Path(name).name == DRIVER_HEADER for name in self.includes) and bool(DRIVER_CALL.search(self.text))

    @cached_property
    def text(self) -> str:
        """The sample's own files, one after another."""
        files = (
            path for path in sorted(self.folder.rglob("*")) if path.suffix in (CUDA_SOURCE, *HOST_SOURCES, *HEADERS)
        )
        return "\n".join(_text(path) for path in files if path.is_file())

    @cached_property
    def includes(self) -> frozenset[str]:
        """Names in the `#include` lines of the sample's own files."""
        return frozenset(re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', self.text, re.MULTILINE))

    @cached_property
    def needs(self) -> str:
        """What the sample needs besides the runtime API and the C++ library, or an empty string."""
        for package in sorted(self.packages & PACKAGES.keys()):
            return PACKAGES[package]
        for include in sorted(self.includes):
            name = include.rsplit("/", 1)[-1]
            for prefix, part in PARTS.items():
                if name.startswith(prefix):
                    return part
        if self.calls_driver:
            return ""
        if not any(source.suffix == CUDA_SOURCE for source in self.sources) and "cuda_runtime.h" not in self.includes:
            return "no CUDA runtime"
        return ""

    def lacks(self, libraries: Path) -> str:
        """What the sample needs that our libraries in this folder do not stand in for, or an empty string."""
        stand_in = STAND_INS.get(self.needs)
        return "" if stand_in and (libraries / f"lib{stand_in}.so").exists() else self.needs


@dataclass(frozen=True)
class Checkout:
    """A checkout of the samples, or any folder of them."""

    root: Path

    @cached_property
    def common(self) -> list[Path]:
        """Include folders that samples share."""
        return [path for path in (self.root / "Common", self.root / "common" / "inc") if path.is_dir()]

    @cached_property
    def samples(self) -> list[Sample]:
        """All samples, by name."""
        found = (sample_of(path) for path in sorted(self.root.rglob("CMakeLists.txt")))
        return sorted((sample for sample in found if sample is not None), key=lambda sample: sample.name.lower())

    def commands(self, name: str, folder: Path, options: argparse.Namespace) -> list[list[str]]:
        """The commands with which the checkout's own tests run a sample."""
        runs = runs_in(options.arguments or self.root / "test_args.json", name) or [[]]
        return [[f"./{name}", *run] for run in runs]

    def build(self, name: str, work: Path, options: argparse.Namespace) -> tuple[Path, Finished]:
        """Build a sample in a copy of its folder; returns that copy, and how the build went."""
        sample = next(sample for sample in self.samples if sample.name == name)
        folder = work / name
        if options.again and (folder / name).exists():
            return folder, Finished(0, "", 0)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(sample.folder, folder)
        includes = [flag for path in [*self.common, sample.folder] for flag in ("-I", str(path))]
        inner = [flag for path in (folder / "inc", folder / "common") if path.is_dir() for flag in ("-I", str(path))]
        openmp = ["-Xcompiler", "-fopenmp"] if "OpenMP" in sample.packages else []
        sources = [str(folder / source.relative_to(sample.folder)) for source in sample.sources]
        linked = ["-rdc=true", "-lcudadevrt"] if sample.separable else []
        command = [options.nvcc, "-cudart", "shared", *linked, *openmp, *options.nvcc_flag]
        command += [*includes, *inner, *sources, "-o", name]
        own = Path(options.build).resolve() / "lib"
        if sample.calls_driver:
            command += ["-L", str(own), "-Xlinker", "-l:libcuda.so.1"]
        if sample.needs in STAND_INS:  # one library uses another, which the sample does not name
            stand_ins = [f"-l{name}" for name in STAND_INS.values() if (own / f"lib{name}.so").exists()]
            command += ["-L", str(own), "-Xlinker", "--as-needed", *stand_ins]
        finished = execute(command, folder, options.seconds)
        for file, source in sample.loaded:
            if finished.status == 0:
                form = "-ptx" if file.endswith(".ptx") else "-fatbin"
                target = [] if form == "-ptx" else ["-gencode", "arch=compute_80,code=compute_80"]
                step = [options.nvcc, form, "-lineinfo", *target, *includes, source, "-o", file]
                finished = finished.then(execute(step, folder, options.seconds))
        return folder, finished


def runs_in(path: Path | None, name: str) -> list[list[str]]:
    """The argument lists that a file like `test_args.json` gives for a program; none where it says nothing."""
    if path is None or not path.is_file():
        return []
    entry = json.loads(path.read_text()).get(name)
    if entry is None:
        return []
    return [[str(argument) for argument in run.get("args", [])] for run in entry.get("runs", [entry])]


def sample_of(cmake: Path) -> Sample | None:
    """The sample that a `CMakeLists.txt` describes; None if it names no executable with sources in its folder."""
    text = re.sub(r"#[^\n]*", "", _text(cmake))
    found = re.search(r"add_executable\s*\(\s*([\w.-]+)([^)]*)\)", text)
    if found is None:
        return None
    folder = cmake.parent
    names = [word for word in found[2].split() if Path(word).suffix in (CUDA_SOURCE, *HOST_SOURCES)]
    sources = tuple(path for path in (folder / name for name in names) if path.is_file())
    if not sources:
        return None
    packages = frozenset(re.findall(r"find_package\s*\(\s*(\w+)", text))
    loaded = re.findall(r'set\s*\(CUDA_(?:FATBIN|PTX)_FILE\s+"[^"]*/([\w.]+)"\)', text)
    kernels = re.findall(r'set\s*\(CUDA_KERNEL_SOURCE\s+"[^"]*/([\w.]+)"\)', text)
    separable = re.search(r"\bCUDA_SEPARABLE_COMPILATION\s+ON\b", text) is not None
    return Sample(found[1], folder, sources, packages, separable, tuple(zip(loaded, kernels, strict=False)))


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")
