#!/bin/sh
# Installs what `make cluster-check` needs: submitit, and Slurm's daemons from Debian's packages.
set -eu
cd "$(dirname "$0")/../../.."
harness/setup.sh --cluster
if python3 -c 'import sys; sys.path.insert(0, "harness/dev/slurm"); import cluster; sys.exit(bool(cluster.why_no_cluster()))'; then exit; fi
packages=$(python3 -c 'import sys; sys.path.insert(0, "harness/dev/slurm"); import cluster; print(cluster.PACKAGES)')
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo "error: installing Slurm needs root and Debian's packages:  sudo apt-get install $packages" >&2
  exit 1
fi
echo "==> Installing system packages: $packages"
apt-get update -qq
# Keeps the packages from starting their daemons: each test starts its own.
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
  trap 'rm -f $policy' EXIT
  printf '#!/bin/sh\nexit 101\n' > $policy
  chmod +x $policy
fi
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages >/dev/null
