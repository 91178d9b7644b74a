#!/usr/bin/env bash
# IPython 9.18.1, in the kernel of ipykernel 7.4.0 by nbclient 0.11.0: while a cell runs, get_ipython().execution_count is
# one more than the notebook's number of this cell, In[N]. A magic that puts it into file names names the next cell's.
# Seen for two cells, as pairs of the notebook's number and what the cell saw: [(1, 2), (2, 3)]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q ipython==9.18.1 ipykernel==7.4.0 nbclient==0.11.0 nbformat==5.11.1
seen=$("$folder/venv/bin/python" - 2> /dev/null << 'END'
import nbformat, nbclient
notebook = nbformat.v4.new_notebook()
notebook.cells = [nbformat.v4.new_code_cell("print(get_ipython().execution_count)") for _ in range(2)]
nbclient.NotebookClient(notebook, kernel_name="python3").execute()
print([(cell.execution_count, int(cell.outputs[0].text)) for cell in notebook.cells])
END
); echo "$seen"
[ "$seen" = "[(1, 2), (2, 3)]" ]
