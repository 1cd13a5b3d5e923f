#!/usr/bin/env python3
"""Fits the constants of cuda/block_cost.c to what tiling_sweep measured, and judges the choice.

usage: fit_tilings.py TILINGS.csv

Prints the constants, the error of the logarithm, and for each layer the time of the tiling that the
fitted model picks beside that of the best. Needs numpy and scipy.
"""
import argparse
import csv
import re

PROCESSORS, CLOCK_MHZ = 132, 1980  # of the H200 that was measured
NAMES = ("usable_share", "other_instructions", "segment_clocks", "staging_clocks",
         "staging_clocks_by_4", "block_clocks", "launch_us", "enough_warps")
START = (0.9, 9, 8, 4, 3, 3000, 2, 6)
LEAST = (0.5, 2, 0, 0.5, 0.5, 0, 0.5, 1)
MOST = (1, 30, 80, 12, 12, 20000, 6, 16)
LIST_PASSES, L2_BYTES_US, MEMORY_BYTES_US = 0.65, 4.5e6, 4e6


def keys_of(problem):
    """Square layers only, as the sweep takes them."""
    keys = {"sh": 1, "ph": 0}
    keys.update((k, int(v)) for k, v in re.findall(r"(mb|ic|ih|oc|oh|kh|sh|ph)(\d+)", problem))
    return keys


def features(row):
    """What block_cost.c derives from a problem and a tiling."""
    k = keys_of(row["problem"])
    t = {name: float(value) for name, value in row.items() if name != "problem"}
    filters = t["filters"] * t["filter_ways"]
    nonzeros = round(k["oc"] * k["ic"] * k["kh"] ** 2 * (1 - t["sparsity"]))
    segments = filters * t["stages"]
    height = min((t["rows"] - 1) * k["sh"] + k["kh"], k["ih"])
    width = min((t["columns"] - 1) * k["sh"] + k["kh"], k["ih"])
    phases = min(k["kh"], k["sh"]) ** 2 / k["sh"] ** 2
    return (t["pixels"], t["pixel_ways"], t["filter_ways"] * t["pixel_ways"] * t["residents"],
            nonzeros / -(-k["oc"] // filters) + 0.5 * segments, segments,
            t["images"] * height * width * k["ic"] * phases, t["vector"], t["residents"],
            t["blocks"], 4 * k["mb"] * (k["ic"] * k["ih"] ** 2 + k["oc"] * k["oh"] ** 2))


def estimate(constants, x):
    import numpy
    share, other, segment, staging, staging_by_4, block, launch, enough = constants
    pixels, ways, warps, nonzeros, segments, staged, vector, residents, blocks, moved = x
    work = nonzeros * ways * numpy.maximum(pixels + LIST_PASSES, (2 * pixels + other) / 4)
    work = work / (share * numpy.minimum(1, warps / enough)) + segments * ways * segment
    work = work + staged / 32 * numpy.where(vector == 4, staging_by_4, staging)
    clocks = (numpy.ceil(blocks / PROCESSORS) * work
              + numpy.ceil(blocks / (PROCESSORS * residents)) * block)
    floor = numpy.maximum(blocks * staged * 4 / L2_BYTES_US, moved / MEMORY_BYTES_US)
    return numpy.maximum(launch + clocks / CLOCK_MHZ, floor)


def main(path):
    import numpy
    from scipy.optimize import least_squares
    with open(path, newline="", encoding="ascii") as file:
        rows = [row for row in csv.DictReader(file) if float(row["us"]) > 0]
    x = numpy.array([features(row) for row in rows]).T
    measured = numpy.array([float(row["us"]) for row in rows])
    fit = least_squares(lambda c: numpy.log(estimate(c, x) / measured), START,
                        bounds=(LEAST, MOST), loss="soft_l1")
    for name, value in zip(NAMES, fit.x):
        print(f"{name:20} {value:.4g}")
    estimated = estimate(fit.x, x)
    error = numpy.sqrt(numpy.mean(numpy.log(estimated / measured) ** 2))
    print(f"{len(rows)} tilings, error {error:.3f} r.m.s. of the logarithm")
    layers = {}
    for row, e, us in zip(rows, estimated, measured):
        layers.setdefault((row["problem"], row["sparsity"]), []).append((e, us))
    for (problem, sparsity), pairs in layers.items():
        best, picked = min(us for _, us in pairs), min(pairs)[1]
        print(f"{problem} at {sparsity}: picks {picked:.1f} us, the best is {best:.1f}:"
              f" {picked / best:.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("tilings", metavar="TILINGS.csv")
    main(parser.parse_args().tilings)
