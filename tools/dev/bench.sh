# shellcheck shell=bash
# Sourced by ./dev: the benchmarks.

# bench_wheel WHEEL: needs nothing built here
bench_wheel() {
  local wheel=${1:-} version
  [[ -f "$wheel" && "$wheel" =~ -cp3([0-9]+)- ]] ||
    die "$EXIT_USAGE" "bench wheel needs a wheel that ./dev wheels has built, such as dist/belljar_sandbox-….whl"
  version="3.${BASH_REMATCH[1]}"
  lock
  make_venv "$WHEELS_VENV" wheels
  unlock
  exec "$PYTHON" -I "$ROOT/bench/wheel.py" "$WHEELS_VENV/bin/uv" "$(python_of "$version")" \
    "$(realpath -- "$wheel")"
}

word_bench() {
  local what="${1:-}"
  prepare_build_dir
  case "$what" in
    compile)
      shift
      build_command
      exec "$PYTHON" -I "$ROOT/bench/compile.py" --build "$BUILD/release" "$@"
      ;;
    data-science | network)
      word_setup "$what"
      ;;
    wheel)
      shift
      bench_wheel "$@"
      ;;
    workshop)
      shift
      build_command
      lock
      make_venv "$VENV_DEV" dev
      unlock
      exec "$VENV_DEV/bin/python" "$ROOT/bench/workshop.py" "$BUILD/release" "$@"
      ;;
    validate)
      lock
      make_venv "$VENV_DEV" dev
      unlock
      ;;
    python)
      lock
      make_venv "$BUILD/venv-bench" bench
      unlock
      ;;
    client)
      lock
      make_venv "$VENV_CLIENTS" clients
      make_npm_clients
      unlock
      ;;
    ray)
      lock
      make_venv "$BUILD/venv-integrations" integrations
      unlock
      ;;
  esac
  build_targets release bench all
  case "$what" in
    validate)
      shift
      exec "$VENV_DEV/bin/python" -I "$ROOT/bench/validate.py" "$BUILD/release/belljar" "$@"
      ;;
    python)
      shift
      exec "$BUILD/venv-bench/bin/python" "$ROOT/bench/python_package.py" "$BUILD/release" "$@"
      ;;
    client)
      shift
      exec "$CLIENTS/node" "$ROOT/bench/official_client.mjs" "$BUILD/release" \
        "$CLIENTS/node_modules" "$@"
      ;;
    ray)
      shift
      exec "$BUILD/venv-integrations/bin/python" "$ROOT/bench/ray_pool.py" "$BUILD/release" "$@"
      ;;
    containers | language | languages | data-science | jobs | network | service | sessions)
      shift
      exec "$BUILD/release/bin/belljar-bench-$what" "$@"
      ;;
  esac
  exec "$BUILD/release/bin/belljar-bench" "$@"
}
