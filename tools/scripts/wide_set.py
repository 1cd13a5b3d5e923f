#!/usr/bin/env python3
"""Measures csrconv on a wide set of layers, beyond the published ones: where is it slower than dense?

usage: wide_set.py CSRCONV DATA --csv OUT.csv [--device D] [--batch N] [--threads T] [--min-time S]
                  [--algo A,..] [--resume] [--seconds S]

DATA is a folder with
  dlmc_resnet50/manifest.csv                 patterns of pruned ResNet-50 layers, with their geometry
  pruned_weights/mobilenet_v1_90/*.npy       pruned pointwise layers of MobileNetV1, with values
  networks/layers.csv                        their geometry
Without it nothing is measured, and the exit code is 77. To them come ten shapes with strides,
dilation and groups, at 90 % zeros. All rows go into one CSV, after each layer (bench_steps.py); then the
layers are listed on which the automatic choice is slower than the faster dense peer.
"""
import argparse
import os
import pathlib
import sys

import bench_rows
import bench_steps

# Of oneDNN's own list of shapes for its tests.
SHAPES = (
    'ic256ih56iw56oc128oh28ow28kh1kw1sh2sw2ph0pw0n"resnet_50:res3a_branch2a"',
    'ic512ih28oc1024oh14kh1sh2ph0n"resnet_50_v1_5:res4a_branch1"',
    'mb50ic128ih28oc128oh14kh3sh2ph1n"resnet_50_sparse:res3d_branch2b"',
    'ic128ih56oc128oh28kh3sh2ph1n"resnet_50_v1_5:res3a_branch2b"',
    'ic512ih14oc512oh7kh3sh2ph1n"resnet_50_v1_5:res5a_branch2b"',
    'mb2_g2ic96oc96_ih57oh26kh5sh2ph1dh1_n"dilated_conv:20"',
    'mb2_ic64oc128_ih11oh7kh3sh1ph1dh2_n"dilated_conv:21"',
    'mb2_g2ic192oc128_ih11oh7kh3sh1ph1dh2_n"dilated_conv:23"',
    'mb2_g2ic128oc128_ih21oh3kh5sh2ph0dh3_iw21ow13kw5sw1pw0dw1_n"dilated_conv:25"',
    'g2mb256ic384ih13oc256oh13kh3ph1n"alexnet:conv5"',
)


PATTERN = {"file", "in_ch", "in_hw", "out_ch", "out_hw", "kh", "kw", "stride", "pad"}
LAYER = {"net", "layer", "C", "H", "W", "M"}


def manifest(data):
    return data / "dlmc_resnet50" / "manifest.csv"


def dlmc(data):
    """(problem, where its weights are) of each pattern; columns are (r, s, c)."""
    for _, row in bench_rows.table(manifest(data), PATTERN):
        name = row["file"].removeprefix("rn50/").removesuffix(".smtx")
        problem = (f'ic{row["in_ch"]}ih{row["in_hw"]}iw{row["in_hw"]}oc{row["out_ch"]}'
                   f'oh{row["out_hw"]}ow{row["out_hw"]}kh{row["kh"]}kw{row["kw"]}'
                   f'sh{row["stride"]}sw{row["stride"]}ph{row["pad"]}pw{row["pad"]}'
                   f'n"dlmc:{name}"')
        yield problem, ("--weights", manifest(data).parent / row["file"], "--order", "rsc")


def mobilenet(data):
    for _, row in bench_rows.table(data / "networks" / "layers.csv", LAYER):
        weights = data / "pruned_weights" / "mobilenet_v1_90" / f'{row["layer"]}.npy'
        if row["net"].startswith("mobilenet_v1") and os.path.exists(weights):
            yield (f'ic{row["C"]}ih{row["H"]}iw{row["W"]}oc{row["M"]}kh1kw1ph0pw0'
                   f'n"mobilenet_v1:{row["layer"]}"', ("--weights", weights))


def steps(options):
    algorithms = options.algo or bench_rows.algorithms(options)
    for source in (dlmc, mobilenet):
        for problem, weights in source(options.data):
            yield bench_steps.Step(problem, options.batch, algorithms, weights=weights)
    for problem in SHAPES:
        yield bench_steps.Step(problem, options.batch, algorithms, sparsities=[0.9])


def slower(rows):
    """Lines on the layers where the automatic choice loses, worst first; how many were compared."""
    layers = {}
    for row in rows:
        layers.setdefault(row["name"], []).append(row)
    found, compared = [], 0
    for name, layer in layers.items():
        own, dense = bench_rows.chosen(layer), bench_rows.time_of(layer, bench_rows.is_dense_peer)
        best = bench_rows.time_of(layer, lambda row: not row["peer_version"])
        if not own or not dense:
            continue
        compared += 1
        if own[0] > dense[0]:
            found.append((dense[0] / own[0],
                          f"{name}, {100 * float(layer[0]['sparsity']):.4g} % zeros: {own[1]} "
                          f"{own[0]:.4g} us, {dense[1]} {dense[0]:.4g} us, "
                          f"{dense[0] / own[0]:.2f}x (csrconv's best: {best[1]}, "
                          f"{dense[0] / best[0]:.2f}x)"))
    return [line for _, line in sorted(found)], compared


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    bench_rows.add_arguments(parser)
    bench_steps.add_arguments(parser)
    parser.add_argument("data", type=pathlib.Path, nargs="?", help="the folder with the data")
    parser.add_argument("--csv", required=True, help="where all rows go, after each layer")
    options = parser.parse_args()
    if not options.data or not manifest(options.data).is_file():
        print(f"skipped: no data in {options.data}")
        return 77
    lines, compared = slower(bench_steps.measure(options, options.csv, list(steps(options))))
    print(f"\nslower than the faster dense peer on {len(lines)} of {compared} layers:",
          *lines, sep="\n  ")
    return int(options.is_wrong)


if __name__ == "__main__":
    sys.exit(main())
