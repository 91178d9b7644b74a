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

# Every tool comes pinned from grader/requirements-dev.txt: another version would format, or complain, otherwise.
for tool in clang-format clang-tidy ruff mypy; do
  [ -x ".venv/bin/$tool" ] || { echo "$tool is missing; type: harness/setup.sh --dev" >&2; exit 1; }
done

# Solutions beside the references are evidence, kept as students would write them.
mapfile -t sources < <(git ls-files '*.cc' '*.h' '*.cu' '*.cuh' ':!reference/*/wrong/*' ':!reference/*/right/*' ':!reference/sample_class/*')
python=(grader/src grader/tests)
mapfile -t scripts < <(git ls-files 'harness/*.py')
settings=(--config grader/pyproject.toml)
if [ -n "$fix" ]; then
  .venv/bin/clang-format -i "${sources[@]}"
  .venv/bin/ruff format -q "${python[@]}"
  .venv/bin/ruff check -q --fix "${python[@]}"
  .venv/bin/ruff format -q "${settings[@]}" "${scripts[@]}"
  .venv/bin/ruff check -q --fix "${settings[@]}" "${scripts[@]}"
  exit
fi

# What takes long runs side by side; what each lane says is shown when it is done.
status=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
step() { # name, command …
  local name=$1 output; shift
  if output=$("$@" 2>&1); then printf '  ok    %s\n' "$name"; else printf '  FAIL  %s\n%s\n' "$name" "$output"; status=1; fi
}
check_format() { step "clang-format (${#sources[@]} files)" .venv/bin/clang-format --dry-run -Werror "${sources[@]}"; }
check_python() {
  step "ruff format" .venv/bin/ruff format --check -q "${python[@]}"
  step "ruff check" .venv/bin/ruff check -q "${python[@]}"
  step "ruff format, scripts" .venv/bin/ruff format --check -q "${settings[@]}" "${scripts[@]}"
  step "ruff check, scripts" .venv/bin/ruff check -q "${settings[@]}" "${scripts[@]}"
  step "mypy --strict" .venv/bin/mypy --config-file grader/pyproject.toml grader/src
  for folder in $(dirname "${scripts[@]}" | sort -u); do  # two folders may each have a run.py
    step "mypy --strict, $folder" env MYPYPATH=harness/samples .venv/bin/mypy --config-file grader/pyproject.toml "$folder"/*.py
  done
}
check_tidy() { step "clang-tidy" harness/tidy.sh --build "$build"; }
lanes=(check_format check_python check_tidy) running=()
for lane in "${lanes[@]}"; do
  { $lane; exit $status; } > "$scratch/$lane" &
  running+=($!)
done
for index in "${!lanes[@]}"; do
  wait "${running[index]}" || status=1
  cat "$scratch/${lanes[index]}"
done
[ $status = 0 ] || echo "make format fixes the formatting" >&2
exit $status
