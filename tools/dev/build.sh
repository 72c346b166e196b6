# shellcheck shell=bash
# Sourced by ./dev: configuring and compiling, and the commands that only do that.

# configure PRESET [tests] [bench]: features once enabled stay enabled in that tree
configure() {
  local preset=$1 tree="$BUILD/$1" feature key flags=()
  shift
  for feature in tests bench; do
    if [[ " $* " == *" $feature "* || -e "$STAMPS/$preset-$feature" ]]; then
      flags+=("-DBELLJAR_BUILD_${feature^^}=ON")
    else
      flags+=("-DBELLJAR_BUILD_${feature^^}=OFF")
    fi
  done
  # Optimising is not worth it for one minute of fuzzing: it takes two thirds of the compile time.
  if [[ "$preset" == fuzz && "${CI:-}" == true ]]; then
    flags+=("-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O0 -gline-tables-only -D_GLIBCXX_ASSERTIONS")
  fi
  flags+=("-DBELLJAR_PYTHON=$PYTHON" "-DBELLJAR_VENV=$VENV" "-DBELLJAR_SURFACE=${BELLJAR_SURFACE:-check}")
  key="$(cat -- "$ROOT/CMakePresets.json" <(printf '%s' "$ROOT $BUILD ${flags[*]}") | fingerprint)"
  if ! is_stamped "configured-$preset" "$key" || [[ ! -e "$tree/build.ninja" ]]; then
    (cd -- "$ROOT" && quietly "configure-$preset" \
      cmake --preset "$preset" -B "$tree" "${flags[@]}") ||
      die "$EXIT_OURS" "cmake failed; see $LOGS/configure-$preset.txt"
    stamp "configured-$preset" "$key"
  fi
  for feature in "$@"; do : >"$STAMPS/$preset-$feature"; done
}

compile() { # PRESET TARGET...
  local preset=$1
  shift
  quietly "build-$preset" cmake --build "$BUILD/$preset" -j "$JOBS" --target "$@" ||
    die "$EXIT_OURS" "the build failed; see $LOGS/build-$preset.txt"
}

# Builds the command and its run-time files; prints nothing if they are up to date.
build_command() {
  prepare_build_dir
  lock
  need_packages build
  make_venv "$VENV" runtime
  update_package_sets
  [[ -x "$BUILD/release/belljar" ]] || say "first build in $BUILD: this takes some minutes"
  configure release
  compile release belljar_command
  unlock
}

# The targets for users: the command and the Python package. belljar_tests: what ctest needs.
readonly USED=(belljar_command belljar_python)

# build_targets PRESET FEATURES TARGET...
build_targets() {
  local preset=$1 features=$2
  shift 2
  prepare_build_dir
  lock
  need_packages build
  [[ ! " $features " =~ \ (tests|bench)\  ]] || need_packages test
  [[ "$preset" != tidy ]] || need_packages tidy
  make_venv "$VENV" runtime
  update_package_sets
  # shellcheck disable=SC2086  # split into words
  configure "$preset" $features
  compile "$preset" "$@"
  unlock
}

# --- the commands ----------------------------------------------------------------------------

word_run() {
  build_command
  exec "$BUILD/release/belljar" run "$@"
}

word_doctor() {
  build_command
  exec "$BUILD/release/belljar" doctor "$@"
}

word_build() {
  local preset=${1:-release}
  case "$preset" in
    release | dev | asan | tsan) build_targets "$preset" "" "${USED[@]}" ;;
    tidy) build_targets tidy tests all ;;
    *) die "$EXIT_USAGE" "unknown preset '$preset': release, dev, asan, tsan or tidy" ;;
  esac
  say "built $BUILD/$preset/belljar"
}

# Links everything with a separate preset, whose linker compares the type definitions of all files.
build_odr() { build_targets odr "" belljar_odr; }
word_odr() {
  build_odr
  say "odr: no type is defined twice"
}

word_clean() {
  local preset trees=(release dev asan tsan odr fuzz tidy arm64)
  case "${1:-}" in
    "") for preset in "${trees[@]}"; do
      rm -rf -- "${BUILD:?}/$preset" "$STAMPS/configured-$preset" "$STAMPS/$preset"-*
    done ;;
    all)
      for preset in "${trees[@]}"; do rm -rf -- "${BUILD:?}/$preset"; done
      rm -rf -- "${BUILD:?}"/{other,venv,wheels,log,stamp,report,lock,cache} "$BUILD"/venv-* \
        "$BUILD"/arm64-system "$BUILD"/arm64-system.* \
        "$BUILD"/{pytest-cache,ruff-cache,mypy-cache,clients,fuzz-corpus}
      ;;
    *) die "$EXIT_USAGE" "clean what? ./dev clean, or ./dev clean all" ;;
  esac
}
