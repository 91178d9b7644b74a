#!/usr/bin/env bash
# What a notebook's %%writefile cell becomes in `nbconvert --to script` depends on whether IPython is installed.
#
# Seen with nbconvert 7.16.6 on 2026-11-27: without IPython the cell stays as it is, %%writefile and C++ lines in a .py
# file, with a warning; with IPython 8.29.0 it becomes get_ipython().run_cell_magic('writefile', 'k.cu', '…'), C++ in
# one string literal. A grader that reads such hand-ins has to know both shapes.
set -euo pipefail
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
cd "$work"
cat > k.ipynb <<'NOTEBOOK'
{"cells": [{"cell_type": "code", "id": "a", "execution_count": null, "metadata": {}, "outputs": [],
  "source": ["%%writefile k.cu\n", "__global__ void k() {}\n"]}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
NOTEBOOK
cat > export.py <<'PYTHON'
import nbformat
from nbconvert import PythonExporter
print(PythonExporter().from_notebook_node(nbformat.read("k.ipynb", 4))[0])
PYTHON
python3 -m venv env; env/bin/pip install -q nbconvert==7.16.6 nbformat==5.10.4
plain=$(env/bin/python export.py 2> /dev/null)
env/bin/pip install -q ipython==8.29.0
called=$(env/bin/python export.py 2> /dev/null)
printf -- '---- without IPython\n%s\n---- with IPython\n%s\n' "$plain" "$called"
grep -qx '%%writefile k.cu' <<< "$plain" && ! grep -q run_cell_magic <<< "$plain"
grep -q "run_cell_magic('writefile', 'k.cu', '__global__ void k() {}.n')" <<< "$called"
