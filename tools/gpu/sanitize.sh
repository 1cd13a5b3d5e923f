#!/usr/bin/env bash
# compute-sanitizer over csrconv's own kernels on small problems of all kinds.
#
#   tools/gpu/sanitize.sh BUILD [TOOL ...]      memcheck racecheck synccheck initcheck
source "$(dirname "$0")/common.sh"
[ $# -ge 1 ] || fail 2 "usage: tools/gpu/sanitize.sh BUILD [TOOL ...]"
program=$(find_program "$1")
shift
tools=("$@")
[ $# -gt 0 ] || tools=(memcheck racecheck synccheck initcheck)
need_gpu "$program"
sanitizer=$(find_tool compute-sanitizer)

algorithms=$(algorithms_of "$program" own)

check() {
    "$sanitizer" --tool "$1" --error-exitcode 9 --print-limit 20 \
        "$program" verify --device cuda --algo "$algorithms" --sparsity 0.6,0.97 "${small_problems[@]}" |
        grep -v '^ok '
}

for tool in "${tools[@]}"; do
    step "$tool" check "$tool"
done
conclude
