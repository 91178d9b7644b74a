#!/bin/sh
# Stands in for harness/worker/build.sh: a "worker" is a program that says what its source holds.
set -eu
parts=''
while [ $# -gt 0 ]; do
  case $1 in
    --source) source=$2 ;;
    --out) out=$2 ;;
    --glue) glue=$2 ;;
    --assignment) assignment=$2; test -f "$2/assignment.toml" ;;
    --nvcc) nvcc=$2 ;;
    --parts) parts=$2 ;;
    --build) build=$2 ;;
  esac
  shift 2
done
test -f "$glue"
if grep -q '#error' "$source"; then
  echo "$source(1): error: #error says so" >&2
  if grep -q PATHS "$source"; then
    echo "  declared at line 3 of $assignment/ladder.h, $(dirname "$nvcc")/../include/x.h, -L$build/lib" >&2
    echo "/tmp/worker.a1B2c3/tmpxft_0000_0000-7_ladder.o: in $out, $glue, $(dirname "$source")" >&2
  fi
  exit 2
fi
if grep -q SLOW_COMPILER "$source"; then sleep 0.7; fi
if grep -q HANG_COMPILER "$source"; then sleep 60; fi
if grep -q LOOK_AROUND "$source"; then
  ls "$(dirname "$glue")/../../reference" >&2 && exit 2
  echo x > /usr/lockstep_was_here 2>/dev/null && exit 2
fi
worker() {  # of the source that is read
  { echo '#!/bin/sh'; echo "cat <<'END_OF_SOURCE'"; cat; echo; echo END_OF_SOURCE; } > "$1"
  chmod +x "$1"
}
for part in $parts; do sed -n "/^namespace $part {/,/^}/p" "$source" | worker "$out.$part"; done
[ -n "$parts" ] || worker "$out" < "$source"
{ echo "built $source" >> "$build/bin/runs.log"; } 2>/dev/null || true
