"""csrconv run of whole models: the digits of data/weights get the accuracy that PyTorch gets."""
import json
import pathlib
import struct
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import support  # noqa: E402
from model_files import INT64, graph, node, onnx, tensor, value_info  # noqa: E402
from support import flat, npy, read_npy, whole_numbers  # noqa: E402

WEIGHTS = pathlib.Path(__file__).resolve().parents[2] / "data" / "weights"
IMAGES = WEIGHTS / "digits-test-images.npy"
MODELS = ("digits-dense", "digits-pruned")


def rows(path_or_data):
    data = path_or_data if isinstance(path_or_data, bytes) else path_or_data.read_bytes()
    (count, *shape), values = read_npy(data)
    length = len(values) // count
    return [values[i * length:(i + 1) * length] for i in range(count)]


class Digits(support.Case):
    def logits(self, name, *flags):
        self.succeed("run", WEIGHTS / f"{name}.onnx", "--input", IMAGES, "--output", "y.npy", *flags)
        return rows(self.read("y.npy"))

    def test_accuracy_is_that_of_training(self):
        known = json.loads((WEIGHTS / "digits.json").read_text())
        labels = read_npy((WEIGHTS / "digits-test-labels.npy").read_bytes())[1]
        for name in MODELS:
            logits = self.logits(name)
            self.assertEqual(len(logits), known["images"])
            right = sum(row.index(max(row)) == label for row, label in zip(logits, labels))
            self.assertEqual(right, known[name]["right"], name)
        self.assertGreater(known["digits-pruned"]["right"], 0.97 * known["images"])

    def test_logits_are_those_of_training(self):
        for name in MODELS:
            want = rows(WEIGHTS / f"{name}-logits.npy")
            for flags in ((), ("--device", "cpu"), ("--device", "cpu", "--algo", "direct"),
                          ("--device", "cpu", "--threads", 1), ("--fold-bn",)):
                for got, expected in zip(self.logits(name, *flags), want):
                    for x, y in zip(got, expected):
                        self.assertAlmostEqual(x, y, delta=1e-4, msg=(name, flags))

    def test_what_is_said(self):
        known = json.loads((WEIGHTS / "digits.json").read_text())
        for name in MODELS:
            done = self.succeed("run", WEIGHTS / f"{name}.onnx", "--input", IMAGES, "--output",
                                "y.npy", "--repeat", 2)
            nonzeros = known[name]["conv_nonzeros"]
            self.assertRegex(done.stdout.decode(),
                             rf"\A(cpu|cuda:0): 12 nodes, 3 convolutions \(\w+(, \w+)*\), {nonzeros} "
                             rf"of 13968 weights, output \(360, 10\), \S+ ms, \d+ % in convolutions\n\Z")

    def test_both_files_hold_the_same_weights(self):
        for name in MODELS:
            onnx = (WEIGHTS / f"{name}.onnx").read_bytes()
            data = (WEIGHTS / f"{name}.safetensors").read_bytes()
            length, = struct.unpack("<Q", data[:8])
            tensors = json.loads(data[8:8 + length])
            self.assertEqual(len(tensors), 14)
            for tensor, entry in tensors.items():
                begin, end = (8 + length + offset for offset in entry["data_offsets"])
                self.assertIn(data[begin:end], onnx, tensor)
                self.assertIn(tensor.encode(), onnx)


