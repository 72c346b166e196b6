# Sourced by the steps of action.yml.
# shellcheck shell=bash

# fail MESSAGE...: reports an error to GitHub and ends the step
fail() {
  local message="$*"
  message=${message//'%'/%25}
  message=${message//$'\r'/%0D}
  printf '::error title=belljar::%s\n' "${message//$'\n'/%0A}"
  exit 2
}

# output NAME VALUE: sets an output of the step. A value with a line end could set other outputs.
output() {
  [[ "$2" != *$'\n'* && "$2" != *$'\r'* ]] || fail "$1 contains a line end: $2"
  printf '%s=%s\n' "$1" "$2" >>"$GITHUB_OUTPUT"
}
