# shellcheck shell=bash
# Sourced by ./dev: wheels to publish, for each supported Python, built against the C library of an
# older system and tested in minimal Debian systems.

WHEELS="$BUILD/wheels"
WHEELS_VENV="$BUILD/venv-wheels"
DIST="$ROOT/dist"

# wheel_setting KEY: from [tool.belljar-wheels] of pyproject.toml; for a list, one word per line
wheel_setting() {
  "$PYTHON" -I -c 'import sys, tomllib
value = tomllib.load(open(sys.argv[1], "rb"))["tool"]["belljar-wheels"][sys.argv[2]]
print(value if isinstance(value, str) else "\n".join(value))' "$ROOT/pyproject.toml" "$1"
}

# python_of VERSION: the path of that interpreter, or nothing. Not a pyenv shim, and not a
# free-threaded one; a wheel needs no shared libpython.
python_of() {
  local found
  for found in "/usr/bin/python$1" \
    "${HOME:-/nonexistent}"/.pyenv/versions/"$1".*/bin/"python$1" \
    "$(command -v "python$1" || true)"; do
    if [[ -x "$found" ]] && "$found" -I -c "import sys, sysconfig
sys.exit('%d.%d' % sys.version_info[:2] != '$1' or bool(sysconfig.get_config_var('Py_GIL_DISABLED')))" \
      2>/dev/null; then
      printf '%s\n' "$found"
      return
    fi
  done
}

# --- building --------------------------------------------------------------------------------

is_cross() { [[ "$PROCESSOR" != "$(uname -m)" ]]; }

make_sysroot() {
  local release key
  SYSROOT="$WHEELS/sysroot-$ARCHITECTURE"
  release="$(wheel_setting old-release)"
  key="$(cat -- "$ROOT"/tools/wheels/{sysroot.sh,debian.sh,old_glibc.c,old_glibc.h} \
    <(dpkg-query -W -f '${Package} ${Version}\n' g++ 'lib*-dev' linux-libc-dev) \
    <(printf '%s' "$release $SYSROOT") | fingerprint)"
  is_stamped "wheels-sysroot-$ARCHITECTURE" "$key" && [[ -d "$SYSROOT" ]] && return 0
  say "creating $SYSROOT: the C library of Debian $release, and static libraries"
  quietly wheels-sysroot "$ROOT/tools/wheels/sysroot.sh" "$SYSROOT" "$release" "$ARCHITECTURE" ||
    die "$EXIT_OURS" "$SYSROOT could not be created; see $LOGS/wheels-sysroot.txt"
  stamp "wheels-sysroot-$ARCHITECTURE" "$key"
}

