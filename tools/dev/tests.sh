# shellcheck shell=bash
# Sourced by ./dev: the C++ and Python tests, the soak tests, and those of the Helm chart.

# Many tests spend their time waiting: for a process to start, a limit to be reached, a client.
AT_A_TIME=$((JOBS + 1))

# left_out tests|programs: those that a change in CI does not need (CI_NEEDS: words of
# tests/landing.toml), one per line
left_out() {
  # shellcheck disable=SC2086  # split into words
  [[ -z "${CI_NEEDS:-}" ]] || "$PYTHON" -I "$ROOT/tools/change.py" --left-out "$1" $CI_NEEDS
}

# needed_programs [-v]: the C++ test programs of the label release that a change needs, or (-v) all
# others, one per line; there may be none
needed_programs() {
  comm -23 <("$PYTHON" -I "$ROOT/tools/change.py" --left-out programs | sort) <(left_out programs | sort) |
    grep "$@" '_release_tests$' || true
}

# The targets of the C++ test programs that are needed in trees of sanitizers, and in the tree release.
test_programs() {
  if [[ -z "${CI_NEEDS:-}" ]]; then printf 'belljar_tests\n'; else needed_programs -v; fi
}
release_programs() {
  if [[ -z "${CI_NEEDS:-}" ]]; then printf 'belljar_release_tests\n'; else needed_programs; fi
}

# run_ctest PRESET LABEL [ARGS...]: 1 if a test failed; reports are in build/report. All tests run
# file by file, with a report of each; a selection by ARGS one by one. In CI a test that fails runs
# once more, alone (tools/repeat_failed.py); never one of attacks.
run_ctest() {
  local preset=$1 label=$2 status=0 others="soak|single" program none=error
  shift 2
  while read -r program; do
    [[ -z "$program" ]] || others+="|^$program\$" none=ignore
  done < <(left_out programs)
  say "C++ tests ($preset)"
  if (($#)); then
    call_ctest "$preset" "$preset" "" --no-tests=ignore -L "$label" -LE "soak|file" "$@" || status=1
  elif [[ "${CI:-}" == true ]]; then
    call_ctest "$preset" "$preset-attacks" xml --no-tests=ignore -L "$label" -L attacks -LE "$others" ||
      status=1
    call_ctest "$preset" "$preset" xml --no-tests="$none" -L "$label" -LE "$others|attacks" ||
      "$PYTHON" -I "$ROOT/tools/repeat_failed.py" --tree "$BUILD/$preset" \
        "$BUILD/report/ctest-$preset.xml" || status=1
  else
    call_ctest "$preset" "$preset" xml --no-tests="$none" -L "$label" -LE "$others" || status=1
  fi
  return "$status"
}

# call_ctest PRESET NAME xml|"" ARGS...: reports in build/report/ctest-NAME.xml, with `xml` also those
# of each file in gtest-NAME. Leaks are detected in the test programs, at their end, and thus in the
# host's libraries; the zygote, which is also sanitized, disables leak detection for itself.
call_ctest() {
  local preset=$1 name=$2 own=$3
  shift 3
  ASAN_OPTIONS="abort_on_error=1:${ASAN_OPTIONS:-}" \
    UBSAN_OPTIONS="print_stacktrace=1:${UBSAN_OPTIONS:-}" \
    TSAN_OPTIONS="halt_on_error=1:second_deadlock_stack=1:${TSAN_OPTIONS:-}" \
    GTEST_OUTPUT="${own:+xml:$BUILD/report/gtest-$name/}" ctest --test-dir "$BUILD/$preset" \
    --parallel "$AT_A_TIME" --output-on-failure --timeout 300 \
    --output-junit "$BUILD/report/ctest-$name.xml" "$@"
}

guards_dir() {
  local found
  found="$(find "$BUILD/release" -name '_belljar_guards*.so' -print -quit)"
  [[ -z "$found" ]] || dirname -- "$found"
}

run_pytest() {
  say "Python tests"
  local status=0
  (
    cd -- "$ROOT"
    BELLJAR_BUILD="$BUILD/release" BELLJAR_GUARDS_DIR="$(guards_dir)" \
      BELLJAR_PYTHON="$PYTHON" PYTHONDONTWRITEBYTECODE=1 \
      "$VENV_DEV/bin/python" -m pytest -o "cache_dir=$BUILD/pytest-cache" \
      -raR --rerun-show-tracebacks --junitxml "$BUILD/report/pytest.xml" "$@"
  ) || status=1
  return "$status"
}

# other_pythons: other supported Pythons found here, with a shared libpython, one per version
other_pythons() {
  local minor found
  if [[ -n "${BELLJAR_OTHER_PYTHON:-}" ]]; then
    printf '%s\n' "$BELLJAR_OTHER_PYTHON"
    return
  fi
  for minor in 3.14 3.13 3.12 3.11; do
    for found in "$(command -v "python$minor" || true)" \
      "${HOME:-/nonexistent}"/.pyenv/versions/"$minor".*/bin/"python$minor"; do
      [[ -x "$found" ]] || continue
      # A pyenv shim may exist but fail.
      if "$found" -I -c "import sys, sysconfig; sys.exit(sys.version_info[:2] == ($(
        "$PYTHON" -I -c 'import sys; print(*sys.version_info[:2], sep=", ")'
      )) or not sysconfig.get_config_var('Py_ENABLE_SHARED'))" 2>/dev/null; then
        printf '%s\n' "$found"
        break
      fi
    done
  done
}

