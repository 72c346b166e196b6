# shellcheck shell=bash
# Sourced by ./dev: what is published besides wheels.

version() { sed -n 's/^project(belljar VERSION \([0-9.]*\).*/\1/p' "$ROOT/CMakeLists.txt"; }

# mcpb: the bundle for MCP clients that install servers themselves (docs/mcp.md, "A bundle"). It names
# the package, which uv installs. The tool is among the npm packages of tests/clients.
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

# The Debian and Ubuntu releases for whose own Python there is a wheel: its tag, and their name in a
# version.
declare -A RELEASES=([cp311]=deb12 [cp312]=ubuntu24.04)

# deb: packages of the wheels in dist/ (./dev wheels), with man pages, completions, a systemd unit
# and, where the release needs one, an AppArmor profile. Checked by lintian. Only from wheels for this
# machine's architecture: the command itself prints its completions and man pages.
word_deb() {
  # shellcheck source=tools/wheels/debian.sh
  source "$ROOT/tools/wheels/debian.sh"
  local wheel tag made=0
  prepare_build_dir
  lock
  need_packages build wheels deb
  for wheel in "$DIST/belljar_sandbox-$(version)"-cp*"_$(uname -m).whl"; do
    tag="$(sed -E 's/.*-(cp[0-9]+)-cp.*/\1/' <<<"${wheel##*/}")"
    [[ -n "${RELEASES[$tag]:-}" ]] || continue
    make_deb "$wheel" "$tag" "${RELEASES[$tag]}"
    made=1
  done
  unlock
  ((made)) || die "$EXIT_USAGE" "there is no wheel for a Debian or Ubuntu release in $DIST; first: ./dev wheels"
}

make_deb() { # WHEEL TAG RELEASE
  local wheel=$1 tag=$2 release=$3 tree minor apparmor=""
  [[ "$release" != ubuntu* ]] || apparmor=1
  tree="$BUILD/deb/$release"
  minor="3.${tag#cp3}"
  rm -rf -- "$tree"
  mkdir -p -- "$tree/belljar"
  cp -R -- "$ROOT/deploy/debian" "$tree/belljar/debian"
  cp -- "$ROOT/tools/man_pages.sh" "$tree/belljar/debian/man_pages"
  # The date of the last change, so that the same commit produces the same package.
  printf 'belljar (%s-1~%s) stable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- %s  %s\n' \
    "$(version)" "$release" "$(sed -n 's/^Maintainer: //p' "$ROOT/deploy/debian/control")" \
    "$(git -C "$ROOT" log -1 --format=%cD)" >"$tree/belljar/debian/changelog"
  (
    cd -- "$tree/belljar"
    quietly "deb-$release" env WHEEL="$wheel" PYTHON_MINOR="$minor" APPARMOR="$apparmor" \
      dpkg-buildpackage --build=binary --no-sign --no-check-builddeps
    quietly "lintian-$release" lintian --fail-on error,warning ../*.changes
  ) || die "$EXIT_OURS" "the package failed; see $LOGS/deb-$release.txt"
  cp -- "$tree"/belljar_*.deb "$DIST/"
  # There is no system of an Ubuntu release here to try it on.
  [[ "$release" != deb12 ]] || try_deb "$tree"/belljar_*.deb
  say "$(printf '%s' "$DIST/"belljar_*"~${release}"_*.deb)"
}

# try_deb FILE: installs it like its users, in a system of that release without a network.
try_deb() {
  local root="$BUILD/deb/root" inside=(bwrap --bind "$BUILD/deb/root" / --proc /proc --dev /dev
    --tmpfs /tmp --unshare-net --clearenv --setenv PATH /usr/sbin:/usr/bin:/sbin:/bin --chdir /)
  make_root "$(own_release)"
  rm -rf -- "$root"
  cp -a -- "$WHEELS/root-$(own_release)" "$root"
  cp -- "$1" "$root/belljar.deb"
  say "testing $(basename -- "$1") on Debian $(own_release)"
  quietly deb-install "${inside[@]}" --cap-add ALL dpkg --install /belljar.deb &&
    quietly deb-try "${inside[@]}" sh -ec '
      test "$(belljar run -c "print(6 * 7)")" = 42
      belljar doctor
      test "$(python3 -c "import belljar; print(belljar.Sandbox().run(\"6 * 7\").value)")" = 42
      test -s /usr/share/man/man1/belljar-run.1.gz
      bash -n /usr/share/bash-completion/completions/belljar' &&
    quietly deb-remove "${inside[@]}" --cap-add ALL dpkg --purge belljar &&
    [[ ! -e "$root/usr/bin/belljar" && ! -e "$root/usr/lib/python3/dist-packages/belljar" ]] ||
    die "$EXIT_OURS" "$1 does not work; see $LOGS/deb-install.txt, deb-try.txt and deb-remove.txt"
}
