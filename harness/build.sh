#!/usr/bin/env bash
# Configures and builds the C++ side in Release. Quiet where there is nothing to do.
#   harness/build.sh [--build DIR] [TARGET …]     TARGET: grading (what it needs), core (vgpu-run and its
#                                                 libraries too), all (default), or any other target of CMake's
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
# Several machines may share a build tree.
for level in V3:avx2 V4:avx512vl; do
  if grep -q "^LOCKSTEP_X86_64_${level%:*}:INTERNAL=1" "$build/CMakeCache.txt" && ! grep -qw "${level#*:}" /proc/cpuinfo; then
    echo "error: $build was made on a processor with ${level#*:}, which this one lacks. Type:  make build BUILD=build-$(uname -n)" >&2
    exit 1
  fi
done
# Prints nothing if nothing is stale. A dry run can't find that out: it counts the check for new sources as work.
log=$build/build.log
ninja -C "$build" "${targets[@]}" > "$log" 2>&1 &
ninja=$!
trap 'kill $ninja 2>/dev/null; exit 130' INT TERM
said='' looks=0
while kill -0 $ninja 2>/dev/null; do
  # Short pauses at first: if nothing is stale ninja takes less than 0.1 s, and a student waits for it each time.
  if [ $((looks += 1)) -le 10 ]; then sleep 0.02; continue; fi
  sleep 0.2
  step=$(grep -E '^\[[0-9]+/[0-9]+\] (Building|Linking)' "$log" | tail -n 1 || true)
  [ -n "$step" ] || continue
  [ -n "$said" ] || { echo "==> Building the virtual GPU, the judge and the suites"; said=1; }
  [ ! -t 1 ] || printf '\r    %s \e[K' "${step%% *}"
done
[ -z "$said" ] || [ ! -t 1 ] || printf '\r\e[K'
wait $ninja || { grep -E -A 40 '^FAILED|error' "$log" | head -n 60 >&2; exit 1; }