other_python() { other_pythons | head -n 1; }

# Runs the core Python tests with another Python, in the separate tree build/other. Unreviewed names
# of that Python are not a failure here: warn.
with_other() { # PYTHON WORD...
  local other=$1
  shift
  BELLJAR_BUILD_DIR="$BUILD/other" BELLJAR_PYTHON="$other" BELLJAR_SURFACE=warn "$ROOT/dev" "$@"
}

build_other() {
  local other
  other="$(other_python)"
  [[ -z "$other" ]] || with_other "$other" build
}

run_other_core() { # ARGS...
  local other status=0
  other="$(other_python)"
  if [[ -z "$other" ]]; then
    say "no second Python found (BELLJAR_OTHER_PYTHON): the tests run only with $PYTHON"
    return 0
  fi
  say "core tests with $other"
  with_other "$other" test core "$@" || status=$?
  if [[ -e "$BUILD/other/report/pytest.xml" ]]; then
    cp -- "$BUILD/other/report/pytest.xml" "$BUILD/report/pytest-other.xml"
  fi
  # As for the clients: without a network its packages cannot be installed.
  if ((status == EXIT_USAGE)) && [[ "${BELLJAR_MUST_WORK:-}" != 1 ]]; then
    say "$other could not be prepared: the tests run only with $PYTHON"
    return 0
  fi
  return "$status"
}

# without_engines COMMAND...: as on a machine without container engines: they are not on PATH, and
# no variable leads to their sockets. tests/machine.py hides that of tools/containers.
without_engines() {
  local programs="$BUILD/without-engines" folder program
  local -a folders
  rm -rf -- "$programs"
  mkdir -p -- "$programs"
  IFS=: read -ra folders <<<"$PATH"
  for folder in "${folders[@]}"; do
    for program in "$folder"/*; do
      case "${program##*/}" in
        docker* | podman* | containerd* | runsc* | runc* | crun* | '*') ;;
        *) [[ -L "$programs/${program##*/}" ]] || ln -s -- "$program" "$programs/" ;;
      esac
    done
  done
  (
    unset DOCKER_HOST XDG_RUNTIME_DIR
    PATH="$programs" "$@"
  )
}

# In CI, which has engines: all tests without them, so that none takes one for granted, and then, with
# engines, those that asked for one, if the change needs them. What breaks everywhere ends soon, with its
# reasons, rather than at the limit of time of a whole run.
run_pytest_twice() {
  local later="$BUILD/report/engines-later.txt" status=0
  set -- --maxfail 40 --max-suite-reruns 20 "$@"
  : >"$later"
  BELLJAR_TEST_ENGINES_LATER="$later" without_engines run_pytest "$@" || status=1
  if [[ ! -s "$later" ]]; then
    say "no test asked for a container engine"
    return 1
  fi
  say "$(wc -l <"$later") tests that use container engines"
  [[ " ${CI_NEEDS:-containers} " == *" containers "* ]] || return "$status"
  run_pytest "$@" --junitxml "$BUILD/report/pytest-engines.xml" "@$later" || status=1
  return "$status"
}

