"""csrconv run with every option, against a convolution in pure Python."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import support  # noqa: E402
from support import convolve, flat, mtx, npy, read_npy, rows_of, smtx, whole_numbers, write_npz  # noqa: E402

X = whole_numbers((2, 4, 7, 6), 1)
W = whole_numbers((6, 4, 3, 2), 2, zeros=0.6)


class Run(support.Case):
    def setUp(self):
        super().setUp()
        self.write("x.npy", npy(X))
        self.write("w.npy", npy(W))

    def run_layer(self, *arguments, weights="w.npy"):
        self.succeed("run", "--weights", weights, "--input", "x.npy", "--output", "y.npy",
                     "--device", "cpu", *arguments)
        return read_npy(self.read("y.npy"))

    def assert_convolved(self, want, *arguments, **how):
        shape, values = self.run_layer(*arguments, **how)
        self.assertEqual(shape, want[0])
        self.assertEqual(values, want[1])

    def test_plain(self):
        done = self.succeed("run", "--weights", "w.npy", "--input", "x.npy", "--output", "y.npy")
        self.assertEqual(read_npy(self.read("y.npy")), convolve(X, W))
        self.assertEqual(done.stderr, "")
        self.assertRegex(done.stdout.decode(), r"^(cpu|cuda).*: \w+ \(.*\), \d+ nonzeros, output "
                                               r"2 x 6 x 5 x 5, ")

    def test_cache(self):
        want = convolve(X, W)
        self.assert_convolved(want, "--cache", "off")
        self.assert_convolved(want, "--cache", "here")
        self.assertFalse((self.folder / "here").exists())  # nothing on a CPU is compiled

    def test_stride(self):
        self.assert_convolved(convolve(X, W, stride=(2, 2)), "--stride", 2)
        self.assert_convolved(convolve(X, W, stride=(1, 3)), "--stride", "1,3")
        self.assert_convolved(convolve(X, W, stride=(2, 1)), "--stride=2,1")

    def test_padding(self):
        self.assert_convolved(convolve(X, W, pad=(1, 1, 1, 1)), "--pad", 1)
        self.assert_convolved(convolve(X, W, pad=(2, 1, 2, 1)), "--pad", "2,1")
        self.assert_convolved(convolve(X, W, pad=(0, 1, 2, 3)), "--pad", "0,1,2,3")

    def test_dilation(self):
        self.assert_convolved(convolve(X, W, dilation=(2, 2)), "--dilation", 2)
        self.assert_convolved(convolve(X, W, dilation=(1, 3)), "--dilation", "1,3")

    def test_groups(self):
        w = whole_numbers((6, 2, 3, 2), 3, zeros=0.5)
        self.write("g.npy", npy(w))
        self.assert_convolved(convolve(X, w, groups=2), "--groups", 2, weights="g.npy")

    def test_epilogue(self):
        bias = whole_numbers((6,), 4)
        residual = whole_numbers((2, 6, 5, 5), 5)
        self.write("b.npy", npy(bias))
        self.write("r.npy", npy(residual))
        self.assert_convolved(convolve(X, W, bias=bias), "--bias", "b.npy")
        self.assert_convolved(convolve(X, W, residual=flat(residual)), "--residual", "r.npy")
        self.assert_convolved(
            convolve(X, W, bias=bias, residual=flat(residual), activation=lambda v: max(v, 0.0)),
            "--bias", "b.npy", "--residual", "r.npy", "--activation", "relu")
        self.assert_convolved(convolve(X, W, activation=lambda v: min(max(v, -4.0), 3.5)),
                              "--activation", "clamp:-4,3.5")
        self.assert_convolved(convolve(X, W), "--activation", "none")

    def test_everything_at_once(self):
        w = whole_numbers((6, 2, 3, 2), 6, zeros=0.4)
        bias = whole_numbers((6,), 7)
        self.write("g.npy", npy(w))
        self.write("b.npy", npy(bias))
        want = convolve(X, w, stride=(2, 1), pad=(1, 0, 2, 3), dilation=(1, 2), groups=2,
                        bias=bias, activation=lambda v: max(v, 0.0))
        self.assert_convolved(want, "--stride", "2,1", "--pad", "1,0,2,3", "--dilation", "1,2",
                              "--groups", 2, "--bias", "b.npy", "--activation", "relu",
                              "--threads", 3, weights="g.npy")

    def test_algorithms_and_threads(self):
        want = convolve(X, W, pad=(1, 1, 1, 1))
        for algorithm in ("auto", "any", "direct", "openblas"):
            if algorithm == "openblas" and not self.has_algorithm(algorithm):
                continue
            for threads in (0, 1, 2, 5):
                self.assert_convolved(want, "--pad", 1, "--algo", algorithm, "--threads", threads)

    def test_weight_formats(self):
        kernel = ("--kernel", "4,3,2")
        self.write("w2.npy", npy(rows_of(W)))
        self.write("rsc.npy", npy(rows_of(W, "rsc")))
        self.write("w.mtx", mtx(rows_of(W)))
        self.write("rsc.mtx", mtx(rows_of(W, "rsc")))
        write_npz(self.folder / "w.npz", rows_of(W))
        for name in ("w2.npy", "w.mtx", "w.npz"):
            self.assert_convolved(convolve(X, W), *kernel, weights=name)
        for name in ("rsc.npy", "rsc.mtx"):
            self.assert_convolved(convolve(X, W), *kernel, "--order", "rsc", weights=name)

    def test_content_tells_the_format(self):
        self.write("w.smtx", mtx(rows_of(W)))
        self.assert_convolved(convolve(X, W), "--kernel", "4,3,2", weights="w.smtx")

    def test_patterns_get_values(self):
        ones = [[[[float(v != 0) for v in row] for row in plane] for plane in w] for w in W]
        self.write("w.smtx", smtx(rows_of(W)))
        arguments = ("--kernel", "4,3,2", "--values")
        self.assert_convolved(convolve(X, ones), *arguments, "ones", weights="w.smtx")
        first = self.run_layer(*arguments, "random:7", weights="w.smtx")
        self.assertEqual(first, self.run_layer(*arguments, "random:7", weights="w.smtx"))
        self.assertNotEqual(first, self.run_layer(*arguments, "random:8", weights="w.smtx"))

    def test_a_file_for_each_group(self):
        w = whole_numbers((6, 2, 3, 2), 8, zeros=0.5)
        self.write("1.mtx", mtx(rows_of(w[:3])))
        self.write("2.npy", npy(w[3:]))
        self.assert_convolved(convolve(X, w, groups=2), "--groups", 2, "--kernel", "2,3,2",
                              weights="1.mtx,2.npy")

    def test_conversions_are_told(self):
        self.write("d.npy", npy(X, "d"))
        done = self.succeed("run", "--weights", "w.npy", "--input", "d.npy", "--output", "y.npy")
        self.assertEqual(done.stderr, "d.npy: float64 converted to float32\n")
        self.assertEqual(read_npy(self.read("y.npy")), convolve(X, W))

    def test_pruned_weights_ignore_nan(self):
        x = [[[[float("nan")] * 4] * 4, [[2.0] * 4] * 4]]
        self.write("x.npy", npy(x))
        self.write("w.npy", npy([[[[0.0]], [[3.0]]]]))
        self.assertEqual(self.run_layer(), ((1, 1, 4, 4), [6.0] * 16))

    def test_no_nonzeros(self):
        self.write("w.npy", npy([[[[0.0]]] * 4] * 2))
        self.write("b.npy", npy([1.5, -2.0]))
        want = ((2, 2, 7, 6), ([1.5] * 42 + [0.0] * 42) * 2)
        self.assertEqual(self.run_layer("--bias", "b.npy", "--activation", "relu"), want)


class Prune(support.Case):
    def test_counts_and_formats(self):
        matrix = whole_numbers((10, 20), 9, zeros=0.1)
        self.write("m.npy", npy(matrix))
        for method in ("magnitude", "random"):
            for name in ("p.npy", "p.npz", "p.mtx"):
                self.succeed("prune", "--input", "m.npy", "--output", name, "--sparsity", 0.645,
                             "--method", method, "--seed", 3)
                text = self.succeed("info", name).stdout.decode()
                self.assertIn("71", text, text)  # 200 - round(0.645 * 200) nonzeros
        self.succeed("prune", "--input", "m.npy", "--output", "q.npy", "--sparsity", 0.5)
        self.assertEqual(sum(v == 0 for v in read_npy(self.read("q.npy"))[1]), 100)

    def test_the_smallest_go_and_ties_by_index(self):
        self.write("m.npy", npy([[3.0, -1.0, 1.0], [1.0, -2.0, 5.0]]))
        done = self.succeed("prune", "--input", "m.npy", "--output", "-", "--sparsity", 0.34)
        self.assertEqual(read_npy(done.stdout), ((2, 3), [3.0, 0.0, 0.0, 1.0, -2.0, 5.0]))

    def test_seeds(self):
        self.write("m.npy", npy(whole_numbers((20, 20), 1)))
        outputs = [self.succeed("prune", "--input", "m.npy", "--output", "-", "--sparsity", 0.5,
                                "--method", "random", "--seed", seed).stdout
                   for seed in (1, 1, 2)]
        self.assertEqual(outputs[0], outputs[1])
        self.assertNotEqual(outputs[0], outputs[2])

    def test_refusals(self):
        self.write("m.npy", npy([[1.0, 2.0]]))
        for sparsity in (1, 1.5, -0.1, "nan", "x", ""):
            self.fail_with(2, "--sparsity", "", "prune", "--input", "m.npy", "--output", "o.npy",
                           "--sparsity", sparsity)
        self.fail_with(2, "o.smtx", "", "prune", "--input", "m.npy", "--output", "o.smtx",
                       "--sparsity", 0.5)
        self.fail_with(2, "--method", "best", "prune", "--input", "m.npy", "--output", "o.npy",
                       "--sparsity", 0.5, "--method", "best")
        self.fail_with(2, "prune", "needs", "prune", "--input", "m.npy")
        self.assertEqual(self.files(), ["m.npy"])


if __name__ == "__main__":
    support.main()
