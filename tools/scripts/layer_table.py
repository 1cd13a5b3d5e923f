#!/usr/bin/env python3
"""Sums up the CSV files of csrconv bench: the one line of the quick start, the table of the README.

usage: layer_table.py summary CSV ...    prints one line
       layer_table.py update README.md   rewrites the table between the markers from their CSV
       layer_table.py check README.md    fails if the table is not what the CSV says

The markers are comments, the first with the pattern of the CSV files, seen from the README's folder:

    <!-- results of data/results/MACHINE/layers-*.csv -->
    <!-- end of results -->

Measurements of a GPU have more peers: their table shows the gains over each, without the peers' times.
Those of CPUs and of GPUs go into no table together.

Exit 0; 1 if the table is not what the CSV says; 2 if a file cannot be read, or says something else.
"""
import argparse
import collections
import csv
import io
import math
import pathlib
import re
import sys

COLUMNS = ("name", "batch", "algorithm", "chosen", "device", "math", "cache", "threads", "median_us",
           "verified", "machine", "sm_clock_mhz", "driver", "peer_version", "commit")
MARKERS = re.compile(r"(<!-- results of (\S+) -->\n)(.*?)(<!-- end of results -->)", re.S)


def fail(text, code=2):
    print(f"layer_table.py: {text}", file=sys.stderr)
    sys.exit(code)


def read_text(path):
    try:
        return pathlib.Path(path).read_text(encoding="utf-8")
    except OSError as error:
        fail(f"{path}: {error.strerror}")
    except UnicodeDecodeError:
        fail(f"{path}: is no text")


class Layer:
    """The measurements of one layer at one batch: csrconv's automatic choice and the peers."""

    def __init__(self):
        self.chosen_us = None
        self.peers_us = {}
        self.fp32_peers_us = []

    def add(self, row):
        """False if the same stands there already."""
        us = float(row["median_us"])
        if row["peer_version"]:
            if row["algorithm"] in self.peers_us:
                return False
            self.peers_us[row["algorithm"]] = us
            if row["math"] == "fp32":
                self.fp32_peers_us.append(us)
        elif row["chosen"] == "yes":
            if self.chosen_us is not None:
                return False
            self.chosen_us = us
        return True


def is_whole(text):
    return text.isascii() and text.isdigit() and len(text) <= 10


def is_time(text):
    try:
        return 1e-6 < float(text) < 1e12  # us
    except ValueError:
        return False


def fault_of(row):
    """What is wrong with a row, None if nothing is."""
    if None in row or None in row.values():
        return "has not as many cells as the header"
    if not is_whole(row["batch"]):
        return f"batch: '{row['batch']}' is no whole number"
    if not is_time(row["median_us"]):
        return f"median_us: '{row['median_us']}' is no time"
    if row["sm_clock_mhz"] and not is_whole(row["sm_clock_mhz"]):
        return f"sm_clock_mhz: '{row['sm_clock_mhz']}' is no whole number"
    if row["verified"] not in ("full", "sampled"):
        return f"verified: '{row['verified']}' is neither full nor sampled"
    if any(mark in row["name"] for mark in "|<>"):
        return f"name: '{row['name']}' would not fit into a table"
    return None


def rows_of(path):
    """The rows of a file that bench --csv wrote."""
    text = read_text(path)
    reader = csv.DictReader(io.StringIO(text), strict=True)
    try:
        rows = list(reader)
    except csv.Error as error:
        fail(f"{path}: {error}")
    for column in COLUMNS:
        if column not in (reader.fieldnames or []):
            fail(f"{path}: the header has no column '{column}'")
    for line, row in enumerate(rows, 2):
        fault = fault_of(row)
        if fault:
            fail(f"{path}:{line}: {fault}")
    if not text.endswith("\n"):
        fail(f"{path}: ends within a line")
    return rows


def read(paths):
    """{(network, batch): {layer name: Layer}}, the rows; hot caches only."""
    groups = collections.defaultdict(lambda: collections.defaultdict(Layer))
    rows = []
    for path in paths:
        for row in rows_of(path):
            if row["cache"] != "hot":
                continue
            network = row["name"].partition(":")[0]
            if not groups[network, int(row["batch"])][row["name"]].add(row):
                fail(f"{path}: {row['algorithm']} of {row['name']} at batch {row['batch']} is there"
                     " twice")
            rows.append(row)
    if not rows:
        fail("no measurements in " + " ".join(map(str, paths)))
    if len({is_of_gpu(row) for row in rows}) > 1:
        fail("measurements of a CPU and of a GPU together: " + " ".join(map(str, paths)))
    for (_, batch), layers in groups.items():
        for name, layer in layers.items():
            if layer.chosen_us is None:
                fail(f"{name} at batch {batch} has no time of csrconv's choice")
    return groups, rows


def is_of_gpu(row):
    return row["device"].startswith("cuda")


def verified(rows):
    """How the results were."""
    sampled = sum(row["verified"] == "sampled" for row in rows)
    if not sampled:
        return "every result verified"
    return f"every result verified, {sampled} of {len(rows)} by samples"


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def gains(layers, peer):
    """How many times faster csrconv's choice is than the peer, a layer each."""
    return [layer.peers_us[peer] / layer.chosen_us for layer in layers if peer in layer.peers_us]


