#!/usr/bin/env bash
# Builds the documentation's site; any warning is an error. It opens from the disk: no server, no network.
#   harness/dev/site/build.sh [--build DIR] [--out DIR]
set -euo pipefail
cd "$(dirname "$0")/../../.."
build=build out=out/site
while [ $# -gt 0 ]; do
  case $1 in
    --build) build=$2; shift 2 ;;
    --out) out=$2; shift 2 ;;
    *) echo "usage: harness/dev/site/build.sh [--build DIR] [--out DIR]" >&2; exit 2 ;;
  esac
done
python=$PWD/.venv/bin/python
"$python" -c 'import zensical' 2>/dev/null || { echo "Zensical is missing; type:  harness/setup.sh --docs" >&2; exit 1; }

mkdir -p "$build" "$(dirname "$out")"
staged=$(mktemp -d "$build/site.XXXXXX")
trap 'rm -rf "$staged"' EXIT
"$python" harness/dev/site/stage.py "$staged/docs"
log=$staged/log
if ! (cd "$staged/docs" && "$python" -m zensical build --strict --config-file mkdocs.yml) > "$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi
rm -rf "$out"
mv "$staged/docs/site" "$out"
echo "The site is in $out: open $out/index.html"
