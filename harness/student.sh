#!/usr/bin/env bash
# What `make test`, `make check`, `make profile` and `make hint` run: sets up what is missing, builds what the assignments need, and
# hands over to the grader's `student.make`. `build` ends before that.
#
#   harness/student.sh --build DIR build|test|check|profile|hint [ASSIGNMENT …] [--rung R] [--test T] [--seed N] …
#
# What it set up is told by nvcc.txt in the build tree, which setup.sh writes last.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
build=$root/build
if [ "${1:-}" = --build ]; then build=$2; shift 2; fi
mkdir -p "$build"
build=$(cd "$build" && pwd)
command=$1
shift
assignments=()
while [ $# -gt 0 ] && [ "${1#-}" = "$1" ]; do assignments+=("$1"); shift; done
if [ ${#assignments[@]} = 0 ]; then
  for file in "$root"/assignments/*/assignment.toml; do assignments+=("$(basename "$(dirname "$file")")"); done
fi

# A hint needs nothing but Python.
run() { PYTHONPATH=$root/grader/src PYTHONDONTWRITEBYTECODE=1 exec python3 -m grader.student.make "$@"; }
[ "$command" != hint ] || run hint "${assignments[@]}" --build "$build" "$@"
[ -s "$build/nvcc.txt" ] || "$root/harness/setup.sh" --student --build "$build"
"$root/harness/build.sh" --build "$build" cudart lockstep_worker vgpu-run "${assignments[@]/%/_suite}"
[ "$command" != build ] || exit 0
run "$command" "${assignments[@]}" --build "$build" "$@"
