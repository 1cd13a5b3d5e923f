#!/usr/bin/env bash
# What -Dgpu_arch= refuses, before anything is compiled: nothing, and what nvcc builds no code for.
#
#   tests/gpu_arch.sh SOURCE
set -euo pipefail
source=$1
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT

# refused VALUE TEXT: setup must fail, saying TEXT and a value that it takes.
refused() {
    rm -rf "${build:?}/setup"
    if meson setup "$build/setup" "$source" -Dcuda=enabled -Dgpu_arch="$1" >"$build/log" 2>&1; then
        echo "gpu_arch: \"$1\" is accepted" >&2
        exit 1
    fi
    if ! grep -q "ERROR: .*gpu_arch.*$2.* builds for .*90" "$build/log"; then
        echo "gpu_arch: \"$1\" is refused by: $(tail -n 3 "$build/log")" >&2
        exit 1
    fi
}

refused '' 'is empty'
refused 90,many '"many"'
