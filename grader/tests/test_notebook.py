"""`%load_ext lockstep` in a real Jupyter kernel: cells of CUDA C++ run on the virtual GPU, and findings are shown."""

import importlib.util
from pathlib import Path

import pytest

from conftest import BUILD, ROOT, needs, needs_build
from lockstep import kernel as install

pytestmark = [
    pytest.mark.daily,
    needs_build,
    needs(
        all(importlib.util.find_spec(name) for name in ("nbclient", "ipykernel")),
        "no Jupyter kernel; type: harness/setup.sh --dev",
    ),
]
RACE = """%%cuda{flags}
#include <cstdio>
__global__ void sum(int* out) {{
  __shared__ int s[64];
  s[threadIdx.x] = 1;
  {barrier}
  out[threadIdx.x] = s[63 - threadIdx.x];
}}
int main(int argc, char** argv) {{
  int* d;
  cudaMalloc(&d, 64 * sizeof(int));
  sum<<<1, 64>>>(d);
  cudaDeviceSynchronize();
  std::printf("done %s\\n", argc > 1 ? argv[1] : "");
  cudaFree(d);
}}
"""


def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *cells: str, kernel: str = "python3") -> list[dict[str, str]]:
    """Runs a cell that loads the extension, and these cells; returns what each printed and showed."""
    import nbformat  # noqa: PLC0415
    from nbclient import NotebookClient  # noqa: PLC0415

    for name, value in {"LOCKSTEP_ROOT": str(ROOT), "LOCKSTEP_BUILD": str(BUILD), "IPYTHONDIR": str(tmp_path),
                        "PYTHONPATH": f"{ROOT}/grader/src", "JUPYTER_PLATFORM_DIRS": "1"}.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    texts = ("%load_ext lockstep", *cells)
    empty = {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": []}
    code = [empty | {"id": f"c{place}", "source": text} for place, text in enumerate(texts)]
    notebook = nbformat.from_dict({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": code})
    NotebookClient(notebook, timeout=300, kernel_name=kernel, resources={"metadata": {"path": str(tmp_path)}}).execute()
    return [
        {name: "".join(one.text for one in cell.outputs if one.get("name") == name) for name in ("stdout", "stderr")}
        for cell in notebook.cells[1:]
    ]


def test_a_cell_is_compiled_run_and_checked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    race, right, wrong, profiled, mistyped = run(
        monkeypatch,
        tmp_path,
        RACE.format(flags=" -- seven", barrier=""),
        RACE.format(flags="", barrier="__syncthreads();"),
        "%%cuda\nint main( {",
        RACE.format(flags=" --no-check --profile", barrier=""),
        "%%cuda --profil\nint main() {}",
    )
    assert race["stdout"].endswith("done seven\n")
    assert "cell.cu:4  write" in race["stderr"]
    assert right["stdout"] == "done \n"
    assert "RACE" not in right["stderr"]
    assert "cell.cu(1): error" in wrong["stderr"]
    assert str(tmp_path) not in wrong["stderr"]
    assert "out[threadIdx.x] = s[63 - threadIdx.x];" in profiled["stderr"]
    assert "RACE" not in profiled["stderr"]
    assert "takes no --profil" in mistyped["stderr"]


NUMBA = """
import numpy as np
from numba import cuda
@cuda.jit
def twice(x):
    x[cuda.grid(1)] *= 2
x = cuda.to_device(np.arange(64))
twice[2, 32](x)
print(cuda.get_current_device().name, x.copy_to_host().sum())
"""


@needs(importlib.util.find_spec("numba") is not None, "Numba is missing; type: harness/setup.sh --python")
def test_numbas_cells_run_beside_cudas(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    install.main(["--install", str(tmp_path)])
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "share/jupyter"))
    numba, cuda = run(monkeypatch, tmp_path, NUMBA, RACE.format(flags="", barrier=""), kernel="lockstep")
    assert numba["stdout"].endswith(f" {63 * 64}\n")
    assert "cell.cu:4  write" in cuda["stderr"]


def test_nbgraders_cell_tells_a_right_file_from_a_wrong_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from nbclient.exceptions import CellExecutionError  # noqa: PLC0415

    page = (ROOT / "docs/how-to/use-other-platforms.md").read_text(encoding="utf-8")
    cell = page.partition("## nbgrader")[2].partition("```python\n")[2].partition("```")[0]
    name = "04_reduction/reduction.cu"
    run(monkeypatch, tmp_path, "%%writefile reduction.cu\n" + (ROOT / "reference" / name).read_text(), cell)
    with pytest.raises(CellExecutionError, match="0 of 9 tests passed"):
        run(monkeypatch, tmp_path, "%%writefile reduction.cu\n" + (ROOT / "assignments" / name).read_text(), cell)
