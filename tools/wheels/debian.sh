# shellcheck shell=bash
# Sourced: packages and sources of Debian releases, from the mirror configured for this machine's apt,
# without changing what is installed.

# mirror: the address of this machine's own Debian release
mirror() {
  # shellcheck disable=SC2016  # apt's own names
  apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    sed -n "s/ $(own_release) main\$//p" | head -n 1
}

own_release() {
  # shellcheck source=/dev/null
  (source /etc/os-release && printf '%s\n' "$VERSION_CODENAME")
}

# source_line KIND RELEASE: KIND is deb or deb-src
source_line() {
  printf '%s [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s %s main\n' \
    "$1" "$(mirror)" "$2"
}

# apt_for FOLDER RELEASE [ARCHITECTURE]: makes lists, below FOLDER, of the packages of RELEASE (for this
# machine's architecture, or that one) and of the sources of this machine's own; unpack_* use them
apt_for() {
  APT_FOLDER=$1
  APT_ARCHITECTURE=${3:-$(dpkg --print-architecture)}
  mkdir -p -- "$APT_FOLDER"/{state/lists/partial,cache/archives/partial,downloads}
  {
    source_line deb "$2"
    source_line deb-src "$(own_release)"
  } >"$APT_FOLDER/sources.list"
  private_apt update
}

private_apt() {
  (cd -- "$APT_FOLDER/downloads" && apt-get -qq -o Dir::State="$APT_FOLDER/state" \
    -o Dir::State::status=/dev/null -o Dir::Cache="$APT_FOLDER/cache" \
    -o Dir::Etc::sourcelist="$APT_FOLDER/sources.list" -o Dir::Etc::sourceparts=/nonexistent \
    -o APT::Architecture="$APT_ARCHITECTURE" -o APT::Architectures="$APT_ARCHITECTURE" \
    -o APT::Sandbox::User="$(id -un)" -o Acquire::Languages=none "$@")
}

# unpack_packages FOLDER NAME...
unpack_packages() {
  local folder=$1 package
  shift
  private_apt download "$@"
  for package in "$APT_FOLDER"/downloads/*.deb; do dpkg-deb -x "$package" "$folder"; done
}

# unpack_with_dependencies FOLDER NAME...: none of their scripts run, so nothing is configured
unpack_with_dependencies() {
  local folder=$1 package
  shift
  private_apt --download-only --no-install-recommends --yes install "$@"
  for package in "$APT_FOLDER"/cache/archives/*.deb; do
    # Into the links of a merged /usr, which dpkg-deb -x would replace by folders.
    dpkg-deb --fsys-tarfile "$package" | tar -x -C "$folder" --keep-directory-symlink
  done
}

# unpack_source NAME: the upstream source of a package, in a folder that is printed
unpack_source() {
  local folder="$APT_FOLDER/sources/$1" archives
  private_apt --download-only source "$1" >&2
  archives=("$APT_FOLDER/downloads/$1"_*.orig.tar.*[a-z0-9])
  mkdir -p -- "$folder"
  tar -xf "${archives[0]}" -C "$folder" --strip-components=1
  printf '%s\n' "$folder"
}
