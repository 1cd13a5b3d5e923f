#!/usr/bin/env bash
# What limits a kernel: hit rate of the second cache, bytes of the device's memory, how busy the
# pipes are, by ncu. Clocks are left alone, as they were while times were taken.
#
#   tools/gpu/profile.sh BUILD FOLDER [ALGORITHM [PROBLEM ...]]
#
# Without a PROBLEM: three of the published layers, at 90 to 98 % zeros. A csv a problem goes into
# FOLDER. Compulsory bytes stand in the floors of csrconv bench --explain, which is run besides.
source "$(dirname "$0")/common.sh"
[ $# -ge 2 ] || fail 2 "usage: tools/gpu/profile.sh BUILD FOLDER [ALGORITHM [PROBLEM ...]]"
program=$(find_program "$1")
folder=$2
algorithm=${3:-cuda_tiled}
shift $(($# < 3 ? $# : 3))
need_gpu "$program"
ncu=$(find_tool ncu)
mkdir -p "$folder"

problems=("$@")
[ $# -gt 0 ] || problems=(
    0.931:mb128ic256ih13oc384oh13kh3ph1
    0.974:mb32ic256ih14oc256oh14kh3ph1
    0.9:mb32ic1024ih14oc256oh14kh1ph0
)
metrics=$(paste -sd, <<'METRICS'
gpu__time_duration.sum
lts__t_sector_hit_rate.pct
lts__t_bytes.sum
dram__bytes_read.sum
dram__bytes_write.sum
l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed
l1tex__data_bank_conflicts_pipe_lsu.sum
sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active
sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active
smsp__issue_active.avg.pct_of_peak_sustained_active
sm__warps_active.avg.pct_of_peak_sustained_active
launch__registers_per_thread
launch__shared_mem_per_block
METRICS
)

# profile SPARSITY PROBLEM FILE: the launches of one verification, caches as the launch before left
# them.
profile() {
    "$ncu" --clock-control none --cache-control none --metrics "$metrics" --csv --page raw \
        --print-units base --launch-count 6 --log-file "$3" \
        "$program" verify --device cuda --algo "$algorithm" --sparsity "$1" "$2" >/dev/null || return
    "$program" bench --device cuda --algo "$algorithm" --sparsity "$1" --explain "$2"
}

for item in "${problems[@]}"; do
    sparsity=0.9 problem=$item
    if [[ $item == *:* ]]; then
        sparsity=${item%%:*} problem=${item#*:}
    fi
    step "$item" profile "$sparsity" "$problem" "$folder/$algorithm-$problem-$sparsity.csv"
done
conclude
