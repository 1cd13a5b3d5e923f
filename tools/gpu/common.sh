# What the scripts of this folder share; sourced, with the build folder as first argument.
# shellcheck shell=bash
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
script=$(basename "$0" .sh)

fail() {
    echo "csrconv gpu $script: $*" >&2
    exit 1
}

# The program in a build folder, or in a folder that holds a copy of it.
find_program() {
    local path
    for path in "$1/tools/csrconv" "$1/csrconv"; do
        if [ -x "$path" ]; then
            echo "$path"
            return
        fi
    done
    fail "no csrconv in $1"
}

# need_gpu PROGRAM: says what there is; fails if it is nothing.
need_gpu() {
    "$1" info --devices
    "$1" info --devices | grep -q '^cuda:0 *usable' || fail "no usable GPU"
}

# csrconv's own algorithms on GPUs, comma-separated.
own_algorithms() {
    "$1" info --algos | awk '$2 == "cuda" && $3 == "own" { print $1 }' | paste -sd,
}

# step NAME COMMAND ...: runs it, tells how long it took, and remembers a failure.
failures=()
step() {
    local name=$1 start=$SECONDS code=0
    shift
    "$@" || code=$?
    if [ "$code" = 0 ]; then
        echo "csrconv gpu $script: $name done in $((SECONDS - start)) s"
    else
        echo "csrconv gpu $script: $name FAILED with exit code $code after $((SECONDS - start)) s"
        failures+=("$name")
    fi
}

# The last line.
conclude() {
    [ "${#failures[@]}" = 0 ] || fail "FAILED in ${failures[*]}, $SECONDS s"
    echo "csrconv gpu $script: all done in $SECONDS s"
}
