# shellcheck shell=bash
# Sourced by ./dev: fuzzing of parsers with bytes and of the language policy with programs.

readonly FUZZ_TARGETS=(http web mcp report config egress container audit language)

# fuzz_one TARGET SECONDS: new inputs are kept in build/fuzz-corpus for the next run
fuzz_one() {
  local target=$1 seconds=$2 status=0 artefact
  local log="$BUILD/report/fuzz/$target.txt" grown="$BUILD/fuzz-corpus/$target" seed=0
  # A fixed seed in CI, so that results do not depend on luck; otherwise a random one (0).
  [[ "${CI:-}" == true ]] && seed=1
  rm -f -- "$BUILD/report/fuzz/$target"[-.]*
  mkdir -p -- "$grown"
  UBSAN_OPTIONS="print_stacktrace=1:${UBSAN_OPTIONS:-}" \
    "$BUILD/fuzz/bin/${target}_fuzz" -seed="$seed" -max_total_time="$seconds" -timeout=10 \
    -rss_limit_mb=2048 -max_len=4096 -dict="$ROOT/tests/fuzz/$target.dict" -print_final_stats=1 \
    -artifact_prefix="$BUILD/report/fuzz/$target-" "$grown" "$ROOT/tests/fuzz/corpus/$target" \
    >"$log" 2>&1 </dev/null || status=1
  if ((status == 0)); then
    say "fuzz $target: ok: $(grep -a DONE "$log" | tr -s ' \t' ' ')"
    return 0
  fi
  tail -n 60 "$log" >&2
  for artefact in "$BUILD/report/fuzz/$target-"*; do
    [[ -e "$artefact" ]] || continue
    say "fuzz $target: to reproduce: $BUILD/fuzz/bin/${target}_fuzz $artefact"
    od -A d -t x1z -v -- "$artefact" >&2
  done
  say "fuzz $target: FAILED; see $log"
  return 1
}

# Generates programs with Hypothesis, which prints a minimal program that violates a property.
fuzz_language() { # SECONDS
  local log="$BUILD/report/fuzz/language.txt" seed=0 status=0
  [[ "${CI:-}" == true ]] && seed=1
  (
    cd -- "$ROOT"
    BELLJAR_GUARDS_DIR="$(guards_dir)" PYTHONPATH="$ROOT:$ROOT/policy" PYTHONDONTWRITEBYTECODE=1 \
      "$VENV_DEV/bin/python" -m tests.policy.fuzz --seconds "$1" --seed "$seed"
  ) >"$log" 2>&1 </dev/null || status=1
  if ((status == 0)); then
    say "fuzz language: ok: $(grep -a DONE "$log")"
    return 0
  fi
  tail -n 200 "$log" >&2
  say "fuzz language: FAILED; see $log"
  return 1
}

build_fuzz() { # TARGET...
  local target native=()
  for target in "$@"; do
    if [[ "$target" == language ]]; then
      build_command
      lock
      make_venv "$VENV_DEV" dev
      unlock
    else
      native+=("$target")
    fi
  done
  ((${#native[@]})) || return 0
  prepare_build_dir
  lock
  need_packages build
  need_packages fuzz
  configure fuzz
  compile fuzz "${native[@]/%/_fuzz}"
  unlock
}

word_fuzz() {
  local seconds=60 targets=() target at_a_time rounds share i running pid status=0
  while (($#)); do
    case "$1" in
      --seconds)
        [[ "${2:-}" =~ ^[1-9][0-9]{0,6}$ ]] || die "$EXIT_USAGE" "--seconds takes a whole number"
        seconds=$2
        shift
        ;;
      *)
        [[ " ${FUZZ_TARGETS[*]} " == *" $1 "* ]] ||
          die "$EXIT_USAGE" "unknown target '$1': ${FUZZ_TARGETS[*]}"
        targets+=("$1")
        ;;
    esac
    shift
  done
  ((${#targets[@]})) || targets=("${FUZZ_TARGETS[@]}")
  build_fuzz "${targets[@]}"
  mkdir -p -- "$BUILD/report/fuzz"
  # As many in parallel as there are cores; the seconds are the total of all rounds.
  at_a_time=$((JOBS < ${#targets[@]} ? JOBS : ${#targets[@]}))
  rounds=$(((${#targets[@]} + at_a_time - 1) / at_a_time))
  for ((i = 0; i < ${#targets[@]}; i += at_a_time)); do
    running=()
    for target in "${targets[@]:i:at_a_time}"; do
      share=$(((seconds + rounds - 1) / rounds))
      if [[ "$target" == language ]]; then fuzz_language "$share" & else fuzz_one "$target" "$share" & fi
      running+=($!)
    done
    for pid in "${running[@]}"; do wait "$pid" || status=1; done
  done
  return "$status"
}
