#!/usr/bin/env bash
# Builds csrconv in every way that is promised to work, and runs all its tests. Every stage says how
# long it took and why tests were skipped; the last line says whether all passed. Logs and builds are in
# build-test/.
#
#   tools/test.sh              all stages
#   tools/test.sh STAGE ...    only these: format release sanitizers threads minimal baseline aarch64
set -euo pipefail
cd "$(dirname "$0")/.."

all=(format release sanitizers threads minimal baseline aarch64)
builds=build-test
jobs=2
passed=0 failed=0 skipped=0
stages_failed=()
why='' # the stage that runs was skipped: for this reason

# configure NAME OPTION ...: a fresh configuration of $builds/NAME.
configure() {
    local name=$1
    shift
    rm -rf "${builds:?}/$name"
    meson setup "$builds/$name" "$@"
}

# compile NAME [TARGET ...]
compile() {
    local name=$1
    shift
    ninja -j "$jobs" -C "$builds/$name" "$@"
}

# run_tests NAME OPTION ...: the tests of a build; what they came to is added up.
run_tests() {
    local name=$1 log=$builds/$1.tests code=0
    shift
    meson test -C "$builds/$name" --no-rebuild --print-errorlogs --num-processes "$jobs" "$@" \
        >"$log" 2>&1 || code=$?
    cat "$log"
    count_tests "$log"
    skip_reasons "$name" >>"$builds/reasons"
    return "$code"
}

# The numbers of meson's closing summary.
count_tests() {
    local ok bad skip
    ok=$(awk '/^(Ok|Expected Fail): / { n += $NF } END { print n + 0 }' "$1")
    bad=$(awk '/^(Fail|Unexpected Pass|Timeout): / { n += $NF } END { print n + 0 }' "$1")
    skip=$(awk '/^Skipped: / { n += $NF } END { print n + 0 }' "$1")
    echo "$ok $bad $skip" >>"$builds/counts"
    [ "$ok" -gt 0 ]
}

# Why tests of a build were skipped, as they tell it: "2 for REASON, 1 for REASON"; nothing if none was.
skip_reasons() {
    local log=$builds/$1/meson-logs/testlog.json
    [ -f "$log" ] || return 0
    python3 - "$log" <<'END'
import collections, json, sys
with open(sys.argv[1]) as log:
    tests = [json.loads(line) for line in log]
told = [([line for line in (test.get("stdout") or "").splitlines() if line.startswith("skipped: ")]
         or ["no reason told"])[-1].removeprefix("skipped: ")
        for test in tests if test["result"] == "SKIP"]
if told:
    print(", ".join(f"{count} for {reason}" for reason, count in collections.Counter(told).items()))
END
}

# A stage without meson's tests counts as one.
count_one() {
    echo '1 0 0' >>"$builds/counts"
}

skip() {
    echo '0 0 1' >>"$builds/counts"
    echo "$*" >"$builds/why"
}

