#!/usr/bin/env bash
# The main job in one command: builds csrconv and measures the pruned layers of three networks,
# sparse against dense, on this machine. Leaves build/quickstart-NETWORK.csv and .svg.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
    echo "csrconv quickstart: $*" >&2
    exit 1
}

log=build/quickstart-build.log

build() {
    if [ ! -f build/build.ninja ]; then
        meson setup build --buildtype=release -Dtests=false -Dopenblas=enabled
    fi
    ninja -C build
}

tools/setup.sh build || fail "packages are missing, see above"
mkdir -p build
build >"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    fail "the build failed, all of it is in $log"
}

tables=()
for network in alexnet googlenet resnet50; do
    table=build/quickstart-$network
    echo "$network: its pruned layers at batch 1, 2 and 4"
    build/tools/csrconv bench --network "$network" --batch 1,2,4 \
        --csv "$table.csv" --svg "$table.svg" || fail "bench of $network failed, see above"
    tables+=("$table.csv")
done
echo "csrconv quickstart: $(python3 tools/scripts/layer_table.py summary "${tables[@]}");" \
    "tables and charts in build/quickstart-*"
