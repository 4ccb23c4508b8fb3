#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# How do `evenkeel` and `scx_evenkeel` become a package for Debian and Ubuntu?
#
# Writes out/evenkeel_VERSION_ARCH.deb from what `make install` installs. Needs dpkg-dev.
set -eu

cd "$(dirname "$0")/.."

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
arch=$(dpkg --print-architecture)
package="out/evenkeel_${version}_$arch.deb"

command -v dpkg-shlibdeps >/dev/null ||
    { echo 'deb: dpkg-shlibdeps is missing: sudo apt-get install -y dpkg-dev' >&2; exit 1; }

mkdir -p out
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
root=$stage/root

make --no-print-directory install DESTDIR="$root" PREFIX=/usr >/dev/null
find "$root" -type d -exec chmod 755 {} +
find "$root/usr/share" -type f -exec chmod 644 {} +
find "$root/usr/share/man" -type f -exec gzip -9n {} +
strip --strip-unneeded "$root/usr/bin/evenkeel" "$root/usr/bin/scx_evenkeel"

doc=$root/usr/share/doc/evenkeel
mkdir -p "$doc"
cp LICENSE-MIT LICENSE-APACHE LICENSE-GPL-2.0 "$doc"
cat LICENSE-MIT >"$doc/copyright"

# dpkg-shlibdeps wants to be beside a source package.
mkdir -p "$stage/debian" "$root/DEBIAN"
printf 'Source: evenkeel\n\nPackage: evenkeel\nArchitecture: any\n' >"$stage/debian/control"
depends=$(cd "$stage" &&
    dpkg-shlibdeps -O root/usr/bin/evenkeel root/usr/bin/scx_evenkeel 2>/dev/null |
    sed -n 's/^shlibs:Depends=//p')
[ -n "$depends" ] || { echo 'deb: dpkg-shlibdeps found no dependency' >&2; exit 1; }

cat >"$root/DEBIAN/control" <<CONTROL
Package: evenkeel
Version: $version
Architecture: $arch
Maintainer: The Evenkeel developers <evenkeel@localhost>
Depends: $depends
Installed-Size: $(du -sk "$root/usr" | cut -f1)
Section: utils
Priority: optional
Description: who loses how much to whom on power-limited CPUs
 One program's wide vector instructions lower the clock of what runs next on
 that core or beside it. Evenkeel measures that loss, records schedules, and
 predicts what other schedulers would make of it.
 .
 scx_evenkeel is a kernel scheduler (sched_ext) that gives the lost time back.
 It runs only when it is started, as root, on Linux 6.18 or newer.
CONTROL

# The time of the commit, so that the same commit gives the same package. Not set before the build,
# which would begin anew.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || echo 0)
export SOURCE_DATE_EPOCH
dpkg-deb --root-owner-group --build "$root" "$package.new" >/dev/null
mv "$package.new" "$package"
echo "$package"
