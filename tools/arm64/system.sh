#!/usr/bin/env bash
# Makes a Debian for 64-bit Arm in a folder: system.sh FOLDER RELEASE PACKAGE...
#
# The cross compiler compiles and links with it, and it is the root of the emulated machine. The
# packages, with what they depend on, are unpacked and not installed: their scripts are for a machine
# that this one is not, and would take the emulated one longer than its tests.
#
# FOLDER.machine: vmlinuz, initrd (see init) and root.img.
set -euo pipefail

folder=$1 release=$2
shift 2
here="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)"
# shellcheck source=tools/wheels/debian.sh
source "$here/../wheels/debian.sh"

# What any Debian has, and the kernel. The one for clouds has just the drivers of virtual machines.
readonly BASE=(base-files base-passwd bash coreutils dash diffutils findutils grep gzip hostname mawk
  mount sed tar util-linux busybox-static libc-bin linux-image-cloud-arm64)
readonly DRIVERS=(virtio_pci virtio_blk)
readonly ROOT_SIZE=1500M

# As in an installed system; packages still have files below both names.
merge_usr() {
  local name
  for name in bin lib sbin; do
    mkdir -p -- "$folder/usr/$name"
    ln -s "usr/$name" "$folder/$name"
  done
}

# Links to libraries start at the root: where this is not the root, they would lead to this machine's.
make_links_relative() {
  find "$folder/usr" -type l \( -lname '/usr/*' -o -lname '/lib/*' \) -printf '%p\0%l\0' |
    while IFS= read -r -d '' link && IFS= read -r -d '' target; do
      ln -sfnr -- "$folder$target" "$link"
    done
}

# What the packages' scripts would do, as far as it is needed.
configure() {
  mkdir -p -- "$folder"/{media,mnt,opt,srv}
  cp -- "$folder/usr/share/base-passwd/passwd.master" "$folder/etc/passwd"
  cp -- "$folder/usr/share/base-passwd/group.master" "$folder/etc/group"
  ln -s mawk "$folder/usr/bin/awk"
  printf 'arm64\n' >"$folder/etc/hostname"
  printf '127.0.0.1 localhost arm64\n' >"$folder/etc/hosts"
  # The same byte code on every architecture. Debian's own tests of bad syntax do not compile.
  /usr/bin/python3 -I -m compileall -q -s "$folder" "$folder"/usr/lib/python3* >/dev/null || true
}

make_machine() {
  local machine="$folder.machine" disk="$folder.machine/disk" driver version module
  mkdir -p -- "$disk"/{bin,dev,mnt,modules,proc,root,sys}
  cp -- "$folder"/boot/vmlinuz-* "$machine/vmlinuz"
  cp -- "$folder/usr/bin/busybox" "$disk/bin/"
  cp -- "$here/init" "$disk/init"
  version="$(basename -- "$folder"/usr/lib/modules/*)"
  /sbin/depmod --basedir "$folder" "$version"
  for driver in "${DRIVERS[@]}"; do
    # Lines "insmod FILE", what it depends on first.
    /sbin/modprobe --dirname "$folder" --set-version "$version" --show-depends "$driver"
  done | while read -r _ module; do
    [[ ! -e "$disk/modules/${module##*/}" ]] || continue
    cp -- "$module" "$disk/modules/"
    printf '%s\n' "${module##*/}" >>"$disk/modules/list"
  done
  (cd -- "$disk" && find . | cpio --quiet -o -H newc) >"$machine/initrd"
  /sbin/mke2fs -q -t ext4 -d "$folder" "$machine/root.img" "$ROOT_SIZE"
  rm -r -- "$disk"
}

rm -rf -- "$folder" "$folder.machine" "$folder.apt"
mkdir -p -- "$folder"
folder="$(realpath -- "$folder")"
apt_for "$folder.apt" "$release" arm64
merge_usr
unpack_with_dependencies "$folder" "${BASE[@]}" "$@"
rm -rf -- "$folder.apt"
make_links_relative
configure
make_machine
