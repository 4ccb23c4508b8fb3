#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# What does this machine lack to run `make demo`, `make install` or `make test`, and how does it
# get it? `aarch64`, `audit` and `interfaces` are for the scripts of these names in .ci/.
#
# Known: Debian 12, Debian 13, Ubuntu 24.04. Packages come from apt where this is
# root's shell or sudo asks for no password; otherwise the exact command is printed
# and the script stops with status 1. Changes nothing where nothing is missing.
set -eu

cd "$(dirname "$0")/.."
PATH="$HOME/.cargo/bin:$PATH"
export PATH

rust_pinned=$(sed -n 's/^channel = "\(.*\)"$/\1/p' rust-toolchain.toml)
# What https://sh.rustup.rs leads to, on the host that the toolchain comes from too.
installer="curl --proto '=https' --tlsv1.2 -sSf https://static.rust-lang.org/rustup/rustup-init.sh"

say() {
    printf 'setup: %s\n' "$*"
}

# Why it ends here, and the command that helps.
stop() {
    printf 'setup: %s\n' "$1" >&2
    [ $# -lt 2 ] || printf 'setup: run this, then try again:\n\n    %s\n\n' "$2" >&2
    exit 1
}

has() {
    command -v "$1" >/dev/null 2>&1
}

# Prints the prefix that apt needs; fails where packages cannot be installed.
apt_prefix() {
    has apt-get || return 1
    if [ "$(id -u)" -eq 0 ]; then
        printf 'env DEBIAN_FRONTEND=noninteractive'
    elif has sudo && sudo -n true 2>/dev/null; then
        printf 'sudo -n env DEBIAN_FRONTEND=noninteractive'
    else
        return 1
    fi
}

apt_updated=no
apt_update() {
    [ "$apt_updated" = no ] || return 0
    say "apt-get update"
    # shellcheck disable=SC2046 # The prefix is several words.
    $(apt_prefix) apt-get -q -q update || stop "apt-get update failed; see its messages above"
    apt_updated=yes
}

# Never removes a package that is already there.
apt_install() {
    say "apt-get install $*"
    # shellcheck disable=SC2046 # The prefix is several words.
    $(apt_prefix) apt-get -q -q install -y --no-install-recommends --no-remove "$@"
}

# Asks the package lists that are there; fetches them only where there are none.
apt_offers() {
    apt_knows libc6-dev || apt_update
    apt_knows "$1"
}

apt_knows() {
    apt-cache policy "$1" 2>/dev/null | grep -q 'Candidate: [^(]'
}

# --- What is missing ---------------------------------------------------------

c_compiler_works() {
    has cc && printf '#include <stddef.h>\nint main(void) { return 0; }\n' |
        cc -x c -o /dev/null - 2>/dev/null
}

has_header() {
    has cc && printf '#include <%s>\n' "$1" | cc -x c -E -o /dev/null - 2>/dev/null
}

python_works() {
    has python3 && python3 -c 'import tomllib' 2>/dev/null
}

clang_works() {
    has clang && printf 'int f(void) { return 0; }\n' |
        clang -target bpf -x c -c -o /dev/null - 2>/dev/null
}

# clang compiles and links OpenMP: its library is a package of its own.
clang_openmp_works() {
    has clang && printf '#include <omp.h>\nint main(void) { return omp_get_level(); }\n' |
        clang -fopenmp -x c -o /dev/null - 2>/dev/null
}

# The toolchain that would build this folder is at least the pinned one.
rust_works() {
    has cargo || return 1
    found=$(cargo --version 2>/dev/null | sed -n 's/^cargo \([0-9.]*\).*/\1/p')
    [ -n "$found" ] || return 1
    [ "$(printf '%s\n%s\n' "$rust_pinned" "$found" | sort -V | head -n 1)" = "$rust_pinned" ]
}

rust_lints_work() {
    cargo fmt --version >/dev/null 2>&1 && cargo clippy --version >/dev/null 2>&1
}

# QEMU's own until Debian 12, a package of its own since.
virtiofsd_package() {
    case "$(. /etc/os-release && echo "$ID$VERSION_ID")" in
    debian12) echo qemu-system-common ;;
    *) echo virtiofsd ;;
    esac
}

