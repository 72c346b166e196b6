#!/usr/bin/env bash
# Creates the folder that tools/cmake/BelljarOldGlibc.cmake compiles and links with:
#
#   sysroot.sh FOLDER RELEASE ARCHITECTURE
#
# RELEASE: the Debian release whose C library it has, such as bullseye. ARCHITECTURE: as Debian calls
# it, amd64 or arm64. In what follows, "this machine's" are for that architecture the packages of this
# machine's release, unpacked too.
#
# The C library and libgcc_s are those of RELEASE, unpacked and not installed. Everything else is this
# machine's: the headers, as links, and static libraries, which use nothing that the old C library
# lacks, except for what old_glibc.c adds. Of two libraries Debian has no static form that can be part
# of a shared library, and of SQLite and pugixml one that is mostly text search, XPath and the like,
# which nobody here calls; these are compiled from Debian's sources.
#
# The mirror is the one of this machine's apt.
set -euo pipefail

sysroot=$1
release=$2
architecture=$3
triplet="$(dpkg-architecture -a "$architecture" -q DEB_HOST_MULTIARCH 2>/dev/null)"
here="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)"
scratch="$sysroot.scratch"
libraries="$sysroot/usr/lib/$triplet"

# Packages whose headers and archives are used, all of them installed by `./dev setup`
# (tools/packages.txt) or a part of what is.
readonly BOOST=libboost1.74-dev
readonly LINKED=(linux-libc-dev libstdc++-12-dev "$BOOST" libboost-dev nlohmann-json3-dev
  libtomlplusplus-dev libcli11-dev libspdlog-dev libfmt-dev prometheus-cpp-dev libpugixml-dev
  libseccomp-dev libssl-dev libsodium-dev zlib1g-dev libelf-dev libedit-dev libbsd-dev libncurses-dev
  libsqlite3-dev libpq-dev libcurl4-openssl-dev)

# shellcheck source=tools/wheels/debian.sh
source "$here/debian.sh"

# Links of unpacked packages lead to where they would be installed, where this machine has its own.
keep_links_inside() {
  find "$sysroot" -type l -lname '/*' -printf '%p\0%l\0' |
    while IFS= read -r -d '' link && IFS= read -r -d '' target; do
      ln -sfn -- "$sysroot$target" "$link"
    done
}

# Shared libraries are left out, so that nothing can be linked with them.
readonly LINKED_FILES='^/usr/(include/|lib/.*\.(a|pc|cmake)$|share/(cmake|pkgconfig)/)'

# Links to the installed files of packages, below the same paths.
link_packages() {
  dpkg -L "$@" | grep -E "$LINKED_FILES" | sort -u |
    while read -r path; do
      # A link to a folder is copied as one.
      [[ -d "$path" && ! -L "$path" ]] || printf '%s\0' "$path"
    done | xargs -0 cp --symbolic-link --parents -t "$sysroot"
}

# The same files of packages that are not installed, for another architecture.
copy_packages() {
  local folder="$scratch/packages"
  mkdir -p -- "$folder"
  apt_for "$scratch/apt-own" "$(own_release)" "$architecture"
  unpack_packages "$folder" libc6-dev "$@"
  (
    cd -- "$folder"
    find . ! -type d -printf '/%P\n' | grep -E "$LINKED_FILES" | sed 's/^/./' |
      # The C library is the old one.
      grep -vxFf <(dpkg-deb --fsys-tarfile "$scratch"/apt-own/downloads/libc6-dev_*.deb | tar -t) |
      tr '\n' '\0' | xargs -0 cp -P --parents -t "$sysroot"
  )
}

# The list of system calls that have names: of this machine's headers.
take_call_names() {
  local own="/usr/include/$triplet/bits/syscall.h"
  if [[ -d "$scratch/packages" ]]; then
    cp -- "$scratch/packages$own" "$sysroot$own"
  else
    ln -sf "$own" "$sysroot$own"
  fi
}

# A cross compiler has headers of a C library of its own, before those of any sysroot.
readonly CROSS_HEADERS=(-nostdinc -isystem "=/usr/include/c++/12" -isystem "=/usr/include/$triplet/c++/12"
  -isystem "$("$triplet-gcc" -print-file-name=include)" -isystem "=/usr/include/$triplet" -isystem "=/usr/include")

compile() { # LANGUAGE-COMPILER ARGUMENTS...
  local compiler=$1
  shift
  "$triplet-$compiler" --sysroot="$sysroot" "${headers[@]}" -O2 -fPIC -fstack-protector-strong -D_FORTIFY_SOURCE=2 \
    "-ffile-prefix-map=$sysroot=" "-ffile-prefix-map=$scratch=" "$@"
}

# `case 2: return "ENOENT";` for each plain number of a header
cases() { # HEADER PATTERN
  printf '#include <%s>\n' "$1" | "$triplet-gcc" --sysroot="$sysroot" "${headers[@]}" -dM -E - |
    sed -nE "s/^#define $2 +([0-9]+)\$/case \2: return \"\1\";/p" | sort -V
}

compile_old_glibc() {
  cases errno.h '(E[A-Z0-9]+)' >"$scratch/error_names.h"
  # Not SIGSTKSZ, a size.
  cases signal.h 'SIG([A-Z0-9]+)' | grep -v STKSZ >"$scratch/signal_names.h"
  # Each program takes only what it uses: not every one needs libm.
  compile gcc -Wall -Werror -ffunction-sections -I"$scratch" -c "$here/old_glibc.c" -o "$sysroot/usr/lib/old_glibc.o"
}

