#!/usr/bin/env bash
# What `lockstep run` calls, once it has looked at what was typed: compiles one CUDA program and runs it on the virtual GPU,
# or with --device cuda on a real one. What follows the file are the program's arguments.
#
#   harness/run.sh --build DIR [--device vgpu|cuda] [--check] [--profile] [--page] [--debug] [--sarif FILE] FILE.cu [ARGUMENT …]
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
build=$root/build device=vgpu check='' profile='' page='' debug='' sarif=''
while [ $# -gt 0 ]; do
  case $1 in
    --build) build=$2; shift 2 ;;
    --device) device=$2; shift 2 ;;
    --check) check=1; shift ;;
    --profile) profile=1; shift ;;
    --page) page=1; shift ;;
    --debug) debug=1; shift ;;
    --sarif) sarif=$2; shift 2 ;;
    *) break ;;
  esac
done
[ $# -gt 0 ] || { sed -n '5s/^# *//p' "$0" >&2; exit 2; }
file=$1
shift

# A release has no nvcc.txt: one on the PATH, else that of the wheel's extra `nvcc`.
nvcc=$(cat "$build/nvcc.txt" 2> /dev/null || command -v nvcc || ls "$root"/../../nvidia/cu*/bin/nvcc 2> /dev/null) ||
  { echo "There is no nvcc. Type:  make build   in a checkout, or  pip install 'WHEEL[nvcc]'" >&2; exit 3; }
pages=$build/pages
if [ ! -f "$build/nvcc.txt" ]; then
  pages=$PWD  # what is installed may be somebody else's
  libc=$(getconf GNU_LIBC_VERSION 2> /dev/null) || libc='another C library'
  [ "$(printf '%s\n' 'glibc 2.28' "$libc" | sort -V | head -n 1)" = 'glibc 2.28' ] ||
    { echo "This system has $libc; Lockstep needs glibc 2.28 or newer. Run it in a container:  docs/how-to/try-in-a-container.md" >&2; exit 3; }
fi
command -v g++ > /dev/null || { echo "There is no g++, which nvcc needs. On Debian or Ubuntu type:  apt-get install g++" >&2; exit 3; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
program=$scratch/$(basename "${file%.cu}")

status=0
if [ "$device" = cuda ]; then
  "$nvcc" -std=c++17 -O3 -lineinfo "$file" -o "$program"
  "$program" "$@" || status=$?
  exit $status
fi
[ ! -f "$root/harness/build.sh" ] || "$root/harness/build.sh" --build "$build" cudart vgpu-run
# -g: lines of host code in reports. Linked here and not by nvcc: where nvcc was fetched alone, there is no CUDA runtime
# beside it to link with.
# A debugger gets the names of variables, by -G.
lines=${debug:+-G}
"$nvcc" -c -std=c++17 -O3 "${lines:--lineinfo}" -Xcompiler -g -gencode arch=compute_80,code=compute_80 "$file" -o "$program.o"
g++ -o "$program" "$program.o" -L"$build/lib" -l:libcudart.so.13 -Wl,-rpath,"$build/lib"
[ -z "$page" ] || { page=$pages/$(basename "$program").html; mkdir -p "$pages"; }
"$build/bin/vgpu-run" ${check:+--check} ${profile:+--profile=lines} ${page:+"--page=$page"} ${debug:+--debug} ${sarif:+"--sarif=$sarif"} "$program" "$@" || status=$?
[ ! "$page" -nt "$program" ] || echo "For a browser: $page"
exit $status
