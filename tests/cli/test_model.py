"""info, prune and bench of model files, and files that lie."""
import pathlib
import re
import resource
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import support  # noqa: E402
from model_files import (BFLOAT16, DOUBLE, FLOAT, FLOAT16, INT64, conv_model, external,  # noqa: E402
                         graph, node, onnx, pack, part, number, raw_safetensors, read_safetensors,
                         safetensors, sparse, tensor, value_info)

DIMS = [4, 2, 3, 3]
WEIGHTS = [(i * 7 % 19 - 9) / 4 for i in range(72)]  # four zeros, exact in every type
INPUT = (1, 2, 8, 8)
MNIST = (pathlib.Path(__file__).parents[3] / "shared" / "data" / "models" / "onnx-small" /
         "opt-mnist.onnx")


def smallest_zeroed(values, zeros):
    """Of equal ones the first go."""
    order = sorted(range(len(values)), key=lambda i: (abs(values[i]), i))
    gone = set(order[:zeros])
    return [0.0 if i in gone else x for i, x in enumerate(values)]


class Models(support.Case):
    def info(self, name, *more):
        return self.succeed("info", name, *more).stdout.decode()

    def problem(self, name, *more):
        """The problem of the only convolution."""
        row = [line for line in self.info(name, *more).splitlines() if line.startswith("  ")][1]
        return row.split("  ")[-1].strip()

    def prune(self, source, output, *more):
        return self.succeed("prune", "--input", source, "--output", output, *more)

    def weights_of(self, name):
        """Every tensor of the file, through a dense safetensors copy, as lists of floats."""
        self.prune(name, "copy.safetensors", "--sparsity", 0)
        tensors, _ = read_safetensors(self.read("copy.safetensors"))
        code = {"F32": "f", "F64": "d", "F16": "e", "I64": "q"}
        return {key: list(struct.unpack(f"<{len(data) // struct.calcsize(code[dtype])}"
                                        f"{code[dtype]}", data))
                for key, (dtype, _, data) in tensors.items() if dtype in code}


