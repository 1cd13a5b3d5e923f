#!/usr/bin/env python3
"""Which algorithm is the fastest where: four layers over sparsity and batch, on a GPU.

usage: winner_map.py CSRCONV FOLDER [--device cuda] [--sparsity P,..] [--batches N,..] [--layers K,..]
                     [--min-time S] [--algo A,..] [--peers P,..] [--resume] [--seconds S] [--draw]

Leaves in FOLDER winner-map.csv, the rows of csrconv bench, and winner-map.svg. Dense peers, to which
zeros make no difference, are measured at the first sparsity alone. The CSV is written after each layer,
its peers and csrconv's algorithms together (bench_steps.py), for all layers at one batch before the
next; then what there is is drawn. --draw draws the CSV in FOLDER again.
"""
import argparse
import html
import pathlib
import sys

import bench_rows
import bench_steps

LAYERS = (
    'ic128ih28oc128oh28kh3ph1n"map:3x3, 28x28, 128 to 128"',
    'ic256ih14oc256oh14kh3ph1n"map:3x3, 14x14, 256 to 256"',
    'ic512ih7oc512oh7kh3ph1n"map:3x3, 7x7, 512 to 512"',
    'ic1024ih14oc256oh14kh1n"map:1x1, 14x14, 1024 to 256"',
)
COLORS = {"cuda_jit": "#1b7837", "cuda_split": "#2166ac", "cuda_tiled": "#b2182b"}
OTHER, LOST = "#762a83", "#bdbdbd"
CELL_WIDTH, CELL_HEIGHT, LEFT, TOP, GAP = 78, 40, 60, 70, 50


class Grid:
    """One layer's rows: the best of each kind by (batch, sparsity), dense peers by batch."""

    def __init__(self, name, rows):
        self.name = name
        self.own, self.peers = {}, {}
        for row in rows:
            batch, point = int(row["batch"]), (float(row["median_us"]), row["algorithm"])
            if row["peer_version"]:
                kind = (batch, row["math"])
                self.peers[kind] = min(self.peers.get(kind, point), point)
            else:
                cell = (batch, float(row["sparsity"]))
                self.own[cell] = min(self.own.get(cell, point), point)
        self.batches = sorted({batch for batch, _ in self.own})
        self.sparsities = sorted({sparsity for _, sparsity in self.own})

    def ratio(self, cell, math):
        """How many times faster than the dense peer; None if that was not measured."""
        peer = self.peers.get((cell[0], math))
        return peer[0] / self.own[cell][0] if peer else None


def text(x, y, words, size=11, anchor="middle", fill="#222"):
    return (f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}" fill="{fill}">'
            f"{html.escape(words)}</text>")


def draw_cell(grid, cell, x, y):
    """Full colour: faster than both; pale: than one of them; grey: than neither."""
    ratios = [grid.ratio(cell, math) for math in ("tf32", "fp16")]
    algorithm = grid.own[cell][1]
    beaten = [ratio is None or ratio >= 1.0 for ratio in ratios]
    color = COLORS.get(algorithm, OTHER) if any(beaten) else LOST
    opacity = 1.0 if all(beaten) else 0.45
    shown = " / ".join("-" if ratio is None else f"{ratio:.2f}" for ratio in ratios)
    ink = "#fff" if all(beaten) else "#222"
    return [f'<rect x="{x}" y="{y}" width="{CELL_WIDTH - 2}" height="{CELL_HEIGHT - 2}" '
            f'fill="{color}" fill-opacity="{opacity}"/>',
            text(x + CELL_WIDTH / 2 - 1, y + 16, algorithm.removeprefix("cuda_"), fill=ink),
            text(x + CELL_WIDTH / 2 - 1, y + 31, shown, fill=ink)]


