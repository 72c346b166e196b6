#!/usr/bin/env bash
# Creates a Debian system in a folder: root.sh FOLDER RELEASE PACKAGE...
set -euo pipefail

folder=$1 release=$2
shift 2
# shellcheck source=tools/wheels/debian.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/debian.sh"
mmdebstrap --quiet --variant=minbase --dpkgopt=force-unsafe-io --include="$(IFS=,; printf '%s' "$*")" \
  "$release" "$folder" "$(source_line deb "$release")"
