# Sourced by the steps of action.yml.
# shellcheck shell=bash

# fail MESSAGE...: an error that GitHub shows, and the end of the step
fail() {
  local message="$*"
  message=${message//'%'/%25}
  message=${message//$'\r'/%0D}
  printf '::error title=belljar::%s\n' "${message//$'\n'/%0A}"
  exit 2
}

# output NAME VALUE: of the step. A value with a line end would set other outputs as well.
output() {
  [[ "$2" != *$'\n'* && "$2" != *$'\r'* ]] || fail "$1 has a line end in it: $2"
  printf '%s=%s\n' "$1" "$2" >>"$GITHUB_OUTPUT"
}