missing=""
lack() {
    missing="$missing $*"
}

find_missing_for_demo() {
    c_compiler_works || lack gcc libc6-dev
    [ -e /etc/ssl/certs/ca-certificates.crt ] || lack ca-certificates
}

# The recorder and the kernel scheduler are BPF programs and their loaders.
find_missing_for_build() {
    find_missing_for_demo
    clang_works || lack clang
    has pkg-config || lack pkg-config
    has_header libelf.h || lack libelf-dev
    has_header zlib.h || lack zlib1g-dev
}

find_missing_for_test() {
    find_missing_for_build
    python_works || lack python3-minimal libpython3-stdlib
    has zstd || lack zstd
    has trace-cmd || lack trace-cmd
    has qemu-system-x86_64 || lack qemu-system-x86
    has xz || lack xz-utils
    has parallel || lack parallel
    has sbatch || lack slurm-wlm
    has munged || lack munge
    has go || lack golang-go
    has prometheus || lack prometheus
    has stress-ng || lack stress-ng
    [ -x /usr/lib/qemu/virtiofsd ] || [ -x /usr/libexec/virtiofsd ] || lack "$(virtiofsd_package)"
    python3 -c 'import ensurepip' 2>/dev/null || lack python3-venv
    clang_openmp_works || lack libomp-dev
}

find_missing_for_aarch64() {
    find_missing_for_demo
    has aarch64-linux-gnu-gcc || lack gcc-aarch64-linux-gnu libc6-dev-arm64-cross
    [ -e /usr/lib/binfmt.d/qemu-aarch64.conf ] || [ -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ] ||
        lack qemu-user-static
}

find_missing_for_interfaces() {
    find_missing_for_demo
    has git || lack git
    has abidiff || lack abigail-tools
}

# --- Getting it --------------------------------------------------------------

get_packages() {
    [ -n "$missing" ] || return 0
    if ! apt_prefix >/dev/null; then
        stop "missing, and neither root nor sudo without a password here:$missing" \
            "sudo apt-get update && sudo apt-get install -y$missing"
    fi
    apt_update
    # shellcheck disable=SC2086 # A list of package names.
    apt_install $missing || stop "apt-get could not install:$missing"
}

# Packages without which one step prints SKIPPED; some distributions do not have them.
get_optional() {
    command=$1
    package=$2
    step=$3
    if has "$command"; then
        return 0
    fi
    if ! apt_prefix >/dev/null; then
        say "without $command the step \`$step\` is skipped; to have it:" \
            "sudo apt-get install -y $package"
        return 0
    fi
    if apt_offers "$package"; then
        apt_update
        apt_install "$package" || say "no $package: the step \`$step\` will be skipped"
    else
        say "this distribution has no package $package: the step \`$step\` will be skipped"
    fi
}

# The package takes the place of the distribution's own cargo and rustc, of nothing else.
get_rustup() {
    apt_update
    removed=$(apt-get -s install --no-install-recommends rustup | sed -n 's/^Remv \([^ ]*\).*/\1/p')
    others=$(printf '%s\n' "$removed" | grep -v -E '^(cargo|rust|libstd-rust|$)' || true)
    [ -z "$others" ] || stop "the rustup package would remove others: $(echo $others)" \
        "sudo apt-get install rustup"
    # shellcheck disable=SC2086 # A list of package names.
    [ -z "$removed" ] || say "rustup takes the place of:" $removed
    say "apt-get install rustup"
    # shellcheck disable=SC2046
    $(apt_prefix) apt-get -q -q install -y --no-install-recommends rustup ||
        stop "apt-get could not install rustup"
}

rust_by_rustup() {
    command="rustup toolchain install $rust_pinned --profile minimal"
    command="$command --component clippy --component rustfmt"
    $command || true
    rust_works || stop "rustup could not install Rust $rust_pinned; see its messages above" \
        "$command"
    # Elsewhere, `cargo` should go on working too.
    rustup default >/dev/null 2>&1 || rustup default "$rust_pinned"
}

