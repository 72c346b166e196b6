# shellcheck shell=bash
# Sourced by ./dev: what is published besides wheels.

DIST="$ROOT/dist"

version() { sed -n 's/^project(belljar VERSION \([0-9.]*\).*/\1/p' "$ROOT/CMakeLists.txt"; }

# mcpb: the bundle for MCP clients that install servers by themselves (docs/mcp.md, "A bundle"). It
# names the package, which uv installs. The tool is among the npm packages of tests/clients.
word_mcpb() {
  local file
  file="$DIST/belljar-$(version).mcpb"
  prepare_build_dir
  lock
  make_clients
  unlock
  mkdir -p -- "$DIST"
  rm -f -- "$file"
  "$CLIENTS/node" "$CLIENTS/node_modules/.bin/mcpb" pack "$ROOT/deploy/mcpb" "$file" >"$LOGS/mcpb.txt" ||
    die "$EXIT_OURS" "mcpb failed; see $LOGS/mcpb.txt"
  say "$file"
}