class Reading(Models):
    def test_every_kind_of_data(self):
        for kind in (FLOAT, FLOAT16, BFLOAT16, DOUBLE):
            for form in ("raw", "packed", "loose"):
                self.write("m.onnx", conv_model([tensor("w", DIMS, WEIGHTS, kind, form)],
                                                dims=INPUT))
                shown = self.info("m.onnx")
                self.assertIn(f"{sum(x != 0 for x in WEIGHTS)} nonzeros of 72", shown)
                if kind != BFLOAT16:
                    self.assertEqual(self.weights_of("m.onnx")["w"], WEIGHTS, (kind, form))

    def test_sparse_initializers(self):
        places = [5, 17, 70]
        indices = [(p // 18, p // 9 % 2, p // 3 % 3, p % 3) for p in places]
        want = [0.0] * 72
        for place, value in zip(places, (1.5, -2, 3)):
            want[place] = value
        for linear in (True, False):
            self.write("m.onnx", conv_model(sparses=[
                sparse("w", DIMS, places if linear else indices, [1.5, -2, 3], linear=linear)],
                dims=INPUT))
            self.assertIn("3 nonzeros of 72", self.info("m.onnx"))
            self.prune("m.onnx", "p.onnx", "--sparsity", 70 / 72)
            self.assertIn("2 nonzeros of 72", self.info("p.onnx"))
            self.prune("m.onnx", "m.safetensors", "--sparsity", 0, "--csr")
            tensors, metadata = read_safetensors(self.read("m.safetensors"))
            self.assertEqual(metadata, {"w.shape": "4,2,3,3"})
            self.assertEqual(struct.unpack("<5q", tensors["w.indptr"][2]), (0, 2, 2, 2, 3))
            self.assertEqual(struct.unpack("<3i", tensors["w.indices"][2]), (5, 17, 16))
            self.assertEqual(struct.unpack("<3f", tensors["w.values"][2]), (1.5, -2, 3))

    def test_external_data(self):
        self.write("w.bin", b"head" + pack(WEIGHTS))
        (self.folder / "more").mkdir()
        self.write("more/w.bin", pack(WEIGHTS))
        for location, offset, length in (("w.bin", 4, 288), ("w.bin", 4, None),
                                         ("more/w.bin", None, None), ("./more//w.bin", 0, 288)):
            self.write("m.onnx", conv_model([external("w", DIMS, FLOAT, location, offset, length)],
                                            dims=INPUT))
            self.assertEqual(self.weights_of("m.onnx")["w"], WEIGHTS)
        self.prune("m.onnx", "more/p.onnx", "--sparsity", 0.5)  # needs the other file no more
        (self.folder / "more" / "w.bin").unlink()
        self.assertEqual(self.weights_of("more/p.onnx")["w"], smallest_zeroed(WEIGHTS, 36))

    def test_external_data_elsewhere(self):
        self.write("secret.bin", pack(WEIGHTS))
        (self.folder / "in").mkdir()
        (self.folder / "in" / "link.bin").symlink_to("../secret.bin")
        (self.folder / "in" / "up").symlink_to("..")
        cases = (("../secret.bin", "outside of the model's folder"),
                 (str(self.folder / "secret.bin"), "outside of the model's folder"),
                 ("a/../../secret.bin", "outside of the model's folder"),
                 ("link.bin", "symbolic link"), ("up/secret.bin", ""), ("absent.bin", "No such"),
                 (".", "no regular file"), ("", "outside"))
        for location, what in cases:
            self.write("in/m.onnx", conv_model([external("w", DIMS, FLOAT, location)], dims=INPUT))
            self.fail_with(2, "in/m.onnx: its external data in", what, "info", "in/m.onnx")
        self.write("in/short.bin", b"1234")
        self.write("in/m.onnx", conv_model([external("w", DIMS, FLOAT, "short.bin", 2, 288)]))
        self.fail_with(2, "in/m.onnx", "beyond the end of short.bin", "info", "in/m.onnx")

    def test_a_safetensors_csr(self):
        parts = {"w.indptr": ("I32", [3], struct.pack("<3i", 0, 1, 3)),
                 "w.indices": ("I64", [3], struct.pack("<3q", 4, 0, 8)),
                 "w.values": ("F16", [3], struct.pack("<3e", 1, 2, 3))}
        self.write("m.safetensors", safetensors(parts, {"w.shape": "2,1,3,3", "format": "pt"}))
        shown = self.info("m.safetensors")
        self.assertIn("1 tensors of 18 elements", shown)
        self.assertIn("3 nonzeros of 18", shown)
        self.prune("m.safetensors", "same.safetensors", "--sparsity", 0.8)
        self.assertEqual(self.read("m.safetensors"), self.read("same.safetensors"))
        self.prune("m.safetensors", "p.safetensors", "--sparsity", 16 / 18)
        tensors, metadata = read_safetensors(self.read("p.safetensors"))
        self.assertEqual(metadata, {"w.shape": "2,1,3,3", "format": "pt"})
        self.assertEqual(struct.unpack("<3q", tensors["w.indptr"][2]), (0, 0, 2))
        self.assertEqual(struct.unpack("<2i", tensors["w.indices"][2]), (0, 8))
        self.assertEqual(struct.unpack("<2e", tensors["w.values"][2]), (2, 3))


class Shapes(Models):
    def write_conv(self, dims=INPUT, weights=None, shape=DIMS, **attributes):
        weights = weights or [1.0] * (shape[0] * shape[1] * shape[2] * shape[3])
        self.write("m.onnx", conv_model([tensor("w", shape, weights)], dims=dims, **attributes))

    def test_padding(self):
        for attributes, problem in (
                ({}, "mb1ic2ih8oc4oh6kh3ph0"),
                ({"auto_pad": "VALID"}, "mb1ic2ih8oc4oh6kh3ph0"),
                ({"auto_pad": "NOTSET", "pads": [1, 1, 1, 1]}, "mb1ic2ih8oc4oh8kh3ph1"),
                ({"pads": [0, 1, 2, 3]}, "mb1ic2ih8iw8oc4oh8ow10kh3kw3ph0pw1"),
                ({"auto_pad": "SAME_UPPER"}, "mb1ic2ih8oc4oh8kh3ph1"),
                ({"auto_pad": "SAME_UPPER", "strides": [2, 2]}, "mb1ic2ih8oc4oh4kh3sh2ph0"),
                ({"auto_pad": "SAME_LOWER", "strides": [2, 2]}, "mb1ic2ih8oc4oh4kh3sh2ph1"),
                ({"dilations": [2, 2], "kernel_shape": [3, 3]}, "mb1ic2ih8oc4oh4kh3ph0dh1"),
                ({"strides": [3, 1]}, "mb1ic2ih8iw8oc4oh2ow6kh3kw3sh3sw1ph0pw0")):
            self.write_conv(**attributes)
            self.assertEqual(self.problem("m.onnx"), problem, attributes)

    def test_groups(self):
        self.write_conv(dims=(1, 6, 8, 8), shape=[6, 1, 3, 3], group=6)
        self.assertEqual(self.problem("m.onnx"), "g6mb1ic6ih8oc6oh6kh3ph0")

    def test_bad_attributes(self):
        for attributes, what in (({"strides": [0, 1]}, "strides has 0"),
                                 ({"strides": [1]}, "strides has 1 numbers, not 2"),
                                 ({"dilations": [1, 0]}, "dilations has 0"),
                                 ({"pads": [0, 0, -1, 0]}, "pads has -1"),
                                 ({"pads": [1 << 40] * 4}, "pads has"),
                                 ({"kernel_shape": [5, 3]}, "not that of its weights"),
                                 ({"auto_pad": "ODD"}, "auto_pad"),
                                 ({"group": 0}, "groups"), ({"group": 3}, "groups"),
                                 ({"dilations": [5, 5]}, "larger than the padded image")):
            self.write_conv(**attributes)
            self.fail_with(2, "m.onnx: node conv (Conv): ", what, "info", "m.onnx")

    def chain(self, nodes, tensors=(), dims=INPUT):
        """A convolution behind other nodes, from x to z."""
        last = node("Conv", ["z", "w"], ["y"], "last")
        self.write("m.onnx", onnx(graph([*nodes, last],
                                        [tensor("w", [1, 2, 1, 1], [1, 2]), *tensors],
                                        [value_info("x", dims)], [value_info("y")])))
        return re.search(r"ih(\d+)(?:iw(\d+))?", self.problem("m.onnx")).groups()

    def test_operators_before(self):
        def ints(name, *values):
            return tensor(name, [len(values)], values, INT64)

        same = [node("Relu", ["x"], ["a"]), node("LeakyRelu", ["a"], ["b"], alpha=0.1),
                node("Clip", ["b"], ["c"]), node("Dropout", ["c"], ["d", "mask"]),
                node("LRN", ["d"], ["e"], size=3), node("Identity", ["e"], ["z"])]
        self.assertEqual(self.chain(same), ("8", None))
        for nodes, tensors, size in (
                ([node("MaxPool", ["x"], ["z"], kernel_shape=[3, 3], strides=[2, 2])], (), "3"),
                ([node("MaxPool", ["x"], ["z"], kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)],
                 (), "4"),
                # Rounded up, the last window would begin behind the image.
                ([node("AveragePool", ["x"], ["z"], kernel_shape=[1, 1], strides=[9, 9],
                       ceil_mode=1, pads=[1, 1, 1, 1])], (), "1"),
                ([node("AveragePool", ["x"], ["z"], kernel_shape=[2, 2], auto_pad="SAME_UPPER")],
                 (), "8"),
                ([node("GlobalAveragePool", ["x"], ["z"])], (), "1"),
                ([node("Pad", ["x", "p"], ["z"])], [ints("p", 0, 0, 1, 1, 0, 0, 2, 2)], "11"),
                ([node("Pad", ["x"], ["z"], pads=[0, 0, 1, 1, 0, 0, 2, 2])], (), "11"),
                ([node("Reshape", ["x", "s"], ["z"])], [ints("s", 0, -1, 4, 4)], None),
                ([node("Add", ["x", "k"], ["z"])], [tensor("k", [2, 1, 1], [1, 2])], "8"),
                ([node("Transpose", ["x"], ["t"], perm=[0, 1, 3, 2]),
                  node("Mul", ["t", "t"], ["z"])], (), "8"),
                ([node("Squeeze", ["x", "s"], ["q"]), node("Unsqueeze", ["q", "s"], ["z"])],
                 [ints("s", 0)], "8"),
                ([node("Squeeze", ["x"], ["q"], axes=[0]),
                  node("Unsqueeze", ["q"], ["z"], axes=[0])], (), "8")):
            if size is None:
                self.assertRaises(AssertionError, self.chain, nodes, tensors)
                self.fail_with(2, "m.onnx", "another number of channels", "info", "m.onnx")
            else:
                self.assertEqual(self.chain(nodes, tensors), (size, None), nodes)

    def test_concat_and_a_long_way_round(self):
        nodes = [node("Conv", ["x", "v"], ["a"]), node("Concat", ["a", "a"], ["z"], axis=1)]
        self.assertEqual(self.chain(nodes, [tensor("v", [1, 2, 1, 1], [1, 1])]), ("8", None))
        self.assertEqual(self.chain([node("Flatten", ["x"], ["f"]),
                                     node("Gemm", ["f", "m"], ["g"]),
                                     node("Reshape", ["g", "s"], ["z"])],
                                    [tensor("m", [128, 18], [0] * 2304),
                                     tensor("s", [4], [1, 2, 3, -1], INT64)]), ("3", None))

    def test_input_sizes(self):
        self.write_conv(dims=("N", 2, "H", "W"))
        self.assertIn("input size not known", self.info("m.onnx"))
        self.assertEqual(self.problem("m.onnx", "--input-shape", "4,2,5,6"),
                         "mb4ic2ih5iw6oc4oh3ow4kh3kw3ph0pw0")
        self.assertEqual(self.problem("m.onnx", "--input-shape", "x:1,2,5,5"),
                         "mb1ic2ih5oc4oh3kh3ph0")
        for shape, what in (("y:1,2,5,5", "has no input"), ("1,2,0,5", ""), ("1,2,x", ""),
                            ("1,2,3,4,5,6,7,8,9", "more than 8")):
            self.fail_with(2, "--input-shape", what, "info", "m.onnx", "--input-shape", shape)
        self.fail_with(2, "m.onnx", "another number of channels", "info", "m.onnx",
                       "--input-shape", "1,3,5,5")
        self.fail_with(2, "m.onnx", "give it with --input-shape", "bench", "m.onnx")
        self.write_conv(dims=("N", 2, 8, 8))
        self.assertEqual(self.problem("m.onnx"), "mb1ic2ih8oc4oh6kh3ph0")
        self.write("w.npy", support.npy([[1.0]]))
        self.fail_with(2, "--input-shape", "model", "info", "w.npy", "--input-shape", "1,1,1,1")

    def test_an_operator_that_is_not_followed(self):
        self.write("m.onnx", onnx(graph(
            [node("Conv", ["x", "w"], ["a"], "first"), node("Odd", ["a"], ["b"]),
             node("Conv", ["b", "w"], ["y"], "second")], [tensor("w", [2, 2, 1, 1], [1] * 4)],
            [value_info("x", INPUT)])))
        shown = self.info("m.onnx")
        self.assertIn("the operator Odd is not followed", shown)
        self.assertIn("mb1ic2ih8oc2oh8kh1ph0", shown)

    def test_constant_weights_in_any_order(self):
        constant = node("Constant", [], ["k"], value=tensor("", DIMS, WEIGHTS))
        nodes = [node("Relu", ["a"], ["y"]), node("Conv", ["x", "i"], ["a"]),
                 node("Identity", ["k"], ["i"]), constant]
        self.write("m.onnx", onnx(graph(nodes, (), [value_info("x", INPUT)])))
        self.assertEqual(self.problem("m.onnx"), "mb1ic2ih8oc4oh6kh3ph0")
        self.prune("m.onnx", "p.onnx", "--sparsity", 0.5)
        self.assertEqual(self.weights_of("p.onnx")["k"], smallest_zeroed(WEIGHTS, 36))

    def test_what_is_left_out(self):
        nodes = [node("Conv", ["x", "u"], ["a"]), node("Conv", ["x", "v"], ["b"]),
                 node("Conv", ["x", "x"], ["c"])]
        tensors = [tensor("u", [1, 2, 3], [0] * 6), tensor("v", [1, 2, 1, 1, 1], [0] * 2)]
        self.write("m.onnx", onnx(graph(nodes, tensors, [value_info("x", INPUT)])))
        shown = self.info("m.onnx")
        self.assertIn("no convolutions\n3 Conv nodes left out", shown)


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


class Benching(Models):
    def test_the_weights_are_the_models(self):
        self.write("net.onnx", conv_model([tensor("w", DIMS, WEIGHTS)], dims=INPUT))
        shown = self.succeed("bench", "net.onnx", "--algo", "direct").stdout.decode()
        self.assertIn("net:conv", shown)
        self.assertRegex(shown, r"5\.556 % zeros, 68 nonzeros \(fnv1a:[0-9a-f]{16}\)")
        shown = self.succeed("bench", "net.onnx", "--algo", "direct", "--sparsity", "0,0.5",
                             "--batch", 2).stdout.decode()
        self.assertRegex(shown, r"batch 2[^\n]*68 nonzeros \(fnv1a:[0-9a-f]{16}\)\n")
        self.assertRegex(shown, r"36 nonzeros \(fnv1a:[0-9a-f]{16}\+magnitude\)")
        self.assertNotIn("verdict", shown)
        self.succeed("verify", "net.onnx", "--algo", "direct")

    def test_batch_normalization(self):
        nodes = [node("Conv", ["x", "w"], ["a"], "conv"),
                 node("BatchNormalization", ["a", "s", "s", "s", "v"], ["y"], epsilon=0.0)]
        self.write("net.onnx", onnx(graph(
            nodes, [tensor("w", [2, 2, 1, 1], [1, 2, 3, 4]), tensor("s", [2], [0, 2]),
                    tensor("v", [2], [1, 4])], [value_info("x", INPUT)])))
        run = ("bench", "net.onnx", "--algo", "direct")
        self.assertIn(" 4 nonzeros", self.succeed(*run).stdout.decode())
        folded = self.succeed(*run, "--fold-bn").stdout.decode()
        self.assertIn(" 2 nonzeros", folded)  # the first filter's scale is 0

    def test_a_verdict(self):
        self.write("net.onnx", onnx(graph(
            [node("Conv", ["x", "w"], ["a"], "one"), node("Conv", ["x", "w"], ["b"], "two")],
            [tensor("w", DIMS, WEIGHTS)], [value_info("x", INPUT)])))
        if not self.has_algorithm("openblas"):
            self.skipTest("this build has no dense peer")
        shown = self.succeed("bench", "net.onnx", "--algo", "direct,openblas", "--device",
                             "cpu").stdout.decode()
        self.assertRegex(shown, r"\nverdict: sparse is faster on \d of 2 convolutions")

    def test_what_cannot_be_benched(self):
        self.write("m.safetensors", safetensors({"w": ("F32", DIMS, pack(WEIGHTS))}))
        self.fail_with(2, "m.safetensors", "no graph", "bench", "m.safetensors")
        self.write("list.txt", b"mb1ic1ih3oc1oh3kh1\n")
        self.fail_with(2, "list.txt", "@FILE", "bench", "list.txt")
        self.write("m.onnx", onnx(graph([node("Relu", ["x"], ["y"])], (), [value_info("x", [1])])))
        self.fail_with(2, "m.onnx", "no convolution", "bench", "m.onnx")
        self.fail_with(2, "--fold-bn", "MODEL", "bench", "--fold-bn", "--network", "alexnet")


class Lies(Models):
    def refuse(self, name, content, what):
        self.write(name, content)
        self.fail_with(2, f"{name}: ", what, "info", name)

    def test_onnx(self):
        weights = tensor("w", DIMS, WEIGHTS)
        whole = conv_model([weights], dims=INPUT)
        relu = node("Relu", ["x"], ["y"])
        for size in range(2, len(whole), 7):
            done = self.csrconv("info", self.write("t.onnx", whole[:size]))
            self.assertEqual(done.returncode, 2, (size, done.stderr))
        for content, what in (
                (whole[:200], "truncated or damaged"),
                (onnx(graph([node("Add", ["x", "b"], ["a"]), node("Relu", ["a"], ["b"])])), "cycle"),
                (onnx(graph([node("Relu", ["a"], ["a"])])), "cycle"),
                (onnx(graph([relu, relu])), "two things make the value y"),
                (onnx(graph([node("Relu", ["x"], ["x"])], (), [value_info("x", [1])])), "two things"),
                (onnx(graph([node("Relu", ["x"], ["w"])], [weights])), "two things"),
                (conv_model([weights, weights]), "two tensors have the name w"),
                (conv_model([tensor("w", [1 << 40, 1 << 40], [1])]), "too large"),
                (conv_model([tensor("w", [1 << 40], [1])]), "1 elements, its shape is"),
                (conv_model([tensor("w", [1 << 40], [1], form="packed")]), "1 elements"),
                (conv_model([tensor("w", [-1], [1])]), "dimension -1"),
                (conv_model([tensor("w", [1] * 9, [1])]), "more than 8 dimensions"),
                (conv_model([tensor("w", [5], [1] * 4)]), "4 elements"),
                (conv_model([weights + part(4, pack(WEIGHTS))]), "twice"),
                (conv_model([tensor("", DIMS, WEIGHTS)]), "no name"),
                (conv_model(sparses=[sparse("w", [1 << 20, 1 << 30], [0], [1])]), "too many"),
                (conv_model(sparses=[sparse("w", [1 << 21, 1], [0], [1])] * 3), "too many"),
                (conv_model(sparses=[sparse("w", [4, 4], [16], [1])]), "out of range"),
                (conv_model(sparses=[sparse("w", [4, 4], [3, 3], [1, 2])]), "doubled"),
                (conv_model(sparses=[sparse("w", [4, 4], [(0, 4)], [1], linear=False)]),
                 "out of range"),
                (conv_model(sparses=[sparse("w", [4, 4], [-1], [1])]), "out of range"),
                (conv_model(sparses=[sparse("w", [4], [1], [1], INT64)]), "not of floats"),
                (number(1, 8), "no graph"), (onnx(graph([])) + part(7, b""), "two graphs"),
                (onnx(graph([part(1, "x")])), "no operator")):
            self.refuse("m.onnx", content, what)

    def test_safetensors(self):
        data = pack(WEIGHTS[:4])

        def header(text):
            return raw_safetensors(text.encode(), data)

        def entries(*offsets, shape="[2]"):
            return header("{" + ",".join(
                f'"{name}":{{"dtype":"F32","shape":{shape},"data_offsets":{list(pair)}}}'
                for name, pair in zip("abc", offsets)) + "}")

        self.write("good.safetensors", entries((0, 8), (8, 16)))
        self.succeed("info", "good.safetensors")
        whole = self.read("good.safetensors")
        for content, what in (
                (whole[:60], "truncated"), (whole[:-1], "not within the file"),
                (whole + b"1", "1 bytes behind"), (entries((0, 8), (4, 12)), "overlaps"),
                (entries((0, 8), (0, 8)), "overlaps"), (entries((0, 8)), "8 bytes behind"),
                (entries((0, 4), (8, 16)), "4 bytes, which are not (2,) of F32"),
                (entries((8, 16)), "hole"), (entries((8, 0)), "not within"),
                (entries((-8, 0)), "not within"), (entries((0, 1 << 62)), "not within"),
                (entries((0, 16), shape=f"[{1 << 40}]"), "16 bytes"),
                (entries((0, 16), shape=f"[{1 << 40},{1 << 40}]"), "too large"),
                (entries((0, 16), shape="[-4]"), "no list of sizes"),
                (entries((0, 16), shape="[1,1,1,1,1,1,1,1,4]"), "more than 8"),
                (header('{"a":{},"a":{}}'), "duplicate"), (header('{"a":1}'), "no object"),
                (header('{"a":{"shape":[4],"data_offsets":[0,16]}}'), "dtype"),
                (header('{"__metadata__":{"a":1}}'), "metadata"), (header("{"), "no JSON"),
                (header('{"":{}}'), "no name"), (header("{}"), "16 bytes behind"),
                (struct.pack("<Q", 100_000_001) + b"{" + b" " * 64, "header of 100000001 bytes"),
                (struct.pack("<Q", 1 << 39) + b"{" + b" " * 64, "header of")):
            self.refuse("m.safetensors", content, what)

    def test_a_header_of_100_megabytes(self):
        with open(self.folder / "m.safetensors", "wb") as file:
            file.write(struct.pack("<Q", 100_000_000) + b"{")
            file.truncate(8 + 100_000_000)
        self.fail_with(2, "m.safetensors", "header of 100000000 bytes", "info", "m.safetensors")

    def test_memory_is_bounded(self):
        """Megabytes of the smallest nodes and names, which take more in memory than in the file."""
        count = 100_000
        many = onnx(graph([node("A", ["x"], [f"{i:x}"]) for i in range(count)]))
        self.write("m.onnx", many)
        small = self.csrconv("info", "m.onnx")
        self.assertEqual(small.returncode, 0, small.stderr)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        self.assertLess(peak, 100 * len(many) + (256 << 20))

    def test_the_real_one(self):
        if not MNIST.exists():
            self.skipTest("../shared/data not present")
        shown = self.info(MNIST)
        for part_of_it in ("opset 8", "Input3 (1, 1, 28, 28)", "mb1ic1ih28oc8oh28kh5ph2",
                           "mb1ic8ih14oc16oh14kh5ph2", "3400 nonzeros of 3400"):
            self.assertIn(part_of_it, shown)
        self.prune(MNIST, "p.onnx", "--sparsity", 0.9, "--scope", "global")
        old, new = MNIST.read_bytes(), self.read("p.onnx")
        self.assertEqual(len(old), len(new))
        self.assertIn("340 nonzeros of 3400", self.info("p.onnx"))
        self.prune(MNIST, "same.onnx", "--sparsity", 0)
        self.assertEqual(self.read("same.onnx"), old)


if __name__ == "__main__":
    support.main()
