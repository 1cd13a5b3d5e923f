#!/usr/bin/env bash
# The compute capabilities of the GPUs here as -Dgpu_arch= wants them, such as 90; nothing if there
# are none, or no driver.
set -euo pipefail
{ nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null || true; } |
    sed -n 's/^\([0-9]*\)\.\([0-9]\)$/\1\2/p' | sort -nu | paste -sd,
