#!/usr/bin/env bash
# What `make run` does: compiles one CUDA program and runs it on the virtual GPU, or with --device cuda on a real one.
# Sets up and builds what is missing, as student.sh does.
#
#   harness/run.sh --build DIR --file FILE.cu [--device vgpu|cuda] [--check 1] [--profile 1] [--arguments 'A B']
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
fail() { echo "make run: $*" >&2; exit 2; }

build=$root/build file='' device=vgpu check='' profile='' arguments=''
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || fail "$1 needs a value"
  case $1 in
    --build) build=$2 ;;
    --file) file=$2 ;;
    --device) device=$2 ;;
    --check) check=$2 ;;
    --profile) profile=$2 ;;
    --arguments) arguments=$2 ;;
    *) fail "unknown flag $1; see the head of $0" ;;
  esac
  shift 2
done
[ -n "$file" ] || fail "which program?  Type:  make run FILE=my_program.cu"
[ -f "$file" ] || fail "there is no file $file"

mkdir -p "$build"
build=$(cd "$build" && pwd)
[ -s "$build/nvcc.txt" ] || "$root/harness/setup.sh" --student --build "$build"
nvcc=$(cat "$build/nvcc.txt")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
program=$scratch/$(basename "${file%.cu}")

status=0
if [ "$device" = cuda ]; then
  [ -e /dev/nvidiactl ] || [ -e /dev/dxg ] || fail "this machine has no NVIDIA GPU; without DEVICE=cuda the virtual one runs it"
  "$nvcc" -std=c++17 -O3 -lineinfo "$file" -o "$program"
  "$program" $arguments || status=$?
  exit $status
fi
"$root/harness/build.sh" --build "$build" cudart vgpu-run
# -g: lines of host code in reports. Linked here and not by nvcc: where nvcc was fetched alone, there is no CUDA runtime
# beside it to link with.
"$nvcc" -c -std=c++17 -O3 -lineinfo -Xcompiler -g -gencode arch=compute_80,code=compute_80 "$file" -o "$program.o"
g++ -o "$program" "$program.o" -L"$build/lib" -l:libcudart.so.13 -Wl,-rpath,"$build/lib"
"$build/bin/vgpu-run" ${check:+--check} ${profile:+--profile=lines} "$program" $arguments || status=$?
exit $status
