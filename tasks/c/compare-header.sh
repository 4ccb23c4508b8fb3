#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Can programs that were compiled with evenkeel_rt.h of REVISION use the header as it is now?
#
# compare-header.sh REVISION: makes a library of empty functions from each header, with the types of
# all declarations, and compares the two by abidiff (libabigail). A declaration, member, enumerator
# or macro that is removed or changed is an error; a new one is not. Needs git, gcc and abidiff.
set -eu

cd "$(dirname "$0")/.."
revision=${1:?the revision to compare with, such as tasks-v0.1.0}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/before" "$folder/now"
git show "$revision:./c/include/evenkeel_rt.h" >"$folder/before/evenkeel_rt.h"
cp c/include/evenkeel_rt.h "$folder/now"

for side in before now; do
    (
        cd "$folder/$side"
        # gcc lists each declared function as a prototype; with a body, that is a definition.
        gcc -aux-info prototypes -fsyntax-only -x c evenkeel_rt.h
        {
            echo '#include "evenkeel_rt.h"'
            sed -n 's|^/\* evenkeel_rt\.h:.* \*/ extern \(.*\);$|\1 { __builtin_trap(); }|p' \
                prototypes
            # abidiff compares the types that functions use; these use every struct.
            sed -n 's|^struct \([a-z_]*\) {.*|struct \1 type_\1(struct \1 one) { return one; }|p' \
                evenkeel_rt.h
        } >functions.c
        gcc -g -fPIC -shared -w functions.c -o library.so
        {
            gcc -dM -E evenkeel_rt.h | grep '^#define EKRT_'
            sed -n 's/^\t\(EKRT_[A-Z_]* = -\{0,1\}[0-9]*\),\{0,1\}$/\1/p' evenkeel_rt.h
        } | sort >constants
    )
done

[ -s "$folder/before/constants" ] || { echo 'compare-header: no constant found' >&2; exit 1; }
nm -D --defined-only "$folder/before/library.so" | grep -q ' ekrt_' ||
    { echo 'compare-header: no function found' >&2; exit 1; }
abidiff --no-added-syms "$folder/before/library.so" "$folder/now/library.so"
gone=$(comm -23 "$folder/before/constants" "$folder/now/constants")
if [ -n "$gone" ]; then
    printf 'compare-header: constants that are gone or have changed:\n%s\n' "$gone" >&2
    exit 1
fi
echo "compare-header: every declaration of $revision is as it was"
