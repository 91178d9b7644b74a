#!/usr/bin/env bash
# Compiles one CUDA program and runs it on the virtual GPU, or with --device cuda on a real one. `lockstep run` calls it
# after checking its arguments. The arguments after the file are the program's.
#
#   harness/run.sh --build DIR --doctor | [--device vgpu|cuda] [--check] [--profile] [--page] [--debug] [--sarif FILE] FILE.cu [ARGUMENT …]
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
build=$root/build device=vgpu check='' profile='' page='' debug='' sarif='' doctor=''
while [ $# -gt 0 ]; do
  case $1 in
    --build) build=$2; shift 2 ;;
    --device) device=$2; shift 2 ;;
    --check) check=1; shift ;;
    --profile) profile=1; shift ;;
    --page) page=1; shift ;;
    --debug) debug=1; shift ;;
    --doctor) doctor=1; shift ;;
    --sarif) sarif=$2; shift 2 ;;
    *) break ;;
  esac
done
[ $# -gt 0 ] || [ -n "$doctor" ] || { sed -n '5s/^# *//p' "$0" >&2; exit 2; }
file=${1:-}
[ "${file#-}" = "$file" ] || file=./$file
shift || true

# A release has no nvcc.txt: use an nvcc on PATH, else that of the wheel's extra `nvcc`. It must be CUDA 13's, because
# vgpu-run replaces that version's runtime.
nvcc=$(cat "$build/nvcc.txt" 2> /dev/null) || true
while [ -z "$nvcc" ] && read -r found; do
  [[ $("$found" --version 2> /dev/null) != *'release 13.'* ]] || nvcc=$found
done < <(type -aP nvcc || true; ls "$root"/../../nvidia/cu*/bin/nvcc 2> /dev/null)
[ -n "$nvcc" ] || { echo "There is no nvcc of CUDA 13. Type:  make build   in a checkout, or  pip install 'WHEEL[nvcc]'" >&2; exit 3; }
pages=$build/pages libc=''
if [ ! -f "$build/nvcc.txt" ]; then
  pages=$PWD  # an installed release may be read-only
  libc=$(getconf GNU_LIBC_VERSION 2> /dev/null) || libc='another C library'
  [ "$(printf '%s\n' 'glibc 2.28' "$libc" | sort -V | head -n 1)" = 'glibc 2.28' ] ||
    { echo "This system has $libc; Lockstep needs glibc 2.28 or newer. Run it in a container:  docs/how-to/try-in-a-container.md" >&2; exit 3; }
fi
command -v g++ > /dev/null || { echo "There is no g++, which nvcc needs. On Debian or Ubuntu type:  apt-get install g++" >&2; exit 3; }
scratch=$(mktemp -d) || { echo "Type:  TMPDIR=FOLDER lockstep run …   with a folder that can be written" >&2; exit 3; }
trap 'rm -rf "$scratch"' EXIT
install -m 755 /dev/null "$scratch/starts"
[ -x "$scratch/starts" ] ||
  { echo "No program can be started in ${TMPDIR:-/tmp} (noexec). Type:  TMPDIR=FOLDER lockstep run …   with another folder" >&2; exit 3; }
if [ -n "$doctor" ]; then
  printf '%s\n' "ok  $libc, $(g++ --version | sed -n 1p)" "ok  $nvcc, $("$nvcc" --version | tail -n 1)" \
    "ok  lockstep run and vgpu-run; lockstep test and grader grade need a checkout"
  exit
fi
program=$scratch/$(basename "${file%.cu}")

status=0
if [ "$device" = cuda ]; then
  "$nvcc" -std=c++17 -O3 -lineinfo "$file" -o "$program"
  "$program" "$@" || status=$?
  exit $status
fi
[ ! -f "$root/harness/build.sh" ] || "$root/harness/build.sh" --build "$build" cudart vgpu-run
# -g gives reports lines of host code, -G gives the debugger names of variables. g++ links: nvcc would need the CUDA
# runtime, which an nvcc from Python packages may lack.
lines=${debug:+-G}
"$nvcc" -c -std=c++17 -O3 "${lines:--lineinfo}" -Xcompiler -g -gencode arch=compute_80,code=compute_80 "$file" -o "$program.o"
g++ -o "$program" "$program.o" -L"$build/lib" -l:libcudart.so.13 -Wl,-rpath,"$build/lib"
[ -z "$page" ] || { page=$pages/$(basename "$program").html; mkdir -p "$pages"; }
"$build/bin/vgpu-run" ${check:+--check} ${profile:+--profile=lines} ${page:+"--page=$page"} ${debug:+--debug} ${sarif:+"--sarif=$sarif"} "$program" "$@" || status=$?
[ ! "$page" -nt "$program" ] || echo "For a browser: $page"
exit $status
