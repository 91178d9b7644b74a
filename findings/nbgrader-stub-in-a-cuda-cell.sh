#!/usr/bin/env bash
# nbgrader puts a Python stub into a %%writefile cell of C++, so that what students get does not compile.
#
# Seen with nbgrader 0.9.5 on 2026-11-27: the lines between // BEGIN SOLUTION and // END SOLUTION are replaced by
# "# YOUR CODE HERE" and "raise NotImplementedError()". The stub, ClearSolutions.code_stub, depends on the language of
# the notebook's kernel, not of the file that a cell writes; a notebook with Python and C++ cells needs both.
set -euo pipefail
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env; env/bin/pip install -q nbgrader==0.9.5 nbformat==5.10.4
cat > write.py <<'PYTHON'
import nbformat
from nbformat.v4 import new_code_cell, new_notebook
cell = new_code_cell("%%writefile k.cu\n__global__ void k(int* d) {\n  // BEGIN SOLUTION\n  d[0] = 1;\n  // END SOLUTION\n}")
cell.metadata["nbgrader"] = dict(schema_version=3, grade=False, grade_id="k", locked=False, solution=True, task=False)
kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
nbformat.write(new_notebook(cells=[cell], metadata={"kernelspec": kernel}), "source/lab/k.ipynb")
PYTHON
mkdir -p source/lab; env/bin/python write.py
PATH="$work/env/bin:$PATH" nbgrader generate_assignment lab --create > log 2>&1 || { cat log; exit 1; }
env/bin/python -c 'import nbformat; print(nbformat.read("release/lab/k.ipynb", 4).cells[0].source)' | tee cell
grep -q 'raise NotImplementedError()' cell && grep -q '# YOUR CODE HERE' cell && ! grep -q 'd\[0\]' cell
