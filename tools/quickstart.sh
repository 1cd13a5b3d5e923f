#!/usr/bin/env bash
# The main job in one command: builds csrconv and measures the pruned layers of three networks,
# sparse against dense, on this machine: on its GPU if there is one and nvcc to build for it, else
# on the CPU. Leaves build/quickstart-NETWORK.csv and .svg.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
    echo "csrconv quickstart: $*" >&2
    exit 1
}

log=build/quickstart-build.log

# For the GPUs that are here and no others, which would take minutes.
cuda_options() {
    local arch
    if arch=$(tools/gpu/arch.sh 2>/dev/null) && nvcc --version >/dev/null 2>&1; then
        echo "-Dcuda=auto -Dgpu_arch=$arch"
    else
        echo -Dcuda=disabled
    fi
}

build() {
    local options
    read -ra options < <(cuda_options)
    if [ ! -f build/build.ninja ]; then
        meson setup build --buildtype=release -Dtests=false -Dopenblas=enabled "${options[@]}"
    fi
    ninja -C build
}

has_gpu() {
    build/tools/csrconv info --devices | grep -q '^cuda:0 *usable'
}

PATH=$PATH:/usr/local/cuda/bin
tools/setup.sh build || fail "packages are missing, see above"
mkdir -p build
build >"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    fail "the build failed, all of it is in $log"
}

batches=1,2,4
if has_gpu; then
    batches=1,32
fi
tables=()
for network in alexnet googlenet resnet50; do
    table=build/quickstart-$network
    echo "$network: its pruned layers at batch $batches"
    build/tools/csrconv bench --network "$network" --batch "$batches" \
        --csv "$table.csv" --svg "$table.svg" || fail "bench of $network failed, see above"
    tables+=("$table.csv")
done
echo "csrconv quickstart: $(python3 tools/scripts/layer_table.py summary "${tables[@]}");" \
    "tables and charts in build/quickstart-*"
