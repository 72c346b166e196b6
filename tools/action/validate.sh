#!/usr/bin/env bash
# The second step of action.yml: runs belljar validate. Outputs its exit code and the path of the
# SARIF report.
set -euo pipefail

# shellcheck source=tools/action/workflow_command.sh
source "$GITHUB_ACTION_PATH/tools/action/workflow_command.sh"

arguments=()

# option NAME VALUE: uses an equals sign, so that no value is parsed as an option
option() { [[ -z "$2" ]] || arguments+=("--$1=$2"); }

# is_true NAME VALUE
is_true() {
  [[ "$2" == true || "$2" == false ]] || fail "the input $1 must be true or false, not: $2"
  [[ "$2" == true ]]
}

option profile "$INPUT_PROFILE"
option isolation "$INPUT_ISOLATION"
option config "$INPUT_CONFIG"
option baseline "$INPUT_BASELINE"
option select "$INPUT_SELECT"
option ignore "$INPUT_IGNORE"
if is_true isolated "$INPUT_ISOLATED"; then arguments+=(--isolated); fi
fails=false
if is_true fail-on-findings "$INPUT_FAIL_ON_FINDINGS"; then fails=true; fi

paths=()
while IFS= read -r path; do
  path=${path%$'\r'}
  [[ -z "$path" ]] || paths+=("$path")
done <<<"$INPUT_PATHS"
((${#paths[@]})) || fail "the input paths names no file or directory"

sarif=$INPUT_SARIF_FILE
[[ -z "$sarif" || "$sarif" == /* ]] || sarif=$PWD/$sarif
output sarif-file "$sarif"
unset CDPATH
cd -- "$INPUT_WORKING_DIRECTORY" || fail "no such working-directory: $INPUT_WORKING_DIRECTORY"

code=0
"$BELLJAR" validate --format="$INPUT_FORMAT" "${arguments[@]}" -- "${paths[@]}" </dev/null ||
  code=$?

if [[ -n "$sarif" ]]; then
  sarif_code=0
  mkdir -p -- "$(dirname -- "$sarif")"
  "$BELLJAR" validate --format=sarif "${arguments[@]}" -- "${paths[@]}" \
    </dev/null >"$sarif" 2>/dev/null || sarif_code=$?
  ((sarif_code <= code)) || code=$sarif_code
fi

output exit-code "$code"
if ((code == 1)) && [[ "$fails" == false ]]; then code=0; fi
exit "$code"
