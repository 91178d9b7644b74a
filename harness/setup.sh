#!/usr/bin/env bash
# Finds or installs what Lockstep needs, so that one command is enough on a fresh machine.
#
#   system packages   g++, CMake, Ninja, GoogleTest, toml++, nlohmann-json, zstd, bubblewrap …
#                     by apt-get where this is root on Debian or Ubuntu; elsewhere it says what to type
#   Python            .venv with the packages of grader/requirements.txt, as grader/constraints.txt pins them, and the grader
#   nvcc              on PATH, in /usr/local/cuda, or from the CUDA toolkit's Python packages
#
# If no package index can be reached, it uses the packages that the system's Python already has.
#
#   harness/setup.sh [--build DIR] [--student] [--target TARGET]
#   harness/setup.sh --dev | --docs | --browser | --python | --cluster | --doctor [--build DIR]
#
# --doctor: installs nothing; says what is found, what is missing and what to type; fails if a required part is missing.
# --dev: only what the project's own tests and static checks need, grader/requirements-dev.txt.
# --docs: only what builds the documentation's site, grader/requirements-docs.txt.
# --browser: only what tests pages in a browser: Chromium, grader/requirements-browser.txt.
# --python: only what Python programs and submissions in Python need: Numba and cuda.core (76 MB),
#   grader/requirements-python.txt, and the interpreter that workers embed.
# --cluster: only what sends submissions to a Slurm cluster, grader/requirements-cluster.txt.
# --student: only what `make test` needs: no Python packages, unless nvcc has to come from one.
# --target: the target for harness/build.sh, which runs while pip, on one processor, installs the packages.
set -euo pipefail
cd "$(dirname "$0")/.."

build=build student='' target='' dev='' docs='' browser='' programs='' cluster='' doctor=''
while [ $# -gt 0 ]; do
  case $1 in
    --build) build=$2; shift 2 ;;
    --student) student=1; shift ;;
    --dev) dev=1; shift ;;
    --docs) docs=1; shift ;;
    --browser) browser=1; shift ;;
    --python) programs=1; shift ;;
    --cluster) cluster=1; shift ;;
    --doctor) doctor=1; shift ;;
    --target) target=$2; shift 2 ;;
    *) echo "usage: harness/setup.sh [--build DIR] [--student] [--target TARGET] | --dev | --docs | --browser | --python | --cluster | --doctor" >&2; exit 2 ;;
  esac
done

if [ -t 1 ]; then bold=$'\e[1m' red=$'\e[31m' off=$'\e[0m'; else bold='' red='' off=''; fi
say() { printf '%s==>%s %s\n' "$bold" "$off" "$*"; }
fail() { printf '%serror:%s %s\n' "$red" "$off" "$*" >&2; exit 1; }

# Installs Debian packages; fails without apt-get, without root, or if apt-get fails, whose output is in $apt_log.
install_packages() {
  command -v apt-get >/dev/null && [ "$(id -u)" = 0 ] || return 1
  say "Installing system packages: $*"
  apt_log=$(mktemp)
  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"; } >"$apt_log" 2>&1 ||
    { tail -n 5 "$apt_log" >&2; return 1; }
}

# Optional packages, so that neither graders nor students wait for them.
extra() {  # LIST MODULE WHAT: installs requirements-LIST.txt, which has MODULE; WHAT names it in the error message
  [ -x .venv/bin/python ] || python3 -m venv .venv || fail "python3 can't make an environment; on Debian or Ubuntu: sudo apt-get install python3-venv"
  .venv/bin/pip install -q --disable-pip-version-check --retries 2 -c grader/constraints.txt -r "grader/requirements-$1.txt" ||
    .venv/bin/python -c "import $2" 2>/dev/null ||
    fail "$3 could not be installed; with a network type:  .venv/bin/pip install -c grader/constraints.txt -r grader/requirements-$1.txt"
}
if [ -n "$dev" ]; then
  extra dev pytest "pytest, linters and formatters"
  exit
fi
if [ -n "$docs" ]; then
  extra docs zensical "the site's generator"
  exit
fi
if [ -n "$cluster" ]; then
  extra cluster submitit "submitit"
  exit
fi
if [ -n "$programs" ]; then
  extra python numba.cuda "Numba"
  [ -x /usr/bin/python3-config ] || install_packages python3-dev || true
  [ -x /usr/bin/python3-config ] ||
    fail "python3-dev is missing, which workers of submissions in Python are linked with; on Debian or Ubuntu: sudo apt-get install python3-dev"
  # A build tree that was configured without it looks again.
  [ ! -f "$build/build.ninja" ] || [ -f "$build/lib/python_flags.txt" ] || cmake "$build" >/dev/null
  exit
fi
if [ -n "$browser" ]; then
  extra browser playwright "what drives the browser"
  if ! python3 harness/dev/site/chromium.py >/dev/null 2>&1 && grep -q '^ID=debian' /etc/os-release 2>/dev/null; then
    install_packages chromium || true
  fi
  reason=$(python3 harness/dev/site/chromium.py 2>&1) || fail "$reason"
  exit
