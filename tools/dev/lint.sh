# shellcheck shell=bash
# Sourced by ./dev: format, style, types, room dependencies; clang-tidy for changed code.

need_lint_tools() {
  prepare_build_dir
  lock
  need_packages lint
  make_venv "$VENV_DEV" dev
  unlock
}

# All source files with one of these extensions, NUL-separated.
sources() { # ENDING...
  local ending patterns=()
  for ending in "$@"; do patterns+=(-o -name "*.$ending"); done
  find "$ROOT" \( -path "$BUILD" -o -path "$ROOT/build" -o -path "$ROOT/.git" \) -prune \
    -o -type f \( "${patterns[@]:1}" \) -print0
}

# check WHAT COMMAND...: reports a failure and continues, so that one run shows everything
check() {
  local what=$1
  shift
  if "$@"; then say "$what: ok"; else
    say "$what: FAILED"
    LINT_STATUS=1
  fi
}

check_cpp_format() { sources cc h c | xargs -0 -r clang-format --dry-run -Werror --style=file; }
check_ruff() { (cd -- "$ROOT" && "$VENV_DEV/bin/ruff" check -q --output-format concise . && "$VENV_DEV/bin/ruff" format -q --check .); }
check_shell() {
  # With -x, files sourced by ./dev are checked as parts of it.
  (cd -- "$ROOT" && shellcheck -x dev .ci/run tools/containers tools/action/*.sh tools/arm64/* tools/wheels/*.sh)
}
check_includes() { "$PYTHON" -I "$ROOT/tools/check_includes.py" "$ROOT"; }
check_threads() { "$PYTHON" -I "$ROOT/tools/check_threads.py" "$ROOT"; }
check_imports() { "$PYTHON" -I "$ROOT/tools/check_imports.py" "$ROOT"; }
check_types() {
  (cd -- "$ROOT/python" &&
    "$VENV_DEV/bin/python" -m mypy --config-file "$ROOT/pyproject.toml" \
      --cache-dir "$BUILD/mypy-cache" -p belljar) &&
    (cd -- "$ROOT" &&
      MYPYPATH=python "$VENV_DEV/bin/python" -m mypy --config-file pyproject.toml \
        --cache-dir "$BUILD/mypy-cache" tests/python/typed_use.py)
}
# Warnings, such as of a link that leads nowhere, are errors. Unchanged pages are not read again.
build_site() {
  "$VENV_DEV/bin/python" -m sphinx -q -W --keep-going -b html -d "$BUILD/site-cache" \
    "$ROOT/docs" "$BUILD/site"
}
# The package as it is on other systems.
check_types_elsewhere() {
  local tree="$BUILD/elsewhere"
  rm -rf -- "$tree"
  mkdir -p -- "$tree"
  cp -r -- "$ROOT/python/belljar" "$tree/"
  rm -- "$tree/belljar/_host.pyi"
  cp -- "$ROOT"/python/elsewhere/_*.py "$tree/belljar/"
  (cd -- "$tree" &&
    "$VENV_DEV/bin/python" -m mypy --config-file "$ROOT/pyproject.toml" \
      --cache-dir "$BUILD/mypy-cache/elsewhere" --no-warn-return-any -p belljar)
}

word_lint() {
  need_lint_tools
  LINT_STATUS=0
  export RUFF_CACHE_DIR="$BUILD/ruff-cache"
  check "C++ format" check_cpp_format
  check "Python style and format" check_ruff
  check "shell" check_shell
  check "includes" check_includes
  check "threads" check_threads
  check "imports" check_imports
  check "types" check_types
  check "types on other systems" check_types_elsewhere
  check "site" build_site
  ((LINT_STATUS == 0)) || die 1 "lint found problems; ./dev fmt fixes the format"
}

word_fmt() {
  need_lint_tools
  export RUFF_CACHE_DIR="$BUILD/ruff-cache"
  sources cc h c | xargs -0 -r clang-format -i --style=file
  cd -- "$ROOT"
  "$VENV_DEV/bin/ruff" check -q --fix . || say "some findings must be fixed by hand"
  "$VENV_DEV/bin/ruff" format -q .
}

word_docs() {
  need_lint_tools
  build_site || die 1 "the pages have problems"
  say "ready: $BUILD/site/index.html"
}

# Checks the code that differs from a base revision; for everything: `./dev build tidy`. Only needs
# the compile commands of a tree without unity sources.
word_tidy() {
  prepare_build_dir
  lock
  need_packages build
  need_packages test
  need_packages tidy
  make_venv "$VENV" runtime
  configure tidy tests
  # CMake again if its files or the list of sources changed: only a build would do that otherwise.
  quietly generate-tidy cmake --build "$BUILD/tidy" --target build.ninja ||
    die "$EXIT_OURS" "cmake failed; see $LOGS/generate-tidy.txt"
  unlock
  exec "$PYTHON" -I "$ROOT/tools/tidy_changed.py" --build "$BUILD/tidy" --jobs "$JOBS" "$@"
}
