#!/usr/bin/env bash
# Otter Assign hands out a solution in C++ if C++ comments mark it.
#
# Seen with otter-grader 6.1.3 on 2026-11-27: in a solution cell that begins with %%writefile k.cu, the lines between
# "// BEGIN SOLUTION" and "// END SOLUTION" are still in the student's notebook, without a warning. Otter reads only
# "# BEGIN SOLUTION", which is not C++, and leaves "..." instead of the solution, which is not C++ either.
set -euo pipefail
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env; env/bin/pip install -q otter-grader==6.1.3 nbformat==5.10.4
cat > write.py <<'PYTHON'
import nbformat
from nbformat.v4 import new_code_cell, new_notebook, new_raw_cell
code = "%%writefile {0}.cu\n__global__ void {0}(int* d) {{\n  {1} BEGIN SOLUTION\n  d[0] = 41;\n  {1} END SOLUTION\n}}"
raw = ["# ASSIGNMENT CONFIG\ngenerate: true", "# BEGIN QUESTION\nname: q1\nmanual: true", "# BEGIN SOLUTION"]
cells = [new_raw_cell(text) for text in raw] + [new_code_cell(code.format("k", "//")), new_code_cell(code.format("l", "#"))]
cells += [new_raw_cell("# END SOLUTION"), new_raw_cell("# END QUESTION")]
kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": kernel}), "lab.ipynb")
PYTHON
env/bin/python write.py
PATH="$work/env/bin:$PATH" otter assign lab.ipynb dist --no-run-tests > log 2>&1 || { cat log; exit 1; }
env/bin/python -c '
import nbformat
for cell in nbformat.read("dist/student/lab.ipynb", 4).cells:
    if cell.source.startswith("%%writefile"): print(cell.source, "\n--")' | tee cells
[ "$(grep -c 'd\[0\] = 41' cells)" = 1 ] && grep -q '// BEGIN SOLUTION' cells && grep -qx '  \.\.\.' cells