# Fails on the exit codes of the tests as well as on their reports.
close_tests() { # STATUS
  local status=$1
  "$PYTHON" -I "$ROOT/tools/sum_tests.py" --status "$status" "$BUILD"/report/*.xml
}

# prepare_tests SUITE: installs packages while compiling, then checks their surface
prepare_tests() {
  local suite=$1 built=("${USED[@]}")
  prepare_build_dir
  lock
  need_packages build
  need_packages test
  make_venv "$VENV" runtime
  [[ "$suite" == cpp ]] || install_beside "all in Python" make_venv "$VENV_DEV" dev
  if [[ "$suite" != core ]]; then
    install_package_sets
    [[ "$suite" != all && "$suite" != python ]] || install_clients
    configure release tests
    case "$suite" in
      all)
        mapfile -t built < <(release_programs)
        built+=(belljar_python_tests belljar_python)
        ;;
      cpp) built=(belljar_release_tests belljar_python) ;;
      release) built=(belljar_tests belljar_python) ;;
      soak) built=(belljar_tests belljar_python_tests belljar_python) ;;
      python) built=(belljar_python_tests belljar_python) ;;
    esac
  else
    install_harbor
    configure release
  fi
  compile release "${built[@]}"
  wait_for_installs
  [[ "$suite" == cpp ]] || make_venv "$VENV_DEV" dev # required: reports the error
  # The surface of packages is checked once they are installed.
  [[ "$suite" == core ]] || built+=(belljar_surface)
  compile release "${USED[@]}" "${built[@]}"
  unlock
  rm -rf -- "$BUILD/report"
  mkdir -p -- "$BUILD/report"
}

build_tests() { # PRESET
  local programs
  mapfile -t programs < <(test_programs)
  # Programs of single rooms do not build what the zygote reads, so that compiling does not wait for it.
  ((${#programs[@]} == 0)) || build_targets "$1" tests "${programs[@]}" belljar_share
}
build_asan() { build_tests asan; }
build_tsan() { build_tests tsan; }

# The tests of the host's threads.
run_tsan() {
  build_tsan
  run_ctest tsan threads "$@"
}

# With sanitizers, and what they hide: the label release.
run_cpp() {
  local status=0
  if [[ -z "$(test_programs)" ]]; then
    say "no C++ tests: this change does not need them"
    return
  fi
  build_asan
  run_ctest asan . "$@" || status=1
  run_ctest release release "$@" || status=1
  return "$status"
}

# build_ahead WORD...: compiles what later tests need while earlier ones mostly wait: a SCHED_IDLE
# compiler does not slow them down. Anything that fails here is built again, with an error message,
# when it is needed.
build_ahead() {
  (
    chrt --idle --pid 0 "$BASHPID" || renice 19 "$BASHPID"
    (build_asan) || true
    [[ " $* " != *" other "* ]] || (build_other) || true
    [[ " $* " != *" tsan "* ]] || (build_tsan) || true
    [[ " $* " != *" fuzz "* ]] || (build_fuzz "${FUZZ_TARGETS[@]}") || true
  ) >"$LOGS/ahead.txt" 2>&1 </dev/null &
}

# ran WHAT COMMAND...: prints the duration, for CI
ran() {
  local what=$1 status=0 began=$SECONDS
  shift
  "$@" || status=1
  say "$what: $((SECONDS - began)) s"
  return "$status"
}

# All in Python; in CI, without what this change does not need.
run_all_in_python() { # ARGS...
  local test
  if [[ "${CI:-}" != true ]]; then
    run_pytest "$@"
    return
  fi
  while read -r test; do
    [[ -z "$test" ]] || set -- --ignore "$ROOT/$test" "$@"
  done < <(left_out tests)
  run_pytest_twice "$@"
}

word_test() {
  local suite=all status=0 suites='all|cpp|python|release|tsan|other|core'
  [[ "${1:-}" != asan ]] || set -- cpp "${@:2}" # its former name
  # `python` is also a folder: the name of a suite takes precedence, and ./python is the folder.
  if [[ "${1:-}" =~ ^($suites)$ ]] ||
    { (($#)) && [[ "$1" != -* && ! -e "$1" && "$1" != *::* ]]; }; then
    suite=$1
    shift
  elif (($#)); then
    suite=python
  fi
  [[ "$suite" =~ ^($suites)$ ]] ||
    die "$EXIT_USAGE" "unknown suite '$suite': all, cpp, python, release, tsan, other or core"
  if [[ "$suite" == other ]]; then
    prepare_build_dir
    rm -rf -- "$BUILD/report"
    mkdir -p -- "$BUILD/report"
  else
    ran "building the tests" prepare_tests "$suite"
  fi
  # Whole files in parallel, in the order of tests/conftest.py. A selection of tests runs in one
  # process, so that -s and --pdb work.
  local together=(-m "not soak and not chart")
  (($#)) || together+=(-n "$AT_A_TIME" --dist loadfile --no-loadscope-reorder)
  case "$suite" in
    all)
      # shellcheck disable=SC2086  # split into words
      build_ahead ${CI_NEEDS:-}
      ran "Python tests" run_all_in_python "${together[@]}" || status=1
      ran "C++ tests" run_cpp || status=1
      ;;
    cpp) ran "C++ tests" run_cpp "$@" || status=1 ;;
    python) ran "Python tests" run_pytest "${together[@]}" "$@" || status=1 ;;
    release) ran "C++ tests" run_ctest release . "$@" || status=1 ;;
    tsan) ran "C++ tests" run_tsan "$@" || status=1 ;;
    other) ran "core tests with another Python" run_other_core "$@" || status=1 ;;
    core)
      run_pytest "${together[@]}" tests/policy tests/language tests/escapes tests/library \
        tests/integrations/test_harbor.py "$@" || status=1
      ;;
  esac
  close_tests "$status"
}

word_soak() {
  local status=0
  prepare_tests soak
  ctest --test-dir "$BUILD/release" --output-on-failure -L soak \
    --output-junit "$BUILD/report/ctest-soak.xml" || status=1
  run_pytest -m soak "$@" || status=1
  close_tests "$status"
}

word_chart() {
  local status=0
  build_targets release "" "${USED[@]}"
  lock
  make_venv "$VENV_DEV" dev
  make_sources
  make_chart_tools
  unlock
  rm -rf -- "$BUILD/report"
  mkdir -p -- "$BUILD/report"
  BELLJAR_MUST_WORK=1 run_pytest -m chart "$@" || status=1
  close_tests "$status"
}
