#!/usr/bin/env bash
# Measures every algorithm and peer on the GPU, hot and cold. The phases can be run one by one.
#
#   tools/gpu/bench.sh BUILD FOLDER [DATA] [PHASE ...]
#
#   alexnet googlenet resnet50     the published pruned layers, at the published batch and at batch 1:
#                                  FOLDER/layers-NETWORK.csv, layers-NETWORK-batch1.csv
#   networks                       the same layers of each network as one graph, at batch 1, 2, 4 and
#                                  8, with measured choices: FOLDER/graph-NETWORK.csv
#   wide-1 wide-32                 tools/scripts/wide_set.py at that batch, with the patterns in
#                                  DATA: FOLDER/wide-batchN.csv
#   report                         csrconv reproduce: FOLDER/report/
source "$(dirname "$0")/common.sh"
[ $# -ge 2 ] || fail 2 "usage: tools/gpu/bench.sh BUILD FOLDER [DATA] [PHASE ...]"
program=$(find_program "$1")
folder=$2
shift 2
data=
if [ $# -gt 0 ] && [ -d "$1" ]; then
    data=$1
    shift
fi
phases=("$@")
[ $# -gt 0 ] || phases=(alexnet googlenet resnet50 networks wide-1 wide-32 report)
check_phases 'alexnet|googlenet|resnet50|networks|wide-[0-9]+|report' "${phases[@]}"
need_gpu "$program"
mkdir -p "$folder"

# layers NETWORK SUFFIX ARGUMENT ...
layers() {
    local name=$1$2 network=$root/data/networks/$1.csv code=0
    shift 2
    "$program" bench --device cuda --network "$network" --cold --explain "$@" \
        --csv "$folder/layers-$name.csv" >"$folder/layers-$name.txt" || code=$?
    tail -n 20 "$folder/layers-$name.txt"
    return "$code"
}

networks() {
    local name
    for name in alexnet googlenet resnet50; do
        "$program" bench --device cuda --network "$root/data/networks/$name.csv" --graph --tune \
            --cold --explain --batch 1,2,4,8 --csv "$folder/graph-$name.csv" \
            --save-choices "$folder/choices-$name.txt" >"$folder/graph-$name.txt" || return
        tail -n 20 "$folder/graph-$name.txt"
    done
}

wide() {
    local code=0
    python3 "$root/tools/scripts/wide_set.py" "$program" ${data:+"$data"} --device cuda --batch "$1" \
        --min-time 0 --csv "$folder/wide-batch$1.csv" || code=$?
    [ "$code" = 77 ] || return "$code" # skipped, and said so
}

report() {
    local network networks=
    for network in alexnet googlenet resnet50; do
        networks+=${networks:+,}$root/data/networks/$network.csv
    done
    "$program" reproduce --device cuda --network "$networks" --min-time 0 --out "$folder/report"
}

for phase in "${phases[@]}"; do
    case $phase in
    alexnet | googlenet | resnet50)
        step "$phase" layers "$phase" ''
        step "$phase at batch 1" layers "$phase" -batch1 --batch 1
        ;;
    networks) step networks networks ;;
    wide-*) step "$phase" wide "${phase#wide-}" ;;
    report) step report report ;;
    esac
done
conclude
