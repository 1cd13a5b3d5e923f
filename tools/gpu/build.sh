#!/usr/bin/env bash
# Builds csrconv with CUDA for the GPU that is here, or for all usual ones where there is none.
#
#   tools/gpu/build.sh BUILD [MESON_OPTION ...]
source "$(dirname "$0")/common.sh"
[ $# -ge 1 ] || fail 2 "usage: tools/gpu/build.sh BUILD [MESON_OPTION ...]"
build=$1
shift

here=$("$root/tools/gpu/arch.sh") || echo "csrconv gpu build: for the usual GPUs"

configure() {
    [ -f "$build/build.ninja" ] || meson setup "$build" "$root" --buildtype=release \
        -Dcuda=enabled ${here:+-Dgpu_arch="$here"} "$@"
}

step configure configure "$@"
step compile ninja -C "$build"
conclude