def draw_grid(grid, left, top):
    parts = [text(left, top - 24, grid.name.split(':', 1)[-1], size=13, anchor="start")]
    for column, sparsity in enumerate(grid.sparsities):
        x = left + column * CELL_WIDTH
        parts.append(text(x + CELL_WIDTH / 2, top - 6, f"{100 * sparsity:.3g} %"))
        for row, batch in enumerate(grid.batches):
            if (batch, sparsity) in grid.own:
                parts += draw_cell(grid, (batch, sparsity), x, top + row * CELL_HEIGHT)
    for row, batch in enumerate(grid.batches):
        parts.append(text(left - 8, top + row * CELL_HEIGHT + 24, str(batch), anchor="end"))
    return parts


def draw_legend(y):
    parts, x = [], LEFT
    for name, color in [*COLORS.items(), ("another", OTHER)]:
        parts += [f'<rect x="{x}" y="{y}" width="14" height="14" fill="{color}"/>',
                  text(x + 20, y + 12, name, anchor="start")]
        x += 110
    parts.append(text(LEFT, y + 34, "Full colour: faster than cuDNN in TF32 and in fp16, by the "
                      "factors shown; pale: than one of them; grey: than neither. Ours "
                      "are exact fp32.", anchor="start"))
    return parts


def draw(rows):
    names = list(dict.fromkeys(row["name"] for row in rows if not row["peer_version"]))
    grids = [Grid(name, [row for row in rows if row["name"] == name]) for name in names]
    wide = max(len(grid.sparsities) for grid in grids) * CELL_WIDTH + LEFT
    high = max(len(grid.batches) for grid in grids) * CELL_HEIGHT + GAP
    columns = min(2, len(grids))
    lines = (len(grids) + columns - 1) // columns
    width, height = columns * wide + 20, TOP + lines * high + 60
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
             'font-family="sans-serif">', f'<rect width="{width}" height="{height}" fill="#fff"/>',
             text(LEFT, 22, "Fastest kernel of csrconv by zeros (across) and images (down)", size=15,
                  anchor="start")]
    for i, grid in enumerate(grids):
        parts += draw_grid(grid, LEFT + i % columns * wide, TOP + i // columns * high)
    parts += draw_legend(TOP + lines * high)
    return "\n".join([*parts, "</svg>", ""])


def steps(options):
    for batch in options.batches:
        for i in options.layers:
            yield bench_steps.Step(LAYERS[i], batch, options.peers, options.sparsity[:1])
            yield bench_steps.Step(LAYERS[i], batch, options.algo, options.sparsity)


def make_folder(folder):
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        bench_rows.fail(folder, error.strerror)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    bench_rows.add_arguments(parser)
    bench_steps.add_arguments(parser)
    parser.add_argument("folder", type=pathlib.Path, help="where the files go; made if missing")
    parser.add_argument("--sparsity", type=bench_steps.sparsities,
                        default="0.7,0.8,0.9,0.95,0.99")
    parser.add_argument("--batches", default="1,8,64,256",
                        type=bench_steps.separated(bench_rows.whole(1, bench_rows.MOST_IMAGES)))
    parser.add_argument("--layers", default="0,1,2,3", help="numbers of them (%(default)s)",
                        type=bench_steps.separated(bench_rows.whole(0, len(LAYERS) - 1)))
    parser.add_argument("--peers", default="cudnn_tf32,cudnn_fp16")
    parser.add_argument("--draw", action="store_true", help="measure nothing")
    parser.set_defaults(device="cuda", algo="cuda_jit,cuda_split,cuda_tiled")
    options = parser.parse_args()
    if not options.algo or not options.peers:
        parser.error("--algo and --peers want names")
    path, drawing = options.folder / "winner-map.csv", options.folder / "winner-map.svg"
    if not options.draw:
        make_folder(options.folder)
        bench_rows.place_of(drawing)
    rows = (bench_rows.read(path) if options.draw
            else bench_steps.measure(options, path, list(steps(options))))
    drawn = [row for row in rows if not row["peer_version"]]
    if options.draw and not drawn:
        bench_rows.fail(path, "there are no rows to draw")
    if drawn:
        with bench_rows.replacing(drawing) as file:
            file.write(draw(rows))
    return int(options.is_wrong)


if __name__ == "__main__":
    sys.exit(main())
