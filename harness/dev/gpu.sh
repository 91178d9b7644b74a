#!/usr/bin/env bash
# What `make gpu` runs on a machine with an NVIDIA GPU: grades all references and the sample class with --device cuda,
# checks that the opponents fail, measures the references against NVIDIA's libraries, and writes docs/records/gpu-*.md
# for results, ladders and limits. Results, report cards and leaderboard are left in out/gpu.
#
#   harness/dev/gpu.sh [--build DIR] [--no-sandbox]
#
# If it is stopped, the next run goes on from there: grades are in a journal, and the comparison with the libraries
# leaves a stamp file. Needs no network once set up. A failed step does not stop the others, but makes it end with 1.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
build=build grader_flags=() failed=()
while [ $# -gt 0 ]; do
  case $1 in
    --build) build=$2; shift 2 ;;
    --no-sandbox) grader_flags+=(--no-sandbox); shift ;;
    *) echo "gpu.sh: unknown flag $1; see the head of $0" >&2; exit 2 ;;
  esac
done

if ! nvidia-smi -L > /dev/null 2>&1; then
  echo "make gpu needs a machine with an NVIDIA GPU and its driver: nvidia-smi finds none here." >&2
  echo "Everything else works without one:  make demo      make check" >&2
  exit 1
fi
if [ ! -x .venv/bin/grader ] || [ ! -s "$build/nvcc.txt" ]; then harness/setup.sh --build "$build" || exit 1; fi
harness/build.sh --build "$build" core || exit 1
grader=.venv/bin/grader
out=out/gpu
mkdir -p "$out"

# step NAME COMMAND…: a failed step is listed at the end.
step() {
  local name=$1 start=$SECONDS
  shift
  echo "==> $name"
  "$@" || failed+=("$name")
  echo "    ($((SECONDS - start)) s)"
}
# measured NAME COMMAND…: a step that is left out if it was done and what it measures hasn't changed.
measured() {
  local stamp=$out/${1// /_}.done
  if [ -f "$stamp" ] && [ -z "$(find reference harness/dev/bench assignments "$build/bin" -newer "$stamp" -type f -print -quit)" ]; then
    echo "==> $1: done before"
    return
  fi
  step "$1" "${@:2}"
  [[ " ${failed[*]-} " == *" $1 "* ]] || touch "$stamp"
}

# The references as a class of one.
rm -rf "$out/solutions"
for folder in reference/[0-9]*/; do
  name=$(basename "$folder")
  mkdir -p "$out/solutions/reference/$name"
  find "$folder" -maxdepth 1 \( -name '*.cu' -o -name '*.py' \) -exec cp -t "$out/solutions/reference/$name/" {} +
done

step "Grading the references" "$grader" grade "$out/solutions" --device cuda --jobs 1 --build "$build" \
  --out "$out/references" "${grader_flags[@]}"
step "Grading the sample class" "$grader" grade reference/sample_class --device cuda --build "$build" \
  --out "$out/class" "${grader_flags[@]}"
step "Meeting the opponents" "$grader" opponents --device cuda --build "$build" --out "$out/opponents" \
  "${grader_flags[@]}"
measured "At the limit" env NVCC="$(cat "$build/nvcc.txt")" .venv/bin/python harness/dev/bench/gpu_limits.py
step "Timing the ladders, writing the pages" "$grader" gpu-pages --build "$build" --out "$out" "${grader_flags[@]}"

echo
echo "Report cards: $out/references/index.html $out/class/index.html"
echo "Leaderboard:  $out/class/leaderboard.html"
echo "Pages:        docs/records/gpu-results.md gpu-ladders.md gpu-limits.md"
if [ ${#failed[@]} -gt 0 ]; then
  printf 'Failed: %s\n' "${failed[*]}" >&2
  echo "To go on, run the same command again." >&2
  exit 1
fi
