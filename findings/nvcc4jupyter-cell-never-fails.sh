#!/usr/bin/env bash
# A %%cuda cell of nvcc4jupyter never fails: not when nvcc refuses it, not when its program returns 3.
#
# Seen with nvcc4jupyter 1.2.1, nbclient 0.10.0 on 2026-11-27: a cell that doesn't compile prints nvcc's errors as its
# output, a program that returns 3 prints an empty line, and both cells count as executed. A check that
# executes the notebook (nbclient, papermill, nbconvert --execute) accepts both.
set -euo pipefail
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install -q nvcc4jupyter==1.2.1 nbclient==0.10.0 nbformat==5.10.4 ipykernel==6.29.5 ipython==8.29.0 \
  nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-cuda-runtime==13.0.96
cat > execute.py <<'PYTHON'
import nbformat
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook
sources = ["%load_ext nvcc4jupyter", "%%cuda\nint main() { return missing; }", "%%cuda\nint main() { return 3; }"]
notebook = new_notebook(cells=[new_code_cell(source) for source in sources])
NotebookClient(notebook, timeout=120).execute()
for cell in notebook.cells[1:]:
    print([(output.output_type, output.get("text", output.get("data"))) for output in cell.outputs])
print("executed")
PYTHON
toolkit=$(echo "$work"/env/lib/python3*/site-packages/nvidia/cu13)
ln -sf libcudart.so.13 "$toolkit/lib/libcudart.so"
output=$(PATH="$work/env/bin:$toolkit/bin:$PATH" LD_LIBRARY_PATH=$toolkit/lib \
  NVCC_APPEND_FLAGS="-cudart=shared -L$toolkit/lib" env/bin/python execute.py)
echo "$output"
grep -q 'identifier "missing" is undefined' <<< "$output"
grep -qxF "[('stream', '\\n')]" <<< "$output"
grep -qx executed <<< "$output"
