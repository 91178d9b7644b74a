#!/usr/bin/env bash
# Formatting and static checks of the tracked sources; --fix formats in place. clang-tidy takes longest: --changed BASE
# has it read only what has changed since that commit; --quick leaves it out.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=build fix='' base='' quick=''
while [ $# -gt 0 ]; do
  case $1 in
    --build) build=$2; shift 2 ;;
    --fix) fix=1; shift ;;
    --changed) base=$2; shift 2 ;;
    --quick) quick=1; shift ;;
    *) echo "usage: harness/dev/lint.sh [--build DIR] [--fix | --changed BASE | --quick]" >&2; exit 2 ;;
  esac
done

# grader/constraints.txt pins every tool: another version would format, or complain, differently.
for tool in clang-format clang-tidy ruff mypy; do
  [ -x ".venv/bin/$tool" ] || { echo "$tool is missing; type: harness/setup.sh --dev" >&2; exit 1; }
done

# Right and wrong solutions next to the references stay as students would write them.
mapfile -t sources < <(git ls-files '*.cc' '*.h' '*.cu' '*.cuh' ':!reference/*/wrong/*' ':!reference/*/right/*' ':!reference/*/bases/*' ':!reference/sample_class/*')
python=(grader/src grader/tests)
mapfile -t scripts < <(git ls-files 'harness/*.py')
settings=(--config grader/pyproject.toml)
if [ -n "$fix" ]; then
  .venv/bin/clang-format -i "${sources[@]}"
  .venv/bin/ruff format -q "${python[@]}"
  .venv/bin/ruff check -q --fix "${python[@]}"
  .venv/bin/ruff format -q "${settings[@]}" "${scripts[@]}" dev
  .venv/bin/ruff check -q --fix "${settings[@]}" "${scripts[@]}" dev
  exit
fi

# The lanes below run in parallel; the output of each is shown when it is done.
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
  step "ruff format, scripts" .venv/bin/ruff format --check -q "${settings[@]}" "${scripts[@]}" dev
  step "ruff check, scripts" .venv/bin/ruff check -q "${settings[@]}" "${scripts[@]}" dev
  step "mypy --strict" .venv/bin/mypy --config-file grader/pyproject.toml grader/src
  step "mypy --strict, dev" .venv/bin/mypy --config-file grader/pyproject.toml dev
  for folder in $(dirname "${scripts[@]}" | sort -u); do  # two folders may each have a run.py
    step "mypy --strict, $folder" env MYPYPATH=harness/dev/public_suites .venv/bin/mypy --config-file grader/pyproject.toml "$folder"/*.py
  done
}
check_tidy() {
  local changed=() header
  [ -z "$quick" ] || return 0
  if [ -n "$base" ]; then
    mapfile -t changed < <({
      git diff --name-only --diff-filter=d "$base" -- 'harness/*.cc'
      git ls-files --others --exclude-standard -- 'harness/*.cc'
      for header in $(git diff --name-only "$base" -- 'harness/*.h'); do
        git grep -l -F "\"${header#harness/}\"" -- 'harness/*.cc' | head -n 3  # any source that includes the header will do
      done
    } | grep -v -e '^harness/tests/' -e '^harness/dev/' -e 'refused\.cc$' -e '_forwards\.cc$' | sort -u)
    [ ${#changed[@]} -gt 0 ] || return 0
  fi
  step "clang-tidy" harness/dev/tidy.sh --build "$build" "${changed[@]}"
}
check_pages() {
  step "paths, hints and words of pages" .venv/bin/python harness/dev/check_docs.py
  step "messages and functions of Python code" .venv/bin/python harness/dev/check_code.py
  step "links of pages" .venv/bin/python harness/dev/site/stage.py --check
}
lanes=(check_format check_python check_tidy check_pages) running=()
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