class Layers(support.Case):
    """The model is run on whole numbers, of a batch that the file does not tell."""

    def setUp(self):
        super().setUp()
        self.write("x.npy", npy(whole_numbers((2, 1, 8, 8), 1)))
        self.write("m.onnx", (WEIGHTS / "digits-pruned.onnx").read_bytes())

    def layer(self, name, model="m.onnx"):
        self.succeed("run", model, "--layer", name, "--input", "x.npy", "--output", "y.npy",
                     "--device", "cpu")
        return read_npy(self.read("y.npy"))

    def refuse(self, code, where, what, *arguments):
        done = self.fail_with(code, where, what, "run", *arguments, "--input", "x.npy", "--output",
                              "y.npy")
        self.assertNotIn("y.npy", self.files())
        return done

    def test_layers(self):
        self.assertEqual(self.layer("conv_0")[0], (2, 16, 8, 8))
        self.assertEqual(self.layer("conv_0"), self.layer("conv_0_out"))
        self.assertEqual(self.layer("maxpool_6")[0], (2, 32, 4, 4))
        before, after = self.layer("batchnormalization_1")[1], self.layer("relu_2")[1]
        self.assertEqual([max(x, 0.0) for x in before], after)
        self.assertEqual(self.layer("gemm_11"), self.layer("logits"))

    def test_only_what_a_layer_needs_is_run(self):
        done = self.succeed("run", "m.onnx", "--layer", "relu_2", "--input", "x.npy", "--output",
                            "y.npy")
        self.assertRegex(done.stdout, rb": 3 nodes, 1 convolutions ")

    def test_output_on_standard_output(self):
        done = self.succeed("run", "m.onnx", "--input", "x.npy", "--output", "-")
        self.assertEqual(read_npy(done.stdout)[0], (2, 10))
        self.assertIn("12 nodes", done.stderr)

    def test_unknown_layer(self):
        self.refuse(2, "--layer", 'did you mean "conv_0"?', "m.onnx", "--layer", "conv_O")
        self.refuse(2, "--layer", "no node", "m.onnx", "--layer", "something else altogether")

    def test_operators_that_are_not_supported(self):
        model = self.read("m.onnx")
        self.write("m.onnx", model.replace(b"\x22\x04Relu", b"\x22\x04Selu"))
        self.refuse(3, "m.onnx", "node relu_2 (Selu): this operator is not supported", "m.onnx")
        self.assertEqual(self.layer("conv_0")[0], (2, 16, 8, 8))
        (self.folder / "y.npy").unlink()
        self.write("m.onnx", model.replace(b"\x22\x07Flatten", b"\x22\x07Fnatten"))
        self.refuse(3, "m.onnx", "node flatten_10 (Fnatten): this operator is not", "m.onnx")

    def test_inputs_that_do_not_fit(self):
        for shape in ((2, 1, 8), (2, 3, 8, 8), (2, 1, 8, 9)):
            self.write("x.npy", npy(whole_numbers(shape, 1)))
            self.refuse(2, "x.npy", "is not (-1, 1, 8, 8)", "m.onnx")

    def test_safetensors_have_no_graph(self):
        self.refuse(3, str(WEIGHTS), "no graph", WEIGHTS / "digits-pruned.safetensors")

    def test_arguments(self):
        self.refuse(2, "run", "one MODEL", "m.onnx", "m.onnx")
        self.refuse(2, "run", "one MODEL")
        self.refuse(2, "x.npy", "is no model", "x.npy")
        self.refuse(2, "missing.onnx", "", "missing.onnx")
        self.refuse(2, "--stride", "", "m.onnx", "--stride", 2)
        self.refuse(2, "--algo", "nosuch", "m.onnx", "--algo", "nosuch")
        self.refuse(2, "--repeat", "", "m.onnx", "--repeat", 0)
        if not self.has_cuda():
            self.refuse(3, "", "", "m.onnx", "--device", "cuda")