compile_prometheus() {
  local source
  source="$(unpack_source prometheus-cpp)/core"
  mkdir "$scratch/prometheus"
  (
    cd "$scratch/prometheus"
    compile g++ -std=c++20 -include "$here/old_glibc.h" -DPROMETHEUS_CPP_CORE_STATIC_DEFINE \
      -I"$source/include" -c "$source"/src/*.cc "$source"/src/detail/*.cc
  )
  "$triplet-ar" rcsD "$libraries/libprometheus-cpp-core.a" "$scratch"/prometheus/*.o
}

# Debian's archive is not position-independent where it has a variable for each thread.
compile_libelf() {
  local source compiler
  source="$(unpack_source elfutils)"
  compiler="$triplet-gcc --sysroot=$sysroot ${headers[*]} -ffile-prefix-map=$sysroot= -ffile-prefix-map=$scratch="
  (
    cd "$source"
    ./configure --quiet --host="$triplet" --disable-debuginfod --disable-libdebuginfod --disable-nls \
      --without-bzlib --without-lzma --without-zstd \
      CC="$compiler" CXX="$triplet-g++ --sysroot=$sysroot" CFLAGS="-O2 -fPIC -Wno-error"
    make -s -C lib
    make -s -C libelf libelf.a
  )
  rm "$libraries/libelf.a"
  cp "$source/libelf/libelf.a" "$libraries/libelf.a"
}

# Debian's options that a database may notice, without its extensions: less than half the code.
compile_sqlite() {
  local source
  source="$(unpack_source sqlite3)"
  (
    cd "$source"
    ./configure --quiet --disable-tcl --disable-readline
    make -s sqlite3.c
    compile gcc -Os -ffunction-sections -fdata-sections -DNDEBUG -DSQLITE_THREADSAFE=1 \
      -DSQLITE_SECURE_DELETE -DSQLITE_MAX_VARIABLE_NUMBER=250000 -DSQLITE_OMIT_LOAD_EXTENSION \
      -DSQLITE_OMIT_DEPRECATED -DSQLITE_OMIT_SHARED_CACHE -DSQLITE_OMIT_UTF16 -DSQLITE_OMIT_JSON \
      -c sqlite3.c -o sqlite3.o
  )
  rm "$libraries/libsqlite3.a"
  "$triplet-ar" rcsD "$libraries/libsqlite3.a" "$source/sqlite3.o"
}

# Without XPath, which is half of it.
compile_pugixml() {
  local source
  source="$(unpack_source pugixml)/src"
  compile g++ -std=c++20 -include "$here/old_glibc.h" -Os -ffunction-sections -fdata-sections -DNDEBUG \
    -DPUGIXML_NO_XPATH -c "$source/pugixml.cpp" -o "$scratch/pugixml.o"
  rm "$libraries/libpugixml.a"
  "$triplet-ar" rcsD "$libraries/libpugixml.a" "$scratch/pugixml.o"
}

# The licence of each package that is linked, as Debian has it, and the texts that these refer to, but
# for documents, which are not in the wheel. libc6-dev: the first and last code of each program.
# pybind11-dev: the same as what pip installs.
collect_licences() {
  local package name folder="$sysroot/licences"
  mkdir "$folder"
  for package in "${LINKED[@]}" pybind11-dev; do
    cp --dereference "/usr/share/doc/$package/copyright" "$folder/$package"
  done
  cp "$sysroot/usr/share/doc/libc6-dev/copyright" "$folder/libc6-dev"
  # Boost's licence asks for no notices in programs: its text, without the 46,000 lines before it.
  sed -n '/^ Boost Software License - Version 1\.0/,$p' "/usr/share/doc/$BOOST/copyright" >"$folder/$BOOST"
  # Only names of packages, numbers of the kernel's interface, and declarations of libraries that are
  # opened at run time.
  rm "$folder/libboost-dev" "$folder/linux-libc-dev" "$folder/libpq-dev" "$folder/libcurl4-openssl-dev"
  grep -ohE '/usr/share/common-licenses/[A-Za-z0-9.+-]*[A-Za-z0-9]' "$folder"/* | grep -v /GFDL | sort -u |
    while read -r name; do cp --no-dereference "$name" "$folder/$(basename -- "$name")"; done
  # A name without a version is a link to the newest.
  find "$folder" -type l -printf '%f %l\n' | while read -r name package; do
    cp --no-clobber "/usr/share/common-licenses/$package" "$folder/$package"
    rm "$folder/$name"
    printf 'See %s.\n' "$package" >"$folder/$name"
  done
}

rm -rf -- "$sysroot" "$scratch"
mkdir -p -- "$sysroot" "$scratch"
scratch="$(realpath -- "$scratch")" sysroot="$(realpath -- "$sysroot")"
apt_for "$scratch/apt" "$release" "$architecture"
unpack_packages "$sysroot" libc6 libc6-dev libcrypt-dev libgcc-s1
keep_links_inside
if [[ "$architecture" == "$(dpkg --print-architecture)" ]]; then
  headers=()
  link_packages "${LINKED[@]}"
else
  headers=("${CROSS_HEADERS[@]}")
  # And Python's headers, which differ by architecture.
  copy_packages "${LINKED[@]}" libpython3-dev "$(python3 -c 'import sys; print("libpython%d.%d-dev" % sys.version_info[:2])')"
fi
take_call_names
compile_old_glibc
compile_prometheus
compile_libelf
compile_sqlite
compile_pugixml
collect_licences
rm -rf -- "$scratch"
