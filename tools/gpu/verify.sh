#!/usr/bin/env bash
# Verifies algorithms and peers on the GPU. The phases can be run one by one.
#
#   tools/gpu/verify.sh BUILD [DATA] [PHASE ...]
#
#   own          csrconv's own but for cuda_jit: the built-in grid, and the pruned layers of the
#                networks at batch 1 and at one that no tile divides
#   jit          cuda_jit, whose plans take seconds: the grid; bench verifies it on the networks
#   lowering     the same for the peers of cuBLAS and cuSPARSE
#   cudnn        its peers, whose plans take long: on small problems of all kinds and on AlexNet;
#                bench verifies them on the other networks
#   conformance  the cases that others publish, in DATA/conformance, by BUILD/tests/conformance; by
#                the algorithms of own
source "$(dirname "$0")/common.sh"
[ $# -ge 1 ] || fail 2 "usage: tools/gpu/verify.sh BUILD [DATA] [PHASE ...]"
build=$1
program=$(find_program "$build")
shift
data=
if [ $# -gt 0 ] && [ -d "$1" ]; then
    data=$1
    shift
fi
phases=("$@")
[ $# -gt 0 ] || phases=(own jit lowering cudnn conformance)
check_phases 'own|jit|lowering|cudnn|conformance' "${phases[@]}"
need_gpu "$program"
quick=$(algorithms_of "$program" own '^cuda_([^j]|$)')
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

# verify LOG ALGORITHMS ARGUMENT ...: shows what failed, and the last line; what passed is left out.
verify() {
    local log=$logs/$1 algorithms=$2 code=0
    shift 2
    "$program" verify --device cuda --algo "$algorithms" "$@" >"$log" || code=$?
    grep '^FAILED' "$log" || true
    tail -n 1 "$log"
    return "$code"
}

# everywhere PHASE ALGORITHMS
everywhere() {
    local network
    step "$1 grid" verify "$1-grid" "$2"
    for network in alexnet googlenet resnet50; do
        step "$1 $network" verify "$1-$network" "$2" --batch 1,7 \
            --network "$root/data/networks/$network.csv"
    done
}

conformance() {
    local test=$build/tests/conformance
    if [ -z "$data" ] || [ ! -x "$test" ]; then
        echo "skipped: needs DATA and $test"
    else
        "$test" "$data" cuda ${quick//,/ } >"$logs/conformance" || return
        tail -n 1 "$logs/conformance"
    fi
}

# How often each algorithm was skipped, for which reason, the most frequent first.
skips() {
    cat "$logs"/* | sed -n 's/^skipped *\([a-z0-9_]*\),* .*[^:]: /skipped \1: /p' |
        sort | uniq -c | sort -rn | head -n 40
}

for phase in "${phases[@]}"; do
    case $phase in
    own) everywhere own "$quick" ;;
    jit) step 'jit grid' verify jit-grid cuda_jit ;;
    lowering) everywhere lowering "$(algorithms_of "$program" peer '^cu(blas|sparse)')" ;;
    cudnn)
        names=$(algorithms_of "$program" peer '^cudnn')
        step 'cudnn problems' verify cudnn-problems "$names" "${small_problems[@]}"
        step 'cudnn alexnet' verify cudnn-alexnet "$names" --batch 7 \
            --network "$root/data/networks/alexnet.csv"
        ;;
    conformance) step conformance conformance ;;
    esac
done
skips
conclude
