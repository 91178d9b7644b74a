#!/usr/bin/env bash
# Runs commands in a clean system of another distribution, on a fresh clone of this checkout's HEAD: tests that set-up
# finds or installs all it needs. Needs root and debootstrap; nothing of the run is kept.
#
#   harness/dev/clean_root/run.sh [--user] [--bare] [--with DIR] SUITE COMMAND …
#   harness/dev/clean_root/run.sh noble 'make demo && make check'
#
#   SUITE          bookworm, trixie (Debian 12, 13), jammy or noble (Ubuntu 22.04, 24.04); any other that debootstrap knows
#   --user         as a user without rights; the packages that setup.sh asks for are installed first, as an administrator would
#   --bare         without make, which otherwise starts set-up
#   --with DIR     a folder to show at /with
#
# Base systems are kept in $LOCKSTEP_ROOTS (default /var/tmp/lockstep-roots) and are only read: each run writes to an
# overlay of its own. $LOCKSTEP_KEYRING: the archive's keys, where debootstrap lacks them; $LOCKSTEP_MIRROR: another mirror;
# $LOCKSTEP_ARCH: another architecture, as arm64, whose programs must run on this machine: see harness/dev/arm64.py.
set -euo pipefail
checkout=$(cd "$(dirname "$0")/../../.." && pwd)
roots=${LOCKSTEP_ROOTS:-/var/tmp/lockstep-roots}
user='' bare='' with=''
while [ $# -gt 0 ]; do
  case $1 in
    --user) user=1; shift ;;
    --bare) bare=1; shift ;;
    --with) with=$2; shift 2 ;;
    -*) echo "run.sh: $1 is unknown; see the head of this file" >&2; exit 2 ;;
    *) break ;;
  esac
done
[ $# -ge 2 ] || { echo "usage: run.sh [--user] [--bare] [--with DIR] SUITE COMMAND …" >&2; exit 2; }
[ "$(id -u)" = 0 ] || { echo "run.sh mounts file systems: run it as root" >&2; exit 2; }
suite=$1; shift
base=$roots/$suite${LOCKSTEP_ARCH:+-$LOCKSTEP_ARCH}

if [ ! -e "$base/etc/os-release" ]; then
  command -v debootstrap >/dev/null || { echo "debootstrap is missing: apt-get install debootstrap" >&2; exit 2; }
  # debootstrap's script for a release knows the mirror; all Ubuntu releases have the same script.
  components=main
  case $suite in
    noble | jammy)
      components=main,universe
      [ -e "/usr/share/debootstrap/scripts/$suite" ] || ln -s gutsy "/usr/share/debootstrap/scripts/$suite" ;;
  esac
  mkdir -p "$roots"
  echo "==> debootstrap $suite"
  debootstrap ${LOCKSTEP_ARCH:+--arch="$LOCKSTEP_ARCH"} --variant=minbase --components=$components ${LOCKSTEP_KEYRING:+--keyring="$LOCKSTEP_KEYRING"} \
    "$suite" "$base" ${LOCKSTEP_MIRROR:+"$LOCKSTEP_MIRROR"} > "$base.log" 2>&1 ||
    { tail -n 5 "$base.log" >&2; rm -rf "$base"; exit 1; }
fi

scratch=$(mktemp -d "$roots/run.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch"/{upper,work,root}
# The clone is made outside: a clean system has no git until set-up has installed it.
git clone -q "$checkout" "$scratch/lockstep"
git -C "$scratch/lockstep" remote remove origin

# pivot_root, not chroot: in a chroot the kernel refuses the user namespaces that the sandbox needs.
inside=$(cat <<'INSIDE'
set -euo pipefail
mount -t overlay overlay -o "lowerdir=$BASE,upperdir=$SCRATCH/upper,workdir=$SCRATCH/work$IN_NAMESPACE" "$SCRATCH/root"
cd "$SCRATCH/root"
home=root; [ -z "$AS_USER" ] || home=home/student
mkdir -p $home/lockstep old
mount --bind "$SCRATCH/lockstep" $home/lockstep
[ -z "$WITH" ] || { mkdir -p with; mount --bind -o ro "$WITH" with; }
mount -t proc proc proc
mount --rbind /dev dev
mount --rbind /sys sys
mount -t tmpfs tmpfs tmp
# The network settings of this machine: name servers, hosts, certificates.
cp -L /etc/resolv.conf /etc/hosts etc/
cp -L /etc/ssl/certs/ca-certificates.crt etc/certificates-outside.crt 2>/dev/null && export PIP_CERT=/etc/certificates-outside.crt
pivot_root . old
umount -l old && rmdir old
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/$home LANG=C.UTF-8 TMPDIR=/tmp
export DEBIAN_FRONTEND=noninteractive
if [ -n "$AS_USER" ]; then
  apt-get update -qq
  useradd -m student 2>/dev/null || true
  chown -R student /home/student
  # An administrator installs make, which starts set-up, and then what setup.sh asks for.
  apt-get install -y -qq --no-install-recommends make git >/dev/null
  for _ in 1 2 3; do
    asked=$(setpriv --reuid student --regid student --clear-groups bash -c 'cd ~/lockstep && harness/setup.sh 2>&1' | sed -n 's/.*sudo apt-get install //p' | tail -n 1) || true  # it fails until all is there
    [ -n "$asked" ] || break
    echo "==> An administrator types: apt-get install $asked"
    apt-get install -y -qq --no-install-recommends $asked >/dev/null
  done
  cd /home/student/lockstep
  exec setpriv --reuid student --regid student --clear-groups bash -c "$COMMAND"
fi
# make starts set-up.
[ -n "$BARE" ] || command -v make >/dev/null || { apt-get update -qq; apt-get install -y -qq --no-install-recommends make >/dev/null; }
git config --system --add safe.directory '*' 2>/dev/null || printf '[safe]\n\tdirectory = *\n' > /etc/gitconfig
cd "$HOME/lockstep"
exec bash -c "$COMMAND"
INSIDE
)
env -i PATH="$PATH" IN_NAMESPACE="${LOCKSTEP_ARCH:+,userxattr}" BASE="$base" SCRATCH="$scratch" AS_USER="$user" BARE="$bare" WITH="$with" COMMAND="$*" \
  unshare --mount --propagation private --pid --fork bash -c "$inside"