fi

# Tests only whether the header exists: compiling some of them takes a second each.
has_header() { printf '#if !__has_include(<%s>)\n#error\n#endif\n' "$1" | g++ -x c++ -E - >/dev/null 2>&1; }
has_library() { echo 'int main() {}' | g++ -x c++ - -o /dev/null "-l$1" 2>/dev/null; }

# The first installed nvcc that runs; nothing if there is none.
find_nvcc() {
  local nvcc
  for nvcc in $(type -aP nvcc) /usr/local/cuda/bin/nvcc; do
    if "$nvcc" --version >/dev/null 2>&1; then real_nvcc "$nvcc"; return; fi
  done
}

# The nvcc on PATH may be a link or a script; the real one is in another folder, next to its headers. Its --dryrun
# output says where.
real_nvcc() {
  local said nvcc
  said=$("$1" --dryrun -c nothing.cu 2>&1 | sed -n 's/^#\$ _HERE_=//p')
  for nvcc in "$said/nvcc" "$(readlink -f "$1")" "$1"; do
    if [ -x "$nvcc" ] && [ -e "${nvcc%/*}/../include/cuda_runtime.h" ]; then break; fi
  done
  echo "$nvcc"
}

# Each line: a test that succeeds if the package is not needed, and the Debian package.
missing_packages() {
  command -v g++ >/dev/null || echo g++
  command -v cmake >/dev/null || echo cmake
  command -v ninja >/dev/null || echo ninja-build
  command -v make >/dev/null || echo make
  [ -n "$student" ] || command -v git >/dev/null || echo git
  { has_header gtest/gtest.h && has_library gtest; } || echo libgtest-dev
  has_header toml++/toml.h || echo libtomlplusplus-dev
  has_header nlohmann/json.hpp || echo nlohmann-json3-dev
  { has_header zstd.h && has_library zstd; } || echo libzstd-dev
  command -v python3 >/dev/null || echo python3
  { [ -n "$student" ] && [ -n "$(find_nvcc)" ]; } || python3 -c 'import ensurepip, venv' 2>/dev/null || echo python3-venv
}
# Only some targets need these; without them those targets say so.
wanted_packages() {
  [ -z "$student" ] || return 0
  command -v bwrap >/dev/null || echo bubblewrap
  has_library openblas || echo libopenblas-dev
  has_header eigen3/unsupported/Eigen/FFT || echo libeigen3-dev
  [ -x /usr/bin/python3-config ] || echo python3-dev
}

missing=$(missing_packages); wanted=$(wanted_packages)
if [ -n "$doctor" ]; then
  status=0
  found() { printf '  %-8s %s\n' "$1" "$2"; }
  lacks() { found "$1" "$2"; printf '%11sType:  %s\n' '' "$3"; }
  for package in $missing; do lacks MISSING "$package" "make setup, or: sudo apt-get install $package"; status=1; done
  for package in $wanted; do lacks optional "$package" "sudo apt-get install $package"; done
  [ -n "$missing" ] || found ok "$(g++ --version | sed -n 1p), $(cmake --version | sed -n 1p), $(python3 --version)"
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { lacks MISSING "Python 3.11 or newer" "sudo apt-get install python3"; status=1; }
  nvcc=$(cat "$build/nvcc.txt" 2>/dev/null || find_nvcc)
  release=$([ -z "$nvcc" ] || "$nvcc" --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
  case $release in
    '') lacks MISSING "nvcc" "make setup, which fetches the CUDA compiler from its Python packages"; status=1 ;;
    13.*) found ok "nvcc $release, $nvcc: for the virtual GPU, and GPUs from Turing (2018) on with driver 580 or newer" ;;
    *) lacks old "nvcc $release, $nvcc: vgpu-run stands in for the runtime of CUDA 13" "python3 -m venv .venv && .venv/bin/pip install -r harness/nvcc-requirements.txt" ;;
  esac
  if gpu=$(nvidia-smi --query-gpu=name,driver_version,compute_cap --format=csv,noheader 2>/dev/null | sed -n 1p) && [ -n "$gpu" ]; then
    IFS=, read -r name driver capability <<< "$gpu"
    if [ "${driver%%.*}" -lt 580 ] || [ "${capability/./}" -lt 75 ]; then
      found old "$name, driver$driver: CUDA 13 needs driver 580 and compute capability 7.5; the virtual GPU runs all the same"
    else
      found ok "$name, driver$driver: DEVICE=cuda runs the tests on it"
    fi
  else
    found ok "no NVIDIA GPU: everything runs on the virtual GPU"
  fi
  if [ -x "$build/bin/vgpu-run" ]; then found ok "$build is built"; else lacks empty "$build" "make build"; fi
  if [ -x .venv/bin/grader ]; then found ok "the grader, .venv/bin/grader"; else lacks absent "the grader (students need none)" "make setup"; fi
  found ok "$(nproc) processors, $(awk '/MemAvailable/ { printf "%.0f", $2 / 1048576 }' /proc/meminfo) GiB of memory, $(df -h --output=avail . | tail -n 1 | tr -d ' ') of disk free"
  exit $status
