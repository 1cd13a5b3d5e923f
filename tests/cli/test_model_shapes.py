"""The sizes that follow from the operators of a graph."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import support  # noqa: E402
from model_files import (INT64, conv_model, graph, node, onnx, tensor,  # noqa: E402
                         value_info)
from model_support import DIMS, INPUT, WEIGHTS, Models, smallest_zeroed  # noqa: E402


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

    def test_a_node_without_a_name_is_named_by_its_output(self):
        for attributes, what in (({"strides": [0, 1]}, "strides has 0"),
                                 ({"strides": [1]}, "strides has 1 numbers"),
                                 ({"dilations": [5, 5]}, "larger than the padded image"),
                                 ({"group": 0}, "groups")):
            self.write("m.onnx", onnx(graph([node("Conv", ["x", "w"], ["made"], **attributes)],
                                            [tensor("w", DIMS, WEIGHTS)],
                                            [value_info("x", INPUT)])))
            self.fail_with(2, "m.onnx: node made (Conv): ", what, "info", "m.onnx")

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


if __name__ == "__main__":
    support.main()
