# shellcheck shell=bash
# Sourced by ./dev: what is published besides wheels.

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

# The Debian and Ubuntu releases whose own Python a wheel is for: its tag, and their name in a version.
declare -A RELEASES=([cp311]=deb12 [cp312]=ubuntu24.04)

# deb: packages of the wheels in dist/ (./dev wheels), with man pages, completions, a systemd unit
# and, where the release needs one, an AppArmor profile. Checked by lintian.
word_deb() {
  local wheel tag made=0
  prepare_build_dir
  lock
  need_packages build
  need_packages deb
  for wheel in "$DIST/belljar-$(version)"-cp*.whl; do
    tag="$(sed -E 's/.*-(cp[0-9]+)-cp.*/\1/' <<<"${wheel##*/}")"
    [[ -n "${RELEASES[$tag]:-}" ]] || continue
    make_deb "$wheel" "$tag" "${RELEASES[$tag]}"
    made=1
  done
  unlock
  ((made)) || die "$EXIT_USAGE" "there is no wheel for a Debian or Ubuntu release in $DIST; first: ./dev wheels"
}

make_deb() { # WHEEL TAG RELEASE
  local wheel=$1 tag=$2 release=$3 tree minor architecture
  tree="$BUILD/deb/$release"
  minor="3.${tag#cp3}"
  architecture=amd64
  [[ "$wheel" != *aarch64* ]] || architecture=arm64
  rm -rf -- "$tree"
  mkdir -p -- "$tree/belljar"
  cp -R -- "$ROOT/deploy/debian" "$tree/belljar/debian"
  cp -- "$ROOT/tools/man_pages.sh" "$tree/belljar/debian/man_pages"
  [[ "$release" == ubuntu* ]] || rm -- "$tree/belljar/debian/belljar.apparmor"
  # The date of the last change, so that the same commit makes the same package.
  printf 'belljar (%s-1~%s) stable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- %s  %s\n' \
    "$(version)" "$release" "$(sed -n 's/^Maintainer: //p' "$ROOT/deploy/debian/control")" \
    "$(git -C "$ROOT" log -1 --format=%cD)" >"$tree/belljar/debian/changelog"
  (
    cd -- "$tree/belljar"
    quietly "deb-$release" env WHEEL="$wheel" PYTHON_MINOR="$minor" \
      dpkg-buildpackage --build=binary --no-sign --host-arch "$architecture" --no-check-builddeps
    quietly "lintian-$release" lintian --fail-on error,warning ../*.changes
  ) || die "$EXIT_OURS" "the package failed; see $LOGS/deb-$release.txt"
  cp -- "$tree"/belljar_*.deb "$DIST/"
  say "$(cd "$tree" && printf '%s' "$DIST/"belljar_*"~${release}"_*.deb)"
}
