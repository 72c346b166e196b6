# shellcheck shell=bash
# Sourced by ./dev: everything, including what takes too long for CI.

# search_one PROFILE SECONDS SEED: a profile with packages has an environment of the same name
search_one() {
  local log="$BUILD/report/search/$1.txt" status=0 packages folder
  packages="$(find "$BUILD/venv-$1/lib" -maxdepth 2 -name site-packages 2>/dev/null || true)"
  folder="$(mktemp -d)" # what it writes
  (
    cd -- "$folder"
    [[ -z "$packages" ]] || export POLICY_SET_PACKAGES="$packages"
    BELLJAR_GUARDS_DIR="$(guards_dir)" PYTHONPATH="$ROOT:$ROOT/policy" PYTHONDONTWRITEBYTECODE=1 \
      "$VENV_DEV/bin/python" -m tests.search --profile "$1" --seconds "$2" --seed "$3"
  ) >"$log" 2>&1 </dev/null || status=1
  rm -rf -- "$folder"
  grep -aE '^(FOUND|BROKEN|DONE| +by )' -- "$log" >&2 || tail -n 60 -- "$log" >&2
  ((status == 0)) || say "search of $1: FAILED; see $log"
  return "$status"
}

nightly_search() { # SECONDS SEED
  local seconds=$1 seed=$2 profile name profiles=() status=0
  build_command
  lock
  make_venv "$VENV_DEV" dev
  unlock
  mkdir -p -- "$BUILD/report/search"
  for profile in "$ROOT"/profiles/*.toml; do
    grep -q '^\[modules' -- "$profile" || continue
    name="$(basename -- "$profile" .toml)"
    if grep -q '^\[packages\.' -- "$profile" && [[ ! -d "$BUILD/venv-$name" ]]; then
      say "search of $name: skipped; its packages are not in $BUILD/venv-$name"
      continue
    fi
    profiles+=("$name")
  done
  for profile in "${profiles[@]}"; do
    search_one "$profile" "$((seconds / ${#profiles[@]}))" "$seed" || status=1
  done
  return "$status"
}

nightly_others() {
  local others python status=0
  mapfile -t others < <(other_pythons)
  ((${#others[@]})) || say "there is no other Python here"
  for python in "${others[@]}"; do
    say "core tests with $python"
    with_other "$python" test core || status=1
  done
  return "$status"
}

# Runs each test TIMES times, with four times as many processes as elsewhere, to find unstable ones.
nightly_load() { # TIMES
  local times=$1 each status=0
  prepare_tests all
  build_asan
  call_ctest asan asan "" --parallel "$((4 * AT_A_TIME))" --repeat "until-fail:$times" -L file || status=1
  for ((each = 1; each <= times; ++each)); do
    run_pytest -m "not soak and not chart" -n "$((4 * AT_A_TIME))" --dist loadfile \
      --junitxml "$BUILD/report/pytest-$each.xml" || status=1
  done
  close_tests "$status"
}

# The default parts, in this order.
readonly NIGHTLY=(lint test release tsan others fuzz search soak odr chart wheels arm64 load)

# In a separate process: if it has to stop, the other parts continue.
nightly_part() ( # PART SECONDS SEED TIMES
  case "$1" in
    release | tsan) "$ROOT/dev" test "$1" ;;
    others) nightly_others ;;
    fuzz) "$ROOT/dev" fuzz --seconds "$2" ;;
    search) nightly_search "$2" "$3" ;;
    load) nightly_load "$4" ;;
    *) "$ROOT/dev" "$1" ;;
  esac
)

word_nightly() {
  local seconds=3600 seed=0 times=20 parts=() part status=0 began result ended=()
  while (($#)); do
    case "$1" in
      --seconds | --seed | --times)
        [[ "${2:-}" =~ ^[0-9]{1,9}$ ]] || die "$EXIT_USAGE" "$1 takes a whole number"
        printf -v "${1#--}" %s "$2"
        shift
        ;;
      *)
        [[ " ${NIGHTLY[*]} " == *" $1 "* ]] ||
          die "$EXIT_USAGE" "unknown part '$1': ${NIGHTLY[*]}"
        parts+=("$1")
        ;;
    esac
    shift
  done
  ((${#parts[@]})) || parts=("${NIGHTLY[@]}")
  for part in "${parts[@]}"; do
    began=$SECONDS result=passed
    nightly_part "$part" "$seconds" "$seed" "$times" || status=1 result=FAILED
    ended+=("$part: $result, $(((SECONDS - began) / 60)) minutes")
  done
  for part in "${ended[@]}"; do say "$part"; done
  return "$status"
}