class Graphs(support.Case):
    """Small graphs in pure Python, on whole numbers, so that every value is exact."""

    def setUp(self):
        super().setUp()
        self.x = whole_numbers((1, 2, 3, 4), 4)
        self.write("x.npy", npy(self.x))

    def save(self, nodes, tensors=(), inputs=("x",), outputs=("y",)):
        self.write("m.onnx", onnx(graph(nodes, tensors, [value_info(name, (1, 2, 3, 4))
                                                         for name in inputs],
                                        [value_info(name) for name in outputs])))

    def run_graph(self, *flags):
        self.succeed("run", "m.onnx", "--input", "x.npy", "--output", "y.npy", *flags)
        return read_npy(self.read("y.npy"))

    def refuse(self, code, where, what, *flags):
        self.fail_with(code, where, what, "run", "m.onnx", "--input", "x.npy", "--output", "y.npy",
                       *flags)
        self.assertNotIn("y.npy", self.files())

    def test_a_value_with_two_readers(self):
        self.save([node("Relu", ["x"], ["a"]), node("Relu", ["a"], ["b"]),
                   node("Add", ["a", "b"], ["y"])])
        self.assertEqual(self.run_graph("--repeat", 3),
                         ((1, 2, 3, 4), [2 * max(v, 0.0) for v in flat(self.x)]))

    def test_a_value_with_the_same_reader_twice(self):
        self.save([node("Relu", ["x"], ["a"]), node("Mul", ["a", "a"], ["y"])])
        self.assertEqual(self.run_graph()[1], [max(v, 0.0) ** 2 for v in flat(self.x)])

    def test_a_sum(self):
        """An input that is left out, which only an odd file has, adds nothing."""
        self.save([node("Sum", ["x", "", "b", "x"], ["y"])], [tensor("b", [1], [5.0])])
        self.assertEqual(self.run_graph()[1], [2 * v + 5 for v in flat(self.x)])

    def test_a_shape_that_the_graph_computes(self):
        self.save([node("Shape", ["x"], ["s"]), node("Gather", ["s", "zero"], ["n"], axis=0),
                   node("Unsqueeze", ["n", "axes"], ["first"]),
                   node("Concat", ["first", "rest"], ["sizes"], axis=0),
                   node("Reshape", ["x", "sizes"], ["y"])],
                  [tensor("zero", [], [0], INT64), tensor("axes", [1], [0], INT64),
                   tensor("rest", [1], [-1], INT64)])
        self.assertEqual(self.run_graph(), ((1, 24), flat(self.x)))

    def test_outputs(self):
        self.save([node("Relu", ["x"], ["y"]), node("Identity", ["x"], ["z"])], outputs=("y", "z"))
        self.refuse(2, "--layer", "has 2 outputs")
        self.assertEqual(self.run_graph("--layer", "z")[1], flat(self.x))
        (self.folder / "y.npy").unlink()
        self.save([node("Relu", ["x"], ["y"])], outputs=("x",))
        self.refuse(3, "m.onnx", "x is computed by no node")

    def test_only_the_first_output_of_a_node(self):
        self.save([node("MaxPool", ["x"], ["y", "places"], kernel_shape=[1, 1])])
        self.assertEqual(self.run_graph()[1], flat(self.x))
        (self.folder / "y.npy").unlink()
        self.refuse(3, "m.onnx", "output 1 of node places (MaxPool)", "--layer", "places")

    def test_two_inputs(self):
        self.save([node("Add", ["x", "z"], ["y"]), node("Relu", ["x"], ["r"])], inputs=("x", "z"))
        self.refuse(3, "m.onnx", "needs 2 inputs")
        self.assertEqual(self.run_graph("--layer", "r")[1], [max(v, 0.0) for v in flat(self.x)])

    def test_folding(self):
        """y = 2 conv(x) + 1, where the convolution adds both channels: as two nodes, and as one."""
        nodes = [node("Conv", ["x", "w"], ["a"], "conv"),
                 node("BatchNormalization", ["a", "two", "one", "zero", "one"], ["y"], epsilon=0.0)]
        tensors = [tensor("w", [1, 2, 1, 1], [1.0, 1.0]),
                   *(tensor(name, [1], [value]) for name, value in (("zero", 0.0), ("one", 1.0),
                                                                    ("two", 2.0)))]
        x = flat(self.x)
        sums = [a + b for a, b in zip(x[:12], x[12:])]
        want = ((1, 1, 3, 4), [2 * a + 1 for a in sums])
        run = ("run", "m.onnx", "--input", "x.npy", "--output", "y.npy")
        self.save(nodes, tensors)
        self.assertIn(b" 2 nodes, ", self.succeed(*run).stdout)
        self.assertEqual(read_npy(self.read("y.npy")), want)
        self.assertIn(b" 1 nodes, ", self.succeed(*run, "--fold-bn").stdout)
        self.assertEqual(read_npy(self.read("y.npy")), want)
        self.assertEqual(self.run_graph("--fold-bn", "--layer", "conv"), ((1, 1, 3, 4), sums))
        self.save([*nodes, node("Relu", ["a"], ["b"]), node("Add", ["b", "y"], ["z"])], tensors,
                  outputs=("z",))
        self.assertIn(b" 4 nodes, ", self.succeed(*run, "--fold-bn").stdout)
        self.assertEqual(read_npy(self.read("y.npy"))[1],
                         [max(a, 0.0) + 2 * a + 1 for a in sums])

    def test_computed_weights(self):
        self.save([node("Relu", ["w"], ["v"]), node("Conv", ["x", "v"], ["y"], "conv")],
                  [tensor("w", [1, 2, 1, 1], [1.0, 2.0])])
        self.refuse(3, "m.onnx", "node conv (Conv): only 2-D convolutions with constant weights")

    def test_more_than_the_memory(self):
        pads = tensor("p", [8], [0, 0, 0, 0, 0, 0, 1 << 40, 1 << 10], INT64)
        self.save([node("Pad", ["x", "p"], ["y"])], [pads])
        self.refuse(3, "m.onnx", "more than the memory")

    def test_shapes_that_do_not_go_together(self):
        self.save([node("BatchNormalization", ["x", "w", "w", "w", "w"], ["y"], "bn")],
                  [tensor("w", [3], [1.0, 1.0, 1.0])])
        self.refuse(2, "m.onnx", "node bn (BatchNormalization): input 1 is not of 2 channels")
        self.save([node("Add", ["x", "w"], ["y"], "add")], [tensor("w", [3], [1.0, 1.0, 1.0])])
        self.refuse(2, "m.onnx", "node add (Add): ")
        self.save([node("Relu", [], ["y"], "relu")])
        self.refuse(3, "m.onnx", "needs 0 inputs")


if __name__ == "__main__":
    support.main()
