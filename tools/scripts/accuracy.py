#!/usr/bin/env python3
"""How many rows of logits have their largest number at the label.

usage: accuracy.py LOGITS.npy LABELS.npy

Both float32, as `csrconv run` writes them. Prints "354 of 360 right (98.3 %)".
"""
import argparse
import ast
import struct
import sys


def read(path):
    """The shape and the values, flat."""
    with open(path, "rb") as file:
        if file.read(8) != b"\x93NUMPY\x01\x00":
            sys.exit(f"{path}: not an npy file of version 1")
        length, = struct.unpack("<H", file.read(2))
        header = ast.literal_eval(file.read(length).decode())
        if header["descr"] != "<f4" or header["fortran_order"]:
            sys.exit(f"{path}: not float32 in C order")
        body = file.read()
    return header["shape"], struct.unpack(f"<{len(body) // 4}f", body)


def main(logits_path, labels_path):
    (count, classes), logits = read(logits_path)
    labels = read(labels_path)[1]
    if len(labels) != count:
        sys.exit(f"{labels_path}: {len(labels)} labels for {count} rows")
    rows = [logits[i * classes:(i + 1) * classes] for i in range(count)]
    right = sum(row.index(max(row)) == label for row, label in zip(rows, labels))
    print(f"{right} of {count} right ({100 * right / count:.1f} %)")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("logits", metavar="LOGITS.npy")
    parser.add_argument("labels", metavar="LABELS.npy")
    options = parser.parse_args()
    main(options.logits, options.labels)
