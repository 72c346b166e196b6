#!/usr/bin/env bash
# Compiles CPython on an old Debian, which has no version that a wheel is for:
#
#   old_python.sh PREFIX RELEASE VERSION    RELEASE: such as bullseye; VERSION: such as 3.11
#
# The source is that of this machine's own Debian; the compiler and the C library are RELEASE's.
set -euo pipefail

prefix=$1 release=$2 version=$3
here="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)"
scratch="$prefix.scratch"

# shellcheck source=tools/wheels/debian.sh
source "$here/debian.sh"

rm -rf -- "$prefix" "$scratch"
mkdir -p -- "$prefix" "$scratch"
scratch="$(realpath -- "$scratch")" prefix="$(realpath -- "$prefix")"
apt_for "$scratch/apt" "$release"
code="$(unpack_source "python$version")"
"$here/root.sh" "$scratch/root" "$release" gcc make libc6-dev zlib1g-dev libffi-dev libssl-dev \
  libbz2-dev liblzma-dev libsqlite3-dev
# shellcheck disable=SC2016  # for the shell inside
bwrap --bind "$scratch/root" / --proc /proc --dev /dev --tmpfs /tmp --tmpfs /mnt \
  --bind "$code" /mnt/code --bind "$prefix" "$prefix" --unshare-net --clearenv \
  --setenv PATH /usr/bin:/bin --chdir /mnt/code \
  sh -c './configure --quiet --prefix="$1" && make -s -j"$2" && make -s install' \
  _ "$prefix" "$(nproc)"
rm -rf -- "$scratch"
