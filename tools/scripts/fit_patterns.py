#!/usr/bin/env python3
"""How uneven real pruned layers are: the numbers behind tools/problem/pattern.c.

usage: fit_patterns.py DLMC_DIR

DLMC_DIR holds rn50_stats.csv (statistics of every ResNet-50 matrix of the Deep Learning Matrix
Collection) and manifest.csv with the .smtx patterns that it lists. Prints the tables of
docs/patterns.md.

Model: |w| is exponential with a scale that is a product of independent factors of mean 1 (of the
filter, of the input channel, of the single R x S kernel), and the smallest |w| are pruned. A weight
of scale f survives the threshold t with probability exp(-t / f), and exp(-t) is the density, so a
factor of relative spread v makes densities with a relative spread of about v * t. Hence
v = excess / t, where excess is the spread of the counts beyond that of independent draws.
"""
import argparse
import csv
import math
import os
import statistics

METHODS = ('magnitude_pruning', 'extended_magnitude_pruning')


def kernel_of(name):
    layer = os.path.basename(name)
    if layer.startswith('initial') or layer.startswith('final'):
        return None
    return '3x3' if layer.startswith('bottleneck_2') else '1x1'


def excess(mean, deviation, count, density):
    """Relative spread of counts out of `count` beyond the binomial one; squared."""
    return (deviation / mean) ** 2 - (1 - density) / (count * density)


def spread(square, density):
    return math.sqrt(max(square, 0.0)) / -math.log(density)


def fit_statistics(path):
    groups = {}
    for row in csv.DictReader(open(path, newline='')):
        method, level = row['name'].split('/')[1:3]
        kernel = kernel_of(row['name'])
        density = 1 - float(row['sparsity'])
        if method not in METHODS or kernel is None:
            continue
        rows = excess(float(row['mean_nnz_per_row']), float(row['std_nnz_per_row']),
                      int(row['ncols']), density)
        columns = excess(float(row['mean_nnz_per_col']), float(row['std_nnz_per_col']),
                         int(row['nrows']), density)
        groups.setdefault((kernel, level), []).append(
            (float(row['std_nnz_per_row']) / float(row['mean_nnz_per_row']),
             spread(rows, density), spread(columns, density)))
    print('| kernel | sparsity | layers | nnz per row, deviation / mean: 10 %, median, 90 % '
          '| filter spread | column spread |')
    print('|---|---|---|---|---|---|')
    for (kernel, level), values in sorted(groups.items()):
        ratio = sorted(value[0] for value in values)
        tenth = [ratio[round(q * (len(ratio) - 1))] for q in (0.1, 0.5, 0.9)]
        print('| %s | %s | %d | %.2f, %.2f, %.2f | %.3f | %.3f |' % (
            kernel, level, len(values), *tenth,
            statistics.median(value[1] for value in values),
            statistics.median(value[2] for value in values)))
    for kernel in ('1x1', '3x3'):
        every = [value for key, values in groups.items() if key[0] == kernel for value in values]
        print('%s: filter spread %.3f, column spread %.3f (medians of %d matrices)' % (
            kernel, statistics.median(value[1] for value in every),
            statistics.median(value[2] for value in every), len(every)))


def read_pattern(path, filters, channels, area):
    """Counts nonzeros per filter, per channel, per position, per (filter, channel) kernel."""
    with open(path) as file:
        file.readline()
        offsets = [int(word) for word in file.readline().split()]
        columns = [int(word) for word in file.readline().split()]
    kernels = [[0] * channels for _ in range(filters)]
    positions = [0] * area
    for filter_ in range(filters):
        for column in columns[offsets[filter_]:offsets[filter_ + 1]]:
            kernels[filter_][column % channels] += 1
            positions[column // channels] += 1
    return kernels, positions


def square_spread(counts, trials, density):
    mean = statistics.fmean(counts)
    return excess(mean, statistics.pstdev(counts), trials, density)


def fit_kernels(directory):
    print('\n| pattern | sparsity | filter | channel | kernel | positions: least, most / mean '
          '| empty kernels | if independent | empty rows |')
    print('|---|---|---|---|---|---|---|---|---|')
    found = []
    for entry in csv.DictReader(open(os.path.join(directory, 'manifest.csv'), newline='')):
        filters, channels = int(entry['out_ch']), int(entry['in_ch'])
        area = int(entry['kh']) * int(entry['kw'])
        method, name = entry['file'].split('/')[1:3], kernel_of(entry['file'])
        if method[0] not in METHODS or name is None:
            continue
        kernels, positions = read_pattern(os.path.join(directory, entry['file']), filters,
                                          channels, area)
        total = sum(positions)
        density = total / (filters * channels * area)
        row = square_spread([sum(line) for line in kernels], channels * area, density)
        channel = square_spread([sum(line[c] for line in kernels) for c in range(channels)],
                                filters * area, density)
        flat = [count for line in kernels for count in line]
        if area > 1:
            pairs = statistics.fmean(n * (n - 1) for n in flat) / (area * (area - 1))
            single = pairs / density ** 2 - 1 - row - channel
        else:
            single = 0.0
        spreads = [spread(square, density) for square in (row, channel, single)]
        found.append((area, spreads))
        print('| %s %s | %.3f | %.3f | %.3f | %.3f | %.2f, %.2f | %.3f | %.3f | %d of %d |' % (
            method[0].replace('_pruning', ''), entry['layer'], 1 - density, *spreads,
            min(positions) * area / total, max(positions) * area / total,
            flat.count(0) / len(flat), (1 - density) ** area,
            sum(not any(line) for line in kernels), filters))
    for area in (1, 9):
        print('%d weights per kernel: medians of filter, channel, kernel spread: %s' % (
            area, ', '.join('%.3f' % statistics.median(s[i] for a, s in found if a == area)
                            for i in range(3))))


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('folder', metavar='DLMC_DIR')
    options = parser.parse_args()
    fit_statistics(os.path.join(options.folder, 'rn50_stats.csv'))
    fit_kernels(options.folder)
