# shellcheck shell=bash
# Sourced by ./dev: what takes too long for CI.

# search_one PROFILE SECONDS SEED: a profile with packages has an environment of its name
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

word_nightly() {
  local seconds=3600 seed=0 profile name profiles=() status=0
  while (($#)); do
    [[ "$1" =~ ^--(seconds|seed)$ && "${2:-}" =~ ^[0-9]{1,9}$ ]] ||
      die "$EXIT_USAGE" "nightly takes --seconds N and --seed N"
    if [[ "$1" == --seconds ]]; then seconds=$2; else seed=$2; fi
    shift 2
  done
  build_command
  lock
  make_venv "$VENV_DEV" dev
  unlock
  mkdir -p -- "$BUILD/report/search"
  for profile in "$ROOT"/profiles/*.toml; do
    grep -q '^\[modules' -- "$profile" || continue
    name="$(basename -- "$profile" .toml)"
    if grep -q '^\[packages\.' -- "$profile" && [[ ! -d "$BUILD/venv-$name" ]]; then
      say "search of $name: left out; its packages are not in $BUILD/venv-$name"
      continue
    fi
    profiles+=("$name")
  done
  for profile in "${profiles[@]}"; do
    search_one "$profile" "$((seconds / ${#profiles[@]}))" "$seed" || status=1
  done
  return "$status"
}