def faster_than_all(layers):
    """On how many of the layers that an fp32 peer ran csrconv's choice beats every one of them."""
    both = [layer for layer in layers if layer.fp32_peers_us]
    fastest = sum(layer.chosen_us < min(layer.fp32_peers_us) for layer in both)
    return f"{fastest} of {len(both)}"


def peers_of(rows):
    return sorted({row["algorithm"] for row in rows if row["peer_version"]})


def summary(paths):
    groups, rows = read(paths)
    layers = [layer for group in groups.values() for layer in group.values()]
    means = [f"{geometric_mean(gains(layers, peer)):.2f}x over {peer}" for peer in peers_of(rows)]
    text = f"{len(layers)} layer runs, {verified(rows)}"
    if means:
        text += (f", csrconv {', '.join(means)} (geometric mean),"
                 f" the fastest on {faster_than_all(layers)}")
    return text


def every(rows, key):
    """The values of a column, each once."""
    return " or ".join(sorted({row[key] for row in rows if row[key]}))


def measured_on_cpu(rows):
    return (f"Measured on {every(rows, 'machine')}, {every(rows, 'threads')} threads,"
            f" commit {every(rows, 'commit')}: sums of medians, hot caches,"
            f" {verified(rows)}. A gain above 1 means that csrconv is faster: by the sums, and as"
            " geometric mean over the layers.")


def cpu_cells(layers, peer):
    """The peer's time, and the gain over it."""
    both = [layer for layer in layers if peer in layer.peers_us]
    if not both:
        return ["", ""]
    ours = sum(layer.chosen_us for layer in both)
    theirs = sum(layer.peers_us[peer] for layer in both)
    missing = f" ({len(both)} layers)" if len(both) < len(layers) else ""
    return [f"{theirs / 1e3:.2f}{missing}",
            f"{theirs / ours:.2f}, {geometric_mean(gains(both, peer)):.2f}"]


def measured_on_gpu(rows):
    clocks = sorted({int(row["sm_clock_mhz"]) for row in rows if row["sm_clock_mhz"]})
    clock = ", " + " to ".join(map(str, sorted({*clocks[:1], *clocks[-1:]}))) + " MHz" if clocks else ""
    return (f"Measured on {every(rows, 'machine')}{clock}, driver {every(rows, 'driver')},"
            f" commit {every(rows, 'commit')}: medians, hot caches, {verified(rows)}. How many"
            " times as fast csrconv is: the geometric mean over the layers, and in parentheses the"
            " least and the most.")


def gpu_cells(layers, peer):
    """The gain over the peer."""
    values = gains(layers, peer)
    if not values:
        return [""]
    missing = f", {len(values)} layers" if len(values) < len(layers) else ""
    return [f"{geometric_mean(values):.2f} ({min(values):.2f}-{max(values):.2f}{missing})"]


def table(paths):
    groups, rows = read(paths)
    peers = peers_of(rows)
    is_gpu = is_of_gpu(rows[0])
    head = ["network", "batch", "layers", "csrconv us" if is_gpu else "csrconv ms"]
    for peer in peers:
        head += [f"over {peer}"] if is_gpu else [f"{peer} ms", "gain"]
    head += ["fastest in fp32 on" if is_gpu else "csrconv fastest on"]
    lines = [measured_on_gpu(rows) if is_gpu else measured_on_cpu(rows), "",
             "| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for (network, batch), group in sorted(groups.items()):
        layers = list(group.values())
        us = sum(layer.chosen_us for layer in layers)
        cells = [network, str(batch), str(len(layers)),
                 f"{us:.4g}" if is_gpu else f"{us / 1e3:.2f}"]
        for peer in peers:
            cells += gpu_cells(layers, peer) if is_gpu else cpu_cells(layers, peer)
        cells.append(faster_than_all(layers))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def rendered(readme):
    text = read_text(readme)
    if not MARKERS.search(text):
        fail(f"{readme}: has no markers")

    def fill(match):
        try:
            paths = sorted(readme.parent.glob(match[2]))
        except (ValueError, NotImplementedError, IndexError) as error:
            fail(f"{readme}: {match[2]}: {error}")
        if not paths:
            fail(f"there is no {match[2]}")
        return match[1] + table(paths) + match[4]

    return text, MARKERS.sub(fill, text)


def settle(readme, is_check):
    """The table of a README: made that of its CSV, or compared."""
    before, after = rendered(readme)
    if not is_check:
        readme.write_text(after, encoding="utf-8")
    elif before != after:
        fail(f"the table of {readme.name} is not that of its CSV;"
             f" python3 tools/scripts/layer_table.py update {readme.name} renews it", 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("command", choices=("summary", "update", "check"))
    parser.add_argument("paths", nargs="+", type=pathlib.Path, metavar="FILE",
                        help="CSV files for a summary, otherwise one README")
    options = parser.parse_args()
    if options.command == "summary":
        print(summary(options.paths))
    elif len(options.paths) > 1:
        parser.error(f"{options.command} takes one README")
    else:
        settle(options.paths[0], options.command == "check")


if __name__ == "__main__":
    main()
