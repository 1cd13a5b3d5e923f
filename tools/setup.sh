#!/usr/bin/env bash
# Sees to the packages that csrconv needs on Debian and Ubuntu: as root it installs what is missing,
# otherwise it names it in one line and fails. What is there already is left alone. ONNX Runtime, for
# tests, goes to .venv/ here.
#
#   tools/setup.sh build    what building and running it needs (tools/quickstart.sh)
#   tools/setup.sh test     what the whole test suite needs besides (tools/test.sh)
set -euo pipefail

say() {
    echo "tools/setup.sh: $*" >&2
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
missing=()

# need PACKAGE[|PACKAGE] COMMAND ...: the package is missing if the command fails; of several, the
# first that this release has is taken.
need() {
    local package=$1
    shift
    "$@" >/dev/null 2>&1 || missing+=("$package")
}

# builds COMPILER FLAG ...: whether it makes a program.
builds() {
    echo 'int main(void) { return 0; }' | "$@" -x c - -o "$scratch/program"
}

meson_is_new() {
    local version major
    version=$(meson --version)
    major=${version%%.*}
    [ "$major" -ge 1 ]
}

python_has_scipy() {
    python3 -c 'import numpy, scipy.sparse' || /usr/bin/python3 -c 'import numpy, scipy.sparse'
}

find_missing() {
    missing=()
    need gcc builds gcc
    need libc6-dev builds gcc
    need meson meson_is_new
    need ninja-build ninja --version
    need pkg-config pkg-config --version
    need libopenblas-dev pkg-config --exists openblas
    need libdnnl-dev builds gcc -include dnnl.h
    need libzip-dev pkg-config --exists libzip
    need libjansson-dev pkg-config --exists jansson
    [ "$1" = test ] || return 0
    need libcmocka-dev pkg-config --exists cmocka
    need clang builds clang
    need libomp-dev builds clang -fopenmp
    need 'libclang-rt-dev|libclang-rt-14-dev' builds clang -fsanitize=address
    need clang-format clang-format --version
    need g++ g++ --version
    need cmake cmake --version
    need python3-numpy python_has_scipy
    need python3-scipy python_has_scipy
    if [ "$(uname -m)" = x86_64 ]; then
        need gcc-aarch64-linux-gnu builds aarch64-linux-gnu-gcc
        need libc6-dev-arm64-cross builds aarch64-linux-gnu-gcc
        need qemu-user qemu-aarch64 --version
    fi
}

# ONNX Runtime, which models are compared with, comes from PyPI into a folder of its own.
see_to_onnxruntime() {
    local root
    root=$(dirname "$0")/..
    python3 -c 'import numpy, onnx, onnxruntime' || "$root/.venv/bin/python3" -c 'import onnxruntime' ||
        { python3 -m venv "$root/.venv" &&
            "$root/.venv/bin/pip" install --quiet --requirement "$root/tests/models/requirements.txt"; }
}

# Those of the missing that this release has, one name for each.
known_packages() {
    local alternatives name
    for alternatives in "${missing[@]}"; do
        for name in ${alternatives//|/ }; do
            if apt-cache show "$name" >/dev/null 2>&1; then
                echo "$name"
                break
            fi
        done
    done
}

install_missing() {
    local packages
    apt-get -qq update || return 1
    mapfile -t packages < <(known_packages)
    [ "${#packages[@]}" -gt 0 ] || return 0
    apt-get -qq -y --no-install-recommends -o DPkg::Lock::Timeout=300 install "${packages[@]}"
}

case "${1:-}" in
build | test) ;;
*)
    say "takes build or test"
    exit 2
    ;;
esac

if [ "$1" = test ] && ! see_to_onnxruntime >"$scratch/pip" 2>&1; then
    say "no ONNX Runtime, so the tests that compare with it are skipped: $(tail -n 1 "$scratch/pip")"
fi
find_missing "$1"
[ "${#missing[@]}" -gt 0 ] || exit 0
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    say "missing: ${missing[*]}; as root on Debian or Ubuntu this script installs them"
    exit 1
fi

export DEBIAN_FRONTEND=noninteractive
log=$scratch/log
say "installing ${missing[*]}"
if ! install_missing >"$log" 2>&1; then
    sleep 10
    if ! install_missing >"$log" 2>&1; then
        tail -n 5 "$log" >&2
        say "apt-get failed twice; it was to install: ${missing[*]}"
        exit 1
    fi
fi
find_missing "$1"
if [ "${#missing[@]}" -gt 0 ]; then
    say "still missing or too old after apt-get: ${missing[*]} (meson must be 1.0 or later)"
    exit 1
fi