stage_format() {
    local files
    if [[ $(clang-format --version) != *"version 14."* ]]; then
        skip "the layout is that of clang-format 14, this is $(clang-format --version)"
        return
    fi
    mapfile -t files < <(find include src cuda tools tests \
        -name '*.c' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh')
    clang-format --dry-run -Werror "${files[@]}" && count_one
}

stage_release() {
    CC=gcc configure release --buildtype=release -Dgpu_arch=75,90 -Dopenblas=enabled \
        -Donednn=enabled -Dopenmp=enabled &&
        compile release && run_tests release
}

# LeakSanitizer is a part of AddressSanitizer. oneDNN would bring a second OpenMP runtime.
stage_sanitizers() {
    local options='halt_on_error=1:abort_on_error=1:print_stacktrace=1'
    CC=clang configure sanitizers --buildtype=debugoptimized -Dopenblas=enabled \
        -Donednn=disabled -Dcuda=disabled -Db_sanitize=address,undefined -Db_lundef=false &&
        compile sanitizers || return
    export ASAN_OPTIONS=$options:detect_leaks=1:allocator_may_return_null=1 UBSAN_OPTIONS=$options
    export LSAN_OPTIONS=suppressions=$PWD/tests/lsan.supp:print_suppressions=0
    run_tests sanitizers --timeout-multiplier 4 || run_crashed_again sanitizers
}

# Names of the tests of a build that failed, a line each, if LeakSanitizer itself crashed in all of
# them: its tracer does once in a while when threads end beside it, and that is no leak.
crashed_tests() {
    python3 - "$builds/$1/meson-logs/testlog.json" <<'END'
import json, sys
with open(sys.argv[1]) as log:
    tests = [json.loads(line) for line in log]
failed = [test for test in tests if test["result"] not in ("OK", "SKIP", "EXPECTEDFAIL")]
crashed = "LeakSanitizer has encountered a fatal error"
texts = [(test.get("stdout") or "") + (test.get("stderr") or "") for test in failed]
if failed and all(crashed in text and "ERROR: AddressSanitizer" not in text for text in texts):
    print(*(test["name"].split(" / ")[-1] for test in failed), sep="\n")
END
}

# run_crashed_again NAME: only those; fails if another test had failed, or one does again.
run_crashed_again() {
    local names
    mapfile -t names < <(crashed_tests "$1")
    [ "${#names[@]}" -gt 0 ] || return 1
    echo "LeakSanitizer crashed; again: ${names[*]}"
    run_tests "$1" --timeout-multiplier 4 "${names[@]}" || return
    echo "0 -${#names[@]} 0" >>"$builds/counts" # the first run counted them as failed
}

# ThreadSanitizer does not see through an OpenMP runtime: the threads are the test's own.
stage_threads() {
    CC=clang configure threads --buildtype=debugoptimized -Dcuda=disabled -Dopenblas=disabled \
        -Donednn=disabled -Dopenmp=disabled -Db_sanitize=thread -Db_lundef=false &&
        compile threads tests/threads &&
        TSAN_OPTIONS=halt_on_error=1 run_tests threads --timeout-multiplier 10 threads
}

stage_minimal() {
    CC=gcc configure minimal --buildtype=debugoptimized -Dcuda=disabled -Dopenblas=disabled \
        -Donednn=disabled -Dopenmp=disabled &&
        compile minimal && run_tests minimal
}

# The promise that a build for x86-64 needs no AVX, kept on an emulated processor that has none.
stage_baseline() {
    local with_avx=$builds/with-avx
    if [ "$(uname -m)" != x86_64 ]; then
        skip "this machine is no x86-64"
        return
    fi
    CC=gcc configure baseline --buildtype=release -Dtools=false \
        -Dcuda=disabled -Dopenblas=disabled -Donednn=disabled &&
        compile baseline || return
    printf '%s\n' '#include <immintrin.h>' \
        'int main(int n, char **v)' \
        '{ volatile __m256 a = _mm256_set1_ps((float)n); (void)v; return a[0] != a[1]; }' |
        gcc -mavx -x c - -o "$with_avx" || return
    if qemu-x86_64 -cpu Nehalem "$with_avx" 2>"$builds/with-avx.log"; then
        echo "the emulated processor runs AVX, so it shows nothing"
        return 1
    fi
    run_tests baseline --wrapper 'qemu-x86_64 -cpu Nehalem' --timeout-multiplier 4 smoke
}

stage_aarch64() {
    if [ "$(uname -m)" != x86_64 ]; then
        skip "cross built on x86-64 only"
        return
    fi
    # gcc 12 for Arm fails by an internal error in the vectorizer at -O3 (vect_transform_reduction).
    configure aarch64 --cross-file packaging/aarch64-linux-gnu.ini --optimization=2 \
        -Dtools=false -Dcuda=disabled -Dopenblas=disabled -Donednn=disabled &&
        compile aarch64 && run_tests aarch64 --timeout-multiplier 4
}

# run_stage NAME: in a shell of its own; its output goes to a log, which is shown if it fails.
run_stage() {
    local name=$1 start=$SECONDS log=$builds/$1.log ok bad skip verdict=passed
    rm -f "$builds/counts" "$builds/reasons" "$builds/why"
    touch "$builds/counts" "$builds/reasons"
    if ! ("stage_$name") >"$log" 2>&1; then
        verdict=FAILED
    fi
    read -r ok bad skip < <(awk '{ a += $1; b += $2; c += $3 } END { print a + 0, b + 0, c + 0 }' \
        "$builds/counts")
    if [ "$verdict" = FAILED ]; then
        [ "$bad" -gt 0 ] || bad=1
        tail -n 60 "$log"
        stages_failed+=("$name")
    fi
    why=
    if [ -f "$builds/why" ]; then
        verdict=skipped
        why=": $(<"$builds/why")"
    fi
    passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
    printf 'stage %-10s %s, %d tests passed, %d failed, %d skipped, %d s%s\n' \
        "$name" "$verdict" "$ok" "$bad" "$skip" $((SECONDS - start)) "$why"
    sed 's/^/    skipped: /' "$builds/reasons"
}

stages=("$@")
[ "${#stages[@]}" -gt 0 ] || stages=("${all[@]}")
for name in "${stages[@]}"; do
    if [[ " ${all[*]} " != *" $name "* ]]; then
        echo "csrconv tests: there is no stage \"$name\"; there are ${all[*]}" >&2
        exit 2
    fi
done

tools/setup.sh test
# Where the first python3 has no numpy, that of the system may have.
python3 -c 'import numpy, scipy.sparse' 2>/dev/null || PATH=/usr/bin:$PATH
mkdir -p "$builds"
for name in "${stages[@]}"; do
    run_stage "$name"
done

echo "$passed passed, $failed failed, $skipped skipped"
if [ "$failed" -gt 0 ]; then
    echo "csrconv tests: FAILED in ${stages_failed[*]}; logs in $builds/"
    exit 1
fi
if [ "$passed" -eq 0 ]; then
    echo "csrconv tests: nothing was tested"
    exit 1
fi
echo "csrconv tests: all ${#stages[@]} stages passed in $SECONDS s"
