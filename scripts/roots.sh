# SPDX-License-Identifier: MIT OR Apache-2.0
# Sourced after env.sh: bare roots of Debian releases, in which the scripts run as on a machine that has nothing.
# Needs root. The pristine roots are kept in $cache/roots; a command runs in a copy of one.

# pristine_root RELEASE: prints its folder, and makes it where it is missing.
pristine_root() {
  local folder=$cache/roots/$1
  if [ ! -d "$folder" ]; then
    scripts/setup roots >&2
    say "making a bare root of $1 in $folder" >&2
    mkdir -p "$cache/roots"
    rm -rf "$folder.part"
    debootstrap --variant=minbase "$1" "$folder.part" >"$folder.log" || { tail -n 20 "$folder.log" >&2 && return 1; }
    mv "$folder.part" "$folder"
  fi
  echo "$folder"
}

# new_root RELEASE FOLDER: a copy that knows how this machine reaches the registries.
new_root() {
  local pristine file
  pristine=$(pristine_root "$1") || return 1
  rm -rf --one-file-system "$2"
  cp -a "$pristine" "$2"
  for file in /etc/resolv.conf /etc/hosts /etc/pip.conf; do
    if [ -e "$file" ]; then cp -L "$file" "$2$file"; fi
  done
  mkdir -p "$2/etc/ssl"
  if [ -d /etc/ssl/certs ]; then cp -aL /etc/ssl/certs "$2/etc/ssl/"; fi
}

# clone_into FOLDER: HEAD of the project as /src of a root, with nothing beside it.
clone_into() {
  mkdir -p "$1/src"
  git clone --quiet --no-hardlinks "$root" "$1/src/andiron"
}

# in_root FOLDER COMMAND...: runs it with an environment of its own. $root_mounts are further folders of this
# machine, as "FROM:TO ...".
in_root() {
  local folder=$1
  shift
  local settings=(HOME=/root LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin "ANDIRON_JOBS=$jobs")
  # How this machine reaches the registries, and what the caller set.
  mapfile -t -O ${#settings[@]} settings < <(env | grep -E '^(([a-z]+_proxy|CI|ANDIRON_COLD|ANDIRON_LONG_TESTS)=|PIP_|SSL_CERT)' | grep -v '^PIP_FIND_LINKS' || true)
  # The mounts end with the namespace.
  root_mounts=${root_mounts:-} unshare --mount --fork bash -c '
    set -e
    folder=$1
    shift
    mount --rbind /dev "$folder/dev"
    mount -t proc proc "$folder/proc"
    mount --rbind /sys "$folder/sys"
    for pair in $root_mounts; do
      mkdir -p "$folder${pair#*:}"
      mount --bind "${pair%%:*}" "$folder${pair#*:}"
    done
    exec chroot "$folder" env -i "$@"' in_root "$folder" "${settings[@]}" "$@"
}
