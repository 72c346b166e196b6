#!/usr/bin/env bash
# Makes a Debian for arm64 in a folder: system.sh FOLDER RELEASE PACKAGE...
#
# It is what the cross compiler compiles and links with, and the root of the emulated machine. The
# packages, with what they depend on, are unpacked and not installed: this machine cannot run their
# scripts, and the emulated one would take longer for them than for the tests.
#
# FOLDER.kernel: the kernel and initial RAM disk that start it (init).
set -euo pipefail

folder=$1 release=$2
shift 2
here="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)"
# shellcheck source=tools/wheels/debian.sh
source "$here/../wheels/debian.sh"

# What each Debian has without being asked, and the kernel. On an emulated machine the variant for
# virtual machines has all the drivers.
readonly BASE=(base-files base-passwd bash coreutils dash diffutils findutils grep gzip hostname login
  mawk mount sed tar util-linux busybox-static linux-image-cloud-arm64)

merge_usr() {
  local name
  for name in bin lib sbin; do
    mkdir -p -- "$folder/usr/$name"
    ln -s "usr/$name" "$folder/$name"
  done
}

# Absolute links hold where the folder is the root. Relative ones also hold where it is not.
make_links_relative() {
  find "$folder" -type l -lname '/*' -not -path "$folder/etc/alternatives/*" -printf '%p\0%l\0' |
    while IFS= read -r -d '' link && IFS= read -r -d '' target; do
      ln -sfnr -- "$folder$target" "$link"
    done
}

# What the packages' scripts would do.
configure() {
  cp -- "$folder/usr/share/base-passwd/passwd.master" "$folder/etc/passwd"
  cp -- "$folder/usr/share/base-passwd/group.master" "$folder/etc/group"
  ln -sf mawk "$folder/usr/bin/awk"
  printf 'belljar-arm64\n' >"$folder/etc/hostname"
  printf '127.0.0.1 localhost belljar-arm64\n' >"$folder/etc/hosts"
  # Byte code is the same on each architecture.
  python3 -I -m compileall -q -s "$folder" "$folder/usr/lib/python3"* >/dev/null || true
}

# The initial RAM disk: BusyBox, the modules for the disks and the file system on them, and init.
make_kernel() {
  local disk="$folder.kernel/disk" modules version module
  version="$(basename -- "$folder"/usr/lib/modules/*)"
  modules="$folder/usr/lib/modules/$version"
  mkdir -p -- "$disk"/{bin,dev,proc,sys,root,modules}
  cp -- "$folder/bin/busybox" "$disk/bin/"
  cp -- "$here/init" "$disk/init"
  # In the order of their dependencies, of which this machine's depmod makes the list.
  /sbin/depmod --basedir "$folder" "$version"
  for module in virtio_pci virtio_blk ext4; do
    /sbin/modprobe --dirname "$folder" --set-version "$version" --show-depends "$module"
  done | awk '$1 == "insmod" && !seen[$2]++ {print $2}' >"$folder.kernel/modules"
  while read -r module; do
    cp -- "$module" "$disk/modules/"
    basename -- "$module" >>"$disk/modules/list"
  done <"$folder.kernel/modules"
  (cd "$disk" && find . | "$folder.kernel/../cpio" >"$folder.kernel/initrd")
  cp -- "$folder"/boot/vmlinuz-* "$folder.kernel/vmlinuz"
}

rm -rf -- "$folder" "$folder.kernel" "$folder.apt"
mkdir -p -- "$folder"
folder="$(realpath -- "$folder")"
apt_for "$folder.apt" "$release" arm64
merge_usr
unpack_with_dependencies "$folder" "${BASE[@]}" "$@"
make_links_relative
configure
make_kernel
rm -rf -- "$folder.apt"
