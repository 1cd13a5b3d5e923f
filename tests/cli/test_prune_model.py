"""prune of model files."""
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import support  # noqa: E402
from model_files import (FLOAT16, conv_model, graph, node, onnx, pack, part,  # noqa: E402
                         read_safetensors, safetensors, tensor, value_info)
from model_support import DIMS, INPUT, WEIGHTS, Models, smallest_zeroed  # noqa: E402


class Pruning(Models):
    def setUp(self):
        super().setUp()
        self.first = WEIGHTS
        self.second = [(i * 5 % 23 - 11) / 2 for i in range(64)]
        self.model = onnx(graph(
            [node("Conv", ["x", "w1", "b"], ["a"], "conv1", pads=[1, 1, 1, 1]),
             node("Relu", ["a"], ["r"]),
             node("Conv", ["r", "w2"], ["y"], "conv2")],
            [tensor("w1", DIMS, self.first, form="packed") + part(12, "a remark") +
             part(99, "unknown"), tensor("b", [4], [1, 2, 3, 4]),
             tensor("w2", [16, 4, 1, 1], self.second)],
            [value_info("x", INPUT)], [value_info("y")])) + part(77, "more that is unknown")
        self.write("m.onnx", self.model)

    def pruned(self, *options):
        self.prune("m.onnx", "p.onnx", *options)
        tensors = self.weights_of("p.onnx")
        return tensors["w1"], tensors["w2"]

    def test_nothing_else_changes(self):
        self.prune("m.onnx", "p.onnx", "--sparsity", 0)
        self.assertEqual(self.read("p.onnx"), self.model)
        self.prune("m.onnx", "p.onnx", "--sparsity", 0.75)
        want = self.model.replace(pack(self.first), pack(smallest_zeroed(self.first, 54)))
        want = want.replace(pack(self.second), pack(smallest_zeroed(self.second, 48)))
        self.assertEqual(self.read("p.onnx"), want)

    def test_each_layer(self):
        for sparsity in (0.1, 0.5, 0.9, 0.99):
            self.assertEqual(self.pruned("--sparsity", sparsity),
                             (smallest_zeroed(self.first, round(sparsity * 72)),
                              smallest_zeroed(self.second, round(sparsity * 64))))

    def test_all_layers_together(self):
        both = smallest_zeroed(self.first + self.second, round(0.6 * 136))
        self.assertEqual(self.pruned("--sparsity", 0.6, "--scope", "global"),
                         (both[:72], both[72:]))

    def test_exclusion(self):
        for name in ("conv1", "w1"):
            self.assertEqual(self.pruned("--sparsity", 0.5, "--exclude", name),
                             (self.first, smallest_zeroed(self.second, 32)))
        both = self.pruned("--sparsity", 0.5, "--scope", "global", "--exclude", "conv2")
        self.assertEqual(both, (smallest_zeroed(self.first, 36), self.second))
        arguments = ("prune", "--input", "m.onnx", "--output", "p.onnx", "--sparsity", 0.5)
        self.fail_with(2, "--exclude", "no convolution odd", *arguments, "--exclude", "w1,odd")
        self.fail_with(2, "m.onnx", "no convolution to prune", *arguments, "--exclude", "w1,w2")

    def test_random(self):
        first, second = self.pruned("--sparsity", 0.5, "--method", "random", "--seed", 3)
        self.assertEqual((first.count(0.0), second.count(0.0)), (36, 32))
        self.assertTrue(all(x in (0.0, y) for x, y in zip(first, self.first)))
        self.assertEqual((first, second),
                         self.pruned("--sparsity", 0.5, "--method", "random", "--seed", 3))
        self.assertNotEqual(first, self.pruned("--sparsity", 0.5, "--method", "random")[0])

    def test_n_of_m(self):
        first, second = self.pruned("--method", "nm:2:4")
        self.assertEqual(first, self.first)  # groups of two channels: both stay
        for m in range(16):
            row = self.second[4 * m:4 * m + 4]
            zeros = 2 - min(row.count(0.0), 2) + row.count(0.0)
            self.assertEqual(second[4 * m:4 * m + 4], smallest_zeroed(row, max(2, zeros - 2)))
        first, _ = self.pruned("--method", "nm:1:2")
        for m in range(4):
            for p in range(9):
                pair = [self.first[18 * m + 9 * c + p] for c in range(2)]
                self.assertEqual([first[18 * m + 9 * c + p] for c in range(2)],
                                 smallest_zeroed(pair, 1))
        self.fail_with(2, "--method", "no sparsity", "prune", "--input", "m.onnx", "--output", "p.onnx",
                       "--method", "nm:2:4", "--sparsity", 0.5)

    def test_kernels(self):
        first, second = self.pruned("--method", "kernel", "--sparsity", 0.5)
        kernels = [self.first[9 * i:9 * i + 9] for i in range(8)]
        order = sorted(range(8), key=lambda i: (sum(map(abs, kernels[i])), i))
        want = [[0.0] * 9 if i in order[:4] else kernels[i] for i in range(8)]
        self.assertEqual(first, [x for kernel in want for x in kernel])
        self.assertEqual(second, smallest_zeroed(self.second, 32))

    def test_vectors(self):
        first, _ = self.pruned("--method", "vector:2", "--sparsity", 0.5)
        blocks = [(m, k) for m in (0, 2) for k in range(18)]
        size = {b: abs(self.first[18 * b[0] + b[1]]) + abs(self.first[18 * b[0] + 18 + b[1]])
                for b in blocks}
        order = sorted(range(36), key=lambda i: (size[blocks[i]], i))
        want = list(self.first)
        for m, k in (blocks[i] for i in order[:18]):
            want[18 * m + k] = want[18 * m + 18 + k] = 0.0
        self.assertEqual(first, want)

    def test_blocks_of_a_single_layer(self):
        weights = [[[self.first[18 * m + 9 * c + 3 * r:18 * m + 9 * c + 3 * r + 3]
                     for r in range(3)] for c in range(2)] for m in range(4)]
        self.write("w.npy", support.npy(weights))
        self.succeed("prune", "--input", "w.npy", "--output", "p.npy", "--method", "kernel",
                     "--sparsity", 0.5)
        self.assertEqual(support.read_npy(self.read("p.npy"))[1],
                         self.pruned("--method", "kernel", "--sparsity", 0.5)[0])
        self.write("flat.npy", support.npy([[1.0, 2.0]]))
        self.fail_with(2, "flat.npy", "4-D", "prune", "--input", "flat.npy", "--output", "p.npy",
                       "--method", "nm:1:2")
        self.fail_with(2, "--exclude", "needs a model file", "prune", "--input", "w.npy", "--output",
                       "p.npy", "--sparsity", 0.5, "--exclude", "a")

    def test_nothing_of_any_size(self):
        """An empty array may have sizes that have no product."""
        self.write("w.npy", support.npy_header("<f4", (0, 1, 1 << 40, 1 << 40)))
        for method in (("nm:1:2",), ("kernel", "--sparsity", 0.5), ("vector:4", "--sparsity", 0.5)):
            self.succeed("prune", "--input", "w.npy", "--output", "p.npy", "--method", *method)
            self.assertEqual(self.read("p.npy"), self.read("w.npy"))

    def test_tables_of_sparsities(self):
        first, second = self.pruned("--sparsity", 0.7, "--scope", "global", "--sparsities-out",
                                    "s.csv")
        self.assertEqual(self.pruned("--layer-sparsity", "s.csv"), (first, second))
        self.write("one.csv", b"layer,sparsity\nw2,0.5\n")
        self.assertEqual(self.pruned("--layer-sparsity", "one.csv"),
                         (self.first, smallest_zeroed(self.second, 32)))
        self.assertEqual(self.pruned("--layer-sparsity", "one.csv", "--sparsity", 0.25),
                         (smallest_zeroed(self.first, 18), smallest_zeroed(self.second, 32)))
        arguments = ("prune", "--input", "m.onnx", "--output", "p.onnx", "--layer-sparsity")
        for table, where, what in (("layer,sparsity\nodd,0.5\n", "t.csv:2", "no convolution"),
                                   ("layer,sparsity\nw2,1\n", "t.csv:2", "0 <= P < 1"),
                                   ("layer,sparsity\nw2,x\n", "t.csv:2", ""),
                                   ("layer,sparsity\nw2,0\nconv2,0\n", "t.csv:3", "earlier row"),
                                   ("layer\nw2\n", "t.csv", "sparsity"), ("", "t.csv", "")):
            self.write("t.csv", table.encode())
            self.fail_with(2, where, what, *arguments, "t.csv")
        self.fail_with(2, "absent.csv", "No such file", *arguments, "absent.csv")

    def test_reports(self):
        self.prune("m.onnx", "p.onnx", "--sparsity", 0.5, "--report", "r.md,r.svg")
        report = self.read("r.md").decode()
        # 72 and 64 weights at 64 pixels: 0.009216 and 0.008192 million FLOP.
        self.assertRegex(report, r"\| conv1 \| \(4, 2, 3, 3\) \| 68 \| 36 \| 0\.5000 \| "
                                 r"\d+ / \d+ / \d+ \| 0 \| 0\.008704 \| 0\.004608 \|")
        self.assertIn("In all 68 of 136 weights are left", report)
        self.assertIn("0.01741 MFLOP dense", report)
        chart = self.read("r.svg").decode()
        self.assertIn("conv2", chart)
        self.assertTrue(chart.endswith("</svg>\n"))
        self.fail_with(2, "r.pdf", ".md or .svg", "prune", "--input", "m.onnx", "--output",
                       "p.onnx", "--sparsity", 0.5, "--report", "r.pdf")

    def test_outputs(self):
        arguments = ("prune", "--input", "m.onnx", "--sparsity", 0.5, "--output")
        self.fail_with(2, "p.npy", "ends in .onnx or .safetensors", *arguments, "p.npy")
        self.fail_with(2, "--csr", ".safetensors", *arguments, "p.onnx", "--csr")
        piped = self.succeed(*arguments, "-").stdout
        self.succeed(*arguments, "p.onnx")
        self.assertEqual(piped, self.read("p.onnx"))
        self.fail_with(2, "prune", "needs --sparsity", "prune", "--input", "m.onnx", "--output", "p.onnx")
        for twice in (("p.onnx", "--sparsities-out", "p.onnx"), ("-", "--sparsities-out", "-"),
                      ("p.onnx", "--report", "r.md,r.md"),
                      ("p.onnx", "--report", "r.md", "--sparsities-out", "r.md")):
            self.fail_with(2, "", "is asked for twice", *arguments, *twice)
        self.assertEqual(self.files(), ["m.onnx", "p.onnx"])

    def test_safetensors(self):
        tensors = {"w": ("F32", DIMS, pack(self.first)), "odd": ("NEW", [3], b"12345"),
                   "h": ("F16", [16, 4, 1, 1], pack(self.second, FLOAT16)),
                   "d": ("F64", [1, 2, 1, 1], struct.pack("<2d", 1 / 3, 1e-3))}
        self.write("m.safetensors", safetensors(tensors, {"format": "pt"}))
        self.prune("m.safetensors", "p.safetensors", "--sparsity", 0.5)
        got, metadata = read_safetensors(self.read("p.safetensors"))
        want = {**tensors, "w": ("F32", DIMS, pack(smallest_zeroed(self.first, 36))),
                "h": ("F16", [16, 4, 1, 1], pack(smallest_zeroed(self.second, 32), FLOAT16)),
                "d": ("F64", [1, 2, 1, 1], struct.pack("<2d", 1 / 3, 0))}
        self.assertEqual(got, want)
        self.assertEqual(metadata, {"format": "pt"})
        header = 8 + int.from_bytes(self.read("m.safetensors")[:8], "little")
        self.assertEqual(self.read("p.safetensors")[:header], self.read("m.safetensors")[:header])
        self.prune("m.safetensors", "c.safetensors", "--sparsity", 0.5, "--csr")
        self.prune("c.safetensors", "again.safetensors", "--sparsity", 0.5)
        self.assertEqual(self.read("c.safetensors"), self.read("again.safetensors"))
        self.assertEqual(read_safetensors(self.read("c.safetensors"))[0]["odd"], tensors["odd"])
        self.assertIn("69 nonzeros of 138", self.info("c.safetensors"))

    def test_names_that_clash_in_safetensors(self):
        self.write("m.onnx", conv_model([tensor("w", DIMS, WEIGHTS),
                                         tensor("w.indptr", [1], [1])], dims=INPUT))
        self.fail_with(3, "p.safetensors", "two of its tensors", "prune", "--input", "m.onnx",
                       "--output", "p.safetensors", "--sparsity", 0.5, "--csr")


if __name__ == "__main__":
    support.main()
