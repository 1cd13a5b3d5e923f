"""Real pruned weights through `csrconv run`, against a convolution of numpy's in float64.

usage: real_weights.py CSRCONV DATA_FOLDER
"""
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import scipy.io
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

ROUNDING_UNIT = 2.0 ** -24


def convolve(x, w, stride, pad, groups):
    """Over the taps of the kernel: (N, C, H, W) by (M, C / groups, R, S), everything in float64."""
    n, _, height, width = x.shape
    m, c, r, s = w.shape
    padded = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    rows, columns = ((size + 2 * pad - k) // stride + 1 for size, k in ((height, r), (width, s)))
    y = np.zeros((n, m, rows, columns))
    for g in range(groups):
        filters, channels = slice(g * m // groups, (g + 1) * m // groups), slice(g * c, g * c + c)
        for i in range(r):
            for j in range(s):
                window = padded[:, channels, i:i + stride * rows:stride,
                                j:j + stride * columns:stride][:, :, :rows, :columns]
                y[:, filters] += np.einsum("mc,nchw->nmhw", w[filters, :, i, j], window)
    return y


class Case:
    """A layer: its files and flags, and its weights as dense OIHW."""

    def __init__(self, name, files, dense, size, flags=(), stride=1, pad=0, groups=1):
        self.name, self.files, self.flags = name, files, list(flags)
        self.dense = dense.astype("f8")
        self.size, self.stride, self.pad, self.groups = size, stride, pad, groups

    def check(self, csrconv, folder, algorithm):
        """The largest error as a fraction of its bound."""
        random = np.random.default_rng(1)
        m, c = self.dense.shape[:2]
        x = random.standard_normal((2, c * self.groups, self.size, self.size)).astype("f4")
        bias = random.standard_normal(m).astype("f4")
        np.save(folder / "x.npy", x)
        np.save(folder / "b.npy", bias)
        subprocess.run(
            [csrconv, "run", "--weights", ",".join(map(str, self.files)), *self.flags,
             "--input", folder / "x.npy", "--bias", folder / "b.npy", "--output", folder / "y.npy",
             "--stride", str(self.stride), "--pad", str(self.pad), "--groups", str(self.groups),
             "--device", "cpu", "--algo", algorithm], check=True, stdout=subprocess.PIPE)
        got = np.load(folder / "y.npy").astype("f8")
        shape = (self.stride, self.pad, self.groups)
        column = bias.astype("f8")[None, :, None, None]
        want = convolve(x.astype("f8"), self.dense, *shape) + column
        size = convolve(abs(x.astype("f8")), abs(self.dense), *shape) + abs(column)
        nonzeros = (self.dense != 0).sum(axis=(1, 2, 3))[None, :, None, None]
        assert got.shape == want.shape, (got.shape, want.shape)
        return (abs(got - want) / (4 * (nonzeros + 2) * ROUNDING_UNIT * size)).max()


def alexnet(data):
    folder = data / "pruned_weights" / "alexnet_skimcaffe"

    def dense(name, c, k):
        matrix = scipy.io.mmread(folder / name).toarray().astype("f4")
        return matrix.reshape(-1, c, k, k)

    conv2 = [f"alexnet_0.56256_l1_conv2_{g}.coo" for g in (1, 2)]
    conv3 = "alexnet_0.56256_l1_conv3.coo"
    yield Case("alexnet conv3", [folder / conv3], dense(conv3, 256, 3), 13,
               ["--kernel", "256,3,3"], pad=1)
    yield Case("alexnet conv2, a file for each group", [folder / name for name in conv2],
               np.concatenate([dense(name, 48, 5) for name in conv2]), 27,
               ["--kernel", "48,5,5"], pad=2, groups=2)


def resnet50(data):
    for path in sorted((data / "pruned_weights" / "resnet50_3x3_90").glob("*.npy")):
        matrix = np.load(path)
        c = matrix.shape[1] // 9
        yield Case(f"resnet50 {path.stem}", [path], matrix.reshape(-1, c, 3, 3), 7,
                   ["--kernel", f"{c},3,3"], pad=1)


def dlmc(data):
    """Patterns in the order (r, s, c), as ones."""
    layers = {  # method / sparsity / layer: kernel, stride, padding, input size
        "magnitude_pruning/0.98/initial_conv": (7, 2, 3, 56),
        "magnitude_pruning/0.98/bottleneck_2_block_group1_1_1": (3, 1, 1, 14),
        "random_pruning/0.98/bottleneck_2_block_group4_2_1": (3, 1, 1, 7),
    }
    for name, (k, stride, pad, size) in layers.items():
        path = data / "dlmc_resnet50" / "rn50" / f"{name}.smtx"
        head, indptr, indices = path.read_text().splitlines()[:3]
        rows, columns, _ = map(int, head.split(","))
        offsets, matrix = list(map(int, indptr.split())), np.zeros((rows, columns), "f4")
        places = np.array(indices.split(), "i8")
        for row in range(rows):
            matrix[row, places[offsets[row]:offsets[row + 1]]] = 1
        c = columns // (k * k)
        yield Case(name, [path], matrix.reshape(rows, k, k, c).transpose(0, 3, 1, 2), size,
                   ["--kernel", f"{c},{k},{k}", "--order", "rsc", "--values", "ones"],
                   stride=stride, pad=pad)


def main(csrconv, data):
    data = pathlib.Path(data)
    if not (data / "pruned_weights").is_dir():
        print("skipped: ../shared/data not present")
        return 77
    failed = passed = 0
    with tempfile.TemporaryDirectory() as folder:
        for source in (alexnet, resnet50, dlmc):
            for case in source(data):
                for algorithm in ("auto", "direct"):
                    error = case.check(csrconv, pathlib.Path(folder), algorithm)
                    right = error <= 1
                    passed, failed = passed + right, failed + (not right)
                    print(f"{'ok' if right else 'FAILED'} {case.name}, {algorithm}: "
                          f"largest error {error:.3f} of the bound", flush=True)
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0 or passed < 16)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
