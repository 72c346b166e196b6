#!/usr/bin/env bash
# The first step of action.yml: finds or builds belljar. Outputs its path and version.
set -euo pipefail

# shellcheck source=tools/action/workflow_command.sh
source "$GITHUB_ACTION_PATH/tools/action/workflow_command.sh"

# Sets $belljar. Builds in the runner's temporary folder, so that jobs on one machine do not share
# it.
build() {
  export BELLJAR_BUILD_DIR="${RUNNER_TEMP:?}/belljar"
  "$GITHUB_ACTION_PATH/dev" run --help >/dev/null ||
    fail "Belljar is not on PATH and could not be built; it builds on Debian 12, as root or with" \
      "the packages of tools/packages.txt installed"
  belljar=$BELLJAR_BUILD_DIR/release/belljar
}

if [[ -n "$INPUT_BELLJAR" ]]; then
  belljar=$INPUT_BELLJAR
  [[ "$belljar" == */* && -x "$belljar" && ! -d "$belljar" ]] ||
    fail "the input belljar is not the path of a program: $belljar"
  belljar=$(realpath -- "$belljar")
elif ! belljar=$(type -P belljar); then
  build
fi

version=$("$belljar" --version) || fail "$belljar does not start"
version=${version#belljar }
version=${version%% *}
[[ -z "$INPUT_VERSION" || "$INPUT_VERSION" == "$version" ]] ||
  fail "version $INPUT_VERSION is required, but $belljar is $version"

output belljar "$belljar"
output version "$version"
