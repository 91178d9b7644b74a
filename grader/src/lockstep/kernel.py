"""A Jupyter kernel for Python on the virtual GPU: `python -m lockstep.kernel --install` registers it.

Cells of Numba, CuPy and PyCUDA run on the virtual GPU, as do ``%%cuda`` cells.
"""

import json
import os
import sys
from pathlib import Path

from lockstep import _layout


def main(words: list[str]) -> None:
    """Starts the kernel for Jupyter; or installs it, in the given folder or this environment's."""
    if words[:1] == ["--install"]:
        folder = Path(*words[1:2] or [sys.prefix]) / "share/jupyter/kernels/lockstep"
        folder.mkdir(parents=True, exist_ok=True)
        start = [sys.executable, "-m", "lockstep.kernel", "-f", "{connection_file}"]
        said = {"argv": start, "display_name": "Python on the virtual GPU", "language": "python"}
        (folder / "kernel.json").write_text(json.dumps(said) + "\n", encoding="utf-8")
        print(f'Choose "{said["display_name"]}" in Jupyter, or type:  jupyter lab   with  --kernel=lockstep')
        return
    program = _layout().build / "bin/vgpu-run"
    os.execv(program, [str(program), sys.executable, "-m", "ipykernel_launcher", *words])  # noqa: S606


if __name__ == "__main__":
    main(sys.argv[1:])
