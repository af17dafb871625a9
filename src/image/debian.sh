# shellcheck shell=bash
# debian.sh: sourced by what unpacks Debian packages without installing them on this machine. WORK is a directory for
# apt's lists and the packages.

debian_keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# The mirror is the one that this machine's apt has, whether its lists were fetched or not, or DEBIAN_MIRROR.
debian_mirror() {
  local mirror
  # shellcheck disable=SC2016 # apt-get's own variable
  mirror=${DEBIAN_MIRROR:-$(apt-get indextargets --no-release-info --format '$(REPO_URI)' |
    sed -nE 's,(/debian(\.list)?)/?$,\1,p' | sed -n 1p)}
  if [ -z "$mirror" ]; then
    echo "no source of this machine's apt ends in /debian: name a mirror of Debian by DEBIAN_MIRROR" >&2
    return 1
  fi
  echo "$mirror"
}

# debian_apt WORK SUITE COMMAND…: an apt that knows one suite and nothing of this machine's packages
debian_apt() {
  local work=$1 suite=$2 dir=$1/apt-$2 mirror
  shift 2
  if [ ! -e "$dir/conf" ]; then
    mirror=$(debian_mirror) || return 1
    mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial" "$work/debs"
    echo "deb [signed-by=$debian_keyring] $mirror $suite main" >"$dir/sources.list"
    cat >"$dir/conf.new" <<CONF
Dir::Etc::sourcelist "$dir/sources.list"; Dir::Etc::sourceparts "/dev/null"; Dir::State::lists "$dir/lists";
Dir::Cache "$dir/cache"; Dir::State::status "/dev/null"; Acquire::Languages "none"; APT::Sandbox::User "root";
Acquire::Retries "5"; Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
CONF
    APT_CONFIG=$dir/conf.new apt-get -qq update || return 1
    mv "$dir/conf.new" "$dir/conf"
  fi
  (cd "$work/debs" && APT_CONFIG=$dir/conf command "$@")
}

# debian_unpack WORK SUITE PACKAGE DIR
debian_unpack() {
  debian_apt "$1" "$2" apt-get -qq download "$3" || return 1
  mkdir -p "$4"
  dpkg-deb -x "$1/debs/$3"_*.deb "$4"
}
