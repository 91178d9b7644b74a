#!/usr/bin/env bash
# Configures and builds the C++ side in Release. Quiet where there is nothing to do.
#   harness/build.sh [--build DIR] [TARGET …]     TARGET: core (what grading needs), all (default), or the build's own
set -euo pipefail
cd "$(dirname "$0")/.."
build=build
if [ "${1:-}" = --build ]; then build=$2; shift 2; fi
targets=("${@:-all}")

if [ ! -f "$build/build.ninja" ]; then
  echo "==> Configuring the C++ build"
  cmake -G Ninja -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DLOCKSTEP_NVCC="$(cat "$build/nvcc.txt")" > "$build/configure.log" 2>&1 ||
    { cat "$build/configure.log" >&2; exit 1; }
fi
# ninja -n says in a moment whether anything is stale; progress is shown only then.
if ! ninja -C "$build" -n "${targets[@]}" 2>/dev/null | grep -q 'no work to do'; then
  echo "==> Building the virtual GPU, the judge and the suites"
  log=$build/build.log
  if [ -t 1 ]; then ninja -C "$build" "${targets[@]}"; else ninja -C "$build" "${targets[@]}" > "$log" 2>&1 || { tail -n 60 "$log" >&2; exit 1; }; fi
fi
