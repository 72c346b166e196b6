#!/usr/bin/env bash
# man_pages.sh BELLJAR FOLDER: a page for the command and each of its subcommands, generated from
# their --help by help2man: belljar.1, belljar-run.1, belljar-image-build.1, …
set -euo pipefail

program=$1 folder=$2
mkdir -p -- "$folder"
export LC_ALL=C.UTF-8

# help_of WORD...: what the command prints
help_of() { "$program" "$@" --help; }

# commands_below WORD...: the names that its help lists
commands_below() {
  help_of "$@" | sed -n '/^Commands:$/,/^$/s/^  \([a-z]*\) .*/\1/p'
}

# page WORD...
page() {
  local name=belljar word
  for word in "$@"; do name+="-$word"; done
  local summary
  if (($#)); then
    summary=$(help_of "$@" | head -n 1)
    summary="${summary,}"
  else
    summary="sandbox for untrusted Python"
  fi
  # It wants a program, not a program with arguments.
  local wrapper="$folder/wrapper"
  printf '#!/bin/sh\nexec "%s" %s "$@"\n' "$program" "$*" >"$wrapper"
  chmod 755 "$wrapper"
  help2man --no-info --section 1 --manual "User Commands" --source Belljar --name "${summary%.}" \
    --version-string "$("$program" --version | cut -d' ' -f2)" "$wrapper" |
    sed -E "s/^\.TH [^ ]+/.TH ${name^^}/; s/^wrapper \\\\-/${name//-/\\\\-} \\\\-/" >"$folder/$name.1"
  rm -- "$wrapper"
  for word in $(commands_below "$@"); do page "$@" "$word"; done
}

page
