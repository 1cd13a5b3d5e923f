# What the scripts of this folder share; sourced, with the build folder as first argument.
# shellcheck shell=bash
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
script=$(basename "$0" .sh)

# fail CODE SENTENCE ...: the codes are csrconv's: 1 something went wrong, 2 a bad command line, 3 it
# cannot run here.
fail() {
    echo "csrconv gpu $script: ${*:2}" >&2
    exit "$1"
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
    fail 2 "no csrconv in $1"
}

# need_gpu PROGRAM: says what there is; fails if it is nothing.
need_gpu() {
    "$1" info --devices
    "$1" info --devices | grep -q '^cuda:0 *usable' || fail 3 "no usable GPU"
}

# find_tool NAME: one of the CUDA toolkit's.
find_tool() {
    command -v "$1" || command -v "/usr/local/cuda/bin/$1" || fail 3 "there is no $1"
}

# check_phases PATTERN PHASE ...
check_phases() {
    local phase
    for phase in "${@:2}"; do
        [[ $phase =~ ^($1)$ ]] || fail 2 "there is no phase \"$phase\""
    done
}

# algorithms_of PROGRAM own|peer [PATTERN]: those on GPUs whose names match, comma-separated.
algorithms_of() {
    local names
    names=$("$1" info --algos |
        awk -v kind="$2" -v pattern="${3:-.}" '$2 == "cuda" && $3 == kind && $1 ~ pattern { print $1 }' |
        paste -sd,)
    [ -n "$names" ] || fail 3 "this build has no $2 algorithm $3"
    echo "$names"
}

# Strides, dilation, groups, odd planes, borders on all sides, batches that no tile divides.
# shellcheck disable=SC2034 # for the scripts that source this one
small_problems=(
    mb3ic16ih7oc24oh7kh3ph1
    mb2ic32ih13iw13oc40oh13ow13kh5kw5ph2pw2
    mb5ic64ih14oc33oh14kh1ph0
    mb2ic8ih27oc16oh14kh3sh2ph1
    mb2_g2ic12ih11oc10oh7kh3sh1ph1dh2
    mb1ic3ih31iw29oc20kh7kw7sh2sw2ph3pw3
    mb9ic40ih1iw17oc48oh1ow17kh1kw1ph0pw0
)

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
    [ "${#failures[@]}" = 0 ] || fail 1 "FAILED in ${failures[*]}, $SECONDS s"
    echo "csrconv gpu $script: all done in $SECONDS s"
}
