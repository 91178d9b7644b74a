#!/bin/sh
# Stands in for harness/worker/build.sh: a "worker" is a program that says what its source holds.
set -eu
while [ $# -gt 0 ]; do
  case $1 in
    --source) source=$2 ;;
    --out) out=$2 ;;
    --glue) glue=$2 ;;
    --assignment) test -f "$2/assignment.toml" ;;
  esac
  shift 2
done
test -f "$glue"
if grep -q '#error' "$source"; then
  echo "$source(1): error: #error says so" >&2
  exit 2
fi
if grep -q HANG_COMPILER "$source"; then sleep 60; fi
if grep -q LOOK_AROUND "$source"; then
  ls "$(dirname "$glue")/../../reference" >&2 && exit 2
  echo x > /usr/lockstep_was_here 2>/dev/null && exit 2
fi
{ echo '#!/bin/sh'; echo "cat <<'END_OF_SOURCE'"; cat "$source"; echo; echo END_OF_SOURCE; } > "$out"
chmod +x "$out"
