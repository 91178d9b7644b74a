"""Paths in the repository and in its build tree."""

from dataclasses import dataclass
from pathlib import Path

from grader.base.errors import GraderError

KERNELS = "kernels.cu"  # of an assignment that gives the kernels: its submissions are the host code


@dataclass(frozen=True)
class Layout:
    """The repository's folders, and each assignment's files in the build tree."""

    root: Path
    build: Path

    @property
    def harness(self) -> Path:
        """The C++ side's sources."""
        return self.root / "harness"

    @property
    def build_script(self) -> Path:
        """The script that compiles workers; no other place knows how."""
        return self.harness / "worker" / "build.sh"

    @property
    def build_files(self) -> list[Path]:
        """All files that determine how a worker is compiled, including what the script runs for Python submissions."""
        return [self.build_script, *sorted((self.build_script.parent / "python").glob("*.py"))]

    @property
    def build_folders(self) -> list[Path]:
        """The harness folders read when a worker is compiled, besides its glue; none of the judge's."""
        return [self.build_script.parent, self.harness / "protocol"]

    @property
    def templates(self) -> Path:
        """Templates for pages, handouts and new assignments: `templates/` through a link, or real files in a wheel."""
        return Path(__file__).parents[1] / "templates"

    @property
    def libraries(self) -> Path:
        """Where the worker's library and the CUDA runtime replacement are."""
        return self.build / "lib"

    @property
    def worker_parts(self) -> list[Path]:
        """The libraries a worker is linked with. Replacements for host libraries are only for other programs."""
        patterns = ("liblockstep_*", "libcudart.*", "*.txt", "submission/*", "submission/include/*")
        found = (path for pattern in patterns for path in self.libraries.glob(pattern))
        return [path for path in found if path.is_file()]

    def assignment(self, name: str) -> Path:
        """The folder that students see."""
        return self.root / "assignments" / name

    def reference(self, name: str) -> Path:
        """The folder that students never see."""
        return self.root / "reference" / name

    def glue(self, name: str) -> Path:
        """The launchers' glue code that is compiled into every worker of the assignment."""
        return self.harness / "suites" / f"{name}_launchers.cc"

    def compiled_glue(self, name: str) -> Path:
        """The glue's object file in the build tree, if there is one."""
        return self.libraries / "glue" / f"{name}.a"

    def witness(self, name: str) -> Path:
        """A worker without a submission: if it starts but a submission's worker doesn't, the submission is at fault."""
        return self.libraries / "witness" / name

    def suite(self, name: str) -> Path:
        """The assignment's judge: with the hidden tests if they were built, else the public one."""
        for kind in ("_full_suite", "_suite"):
            path = self.build / "bin" / f"{name}{kind}"
            if path.is_file():
                return path
        raise GraderError(
            f"{self.build} holds no suite of {name} (bin/{name}_suite).\n"
            "Type:  make build      or name another build tree with --build DIR"
        )

    def public_suite(self, name: str) -> Path:
        """The judge with the tests that students have."""
        return self.build / "bin" / f"{name}_suite"

    def assignments(self) -> list[str]:
        """Every assignment's folder name, in order."""
        return sorted(path.parent.name for path in (self.root / "assignments").glob("*/assignment.toml"))


IN_WHEEL = Path(__file__).resolve().parents[1] / "wheel"  # the files in a released wheel: see harness/dev/release.py


def find_layout(build: Path | None, start: Path | None = None) -> Layout:
    """The repository around the current folder, else around this package; raises GraderError where there is none."""
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents, *Path(__file__).resolve().parents):
        if (folder / "assignments").is_dir() and (folder / "harness").is_dir():
            return Layout(folder, build.resolve() if build else folder / "build")
    raise GraderError("no Lockstep checkout around this folder.\nType:  cd path/to/lockstep   and try again")
