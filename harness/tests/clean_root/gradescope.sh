#!/usr/bin/env bash
# Does what Gradescope does with the zip of `grader autograder gradescope`, in a clean system: unpacks it at
# /autograder/source, runs setup.sh as root, then run_autograder on submissions, each with a file of metadata, with the
# capabilities that Docker gives and the system calls refused that its default profile refuses. Takes some minutes; the
# checkout has to be built. Needs root and debootstrap, as run.sh does, and no Docker.
#
#   harness/tests/clean_root/gradescope.sh SUITE      SUITE: jammy, noble (Ubuntu 22.04, 24.04), bookworm …
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
[ $# = 1 ] || { sed -n '7s/^# *//p' "$0" >&2; exit 2; }
with=$(mktemp -d)
trap 'rm -rf "$with"' EXIT

"$root/.venv/bin/grader" autograder gradescope "$with/autograder.zip" --assignment 04_reduction
cp "$here/gradescope_steps.sh" "$here/filter.py" "$with"
mkdir -p "$with"/submissions/{reference,wrong/solution/src,probe,empty}
cp "$root/reference/04_reduction/reduction.cu" "$with/submissions/reference"
# In folders, as a student's zip has them.
"$root/.venv/bin/grader" check 04_reduction --show adds_to_one_word > "$with/submissions/wrong/solution/src/reduction.cu"
{
  cat "$root/grader/tests/autograder/probe.cu"
  sed 's/^void reduce1_interleaved(.*) {$/& probe();/' "$root/assignments/04_reduction/reduction.cu"
} > "$with/submissions/probe/reduction.cu"
echo "no kernel" > "$with/submissions/empty/notes.txt"
# Gradescope's harness has its own packages; unpacking with modes needs unzip.
"$here/run.sh" --bare --with "$with" "$1" 'bash /with/gradescope_steps.sh'
