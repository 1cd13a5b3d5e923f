#!/usr/bin/env python3
"""Sweeps sparsity and the number of output pixels, and looks for cliffs.

usage: sweep.py CSRCONV FOLDER [--batch N] [--threads T] [--min-time S]

Leaves in FOLDER sparsity.csv and sparsity.svg (four layers from 50 to 98 % zeros), and pixels.csv and
pixels.svg (maps of 1 x N pixels around the widths of vectors and tiles, at 90 %).
"""
import argparse
import pathlib
import sys

import bench_rows

SPARSITIES = "0.5,0.7,0.8,0.9,0.95,0.98"
LAYERS = (
    'ic128ih28oc128oh28kh3ph1n"sweep:3x3_28x28"',
    'ic512ih7oc512oh7kh3ph1n"sweep:3x3_7x7"',
    'ic256ih14oc1024oh14kh1n"sweep:1x1_14x14"',
    'ic3ih224oc64oh112kh7sh2ph3n"sweep:7x7_stride_2"',
)
PIXELS = (7, 8, 9, 15, 16, 17, 31, 33, 49)

RISE = 1.15  # more than noise: less work that takes this much longer is a cliff
JUMP = 1.7   # for at most a fifth more pixels


def pixel_problem(pixels):
    return f'ic256ih1iw{pixels}oc256oh1ow{pixels}kh1kw1ph0pw0n"pixels:{pixels}"'


def curves(rows, key):
    """{layer: [(key, us of the automatic choice)], in the order of the key}."""
    points = {}
    for row in rows:
        if row["chosen"] == "yes":
            name, at = key(row)
            points.setdefault(name, []).append((at, float(row["median_us"])))
    return {name: sorted(values) for name, values in points.items()}


def sparsity_cliffs(rows):
    """More zeros must not take longer."""
    for name, points in curves(rows, lambda row: (row["name"], float(row["sparsity"]))).items():
        for (low, before), (high, after) in zip(points, points[1:]):
            if after > RISE * before:
                yield (f"{name}: {100 * low:.3g} % zeros take {before:.4g} us, "
                       f"{100 * high:.3g} % {after:.4g} us")


def pixel_cliffs(rows):
    """Fewer pixels must not take longer, nor a few more much longer."""
    pixels = curves(rows, lambda row: ("pixels", int(row["name"].split(":")[1])))
    points = pixels.get("pixels", [])
    for (few, before), (many, after) in zip(points, points[1:]):
        if before > RISE * after or (many <= 1.2 * few and after > JUMP * before):
            yield f"{few} pixels take {before:.4g} us, {many} {after:.4g} us"


def report(what, cliffs):
    cliffs = list(cliffs)
    print(f"{what}: {len(cliffs) or 'no'} cliff{'s' if len(cliffs) != 1 else ''}", *cliffs,
          sep="\n  ")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    bench_rows.add_arguments(parser)
    parser.add_argument("folder", type=pathlib.Path, help="where the files go; made if missing")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    by_sparsity = bench_rows.bench(options, "--sparsity", SPARSITIES, *LAYERS,
                                   svg=options.folder / "sparsity.svg")
    bench_rows.write(options.folder / "sparsity.csv", by_sparsity)
    by_pixels = bench_rows.bench(options, "--sparsity", "0.9", *map(pixel_problem, PIXELS),
                                 svg=options.folder / "pixels.svg")
    bench_rows.write(options.folder / "pixels.csv", by_pixels)
    report("sparsity", sparsity_cliffs(by_sparsity))
    report("pixels", pixel_cliffs(by_pixels))
    return int(options.is_wrong)


if __name__ == "__main__":
    sys.exit(main())
