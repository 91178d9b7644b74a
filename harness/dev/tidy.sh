#!/usr/bin/env bash
# clang-tidy over the harness's sources except tests and benchmarks, with the checks of .clang-tidy. Headers take most
# of the time, so a folder's sources are read as one; where names clash, the build's unity sources, or each one alone.
#
#   harness/dev/tidy.sh [--build DIR] [FILE.cc …]      only these
set -euo pipefail
cd "$(dirname "$0")/../.."
build=build
if [ "${1-}" = --build ]; then build=$2; shift 2; fi
tidy=.venv/bin/clang-tidy
[ -x "$tidy" ] || { echo "clang-tidy is missing; type: harness/setup.sh --dev" >&2; exit 1; }
nvcc=$(cat "$build/nvcc.txt" 2>/dev/null || command -v nvcc || echo /usr/local/cuda/bin/nvcc)
cuda=$(dirname "$nvcc")/../include
[ -f "$cuda/cuda_runtime_api.h" ] || { echo "there is no cuda_runtime_api.h in $cuda: type make setup" >&2; exit 1; }

apart='^harness/(suites|libraries/[a-z]*|vgpu/isa(/[a-z]*)?|vgpu/cudart|vgpu/model/profiles)$'
if [ $# -gt 0 ]; then
  sources=("$@")
else
  # refused.cc and nvrtc_forwards.cc take their functions from files that the build makes.
  mapfile -t sources < <(git ls-files 'harness/**/*.cc' ':!harness/tests' ':!harness/dev/bench' ':!harness/*refused.cc' ':!harness/*_forwards.cc')
  # Sources that embed Python can't be read where its headers are not installed.
  [ -x /usr/bin/python3-config ] || mapfile -t sources < <(printf '%s\n' "${sources[@]}" | grep -v '^harness/worker/python/')
fi

declare -A batch  # a source: what the build compiles it in
for list in "$build"/harness/*/CMakeFiles/*/Unity/*.cxx; do
  while IFS= read -r source; do batch[$source]=${list#"$build/"}; done < <(sed -n 's/^#include "\(.*\)"/\1/p' "$list")
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for source in "${sources[@]}"; do
  folder=$(dirname "$source")
  unit=$folder
  if [[ $folder =~ $apart ]]; then unit=${batch[$(realpath "$source")]:-$source}; fi
  printf '#include "%s"\n' "$(realpath "$source")" >> "$scratch/$(tr / + <<< "${unit%.*}").cc"
done

# Macros with texts that the build defines; empty here.
flags=(-std=c++20 -march=x86-64-v3 -I harness -I "$build/generated" -isystem "$cuda")
[ ! -x /usr/bin/python3-config ] || flags+=($(/usr/bin/python3-config --includes | sed 's/-I/-isystem /g'))
for text in CUDA_INCLUDE GPU_KERNELS_PTX BUILD_DIR SOURCE_DIR NVCC VERSION PYTHON_FOLDER PYTHON_PROGRAM; do flags+=("-DLOCKSTEP_$text=\"\""); done
# The parameters of NVIDIA's functions can't be changed.
sed 's/\(ParameterThreshold:\).*/\1 none/' .clang-tidy > "$scratch/api.yaml"
check() { # a unit
  local name own=() config=.clang-tidy
  name=$(basename "$1" .cc)
  if grep -qE '/harness/(libraries|vgpu/cudart)/' "$1"; then config=$scratch/api.yaml; fi
  if [[ $name == harness+suites+* ]]; then  # with its assignment's header
    own=(-I "assignments/$(sed -E 's/^harness\+suites\+//; s/_(launchers|test|public.*)$//' <<< "$name")")
  fi
  if ! "$tidy" --quiet --config-file="$config" "$1" -- "${flags[@]}" "${own[@]}" > "$scratch/$name.out" 2>&1; then
    touch "$scratch/failed"
    grep -v 'warnings\? .*generated' "$scratch/$name.out"  # these lines count other people's headers too
  fi
}
for unit in "$scratch"/*.cc; do
  while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done
  check "$unit" &
done
wait
[ ! -e "$scratch/failed" ]
