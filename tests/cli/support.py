"""What the tests of the command line share: files in pure Python, and a convolution to compare with.

Each test file is run as `FILE.py CSRCONV`.
"""
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile

CSRCONV = None
TIMEOUT = 120

# A sanitizer's remark on an allocation that the program asks for and does without.
SANITIZER_NOTE = re.compile(r"WARNING: \w+Sanitizer failed to allocate")


def main():
    """Runs the test file that was started, with the path of the program as its argument."""
    global CSRCONV
    CSRCONV = str(pathlib.Path(sys.argv.pop(1)).resolve())
    sys.modules["support"].CSRCONV = CSRCONV
    unittest.main()


# ------------------------------------------------------------------------------- files

def flat(nested):
    return [x for item in nested for x in flat(item)] if isinstance(nested, list) else [nested]


def shape_of(nested):
    return (len(nested), *shape_of(nested[0])) if isinstance(nested, list) else ()


def npy(nested, code="f", shape=None):
    """An npy file of a nested list: code f (float32), d (float64), i (int32), q (int64)."""
    kind = {"f": "<f4", "d": "<f8", "i": "<i4", "q": "<i8"}[code]
    values = flat(nested)
    return npy_header(kind, shape or shape_of(nested)) + struct.pack(f"<{len(values)}{code}",
                                                                     *values)


def npy_header(kind, shape):
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def read_npy(data):
    """(shape, flat list) of a float32 npy file."""
    assert data[:8] == b"\x93NUMPY\x01\x00", data[:8]
    length, = struct.unpack("<H", data[8:10])
    header = eval(data[10:10 + length], {"__builtins__": {}})
    assert header["descr"] == "<f4" and not header["fortran_order"], header
    body = data[10 + length:]
    return header["shape"], list(struct.unpack(f"<{len(body) // 4}f", body))


def csr(matrix):
    """(indptr, indices, values) of a list of rows."""
    indptr, indices, values = [0], [], []
    for row in matrix:
        indices += [k for k, x in enumerate(row) if x]
        values += [x for x in row if x]
        indptr.append(len(indices))
    return indptr, indices, values


def smtx(matrix):
    indptr, indices, _ = csr(matrix)
    lines = (f"{len(matrix)}, {len(matrix[0])}, {len(indices)}", " ".join(map(str, indptr)),
             " ".join(map(str, indices)))
    return ("\n".join(lines) + "\n").encode()


def mtx(matrix):
    entries = [(i + 1, k + 1, x) for i, row in enumerate(matrix) for k, x in enumerate(row) if x]
    lines = ["%%MatrixMarket matrix coordinate real general",
             f"{len(matrix)} {len(matrix[0])} {len(entries)}"]
    return "\n".join(lines + [f"{i} {k} {x!r}" for i, k, x in entries] + [""]).encode()


def write_npz(path, matrix):
    indptr, indices, values = csr(matrix)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("indices.npy", npy(indices, "i"))
        archive.writestr("indptr.npy", npy(indptr, "i"))
        archive.writestr("format.npy", npy_header("|S3", ()) + b"csr")
        archive.writestr("shape.npy", npy([len(matrix), len(matrix[0])], "q"))
        archive.writestr("data.npy", npy(values))


# ----------------------------------------------------------------------- a convolution

def whole_numbers(shape, seed, zeros=0.0):
    """A nested list of small whole numbers, so that every sum is exact in float32."""
    numbers = random.Random(seed)

    def level(sizes):
        if sizes:
            return [level(sizes[1:]) for _ in range(sizes[0])]
        return 0.0 if numbers.random() < zeros else float(numbers.choice((-3, -2, -1, 1, 2, 3)))

    return level(list(shape))


def rows_of(weights, order="crs"):
    """OIHW as a matrix, in one of the orders of columns."""
    if order == "crs":
        return [flat(w) for w in weights]
    return [[w[c][r][s] for r in range(len(w[0])) for s in range(len(w[0][0]))
             for c in range(len(w))] for w in weights]


def convolve(x, w, stride=(1, 1), pad=(0, 0, 0, 0), dilation=(1, 1), groups=1, bias=None,
             residual=None, activation=lambda value: value):
    """(shape, flat list) of the output, by seven loops."""
    top, left, bottom, right = pad
    height, width = len(x[0][0]), len(x[0][0][0])
    m, c, kernel_h, kernel_w = shape_of(w)
    rows = (height + top + bottom - dilation[0] * (kernel_h - 1) - 1) // stride[0] + 1
    columns = (width + left + right - dilation[1] * (kernel_w - 1) - 1) // stride[1] + 1
    out = []

    def pixel(image, filter_, first, y, z):
        total = 0.0
        for k in range(c):
            for r in range(kernel_h):
                for s in range(kernel_w):
                    i = y * stride[0] + r * dilation[0] - top
                    j = z * stride[1] + s * dilation[1] - left
                    if 0 <= i < height and 0 <= j < width:
                        total += filter_[k][r][s] * image[first + k][i][j]
        return total

    for image in x:
        for f in range(m):
            for y in range(rows):
                for z in range(columns):
                    value = pixel(image, w[f], f // (m // groups) * c, y, z)
                    value += bias[f] if bias else 0.0
                    value += residual[len(out)] if residual else 0.0
                    out.append(activation(value))
    return (len(x), m, rows, columns), out


# -------------------------------------------------------------------------- test cases

class Case(unittest.TestCase):
    """A test in an empty folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="csrconv-cli-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, data):
        (self.folder / name).write_bytes(data)
        return name

    def read(self, name):
        return (self.folder / name).read_bytes()

    def files(self):
        return sorted(os.listdir(self.folder))

    def csrconv(self, *arguments, **how):
        """Runs the program in the folder; the result has bytes in stdout and text in stderr."""
        how.setdefault("stdout", subprocess.PIPE)
        done = subprocess.run([CSRCONV, *map(str, arguments)], cwd=self.folder,
                              stderr=subprocess.PIPE, timeout=TIMEOUT, check=False, **how)
        lines = done.stderr.decode(errors="replace").splitlines(keepends=True)
        done.stderr = "".join(line for line in lines if not SANITIZER_NOTE.search(line))
        return done

    def succeed(self, *arguments, **how):
        done = self.csrconv(*arguments, **how)
        self.assertEqual(done.returncode, 0, (arguments, done.stderr))
        return done

    def fail_with(self, code, where, what, *arguments, **how):
        """It must exit with the code and one line, the last, `csrconv: WHERE: ... WHAT ...`."""
        done = self.csrconv(*arguments, **how)
        self.assertEqual(done.returncode, code, (arguments, done.stderr))
        *told, last, end = done.stderr.split("\n")
        self.assertEqual(end, "", done.stderr)
        self.assertTrue(last.startswith(f"csrconv: {where}"), done.stderr)
        self.assertIn(what, last)
        for line in told:  # what bench tells of what it does
            self.assertRegex(line, r"\A(device|warning): ", done.stderr)
        return done

    def has_algorithm(self, name):
        listed = self.succeed("info", "--algos").stdout.decode().splitlines()
        return any(line.split()[:1] == [name] for line in listed)

    def has_cuda(self):
        return "not usable" not in self.succeed("info", "--devices").stdout.decode()
