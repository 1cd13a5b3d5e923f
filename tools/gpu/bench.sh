#!/usr/bin/env bash
# Measures on the GPU what data/results has of one. The phases can be run one by one.
#
#   tools/gpu/bench.sh BUILD FOLDER [DATA] [PHASE ...]
#
#   NETWORK        alexnet, googlenet or resnet50: the published pruned layers at the published batch,
#                  hot, and at batch 1, hot and cold: FOLDER/layers-NETWORK.csv and
#                  layers-NETWORK-batch1.csv
#   NETWORK-N      the same at batch N, 2 or more, hot: FOLDER/layers-NETWORK-batchN.csv
#   graphs         the layers of each network as one graph, at batch 1: FOLDER/graph-NETWORK.csv
#   map            tools/scripts/winner_map.py: FOLDER/winner-map.csv and .svg
#   wide-N         tools/scripts/wide_set.py at batch N, with the patterns in DATA:
#                  FOLDER/wide-batchN.csv
#   choice-N       tools/scripts/choice.py at batch N: FOLDER/choice-batchN.csv
#   report         csrconv reproduce, every algorithm: FOLDER/report/
#
# The scripts keep each layer that they measured, and go on where they were; LIMIT=S in the environment
# has each begin no further layer after S seconds.
source "$(dirname "$0")/common.sh"
[ $# -ge 2 ] || fail 2 "usage: tools/gpu/bench.sh BUILD FOLDER [DATA] [PHASE ...]"
program=$(find_program "$1")
folder=$2
shift 2
data=
network='(alexnet|googlenet|resnet50)'
known="$network(-([2-9]|[1-9][0-9]{1,8}))?|graphs|map|(wide|choice)-[1-9][0-9]{0,8}|report"
# A folder that is named as a phase is one, but for ./NAME.
if [ $# -gt 0 ] && [ -d "$1" ] && ! [[ $1 =~ ^($known)$ ]]; then
    data=$1
    shift
fi
phases=("$@")
[ $# -gt 0 ] ||
    phases=({alexnet,googlenet,resnet50}{,-2,-4,-8} graphs map wide-1 wide-32 choice-1 report)
check_phases "$known" "${phases[@]}"
need_gpu "$program"
mkdir -p "$folder"
own=cuda_jit,cuda_split,cuda_tiled
peers=cublas,cublas_tf32,cusparse,cudnn,cudnn_tf32,cudnn_fp16

# bench NAME NETWORK ARGUMENT ...: to FOLDER/NAME.csv; shows the sums.
bench() {
    local name=$1 network=$root/data/networks/$2.csv code=0
    shift 2
    "$program" bench --device cuda --network "$network" --algo "$own,$peers" "$@" \
        --csv "$folder/$name.csv" >"$folder/$name.txt" || code=$?
    tail -n 15 "$folder/$name.txt"
    return "$code"
}

# script NAME ARGUMENT ...: one of tools/scripts; skipped, and said so, where it lacks its data.
script() {
    local name=$1 code=0
    shift
    python3 "$root/tools/scripts/$name.py" "$program" "$@" --device cuda --min-time 0 --resume \
        ${LIMIT:+--seconds "$LIMIT"} || code=$?
    [ "$code" = 77 ] || return "$code"
}

report() {
    local networks=$root/data/networks
    "$program" reproduce --device cuda --min-time 0 --out "$folder/report" \
        --network "$networks/alexnet.csv,$networks/googlenet.csv,$networks/resnet50.csv"
}

for phase in "${phases[@]}"; do
    batch=${phase##*-}
    case $phase in
    alexnet | googlenet | resnet50)
        step "$phase" bench "layers-$phase" "$phase"
        step "$phase at batch 1" bench "layers-$phase-batch1" "$phase" --batch 1 --cold
        ;;
    graphs)
        for name in alexnet googlenet resnet50; do
            step "$name as a graph" bench "graph-$name" "$name" --batch 1 --cold --graph
        done
        ;;
    map) step map script winner_map "$folder" ;;
    wide-*)
        step "$phase" script wide_set ${data:+"$data"} --batch "$batch" \
            --csv "$folder/wide-batch$batch.csv"
        ;;
    choice-*)
        step "$phase" script choice --batch "$batch" --csv "$folder/choice-batch$batch.csv"
        ;;
    report) step report report ;;
    *) step "$phase" bench "layers-${phase%-*}-batch$batch" "${phase%-*}" --batch "$batch" ;;
    esac
done
conclude
