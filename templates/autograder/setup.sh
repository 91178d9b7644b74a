#!/usr/bin/env bash
# Builds the autograder's image: Gradescope runs this once, as root, from /autograder/source.
#
# It installs compilers, CMake and the libraries that the judge is built with, and nvcc from its pinned Python packages;
# builds the judge and this assignment's suite in /opt/lockstep; grades the reference, which has to get all points; and
# deletes what grading doesn't need: the reference, the hidden tests' and the judge's sources, the secret in this folder.
#
# For Ubuntu 22.04 and 24.04, Debian 12 and 13. $LOCKSTEP_HOME: another folder than /opt/lockstep.
set -euo pipefail
umask 022
source=$(cd "$(dirname "$0")" && pwd)
home=${LOCKSTEP_HOME:-/opt/lockstep}
export DEBIAN_FRONTEND=noninteractive
began=$SECONDS
say() { printf '==> %s (%s s)\n' "$*" "$((SECONDS - began))"; }

[ "$(id -u)" = 0 ] || { echo "setup.sh: run it as root, as Gradescope does" >&2; exit 1; }
[ -d "$source/lockstep" ] || { echo "setup.sh: there is no folder lockstep beside it: unpack the zip as it is" >&2; exit 1; }

mkdir -p "$home"
cp -r "$source/lockstep/." "$home"
chmod 755 "$home"
chmod 700 "$home/private"
mkdir -p "$home/bin"
export PATH=$home/bin:$PATH

# Ubuntu 22.04 has Python 3.10 and g++ 11 by default, and packages of newer versions.
apt-get update -qq
install() { apt-get install -y -qq --no-install-recommends "$@" > /dev/null; }
install python3 python3-venv g++ ca-certificates util-linux libseccomp2
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  say "Python 3.11"
  install python3.11 python3.11-venv
  ln -sf "$(command -v python3.11)" "$home/bin/python3"
fi
if [ "$(g++ -dumpversion | cut -d. -f1)" -lt 12 ]; then
  say "g++ 12"
  install g++-12
  for program in gcc g++; do
    update-alternatives --quiet --install "/usr/bin/$program" "$program" "/usr/bin/$program-12" 100
    update-alternatives --quiet --set "$program" "/usr/bin/$program-12"
  done
fi

# Ubuntu 22.04 has no package of toml++ either: the zip brings the headers.
if ! [ -e /usr/include/toml++ ] && [ -d "$home/include/toml++" ]; then cp -r "$home/include/toml++" /usr/local/include; fi

cd "$home"
assignment=$(python3 -c 'import json; print(json.load(open("private/settings.json"))["assignment"])')
say "Compilers and libraries"
harness/setup.sh --build build --student
say "The judge and the suite of $assignment"
# No instructions that only the building machine may have: the image runs on others too.
cmake -G Ninja -S . -B build -DCMAKE_BUILD_TYPE=Release -DLOCKSTEP_NVCC="$(cat build/nvcc.txt)" -DLOCKSTEP_TESTS=OFF \
  -DLOCKSTEP_BENCH=OFF -DLOCKSTEP_X86_64_V4=OFF > build/configure.log || { tail -n 20 build/configure.log >&2; exit 1; }
harness/build.sh --build build cudart lockstep_worker "${assignment}_full_suite"

say "Closing what submissions must not read"
reference=("reference/$assignment/"*.cu)
mv "${reference[0]}" private/reference.cu
find build -mindepth 1 -maxdepth 1 ! -name bin ! -name lib ! -name nvcc.txt -exec rm -rf {} +
find harness -mindepth 1 -maxdepth 1 ! -name worker ! -name protocol ! -name suites -exec rm -rf {} +
find harness/suites -type f ! -name "${assignment}_launchers.cc" -delete
rm -rf reference include CMakeLists.txt
chmod -R go-rwx build/bin private grader
chmod -R go+rX build/lib harness assignments .venv 2>/dev/null || true

say "Grading the reference"
run_self_test() {
  env -i PATH="$PATH" LANG=C.UTF-8 HOME=/root PYTHONPATH="$home/grader/src" \
    python3 -P -s -m grader.autograder.run --home "$home" --self-test private/reference.cu
}
run_self_test || { echo "setup.sh: the reference did not get all points in this image" >&2; exit 1; }
rm -f private/reference.cu
rm -rf "$source/lockstep" /var/lib/apt/lists/* /root/.cache
say "Done"
