#!/usr/bin/env bash
# Runs the Dockerfile's steps in a clean system, as `docker build` would, and then what its pages promise: students'
# commands, and grading. Takes some minutes. Needs root and debootstrap, as run.sh does, and no Docker.
#
#   harness/tests/clean_root/dockerfile.sh [--no-sandbox] SUITE      SUITE: bookworm, trixie, noble …
#
# --no-sandbox: afterwards, as where a container may make no namespaces: filter.py refuses the calls that Docker's default
# profile refuses.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
filter=''
if [ "${1:-}" = --no-sandbox ]; then filter=1; shift; fi
[ $# = 1 ] || { sed -n '5s/^# *//p' "$0" >&2; exit 2; }

after=$(cat <<'AFTER'
lockstep --version
grader --version
cd /lockstep/assignments/01_handson_copy
status=0; lockstep test || status=$?
[ $status = 1 ] || { echo "lockstep test on a stub ended with $status" >&2; exit 1; }
cp /lockstep/reference/01_handson_copy/copy.cu copy.cu
lockstep test
cd /lockstep
AFTER
)
grade='grader grade reference/sample_class --assignment 01_handson_copy --out /tmp/out'
if [ -n "$filter" ]; then
  after+="
touch /.dockerenv
status=0; python3 harness/tests/clean_root/filter.py $grade > /tmp/said 2>&1 || status=\$?
cat /tmp/said
[ \$status != 0 ] && grep -q -- '--security-opt' /tmp/said
python3 harness/tests/clean_root/filter.py $grade --no-sandbox"
else
  after+="
$grade"
fi
# The Dockerfile starts from an image that has no make either.
exec "$here/run.sh" --bare "$1" "$(python3 "$here/dockerfile.py" /root/lockstep)
$after"
