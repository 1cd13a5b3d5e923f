#!/usr/bin/env bash
# Verifies every algorithm and peer on the GPU: the built-in grid, the pruned layers of the networks
# at batch 1 and at a batch that no tile divides, the cases that others publish.
#
#   tools/gpu/verify.sh BUILD [DATA]
#
# DATA holds conformance/; without it, or without the tests in BUILD, those cases are left out.
source "$(dirname "$0")/common.sh"
[ $# -ge 1 ] || fail "usage: tools/gpu/verify.sh BUILD [DATA]"
program=$(find_program "$1")
data=${2:-}
need_gpu "$program"

# verify ARGUMENT ...: shows what failed, and the last line; what passed is left out.
verify() {
    local code=0
    "$program" verify --device cuda "$@" >"$log" || code=$?
    grep '^FAILED' "$log" || true
    tail -n 1 "$log"
    return "$code"
}

# skips: how often each algorithm was skipped for which reason, over all logs.
skips() {
    echo 'skipped:'
    sed -n 's/^skipped *\([a-z0-9_]*\) *[^:]*:[^:]*: /\1: /p; t; s/^skipped *\([a-z0-9_]*\) [^:]*: /\1: /p' \
        "$logs"/* | sort | uniq -c | sort -rn | head -n 40
}

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
log=$logs/grid
step grid verify
for network in alexnet googlenet resnet50; do
    log=$logs/$network
    step "$network" verify --network "$root/data/networks/$network.csv" --batch 1,7
done
if [ -n "$data" ] && [ -x "$1/tests/conformance" ]; then
    step conformance "$1/tests/conformance" "$data" cuda
else
    echo "csrconv gpu verify: skipped: conformance, which needs DATA and BUILD/tests/conformance"
fi
skips
conclude