rust_by_installer() {
    say "this distribution has no rustup package: taking Rust's official installer"
    has curl || { missing="curl" && get_packages; }
    choice="-y --profile minimal --default-toolchain $rust_pinned"
    choice="$choice --component clippy --component rustfmt"
    command="$installer | sh -s -- $choice"
    script=$(mktemp)
    if sh -c "$installer" >"$script" && [ -s "$script" ]; then
        # shellcheck disable=SC2086 # Several words.
        sh "$script" $choice || true
    fi
    rm -f "$script"
    if ! rust_works; then
        stop "the official installer did not get through" "$command"
    fi
}

get_rust() {
    if rust_works; then
        return 0
    fi
    say "no Rust $rust_pinned or newer here"
    if ! has rustup && apt_prefix >/dev/null && apt_offers rustup; then
        get_rustup
        hash -r
    fi
    if has rustup; then
        rust_by_rustup
    else
        rust_by_installer
    fi
}

# A rustup toolchain may lack them; a distribution's Rust has packages for them.
get_rust_lints() {
    rust_lints_work && return 0
    if has rustup; then
        rustup component add clippy rustfmt && return 0
    fi
    stop "cargo fmt and cargo clippy are needed; add them to the Rust that is installed"
}

# The standard library of another machine, for cross compilers.
get_rust_target() {
    has rustup || stop "no rustup here, which has Rust's library for $1"
    rustup target add "$1" || stop "rustup could not add $1" "rustup target add $1"
}

# Lets the kernel start programs of another machine by QEMU. The package leaves that to systemd,
# which a container or a small virtual machine may not run.
get_binfmt() {
    kernel=/proc/sys/fs/binfmt_misc
    [ ! -e "$kernel/qemu-$1" ] || return 0
    command="mount -t binfmt_misc binfmt_misc $kernel"
    command="$command; cat /usr/lib/binfmt.d/qemu-$1.conf >$kernel/register"
    if [ "$(id -u)" -eq 0 ]; then
        say "letting the kernel start programs of $1 by QEMU"
        [ -e "$kernel/register" ] || mount -t binfmt_misc binfmt_misc "$kernel" || true
        cat "/usr/lib/binfmt.d/qemu-$1.conf" >"$kernel/register" || true
    fi
    [ -e "$kernel/qemu-$1" ] || stop "the kernel does not start programs of $1" \
        "sudo sh -c '$command'"
}

# A command that is a crate, in a fixed version.
get_cargo_command() {
    [ "$("$1" --version 2>/dev/null)" = "$1 $2" ] || cargo install --locked --version "$2" "$1" ||
        stop "cargo could not install $1" "cargo install --locked --version $2 $1"
}

case "${1-}" in
demo)
    find_missing_for_demo
    get_packages
    get_rust
    ;;
build)
    find_missing_for_build
    get_packages
    get_rust
    ;;
test)
    find_missing_for_test
    get_packages
    get_rust
    get_rust_lints
    get_optional frama-c frama-c-base proof
    get_optional chromium chromium page
    get_optional groff groff-base install
    get_optional perf linux-perf "xtask lab cost"
    get_optional bpftool bpftool "xtask lab cost"
    get_optional dpkg-shlibdeps dpkg-dev install
    get_optional clang-format-14 clang-format-14 c-format
    ;;
aarch64)
    find_missing_for_aarch64
    get_packages
    get_rust
    get_rust_target aarch64-unknown-linux-gnu
    get_binfmt aarch64
    ;;
audit)
    find_missing_for_demo
    get_packages
    get_rust
    get_cargo_command cargo-deny 0.20.2
    ;;
interfaces)
    find_missing_for_interfaces
    get_packages
    get_rust
    get_cargo_command cargo-semver-checks 0.51.0
    ;;
*)
    echo "usage: scripts/setup.sh demo|build|test|aarch64|audit|interfaces" >&2
    exit 2
    ;;
esac
