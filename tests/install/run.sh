#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Installs a build into a new folder, moves that folder, and builds and runs programs against it in
# each of the promised ways; then makes the Debian package and looks into it. As a subfolder the library would be
# built again, which only ANDIRON_LONG_TESTS does; otherwise programs are compiled against it and not linked.
# usage: tests/install/run.sh BUILD_DIR
set -euo pipefail
build=$(realpath "$1")
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
consumer=$root/tests/install/consumer
jobs=${ANDIRON_JOBS:-2}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cxx=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
log=$work/log
say() { echo "install: $*"; }
# Says what COMMAND printed only when it fails.
quietly() { "$@" >"$log" 2>&1 || { cat "$log" && exit 1; }; }

quietly cmake --install "$build" --prefix "$work/first"
mv "$work/first" "$work/prefix"
prefix=$work/prefix

configure() {
  quietly cmake -G Ninja -S "$consumer/$1" -B "$work/$1" -DCMAKE_CXX_COMPILER="$cxx" \
    -DCMAKE_BUILD_TYPE=None "${@:2}"
}

# configure_and_run NAME [cmake options]
configure_and_run() {
  configure "$@"
  quietly cmake --build "$work/$1" -j "$jobs"
  quietly "$work/$1/consumer"
  quietly "$work/$1/embedded"
  quietly "$work/$1/converted"
  if [ -x "$work/$1/computing" ]; then quietly "$work/$1/computing"; fi
  say "$1 works"
}

if grep -rlF -e "$build" -e "$root" "$prefix/lib"*/cmake "$prefix"/lib*/pkgconfig; then
  say "the files above name the machine they were built on" >&2
  exit 1
fi
configure_and_run find_package -DCMAKE_PREFIX_PATH="$prefix"
configure_and_run freestanding -DCMAKE_PREFIX_PATH="$prefix"
if [ -n "${ANDIRON_LONG_TESTS:-}" ]; then
  configure_and_run subdirectory -DANDIRON_SOURCE_DIR="$root" -DCMAKE_UNITY_BUILD=ON
else
  configure subdirectory -DANDIRON_SOURCE_DIR="$root"
  # What converts would first build the tool, and so the library.
  quietly ninja -C "$work/subdirectory" "$consumer/main.cpp^" "$consumer/computing.cpp^" "$consumer/embedded.cpp^"
  say "NOT RUN: programs that have the library as a subfolder were compiled, not linked; one that converts was not"
fi

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name andiron.pc)")
export PKG_CONFIG_PATH
quietly "$cxx" "$consumer/main.cpp" -o "$work/plain" $(pkg-config --cflags --libs andiron)
quietly "$work/plain"
quietly "$cxx" "$consumer/computing.cpp" -o "$work/computing" $(pkg-config --cflags --libs andiron-nn)
quietly "$work/computing"
say "pkg-config works"

if ldd "$work/plain" | grep -E 'dnnl|gomp'; then
  say "a program that only moves weights links what layers compute with" >&2
  exit 1
fi

# Firmware has no C++ runtime: the freestanding library may ask for these functions of C alone, which
# every embedded C library has. (The offset table is the linker's.)
view=$(find "$prefix" -name libandiron_view.a)
nm --defined-only "$view" | awk 'NF == 3 {print $3}' | sort -u >"$work/defined"
nm --undefined-only "$view" | awk 'NF == 2 {print $2}' | sort -u |
  grep -vxE 'mem(cpy|move|set|cmp|chr)|strlen|_GLOBAL_OFFSET_TABLE_' | comm -23 - "$work/defined" >"$work/asked" || true
if [ -s "$work/asked" ]; then
  say "the freestanding library asks for:" >&2
  cat "$work/asked" >&2
  exit 1
fi
say "the freestanding library stands alone"

if command -v dpkg-deb >/dev/null; then
  quietly cpack --config "$build/CPackConfig.cmake" -G DEB -B "$work/package"
  package=$(find "$work/package" -maxdepth 1 -name '*.deb')
  dpkg-deb -c "$package" >"$work/content"
  for file in bin/andiron lib/libandiron.a lib/libandiron_view.a lib/libandiron_nn.a include/andiron/andiron.h \
    lib/cmake/andiron/andironConfig.cmake lib/cmake/andiron/FindRE2.cmake \
    lib/cmake/andiron/FindOneDNN.cmake lib/pkgconfig/andiron-nn.pc \
    lib/cmake/andiron/AndironEmbedWeights.cmake lib/cmake/andiron/AndironEmbedBytes.cmake \
    lib/cmake/andiron/AndironConvertWeights.cmake \
    lib/pkgconfig/andiron.pc share/doc/andiron/LICENSE-MIT share/doc/andiron/LICENSE-APACHE; do
    if ! grep -q " \./usr/$file\$" "$work/content"; then
      say "the Debian package lacks usr/$file; it has:" >&2
      cat "$work/content" >&2
      exit 1
    fi
  done
  homepage=$(dpkg-deb -f "$package" Homepage)
  if [[ $homepage = *example.* || $homepage = *.invalid* ]]; then
    say "the Debian package names a homepage that does not exist: $homepage" >&2
    exit 1
  fi
  depends=$(dpkg-deb -f "$package" Depends)
  case $depends in
    *libre2-dev*) say "$(basename "$package") is complete; it depends on $depends" ;;
    *)
      say "the Debian package does not depend on libre2-dev: $depends" >&2
      exit 1
      ;;
  esac
else
  say "NOT RUN: no dpkg-deb here, hence no look into the Debian package"
fi
