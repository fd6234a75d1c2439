# SPDX-License-Identifier: MIT OR Apache-2.0
# Sourced after env.sh: bare roots of Debian releases, in which the scripts run as on a machine that has nothing.
# Needs root. The pristine roots are kept in $cache/roots; a command runs in a copy of one.

certificates=/etc/ssl/certs/ca-certificates.crt # of this machine

# pristine_root RELEASE: makes it where it is missing.
pristine_root() {
  local folder=$cache/roots/$1
  if [ -d "$folder" ]; then return; fi
  scripts/setup roots || return 1
  say "making a bare root of $1 in $folder"
  mkdir -p "$cache/roots" && rm -rf "$folder.part" || return 1
  debootstrap --variant=minbase "$1" "$folder.part" >"$folder.log" || { tail -n 20 "$folder.log" >&2; return 1; }
  mv "$folder.part" "$folder"
}

# new_root RELEASE FOLDER: a copy that knows how this machine reaches the registries.
new_root() {
  local file
  pristine_root "$1" || return 1
  rm -rf --one-file-system "$2" && cp -a "$cache/roots/$1" "$2" || return 1
  for file in /etc/resolv.conf /etc/hosts /etc/pip.conf; do
    if [ -e "$file" ]; then cp -L "$file" "$2$file" || return 1; fi
  done
  # Links that lead nowhere are of no use there either. Packages replace the bundle by their own, so that there is
  # a second one.
  if [ -d /etc/ssl/certs ]; then mkdir -p "$2/etc/ssl" && cp -aL /etc/ssl/certs "$2/etc/ssl/" 2>/dev/null || true; fi
  if [ -e "$certificates" ]; then cp -L "$certificates" "$2/etc/ssl/machine.crt" || return 1; fi
}

# bare_root_with RELEASE NAME PACKAGES: sets $folder to a root that is kept, has what tests need and these packages,
# and has a clone of HEAD. Packages for arm64 make it a root of two architectures.
bare_root_with() {
  folder=$cache/roots/$1-$2
  if [ "$(cat "$folder/has-packages" 2>/dev/null)" != "$3" ]; then
    new_root "$1" "$folder"
    clone_into "$folder"
    say "installing packages in $folder"
    if [[ $3 = *:arm64* ]]; then in_root "$folder" dpkg --add-architecture arm64; fi
    { in_root "$folder" /src/andiron/scripts/setup test && in_root "$folder" apt-get update -qq &&
      in_root "$folder" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $3; } \
      >"$folder.log" 2>&1 || { tail -n 20 "$folder.log" >&2; return 1; }
    echo "$3" >"$folder/has-packages"
  fi
  rm -rf "$folder/src/andiron"
  clone_into "$folder"
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
  mapfile -t -O ${#settings[@]} settings < <(env | grep -E '^(([a-z]+_proxy|CI)=|PIP_|SSL_CERT)' | grep -vE '^(PIP_FIND_LINKS|PIP_CERT|SSL_CERT_FILE)' || true)
  if [ -e "$folder/etc/ssl/machine.crt" ]; then settings+=({PIP_CERT,SSL_CERT_FILE}=/etc/ssl/machine.crt); fi
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
