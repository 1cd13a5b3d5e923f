#!/usr/bin/env python3
"""Makes data/networks/*.csv from the collected layer table.

usage: make_networks.py LAYERS.csv OUTPUT_DIR

LAYERS.csv has every layer of every network in one table, networks told apart by the column net. What
is added to it here is architecture alone: the layers of MobileNetV1 that nobody prunes, ResNet-50
v1.5 as the changes to v1, and a textbook problem.
"""
import argparse
import csv
import os

RENAMED = {
    'alexnet_caffe': 'alexnet', 'googlenet_v1': 'googlenet', 'resnet50_caffe_v1': 'resnet50',
    'mobilenet_v1_1x1': 'mobilenet_v1', 'resnet50_v1.5_changed_layers': 'resnet50_v1_5',
}
HAN_SOURCE = ('Han et al. 2015 (arXiv 1506.02626; Deep Compression): weights kept '
              '84/38/35/37/37 %; sparsity = 1 - kept')
MOBILENET_SOURCE = 'shape: Howard et al. 2017 (arXiv 1704.04861), table 1'
TEXTBOOK_SOURCE = 'textbook problem without a published sparsity: 0.9 chosen'


def read_networks(path):
    networks = {}
    with open(path, newline='') as file:
        reader = csv.DictReader(file)
        for row in reader:
            row['net'] = RENAMED.get(row['net'], row['net'])
            networks.setdefault(row['net'], []).append(row)
        return reader.fieldnames, networks


def layer(net, name, batch, channels, size, filters, kernel, stride, pad, groups, source):
    return {'net': net, 'layer': name, 'N_default': batch, 'C': channels, 'H': size, 'W': size,
            'M': filters, 'R': kernel, 'S': kernel, 'stride_h': stride, 'stride_w': stride,
            'pad_h': pad, 'pad_w': pad, 'dil_h': 1, 'dil_w': 1, 'groups': groups, 'sparsity': '',
            'sparsity_source': source}


def complete_mobilenet(pointwise):
    """The first convolution, and before each 1x1 the depthwise 3x3 that feeds it."""
    size = 224
    layers = [layer('mobilenet_v1', 'conv1', 1, 3, size, 32, 3, 2, 1, 1, MOBILENET_SOURCE)]
    size //= 2
    for index, row in enumerate(pointwise):
        channels, after = int(row['C']), int(row['H'])
        layers.append(layer('mobilenet_v1', 'depthwise_3x3_%d' % index, 1, channels, size, channels,
                            3, size // after, 1, channels, MOBILENET_SOURCE))
        layers.append(row)
        size = after
    return layers


def change_resnet(version_1, changed):
    """ResNet-50 v1.5; the sparsities of v1 were not published for it."""
    changes = {row['layer']: row for row in changed}
    return [changes.get(row['layer']) or
            dict(row, net='resnet50_v1_5', sparsity='', sparsity_source='') for row in version_1]


def textbook():
    row = layer('tutorials', 'conv3x3_256x14x14_512', 256, 256, 14, 512, 3, 1, 1, 1,
                TEXTBOOK_SOURCE)
    row['sparsity'] = '0.9'
    return [row]


def main(source, target):
    columns, networks = read_networks(source)
    for row in networks['alexnet_han2015']:
        row['sparsity_source'] = HAN_SOURCE
    networks['mobilenet_v1'] = complete_mobilenet(networks['mobilenet_v1'])
    networks['resnet50_v1_5'] = change_resnet(networks['resnet50'], networks['resnet50_v1_5'])
    networks['tutorials'] = textbook()
    for name, rows in networks.items():
        with open(os.path.join(target, name + '.csv'), 'w', newline='') as file:
            writer = csv.DictWriter(file, columns, lineterminator='\n')
            writer.writeheader()
            writer.writerows(rows)


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('source', metavar='LAYERS.csv')
    parser.add_argument('target', metavar='OUTPUT_DIR')
    options = parser.parse_args()
    main(options.source, options.target)
