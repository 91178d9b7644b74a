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
# Tests put lines of their own here.
text=$(cat "$source"; echo .)
case $text in *'#error'*)
  echo "$source(1): error: #error says so" >&2
  case $text in *PATHS*)
    echo "  declared at line 3 of $assignment/ladder.h, $(dirname "$nvcc")/../include/x.h, -L$build/lib" >&2
    echo "/tmp/worker.a1B2c3/tmpxft_0000_0000-7_ladder.o: in $out, $glue, $(dirname "$source")" >&2 ;;
  esac
  exit 2 ;;
esac
case $text in *SLOW_COMPILER*) sleep 0.7 ;; esac
case $text in *HANG_COMPILER*) sleep 60 ;; esac
case $text in *LOOK_AROUND*)
  ls "$(dirname "$glue")/../../reference" >&2 && exit 2
  echo x > /usr/lockstep_was_here 2>/dev/null && exit 2 ;;
esac
worker() {  # WORKER TEXT
  printf '#!/bin/sh\ncat <<'"'END_OF_SOURCE'"'\n%s\nEND_OF_SOURCE\n' "$2" > "$1"
  chmod +x "$1"
}
for part in $parts; do worker "$out.$part" "$(sed -n "/^namespace $part {/,/^}/p" "$source")"; done
[ -n "$parts" ] || worker "$out" "${text%.}"
{ echo "built $source" >> "$build/bin/runs.log"; } 2>/dev/null || true
