#!/usr/bin/env python3
"""How good the automatic choice is on random layers that nothing was fitted to.

usage: choice.py CSRCONV --csv OUT.csv [--count N] [--seed S] [--sparsity P,..] [--device D] [--batch N]
                 [--threads T] [--min-time S] [--algo A,..] [--resume] [--seconds S]

Draws N layers with kernels of 1 to 7, strides, groups and sizes as networks have them, measures every
algorithm of csrconv's own (or those named) on each at the sparsities, and counts on how many the chosen
one is within 10 % of the fastest. The CSV is written after each layer (bench_steps.py).
"""
import argparse
import random
import sys

import bench_rows
import bench_steps

SIZES = (7, 8, 10, 13, 14, 17, 20, 28, 35, 40, 56)
CHANNELS = (16, 24, 32, 48, 64, 80, 96, 128, 160, 192, 256, 320, 384, 512)
MOST_PRODUCTS = 4e8  # of a dense layer: what the oracle takes a moment for
MOST_LAYERS = 100000


def layer(draw, name):
    while True:
        kernel = draw.choice((1, 1, 3, 3, 3, 5, 7))
        stride = draw.choice((1, 1, 1, 2))
        groups = draw.choice((1, 1, 1, 1, 2, 4))
        size, channels, filters = draw.choice(SIZES), draw.choice(CHANNELS), draw.choice(CHANNELS)
        pad = kernel // 2
        out = (size + 2 * pad - kernel) // stride + 1
        products = out ** 2 * filters * channels // groups * kernel ** 2
        if channels % groups == 0 and filters % groups == 0 and products <= MOST_PRODUCTS:
            return (f"g{groups}ic{channels}ih{size}oc{filters}oh{out}kh{kernel}sh{stride}ph{pad}"
                    f'n"random:{name}"')


def steps(options):
    """The names hold the seed, so that layers of two seeds are never taken for one another."""
    draw = random.Random(options.seed)
    algorithms = options.algo or bench_rows.algorithms(options, kinds=("own",))
    return [bench_steps.Step(layer(draw, f"{options.seed}.{number}"), options.batch, algorithms,
                             options.sparsity) for number in range(options.count)]


def judge(rows):
    """(ratio of chosen to fastest, name, sparsity, chosen, fastest) of each point, worst first."""
    points = {}
    for row in rows:
        points.setdefault((row["name"], row["sparsity"], row["batch"]), []).append(row)
    judged, unchosen = [], 0
    for (name, sparsity, _), point in points.items():
        chosen = bench_rows.chosen(point)
        best = bench_rows.time_of(point, lambda row: not row["peer_version"])
        if chosen and best:
            judged.append((chosen[0] / best[0], name, sparsity, chosen[1], best[1]))
        else:
            unchosen += 1
    return sorted(judged, reverse=True), unchosen


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    bench_rows.add_arguments(parser)
    bench_steps.add_arguments(parser)
    parser.add_argument("--csv", required=True, help="where all rows go, after each layer")
    parser.add_argument("--count", type=bench_rows.whole(1, MOST_LAYERS), default=200,
                        help="layers")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sparsity", type=bench_steps.sparsities, default="0.8,0.9,0.97")
    options = parser.parse_args()
    judged, unchosen = judge(bench_steps.measure(options, options.csv, steps(options)))
    good = sum(ratio <= 1.1 for ratio, *_ in judged)
    for ratio, name, sparsity, chosen, best in judged[:10]:
        print(f"{name} at {sparsity}: {chosen} takes {ratio:.2f} times what {best} does")
    print(f"the choice is within 10 % of the best on {good} of {len(judged)} points"
          + (f"; on {unchosen} what it takes was not measured" if unchosen else ""))
    return int(options.is_wrong)


if __name__ == "__main__":
    sys.exit(main())
