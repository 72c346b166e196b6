#!/usr/bin/env bash
# The first step of action.yml: finds, installs or builds belljar. Outputs its path and version.
set -euo pipefail

# shellcheck source=tools/action/workflow_command.sh
source "$GITHUB_ACTION_PATH/tools/action/workflow_command.sh"

# The version of the action itself, such as 0.1.0.
own_version() {
  sed -n 's/^project(belljar VERSION \([0-9.]*\).*/\1/p' "$GITHUB_ACTION_PATH/CMakeLists.txt"
}

# install VERSION: installs the wheel of that version, which takes seconds, and sets $belljar. In the
# runner's temporary folder, so that jobs on one machine do not share it. pip's own configuration and
# PIP_… variables say where from. Fails, with pip's messages in the log, if this system's Python or
# pip's index has none.
install() {
  local folder="${RUNNER_TEMP:?}/belljar-wheel" name python tried=" "
  for name in python3 python3.{11..20}; do
    python=$(realpath -- "$(type -P "$name")" 2>/dev/null) || continue
    [[ "$tried" != *" $python "* ]] || continue
    tried+="$python "
    rm -rf -- "$folder"
    if "$python" -m venv "$folder" &&
      "$folder/bin/python" -m pip install --quiet --disable-pip-version-check \
        --only-binary=belljar-sandbox "belljar-sandbox==$1"; then
      belljar=$folder/bin/belljar
      return
    fi
  done
  return 1
}

# Builds this clone, in the runner's temporary folder too, and sets $belljar.
build() {
  export BELLJAR_BUILD_DIR="${RUNNER_TEMP:?}/belljar"
  "$GITHUB_ACTION_PATH/dev" run --help >/dev/null ||
    fail "Belljar is not on PATH, pip has no wheel of it for a Python of this machine, and it could not" \
      "be built; it builds on Debian 12, as root or with the packages of tools/packages.txt installed"
  belljar=$BELLJAR_BUILD_DIR/release/belljar
}

# The version becomes a part of what pip is asked for.
[[ "$INPUT_VERSION" =~ ^[0-9]*(\.[0-9]+)*$ ]] ||
  fail "the input version is not one such as 0.1.0: $INPUT_VERSION"

if [[ -n "$INPUT_BELLJAR" ]]; then
  belljar=$INPUT_BELLJAR
  [[ "$belljar" == */* && -x "$belljar" && ! -d "$belljar" ]] ||
    fail "the input belljar is not the path of a program: $belljar"
  belljar=$(realpath -- "$belljar")
elif ! belljar=$(type -P belljar); then
  wanted=${INPUT_VERSION:-$(own_version)}
  if ! install "$wanted"; then
    printf 'pip could not install belljar %s; building it, which takes minutes\n' "$wanted"
    build
  fi
fi

version=$("$belljar" --version) || fail "$belljar does not start"
version=${version#belljar }
version=${version%% *}
[[ -z "$INPUT_VERSION" || "$INPUT_VERSION" == "$version" ]] ||
  fail "version $INPUT_VERSION is required, but $belljar is $version"

output belljar "$belljar"
output version "$version"