fi
if [ -n "$missing$wanted" ]; then
  packages=$(echo $missing $wanted)
  if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    install_packages $packages || [ -z "$(missing_packages)" ] ||
      fail "could not install $(echo $(missing_packages)); see $apt_log"
  elif [ -n "$missing" ]; then
    fail "these packages are missing: $packages
       On Debian or Ubuntu type:  sudo apt-get install $packages"
  else
    say "Optional packages are missing ($(echo $wanted)); on Debian or Ubuntu: sudo apt-get install $(echo $wanted)"
  fi
fi

python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
  fail "Python 3.11 or newer is needed; python3 here is $(python3 --version 2>&1 | cut -d' ' -f2)"

# The grader's environment. Students need none.
set_up_python() {
  say "Python environment in .venv"
  if [ ! -x .venv/bin/python ]; then python3 -m venv .venv; fi
  pip_log=$(mktemp)
  # --no-compile: compiling every module takes 6 s; Python compiles each one when it is first imported.
  if ! .venv/bin/pip install -q --no-compile --disable-pip-version-check --retries 2 \
    -c grader/constraints.txt -r grader/requirements.txt 2> "$pip_log"; then
    tail -n 3 "$pip_log" >&2
    say "That failed: trying the Python packages that are installed already"
    rm -rf .venv && python3 -m venv --system-site-packages .venv
    # python3 may itself be a virtual environment, whose packages --system-site-packages leaves out.
    python3 -c 'import sysconfig; print(sysconfig.get_path("purelib"))' > \
      "$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/parent.pth"
    .venv/bin/python -c 'import click, jinja2, pandas, rich' ||
      fail "Python packages are missing; with a network type:  .venv/bin/pip install -c grader/constraints.txt -r grader/requirements.txt"
  fi
  # Installs the grader in place, by a .pth file and a launcher, so that no build back end has to be fetched.
  site=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  echo "$PWD/grader/src" > "$site/lockstep_grader.pth"
  # To sh the second line is a command that starts Python, whose path may have blanks; to Python it is a string.
  cat > .venv/bin/grader <<EOF
#!/bin/sh
'''exec' "$PWD/.venv/bin/python" "\$0" "\$@"
' '''
import sys
from grader.commands.cli import main
sys.exit(main())
EOF
  chmod +x .venv/bin/grader
  ln -sf ../../lockstep .venv/bin/lockstep
}
nvcc=$(find_nvcc)
python=''
if [ -z "$student" ] && [ -n "$nvcc" ]; then
  set_up_python &
  python=$!
  trap 'kill $python 2>/dev/null || true' EXIT
  trap 'exit 130' INT TERM
elif [ -z "$student" ]; then
  set_up_python
fi
if [ -z "$nvcc" ]; then
  # The toolkit's compiler as Python packages: no driver, no root.
  [ -x .venv/bin/python ] || python3 -m venv .venv
  nvcc="$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/nvidia/cu13/bin/nvcc"
  if [ ! -x "$nvcc" ]; then
    say "No nvcc on this machine: getting the CUDA compiler from its Python packages (300 MB on disk)"
    .venv/bin/pip install -q --disable-pip-version-check -r harness/nvcc-requirements.txt ||
      fail "nvcc is missing and could not be fetched. Install the CUDA toolkit 12 or newer, or with a network type:  .venv/bin/pip install -r harness/nvcc-requirements.txt"
  fi
fi
"$nvcc" --version >/dev/null || fail "$nvcc does not run"
# These packages lack two names that nvcc needs for linking: the folder lib64 and libcudart.so.
toolkit=${nvcc%/bin/nvcc}
if [[ $toolkit = */nvidia/cu13 ]] && [ -w "$toolkit/lib" ]; then
  [ -e "$toolkit/lib64" ] || ln -s lib "$toolkit/lib64"
  [ -e "$toolkit/lib/libcudart.so" ] || ln -s libcudart.so.13 "$toolkit/lib/libcudart.so"
fi
# Settings for clangd, the language server of editors, unless the build tree is another than build/.
[ "$(realpath -m "$build")" != "$PWD/build" ] || cat > .clangd <<EOF
If: {PathMatch: '.*\.cuh?'}
CompileFlags:
  CompilationDatabase: None
  Add: [-xcuda, '--cuda-path=$toolkit', --cuda-gpu-arch=sm_80, -std=c++17, -Wno-unknown-cuda-version]
EOF
mkdir -p "$build"
echo "$nvcc" > "$build/nvcc.txt"
say "nvcc: $nvcc ($("$nvcc" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p'))"
[ -z "$target" ] || harness/build.sh --build "$build" "$target"
[ -z "$python" ] || wait "$python"
