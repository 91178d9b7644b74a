#!/usr/bin/env bash
# Formatting and static checks over the tracked sources; --fix formats in place.
set -euo pipefail
cd "$(dirname "$0")/.."
build=build fix=''
while [ $# -gt 0 ]; do
  case $1 in
    --build) build=$2; shift 2 ;;
    --fix) fix=1; shift ;;
    *) echo "usage: harness/lint.sh [--build DIR] [--fix]" >&2; exit 2 ;;
  esac
done

# Wrong solutions are evidence, kept as students would write them.
mapfile -t sources < <(git ls-files '*.cc' '*.h' '*.cu' '*.cuh' ':!reference/*/wrong/*' ':!reference/sample_class/*')
python=(grader/src grader/tests)
mapfile -t scripts < <(git ls-files 'harness/*.py')
settings=(--config grader/pyproject.toml)
if [ -n "$fix" ]; then
  clang-format -i "${sources[@]}"
  .venv/bin/ruff format -q "${python[@]}"
  .venv/bin/ruff check -q --fix "${python[@]}"
  .venv/bin/ruff format -q "${settings[@]}" "${scripts[@]}"
  .venv/bin/ruff check -q --fix "${settings[@]}" "${scripts[@]}"
  exit
fi

status=0
step() { # name, command …
  local name=$1 output; shift
  if output=$("$@" 2>&1); then printf '  ok    %s\n' "$name"; else printf '  FAIL  %s\n%s\n' "$name" "$output"; status=1; fi
}
command -v clang-format >/dev/null || { echo "clang-format is missing: sudo apt-get install clang-format" >&2; exit 1; }
step "clang-format (${#sources[@]} files)" clang-format --dry-run -Werror "${sources[@]}"
step "ruff format" .venv/bin/ruff format --check -q "${python[@]}"
step "ruff check" .venv/bin/ruff check -q "${python[@]}"
step "ruff format, scripts" .venv/bin/ruff format --check -q "${settings[@]}" "${scripts[@]}"
step "ruff check, scripts" .venv/bin/ruff check -q "${settings[@]}" "${scripts[@]}"
step "mypy --strict" .venv/bin/mypy --config-file grader/pyproject.toml grader/src
for folder in $(dirname "${scripts[@]}" | sort -u); do  # two folders may each have a run.py
  step "mypy --strict, $folder" .venv/bin/mypy --config-file grader/pyproject.toml "$folder"/*.py
done
if command -v cppcheck >/dev/null; then
  # cppcheck 2.10 loses its way in C++20 (lambdas as template arguments, moves): what it says of these is never true here.
  wrong_here=(missingIncludeSystem internalAstError syntaxError returnTempReference danglingLifetime
    AssignmentAddressToInteger uninitvar shiftTooManyBits)
  mapfile -t units < <(git ls-files 'harness/**/*.cc' ':!harness/tests' ':!harness/bench')
  step "cppcheck (${#units[@]} files)" cppcheck -q -j2 --std=c++20 --language=c++ --enable=warning,portability --inline-suppr \
    "${wrong_here[@]/#/--suppress=}" --error-exitcode=1 -I harness "${units[@]}"
fi
[ $status = 0 ] || echo "make format mends the formatting" >&2
exit $status