# build_wheel VERSION PYTHON: sets RAW_WHEEL. In a new tree, so that nothing is left of an earlier
# state, at one path for all versions: the compiler's cache then has most objects of the first.
build_wheel() {
  local version=$1 python=$2 tree="$WHEELS/tree" raw="$WHEELS/raw" frontend="$WHEELS/pip"
  local required own="/usr/include/$PROCESSOR-linux-gnu/python$1" found settings=("build-dir=$tree"
    "cmake.define.CMAKE_TOOLCHAIN_FILE=$ROOT/tools/cmake/BelljarOldGlibc.cmake"
    "cmake.define.BELLJAR_SYSROOT=$SYSROOT" "cmake.define.BELLJAR_TRIPLET=$PROCESSOR-linux-gnu"
    # Debug information, which is stripped later, would only add paths.
    "cmake.define.CMAKE_CXX_FLAGS_RELWITHDEBINFO=-O2 -DNDEBUG"
    "cmake.define.CMAKE_C_FLAGS_RELWITHDEBINFO=-O2 -DNDEBUG")
  rm -rf -- "$tree" "$raw" "$frontend"
  # One of the headers of Debian's Python is found among the compiler's own.
  [[ "$python" != /usr/bin/* ]] || is_cross || ln -sfn -- "$own" "$SYSROOT$own"
  quietly "wheels-venv-$version" "$python" -I -m venv "$frontend" ||
    die "$EXIT_USAGE" "$python -m venv failed (on Debian it needs python3-venv)"
  # The requirements of pyproject.toml, at one path: each isolated build would have them at another
  # path, and compile against that.
  mapfile -t required < <("$PYTHON" -I -c 'import sys, tomllib
print("\n".join(tomllib.load(open(sys.argv[1], "rb"))["build-system"]["requires"]))' "$ROOT/pyproject.toml")
  quietly "wheels-pip-$version" "$frontend/bin/python" -I -m pip install --quiet --no-input \
    --disable-pip-version-check "${required[@]}" ||
    die "$EXIT_USAGE" "pip could not install what the build requires; see $LOGS/wheels-pip-$version.txt"
  # pip 23.0 knows only the long form of the option.
  # One compiler for all: otherwise each Python names the one that compiled it. _PYTHON_HOST_PLATFORM:
  # the platform that Python assumes for itself, and so for the wheel.
  quietly "wheels-build-$version" env CC="/usr/bin/$PROCESSOR-linux-gnu-gcc" \
    CXX="/usr/bin/$PROCESSOR-linux-gnu-g++" _PYTHON_HOST_PLATFORM="linux-$PROCESSOR" CMAKE_BUILD_PARALLEL_LEVEL="$JOBS" \
    "$frontend/bin/python" -I -m pip wheel --verbose --no-input --disable-pip-version-check \
    --no-deps --no-build-isolation --wheel-dir "$raw" "${settings[@]/#/--config-settings=}" "$ROOT" ||
    die "$EXIT_OURS" "the wheel for $version could not be built; see $LOGS/wheels-build-$version.txt"
  found=("$raw"/*.whl)
  RAW_WHEEL="${found[0]}"
}

# repair_wheel RAW: names it after the systems that it is for, if it only needs what they have. Sets
# WHEEL, in dist/.
repair_wheel() {
  local repaired="$WHEELS/repaired" platform wanted found
  platform="$(wheel_setting platform)_$PROCESSOR"
  wanted="$platform"
  # auditwheel accepts only this machine's platforms by name; for others it has to detect them.
  ! is_cross || wanted=auto
  rm -rf -- "$repaired"
  quietly wheels-repair env PATH="$WHEELS_VENV/bin:$PATH" "$WHEELS_VENV/bin/auditwheel" \
    repair --only-plat --plat "$wanted" --wheel-dir "$repaired" "$1" ||
    die "$EXIT_OURS" "$1 is not for $platform; see $LOGS/wheels-repair.txt"
  found=("$repaired"/*.whl)
  [[ "${found[0]}" == *"$platform"* ]] ||
    die "$EXIT_OURS" "$1 is not for $platform, but $(basename -- "${found[0]}")"
  quietly wheels-compress "$WHEELS_VENV/bin/python" -I "$ROOT/tools/wheels/compress_wheel.py" "${found[0]}" ||
    die "$EXIT_OURS" "${found[0]} could not be compressed; see $LOGS/wheels-compress.txt"
  mkdir -p -- "$DIST"
  mv -- "${found[0]}" "$DIST/"
  WHEEL="$DIST/$(basename -- "${found[0]}")"
}

# --- trying ----------------------------------------------------------------------------------

# make_root RELEASE: a system without a compiler, in $WHEELS/root-RELEASE. Debian's Python is in it,
# and thus the libraries of one that was compiled elsewhere.
make_root() {
  local release=$1 root="$WHEELS/root-$1" key
  key="3 $root"
  is_stamped "wheels-root-$release" "$key" && [[ -d "$root/usr" ]] && return 0
  say "creating $root: a minimal Debian $release"
  rm -rf -- "$root"
  quietly "wheels-root-$release" "$ROOT/tools/wheels/root.sh" "$root" "$release" \
    python3 python3-venv tzdata ||
    die "$EXIT_USAGE" "$root could not be created; see $LOGS/wheels-root-$release.txt"
  stamp "wheels-root-$release" "$key"
}

# try_in_root RELEASE PYTHON WHEEL: without a network, and with only dist/, the test program, and the
# interpreter if it is not the system's own from this machine. Unlike chroot, bwrap creates a root in
# which user namespaces are permitted.
try_in_root() {
  local release=$1 python given=() prefix
  python="$(realpath -- "$2")"
  prefix="$(dirname -- "$(dirname -- "$python")")"
  make_root "$release"
  if [[ "$prefix" != /usr ]]; then
    mkdir -p -- "$WHEELS/root-$release$prefix"
    given=(--ro-bind "$prefix" "$prefix")
  fi
  say "testing $(basename -- "$3") on Debian $release"
  quietly "wheels-try-$release" bwrap --ro-bind "$WHEELS/root-$release" / --proc /proc --dev /dev \
    --tmpfs /tmp --tmpfs /mnt "${given[@]}" \
    --ro-bind "$DIST" /mnt/dist --ro-bind "$ROOT/tools/wheels" /mnt/wheels \
    --unshare-net --unshare-ipc --clearenv --setenv PATH /usr/bin:/bin --setenv HOME /nonexistent \
    --chdir /tmp "$python" -I /mnt/wheels/try_wheel.py "/mnt/dist/$(basename -- "$3")" ||
    die "$EXIT_OURS" "$3 does not work on Debian $release; see $LOGS/wheels-try-$release.txt"
}

# Likewise on the system whose C library the wheel is for. That Debian has no Python that Belljar
# supports, so the one of this machine's Debian is compiled there.
try_on_old_system() { # VERSION WHEEL
  local release key
  release="$(wheel_setting old-release)"
  key="$release $(dpkg-query -W -f '${Version}' "python$1") $(
    cat -- "$ROOT"/tools/wheels/{old_python,root,debian}.sh | fingerprint)"
  if ! is_stamped wheels-old-python "$key"; then
    say "compiling CPython $1 on Debian $release: this takes some minutes"
    quietly wheels-old-python "$ROOT/tools/wheels/old_python.sh" \
      "$WHEELS/python-$release" "$release" "$1" ||
      die "$EXIT_OURS" "CPython could not be compiled; see $LOGS/wheels-old-python.txt"
    stamp wheels-old-python "$key"
  fi
  try_in_root "$release" "$WHEELS/python-$release/bin/python$1" "$2"
}

# --- the command -----------------------------------------------------------------------------

# one_wheel VERSION PYTHON
one_wheel() {
  local version=$1 python=$2
  say "building the wheel for $python"
  build_wheel "$version" "$python"
  repair_wheel "$RAW_WHEEL"
  "$PYTHON" -I "$ROOT/tools/check_wheel.py" --for-others --not-of "$ROOT" --not-of "$BUILD" "$WHEEL" ||
    die "$EXIT_OURS" "$WHEEL is not fit to be published"
  if is_cross; then
    # The emulated machine has Debian's own Python only.
    [[ "$python" != /usr/bin/* ]] || try_on_arm64 "$WHEEL"
    return
  fi
  try_in_root "$(own_release)" "$python" "$WHEEL"
  # Debian's own, whose source Debian has.
  [[ "$python" != /usr/bin/* ]] || try_on_old_system "$version" "$WHEEL"
}

word_wheels() {
  # shellcheck source=tools/wheels/debian.sh
  source "$ROOT/tools/wheels/debian.sh"
  local known version python named versions built=()
  # The wheels' architecture, as named by Debian and by the kernel. For another than this machine's
  # they are cross-compiled.
  if [[ "${1:-}" == arm64 ]]; then
    ARCHITECTURE=arm64 PROCESSOR=aarch64
    shift
  else
    ARCHITECTURE="$(dpkg --print-architecture)" PROCESSOR="$(uname -m)"
  fi
  named=("$@")
  mapfile -t known < <(wheel_setting pythons)
  for version in "$@"; do
    [[ " ${known[*]} " == *" $version "* ]] ||
      die "$EXIT_USAGE" "there are no wheels for '$version', only for: ${known[*]}"
  done
  versions=("${named[@]:-${known[@]}}")
  declare -A pythons=()
  for version in "${versions[@]}"; do
    pythons["$version"]="$(python_of "$version")"
    [[ -z "${pythons[$version]}" ]] || continue
    say "no wheel for $version: python$version is not in /usr/bin, ~/.pyenv/versions or on PATH"
    if (($#)) || [[ "${CI:-}" == true ]]; then exit "$EXIT_USAGE"; fi
  done
  prepare_build_dir
  mkdir -p -- "$WHEELS"
  lock
  need_packages build wheels
  ! is_cross || need_packages arm64
  make_venv "$WHEELS_VENV" wheels
  make_sysroot
  # The time of everything in the archive: the same commit produces the same bytes.
  SOURCE_DATE_EPOCH="$(git -C "$ROOT" log -1 --format=%ct)" ||
    die "$EXIT_USAGE" "$ROOT is not a git clone; a wheel has the time of its commit"
  export SOURCE_DATE_EPOCH PYTHONHASHSEED=0
  for version in "${versions[@]}"; do
    python="${pythons[$version]}"
    [[ -n "$python" ]] || continue
    one_wheel "$version" "$python"
    built+=("$WHEEL")
  done
  quietly wheels-sdist "$WHEELS_VENV/bin/python" -I -m build --sdist --outdir "$DIST" "$ROOT" ||
    die "$EXIT_OURS" "the sdist could not be built; see $LOGS/wheels-sdist.txt"
  quietly wheels-elsewhere "$WHEELS_VENV/bin/python" -I -m build --wheel --no-isolation \
    --outdir "$DIST" "$ROOT/python/elsewhere" ||
    die "$EXIT_OURS" "the wheel for other systems could not be built; see $LOGS/wheels-elsewhere.txt"
  unlock
  ((${#built[@]})) || die "$EXIT_USAGE" "no wheel was built"
  say "built, repaired and tested:"
  printf '%s\n' "${built[@]}"
}
