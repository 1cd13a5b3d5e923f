#!/usr/bin/env bash
# compute-sanitizer over csrconv's own kernels on small problems: strides, dilation, groups, odd
# planes, borders on all sides, empty filters, batches that no tile divides.
#
#   tools/gpu/sanitize.sh BUILD [TOOL ...]      memcheck racecheck synccheck initcheck
source "$(dirname "$0")/common.sh"
[ $# -ge 1 ] || fail "usage: tools/gpu/sanitize.sh BUILD [TOOL ...]"
program=$(find_program "$1")
shift
tools=("$@")
[ $# -gt 0 ] || tools=(memcheck racecheck synccheck initcheck)
sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
[ -x "$sanitizer" ] || fail "there is no compute-sanitizer"
need_gpu "$program"

problems=(
    mb3ic16ih7oc24oh7kh3ph1
    mb2ic32ih13iw13oc40oh13ow13kh5kw5ph2pw2
    mb5ic64ih14oc33oh14kh1ph0
    mb2ic8ih27oc16oh14kh3sh2ph1
    mb2_g2ic12ih11oc10oh7kh3sh1ph1dh2
    mb1ic3ih31iw29oc20kh7kw7sh2sw2ph3pw3
    mb9ic40ih1iw17oc48oh1ow17kh1kw1ph0pw0
)
algorithms=$(own_algorithms "$program")

check() {
    "$sanitizer" --tool "$1" --error-exitcode 9 --print-limit 20 \
        "$program" verify --device cuda --algo "$algorithms" --sparsity 0.6,0.97 "${problems[@]}" |
        grep -v '^ok '
}

for tool in "${tools[@]}"; do
    step "$tool" check "$tool"
done
conclude
