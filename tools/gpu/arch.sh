#!/usr/bin/env bash
# The compute capabilities of the GPUs here as -Dgpu_arch= wants them, such as 90; exit code 3 if
# there are none, or no driver.
source "$(dirname "$0")/common.sh"
[ $# = 0 ] || fail 2 "usage: tools/gpu/arch.sh"
here=$({ nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null || true; } |
    sed -n 's/^\([0-9]*\)\.\([0-9]\)$/\1\2/p' | sort -nu | paste -sd,)
[ -n "$here" ] || fail 3 "no GPU here, or no driver"
echo "$here"
