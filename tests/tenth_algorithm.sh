#!/usr/bin/env bash
# Does what docs/adding-an-algorithm.md says, with the code that stands there, in a copy of the
# sources: one file, one line, and the algorithm is listed, verified and timed.
#
#   tests/tenth_algorithm.sh SOURCE
set -euo pipefail
source=$1
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

fail() {
    echo "tenth_algorithm: $*" >&2
    exit 1
}

for part in include src cuda tools data packaging meson.build meson_options.txt; do
    cp -r "$source/$part" "$copy/"
done
page=$source/docs/adding-an-algorithm.md
# The first C block, and the added line of the first diff, which goes behind the list's first.
awk '/^```/ { on = 0 } on { print } /^```c$/ { on = 1 }' "$page" >"$copy/src/direct_planes.c"
line=$(awk '/^```/ { on = 0 } on && /^\+/ { print substr($0, 2) } /^```diff$/ { on = 1 }' "$page")
[ -n "$line" ] || fail "there is no diff in $page"
sed -i "s/^    'direct',\$/&\n$line/" "$copy/src/meson.build"
grep -qF "$line" "$copy/src/meson.build" || fail "the list in src/meson.build is not as in the diff"

build=$copy/build
{ meson setup "$build" "$copy" -Dtests=false -Dcuda=disabled && ninja -j 2 -C "$build"; } >"$copy/log" 2>&1 ||
    fail "the example does not build: $(tail -n 20 "$copy/log")"
csrconv=$build/tools/csrconv
"$csrconv" info --algos >"$copy/algos"
grep -q '^direct_planes ' "$copy/algos" || fail "info --algos does not list it"
# Some problems of the grid are refused and no other algorithm was asked for: then verify exits 3.
code=0
"$csrconv" verify --algo direct_planes >"$copy/verified" 2>&1 || code=$?
[ "$code" -eq 0 ] || [ "$code" -eq 3 ] || fail "verify exits $code: $(tail -n 3 "$copy/verified")"
grep -E '^[1-9][0-9]* passed, 0 failed, [0-9]+ skipped$' "$copy/verified" ||
    fail "verify does not pass: $(tail -n 3 "$copy/verified")"
"$csrconv" bench --algo direct_planes,direct --csv - mb1ic32ih14oc32oh14kh3ph1 >"$copy/csv" 2>"$copy/log" ||
    fail "bench: $(tail -n 3 "$copy/log")"
grep -q ',direct_planes,' "$copy/csv" || fail "bench does not time it"
